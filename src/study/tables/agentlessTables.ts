import type { AgentlessAblation } from '../studyReportSchema';
import { markedAsOracle } from '../../domain/answerSeen';
import { type TableColumn, type TextTable, asTexts, column, formats } from './tableColumn';
import type {
  LocalisationRow,
  SamplesRow,
  SelectionKind,
  SelectionRow,
} from '../resolution/agentlessAblation';
import type { Granularity } from '../resolution/correctLocation';
import type { LocalisationStep } from '../../domain/instance';

/** A row of an ablation, with the run that it is of. */
interface RowOf<Row> {
  readonly of: AgentlessAblation;
  readonly row: Row;
}
type ColumnOf<Row> = TableColumn<RowOf<Row>>;

/** The tables of an ablation. A spreadsheet has its figures in the row of the run. */
interface Ablation<Row> {
  readonly title: string;
  readonly rows: (of: AgentlessAblation) => readonly Row[];
  /** The name of a row, and its head. */
  readonly head: string;
  readonly nameOf: (row: Row) => string;
  /** The name of a row in a spreadsheet, where it is another one. */
  readonly rawNameOf?: (row: Row) => string;
  readonly columns: readonly ColumnOf<Row>[];
  readonly notes: (all: readonly AgentlessAblation[]) => readonly string[];
}

const steps: Readonly<Record<LocalisationStep, string>> = {
  files: 'files, by the model',
  retrieval: 'files, by embeddings',
  combined: 'files, combined',
  elements: 'related elements',
  locations: 'edit locations',
};

const selectionNames: Readonly<Record<SelectionKind, string>> = {
  votes: 'votes',
  regression: '+ regression tests',
  reproduction: '+ reproduction tests',
  both: '+ both',
};

const unfinishedNotes = (all: readonly AgentlessAblation[]): string[] =>
  all.flatMap(({ name, unfinished }) =>
    unfinished ? [`${name}: some patches are not judged yet.`] : [],
  );

/** A share of the selected instances. */
const share = <Row>(
  id: string,
  head: string,
  help: string,
  count: (row: Row) => number,
): ColumnOf<Row> =>
  column({
    id,
    head,
    help,
    format: { ...formats.shareAndCount, raw: formats.shareAlone.raw },
    value: ({ of, row }) => ({ count: count(row), of: of.selected }),
  });

const keeps = (of: Granularity): ColumnOf<LocalisationRow> =>
  share(`localised_${of}`, of, `all ${of}s that X* edits`, ({ contains }) => contains[of]);

/** The table 2 of the Agentless paper. */
const localisation: Ablation<LocalisationRow> = {
  title: 'Localisation by Agentless in % of all selected instances (Agentless paper, Table 2)',
  rows: (of) => of.localisation,
  head: 'step',
  nameOf: ({ step, set }) => (set === undefined ? steps[step] : `${steps[step]}, set ${set}`),
  columns: [
    column({
      id: 'localised_known',
      head: 'known',
      help: 'instances whose output of the step is known',
      format: { ...formats.count, raw: {} },
      value: ({ row }) => row.known,
    }),
    keeps('file'),
    keeps('function'),
    keeps('line'),
    column({
      id: 'localised_lines_of_code',
      head: 'lines of code',
      help: 'mean of the lines that the step keeps',
      format: formats.number(0),
      value: ({ row }) => row.lines,
    }),
    column({
      id: 'localised_dollars_mean',
      head: 'mean USD',
      help: 'of the requests for the step',
      format: formats.mean(2),
      value: ({ row }) => row.dollars,
    }),
  ],
  notes: () => [
    'file, function, line: the code that a step selects contains all files, functions or lines that X* changes. known: instances with a known output of the step. Lines of code: mean over these.',
  ],
};

