import {
  findingSentences,
  trajectoryFindingSentences,
  type Finding,
  type TrajectoryFinding,
} from '../../domain/finding';
import { deltaOf, type DeltaFraction, type InstanceFacts, type RunEntry } from '../../study/entry';
import { whyAnswerSeen } from '../../domain/answerSeen';
import { killedInWords } from '../../mutation/mutant';
import type { Survivor } from '../../mutation/mutantSchema';
import { columnCell, findingSymbol } from './cellState';
import { mayHaveTrajectory, type Column } from './columns';
import { boundedText, button, element, show } from './elements';
import { number, percent, seconds } from '../../study/numbers';
import type { CellName, Openable } from '../protocol';

/** Labels of the buttons. */
const openWords: Readonly<Record<Openable, string>> = {
  source: 'Choose Repository Folder…',
  log: 'Log',
  diff: 'Diff',
  gutters: 'Gutters',
  survivors: 'Surviving Mutants',
  trajectory: 'Trajectory',
  issue: 'Issue',
  instance: 'Open Instance',
};

/** The details of a cell of the matrix, with links to their sources. */
export class Details {
  private shown: { readonly facts: InstanceFacts; readonly column: Column | undefined } | undefined;
  readonly root = element('section', { class: 'details', 'aria-label': 'Details', hidden: '' });

  /**
   * @param open asks the host to show something; undefined without a host, and then there are no
   *   links
   * @param hasTrajectories whether a run, by its label, has trajectories to open
   * @param onClosed returns the keyboard focus
   */
  constructor(
    private readonly open: ((what: Openable, cell: CellName) => void) | undefined,
    private readonly hasTrajectories: (run: string) => boolean,
    private readonly onClosed: () => void,
  ) {
    this.root.addEventListener('keydown', (event) => {
      if (event.key === 'Escape') this.close();
    });
  }

  /** @param column undefined for the instance itself, which shows a line for each column */
  show(facts: InstanceFacts, column: Column | undefined, columns: readonly Column[]): void {
    this.shown = { facts, column };
    const heading = this.draw(facts, column, columns);
    this.root.hidden = false;
    heading.focus({ preventScroll: true });
  }

  /** Draws what is shown again where its candidate has changed, and leaves the focus alone. */
  refresh(columns: readonly Column[]): void {
    const { facts, column } = this.shown ?? {};
    if (this.root.hidden || facts === undefined || column === undefined) return;
    const now = columns.find(({ key }) => key === column.key);
    if (now === undefined) return;
    const isSame = now.entries.get(facts.id) === column.entries.get(facts.id);
    if (isSame && now.unfinished === column.unfinished) return;
    this.shown = { facts, column: now };
    this.draw(facts, now, columns);
  }

  /** @returns the heading */
  private draw(
    facts: InstanceFacts,
    column: Column | undefined,
    columns: readonly Column[],
  ): HTMLElement {
    const heading = element('h3', { tabindex: '-1' }, facts.id);
    show(
      this.root,
      element(
        'div',
        { class: 'details-head' },
        heading,
        button('Close', () => this.close(), { class: 'quiet' }),
      ),
      element(
        'p',
        { class: 'quiet-text' },
        [facts.repo, facts.created.slice(0, 10), `${number(facts.issueLength)} characters`]
          .filter((each) => each !== '')
          .join(' · '),
      ),
      ...(column === undefined ? this.ofInstance(facts, columns) : this.ofCell(facts, column)),
    );
    return heading;
  }

  private ofInstance(facts: InstanceFacts, columns: readonly Column[]): Node[] {
    const cell = (column: Column | undefined): CellName => ({
      run: column?.run ?? '',
      model: column?.model ?? '',
      sample: column?.sample ?? 1,
      instance: facts.id,
    });
    return [
      this.links(['issue', 'instance'], cell(columns[0])),
      element(
        'dl',
        {},
        ...columns.flatMap((column) => {
          const { symbol, words } = columnCell(column, facts.id);
          return [element('dt', {}, column.label), element('dd', {}, `${symbol} ${words}`)];
        }),
      ),
    ];
  }

  private ofCell(facts: InstanceFacts, column: Column): Node[] {
    const entry = column.entries.get(facts.id);
    const { symbol, words } = columnCell(column, facts.id);
    const cell = {
      run: column.run,
      model: column.model,
      sample: column.sample,
      instance: facts.id,
    };
    return [
      element('p', {}, element('strong', {}, column.label), `: ${symbol} ${words}`),
      ...(entry === undefined || entry.explanation === ''
        ? []
        : [element('p', { class: 'explanation' }, boundedText(entry.explanation))]),
      ...answerSeenOf(column),
      ...(entry?.findings ?? []).map(findingOf),
      ...(entry?.trajectoryFindings ?? []).map(trajectoryFindingOf),
      this.links(
        entry === undefined
          ? ['issue', 'instance']
          : [
              ...(entry.reason === 'source not available' ? (['source'] as const) : []),
              ...(['log', 'diff', 'gutters'] as const),
              ...(hasHiddenSurvivors(entry) ? (['survivors'] as const) : []),
              ...(this.hasTrajectories(column.run) && mayHaveTrajectory(column, entry)
                ? (['trajectory'] as const)
                : []),
              ...(['issue', 'instance'] as const),
            ],
        cell,
      ),
      ...(entry === undefined ? [] : [factsOfEntry(entry, column), ...survivorsOfEntry(entry)]),
    ];
  }

