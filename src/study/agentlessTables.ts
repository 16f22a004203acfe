import { markedAsOracle } from '../domain/answerSeen';
import type { Total } from './costs';
import type {
  AgentlessAblation,
  LocalisationRow,
  SelectionKind,
} from './resolution/agentlessAblation';
import type { LocalisationStep } from '../domain/instance';
import type { StudyTable } from './studyTable';

/** The ablations of Agentless, as the tables 2 and 4 and figure 6 of its paper. */
export const agentlessTables = (all: readonly AgentlessAblation[]): StudyTable[] => [
  localisationTable(all),
  samplesTable(all),
  selectionTable(all),
];

const steps: Readonly<Record<LocalisationStep, string>> = {
  files: 'files, by the model',
  retrieval: 'files, by embeddings',
  combined: 'files, combined',
  elements: 'related elements',
  locations: 'edit locations',
};

/** The name of a step, with that of its set of edit locations. */
export const nameOfStep = ({ step, set }: Pick<LocalisationRow, 'step' | 'set'>): string =>
  set === undefined ? steps[step] : `${steps[step]}, set ${set}`;

const selectionNames: Readonly<Record<SelectionKind, string>> = {
  votes: 'votes',
  regression: '+ regression tests',
  reproduction: '+ reproduction tests',
  both: '+ both',
};

/** `33.3 (1)`: a share in %, and its number. */
const share = (count: number, { selected }: AgentlessAblation): string =>
  selected === 0 ? '–' : `${((100 * count) / selected).toFixed(1)} (${count})`;

const meanDollars = (dollars: Total | undefined): string =>
  dollars === undefined ? '–' : dollars.mean.toFixed(2);

/** The cells that name a row: the method, and its model. */
const namesOf = ({ name, model, madeBy }: AgentlessAblation): readonly [string, string] =>
  madeBy === undefined ? [name, '–'] : [name.replace(model, madeBy.method), madeBy.model];

const names = ['Method', 'Model', 'n'];

function localisationTable(all: readonly AgentlessAblation[]): StudyTable {
  return {
    title: 'Localisation by Agentless in % of all selected instances (Agentless paper, Table 2)',
    rows: [
      [...names, 'step', 'known', 'file', 'function', 'line', 'lines of code', 'mean USD'],
      ...all.flatMap((of) =>
        of.localisation.map((row) => [
          ...[...namesOf(of), String(of.selected)],
          ...[nameOfStep(row), String(row.known)],
          ...[row.contains.file, row.contains.function, row.contains.line].map((count) =>
            share(count, of),
          ),
          ...[row.lines.toFixed(0), meanDollars(row.dollars)],
        ]),
      ),
    ],
    notes: [
      'file, function, line: the code that a step keeps has all files, functions or lines that X* edits. known: instances whose output of the step is known. Lines of code: mean over these.',
    ],
  };
}

const unfinishedNotes = (all: readonly AgentlessAblation[]): string[] =>
  all.flatMap(({ name, unfinished }) =>
    unfinished ? [`${name}: not all patches are judged yet.`] : [],
  );

function samplesTable(all: readonly AgentlessAblation[]): StudyTable {
  return {
    title: 'Code repair by number of samples in % (Agentless paper, Figure 6)',
    rows: [
      [...names, 'samples', 'resolved', 'strictly', markedAsOracle('any sample')],
      ...all.flatMap((of) =>
        of.samples.map(({ samples, resolved, strictlyResolved, any }) => [
          ...[...namesOf(of), String(of.selected), String(samples)],
          ...[resolved, strictlyResolved, any].map((count) => share(count, of)),
        ]),
      ),
    ],
    notes: [
      'samples: the first of each instance, drawn in turns from its sets of edit locations; the pipeline chooses among them. any sample: one of them resolves the instance, by SWE-bench’s rules.',
      ...unfinishedNotes(all),
    ],
  };
}

function selectionTable(all: readonly AgentlessAblation[]): StudyTable {
  return {
    title: 'Selection of code patches in % (Agentless paper, Table 4)',
    rows: [
      [...names, 'chosen by', 'resolved', 'strictly', 'mean USD of the tests'],
      ...all.flatMap((of) =>
        of.selection.map(({ by, resolved, strictlyResolved, dollars }) => [
          ...[...namesOf(of), String(of.selected), selectionNames[by]],
          ...[resolved, strictlyResolved].map((count) => share(count, of)),
          meanDollars(dollars),
        ]),
      ),
    ],
    notes: [
      'The same patches and recorded runs, chosen without the tests that are not named; + stands for votes as well.',
      ...unfinishedNotes(all),
    ],
  };
}