/** The figure 6 of the Agentless paper. */
const samples: Ablation<SamplesRow> = {
  title: 'Code repair by number of samples in % (Agentless paper, Figure 6)',
  rows: (of) => of.samples,
  head: 'samples',
  nameOf: (row) => String(row.samples),
  rawNameOf: (row) => `first ${row.samples}`,
  columns: [
    share('samples_resolved', 'resolved', 'by SWE-bench’s rules', (row) => row.resolved),
    share(
      'samples_strictly_resolved',
      'strictly',
      'by the recorded outcomes',
      (row) => row.strictlyResolved,
    ),
    share('samples_any_oracle', markedAsOracle('any sample'), 'one resolves', (row) => row.any),
  ],
  notes: (all) => [
    'samples: the first samples of each instance, taken in turn from its sets of edit locations; the pipeline selects one. any sample: one of them resolves the instance, by SWE-bench’s rules.',
    ...unfinishedNotes(all),
  ],
};

/** The table 4 of the Agentless paper. */
const selection: Ablation<SelectionRow> = {
  title: 'Selection of code patches in % (Agentless paper, Table 4)',
  rows: (of) => of.selection,
  head: 'chosen by',
  nameOf: ({ by }) => selectionNames[by],
  rawNameOf: ({ by }) => by,
  columns: [
    share('selection_resolved', 'resolved', 'by SWE-bench’s rules', (row) => row.resolved),
    share(
      'selection_strictly_resolved',
      'strictly',
      'by the recorded outcomes',
      (row) => row.strictlyResolved,
    ),
    column({
      id: 'selection_dollars_mean',
      head: 'mean USD of the tests',
      help: 'of the requests for the tests',
      format: formats.mean(2),
      value: ({ row }) => row.dollars,
    }),
  ],
  notes: (all) => [
    'The same patches and recorded runs, selected only by the named tests and, after +, by votes.',
    ...unfinishedNotes(all),
  ],
};

/** The ablations of Agentless, as the tables 2 and 4 and figure 6 of its paper. */
export const agentlessTables = (all: readonly AgentlessAblation[]): TextTable[] => [
  tableOf(localisation, all),
  tableOf(samples, all),
  tableOf(selection, all),
];

function tableOf<Row>(ablation: Ablation<Row>, all: readonly AgentlessAblation[]): TextTable {
  const { title, rows: rowsOf, head, nameOf, columns, notes } = ablation;
  const rows = all.flatMap((of) => rowsOf(of).map((row) => ({ of, row })));
  const [heads = [], ...cells] = asTexts({ title, columns, rows, notes: [] }).rows;
  const named = rows.map(({ of: { name, model, madeBy, selected }, row }, at) => [
    madeBy === undefined ? name : name.replace(model, madeBy.method),
    madeBy?.model ?? '–',
    String(selected),
    nameOf(row),
    ...(cells[at] ?? []),
  ]);
  return { title, rows: [['Method', 'Model', 'n', head, ...heads], ...named], notes: notes(all) };
}

/** Heads and figures of a spreadsheet, where each run is one row. */
interface SpreadColumn {
  readonly head: string;
  readonly figure: (of: AgentlessAblation) => ReturnType<ColumnOf<unknown>['raw']>[number];
}

/** The ablations as columns of a spreadsheet: some for each step, number of samples and selection. */
export const spreadColumns = (all: readonly AgentlessAblation[]): SpreadColumn[] => [
  ...spread(localisation, all),
  ...spread(samples, all),
  ...spread(selection, all),
];

function spread<Row>(
  { rows, nameOf, rawNameOf = nameOf, columns }: Ablation<Row>,
  all: readonly AgentlessAblation[],
): SpreadColumn[] {
  const names = new Set(all.flatMap(rows).map(rawNameOf));
  return [...names].flatMap((name) =>
    columns.flatMap(({ rawHeads, raw }) =>
      rawHeads.map((head, at) => ({
        head: `${head}: ${name}`,
        figure: (of: AgentlessAblation) => {
          const row = rows(of).find((each) => rawNameOf(each) === name);
          return row && raw({ of, row })[at];
        },
      })),
    ),
  );
}