  private links(what: readonly Openable[], cell: CellName): HTMLElement {
    const { open } = this;
    const buttons =
      open === undefined ? [] : what.map((each) => button(openWords[each], () => open(each, cell)));
    return element('p', { class: 'links' }, ...buttons);
  }

  close(): void {
    if (this.root.hidden) return;
    this.root.hidden = true;
    this.onClosed();
  }
}

/** What a published method is known to see of the answer. */
function answerSeenOf({ model }: Column): Node[] {
  const why = whyAnswerSeen(model);
  return why === undefined ? [] : [element('p', {}, `${model} looks at the answer: ${why}.`)];
}

/** A finding with its evidence. */
const findingOf = ({ kind, evidence }: Finding): HTMLElement =>
  element(
    'div',
    { class: 'finding-details' },
    element('p', {}, element('strong', {}, `${findingSymbol} ${findingSentences[kind]}`)),
    element('ul', {}, ...evidence.map((each) => element('li', {}, each))),
  );

/** A finding in the trajectory, with the step to judge. */
const trajectoryFindingOf = ({ kind, severity, step, text, why }: TrajectoryFinding): HTMLElement =>
  element(
    'div',
    { class: 'finding-details' },
    element(
      'p',
      {},
      element(
        'strong',
        {},
        `${severity === 'warning' ? findingSymbol : 'noted:'} ${trajectoryFindingSentences[kind]}`,
      ),
    ),
    element(
      'ul',
      {},
      element(
        'li',
        {},
        step > 0 ? `Step ${number(step)} of the trajectory: ` : 'Submission: ',
        element('code', {}, text),
        why === undefined ? '' : ` (${why})`,
      ),
    ),
  );

/** A name, and its value; undefined where it is not known. */
type Fact = readonly [name: string, value: string | undefined];

/** Of a published summary only this is known. */
const resolvedAlone = (harness: RunEntry['harness']): readonly Fact[] => [
  ['Harness grading', harness && (harness.resolved ? 'resolved' : 'not resolved')],
];

const figuresOfEntry = (entry: RunEntry): readonly Fact[] => {
  const { harness } = entry;
  return [
    ['Applies to R (W)', entry.evaluated ? yesNo(entry.wellFormed) : undefined],
    ['F→P', count(entry, entry.failToPass)],
    ['F→F', count(entry, entry.failToFail)],
    ['P→P', count(entry, entry.passToPass)],
    ['P→F', count(entry, entry.passToFail)],
    ['F→×', count(entry, entry.failToAny)],
    ['×→F', count(entry, entry.anyToFail)],
    ['ΔC', fraction(entry.delta)],
    ['ΔC of T*', fraction(entry.goldenDelta)],
    ['Mutants killed', entry.mutants === undefined ? undefined : killedInWords(entry.mutants)],
    [
      'Harness grading',
      harness === undefined
        ? undefined
        : `${harness.resolved ? 'resolved' : 'not resolved'}, ${harness.addedFailToPass} F→P added by the candidate`,
    ],
    ['Difference between gradings', entry.difference],
  ];
};

function factsOfEntry(entry: RunEntry, { known }: Column): HTMLElement {
  const { harness, cost } = entry;
  const all: readonly Fact[] = [
    ...(known === undefined ? figuresOfEntry(entry) : resolvedAlone(harness)),
    ['Evaluation time', entry.seconds === 0 ? undefined : seconds(entry.seconds)],
    ['Cost', cost?.dollars === undefined ? undefined : `$${cost.dollars.toFixed(3)}`],
    ['Generation time', cost?.seconds === undefined ? undefined : seconds(cost.seconds)],
    [
      'Tokens',
      cost?.inputTokens === undefined && cost?.outputTokens === undefined
        ? undefined
        : `${number(cost.inputTokens ?? 0)} in, ${number(cost.outputTokens ?? 0)} out`,
    ],
  ];
  return element(
    'dl',
    {},
    ...all.flatMap(([name, value]) =>
      value === undefined ? [] : [element('dt', {}, name), element('dd', {}, value)],
    ),
  );
}

/** Whether the host keeps the survivors back, as they have code of a patch that is not revealed. */
const hasHiddenSurvivors = ({ mutants, survivors }: RunEntry): boolean =>
  mutants !== undefined && mutants.killed < mutants.all && survivors === undefined;

/** The mutants that survive, folded, since they have code of X*. */
function survivorsOfEntry({ mutants, survivors = [] }: RunEntry): Node[] {
  if (mutants === undefined || survivors.length === 0) return [];
  const surviving = mutants.all - mutants.killed;
  const left = surviving - survivors.length;
  return [
    element(
      'details',
      { class: 'survivors' },
      element('summary', {}, `Surviving mutants: ${surviving} (reveals code of the fix)`),
      element('ul', {}, ...survivors.map(survivorItem)),
      left > 0 && element('p', { class: 'quiet-text' }, `${left} more are in report.json.`),
    ),
  ];
}

const survivorItem = ({ path, line, before, after, status }: Survivor): HTMLElement =>
  element(
    'li',
    {},
    `${path}:${line} `,
    element('code', {}, before),
    ' → ',
    element('code', {}, after),
    status === 'not covered' ? ' (no test runs the line)' : '',
  );

const yesNo = (is: boolean): string => (is ? 'yes' : 'no');

const count = (entry: RunEntry, of: number): string | undefined =>
  entry.evaluated ? number(of) : undefined;

function fraction(of: DeltaFraction | undefined): string | undefined {
  if (of === undefined) return undefined;
  const delta = deltaOf(of);
  return delta === undefined
    ? 'no executable lines'
    : `${percent(delta)} (${of.covered} of ${of.executable} lines)`;
}
