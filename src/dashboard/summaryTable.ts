import {
  findingKinds,
  findingSentences,
  trajectoryFindingKinds,
  trajectoryFindingSentences,
} from '../domain/finding';
import type { PublishedRow } from '../study/document';
import type { AdjustedComparison } from '../study/compare';
import { markedAsOracle } from '../domain/answerSeen';
import type { Interval } from '../study/resampling';
import {
  deltaKeys,
  deltaTitles,
  shareKeys,
  shareTitles,
  type DeltaMean,
  type Share,
  type Summary,
} from '../study/summary';
import { element, show, wideBox, captionOf } from './elements';
import { inPercent, number, pValue } from '../study/numbers';
import {
  comparisonSigns,
  deltaWords,
  shareWords,
  summaryCaption,
  summarySigns,
} from './summarySigns';

export interface SummaryRows {
  /** All methods, including hidden ones, in the order of the table. */
  readonly methods: readonly { readonly id: string; readonly name: string }[];
  /** Summaries of the methods that are not hidden. */
  readonly summaries: readonly Summary[];
  /** Id of the method with which the others are compared. */
  readonly baseline: string | undefined;
  readonly comparisons: readonly AdjustedComparison[];
  readonly published: readonly PublishedRow[];
  /** How many instances the filter keeps; undefined without a filter. */
  readonly kept: number | undefined;
}

/**
 * Draws the paper's Tables 2 and 3 side by side, with one row for each method.
 *
 * @param hide hides a method, or shows it again
 */
export function drawSummaryTable(
  place: HTMLElement,
  rows: SummaryRows,
  hide: (id: string, isHidden: boolean) => void,
): void {
  const { methods, summaries, baseline, published } = rows;
  const shown = new Map(summaries.map((summary) => [summary.method, summary]));
  // Keep the focus of a person who moves through the boxes with the keyboard.
  const { activeElement } = document;
  const focused = place.contains(activeElement) ? activeElement?.getAttribute(idAttribute) : null;
  const byId = new Map(rows.comparisons.map((each) => [each.first, each]));
  const mutated = summaries.some(({ mutants }) => mutants !== undefined);
  const compares = baseline !== undefined && summaries.length > 1;
  const heads = headsOf(compares ? (shown.get(baseline)?.name ?? '') : undefined, mutated);
  show(
    place,
    wideBox(
      element(
        'table',
        { class: 'summary' },
        captionOf(summaryCaption(rows.kept)),
        headOfMethods(heads),
        element(
          'tbody',
          {},
          ...methods.map(({ id, name }) => {
            const summary = shown.get(id);
            const box = boxOf(id, name, summary !== undefined, hide);
            return summary === undefined
              ? hiddenRow(box, heads.length)
              : rowOf(
                  summary,
                  box,
                  id === baseline ? 'baseline' : (byId.get(id) ?? 'not known yet'),
                  { compares, mutated },
                );
          }),
        ),
        published.length > 0 && publishedRows(published, heads.length),
      ),
    ),
    signs(compares),
    findingsTable(summaries),
    trajectoryFindingsTable(summaries),
  );
  const boxes = [...place.querySelectorAll<HTMLElement>(`[${idAttribute}]`)];
  if (focused !== null) boxes.find((box) => box.getAttribute(idAttribute) === focused)?.focus();
}

/**
 * The heads of the columns after the method.
 *
 * @param comparedWith name of the baseline; undefined if the table compares no methods
 * @param mutated whether candidates of any method were tried on mutants
 */
const headsOf = (comparedWith: string | undefined, mutated: boolean): readonly ColumnHead[] => [
  ['evaluated', 'instances that could be evaluated, of all selected ones'],
  ...shareKeys.map((key) => [shareTitles[key], shareWords[key]] as const),
  ...deltaKeys.map((key) => [deltaTitles[key], deltaWords[key]] as const),
  ...(mutated ? [mutantsHead] : []),
  ['resolved', 'harness grading, as published numbers are'],
  ...(comparedWith === undefined
    ? []
    : ([
        ['S differs', `from ${comparedWith}: exact McNemar test, Holm-corrected`],
        ['ΔC differs', 'paired permutation test, Holm-corrected'],
      ] as const)),
];

const mutantsHead: ColumnHead = [
  'mutants killed',
  'of all faults made in lines that X* adds, over the candidates that were tried on them',
];

type ColumnHead = readonly [text: string, title: string];

/** What the signs of the table stand for, below it. */
const signs = (compares: boolean): HTMLElement =>
  element(
    'ul',
    { class: 'signs quiet-text', 'aria-label': 'Signs of the summary' },
    ...[...summarySigns, ...(compares ? comparisonSigns : [])].map(([sign, meaning]) =>
      element('li', {}, element('b', {}, sign), ` ${meaning}`),
    ),
  );

/** The head of a table with a row for each method. */
const headOfMethods = (heads: readonly ColumnHead[]): HTMLElement =>
  element(
    'thead',
    {},
    element(
      'tr',
      {},
      element('th', { scope: 'col' }, 'Method'),
      ...heads.map(([text, title]) => element('th', { scope: 'col', title }, text)),
    ),
  );

/**
 * How many candidates of each method have findings, with the kinds that occur; false where no run
 * looked for any.
 */
function findingsTable(summaries: readonly Summary[]): HTMLElement | false {
  const looked = summaries.filter(({ findings: { of, others } }) => of + others > 0);
  if (looked.length === 0) return false;
  const found = looked.filter(({ findings: { any, others } }) => any + others > 0);
  if (found.length === 0) {
    const of = looked.reduce((sum, { findings }) => sum + findings.of, 0);
    return element(
      'p',
      { class: 'quiet-text' },
      of === 1
        ? 'No findings in the one candidate with an F→P test.'
        : `No findings in the ${number(of)} candidates with at least one F→P test.`,
    );
  }
  const kinds = findingKinds.filter((kind) => found.some(({ findings }) => findings.kinds[kind]));
  const heads: readonly ColumnHead[] = [
    ['with F→P', 'candidates with at least one F→P test: the denominator of the other numbers'],
    ...kinds.map((kind) => [kind, findingSentences[kind]] as const),
    ['any finding', 'candidates with at least one finding'],
    ['S with a finding', 'successes that have a finding'],
  ];
  return countsTable(
    'Findings: what looks wrong about verdicts, candidates with at least one F→P test',
    heads,
    looked.map(({ name, findings }) => [
      name,
      [findings.of, findings.others === 0 ? '' : `${findings.others} others have findings too`],
      ...kinds.map((kind) => [findings.kinds[kind], `of ${findings.of}`] as const),
      [findings.any, `of ${findings.of}`],
      [findings.successesWith, `of ${findings.successes} successes`],
    ]),
  );
}

/** How many trajectories of each method look like cheating; false where none does. */
function trajectoryFindingsTable(summaries: readonly Summary[]): HTMLElement | false {
  const searched = summaries.flatMap(({ name, trajectoryFindings: found }) =>
    found === undefined ? [] : [{ name, found }],
  );
  if (!searched.some(({ found }) => found.any + found.notesOnly > 0)) return false;
  const kinds = trajectoryFindingKinds.filter((kind) =>
    searched.some(({ found }) => found.kinds[kind]),
  );
  return countsTable(
    'Findings in trajectories: what looks like cheating, candidates',
    [
      ['with a trajectory', 'candidates whose trajectory was searched'],
      ...kinds.map((kind) => [kind, trajectoryFindingSentences[kind]] as const),
      ['any warning', 'candidates with at least one warning'],
      ['S with a warning', 'successes whose trajectory has a warning'],
      ['notes only', 'candidates with notes and no warning'],
    ],
    searched.map(({ name, found }) => [
      name,
      [found.of, ''],
      ...kinds.map((kind) => [found.kinds[kind], `of ${found.of}`] as const),
      [found.any, `of ${found.of}`],
      [found.successesWith, `of ${found.successes} successes`],
      [found.notesOnly, `of ${found.of}`],
    ]),
  );
}

/** A method, and its counts, each with what the pointer shows. */
type CountsRow = readonly [name: string, ...counts: (readonly [count: number, title: string])[]];

/** A table of counts with a row for each method. */
const countsTable = (
  caption: string,
  heads: readonly ColumnHead[],
  rows: readonly CountsRow[],
): HTMLElement =>
  wideBox(
    element(
      'table',
      { class: 'summary findings' },
      captionOf(caption),
      headOfMethods(heads),
      element(
        'tbody',
        {},
        ...rows.map(([name, ...counts]) =>
          element(
            'tr',
            {},
            element('th', { scope: 'row' }, name),
            ...counts.map(([count, title]) => element('td', { title }, String(count))),
          ),
        ),
      ),
    ),
  );

const idAttribute = 'data-method';

/** The check box that shows or hides a method, with its name. */
function boxOf(
  id: string,
  name: string,
  isShown: boolean,
  hide: (id: string, isHidden: boolean) => void,
): HTMLElement {
  const tip = 'Show it in the tables and plots';
  const box = element('input', {
    type: 'checkbox',
    [idAttribute]: id,
    'aria-description': tip,
  });
  box.checked = isShown;
  box.addEventListener('change', () => hide(id, !box.checked));
  // A title of the box itself would be part of the name of the row.
  return element('label', { class: 'method', title: tip }, box, element('span', {}, name));
}

const hiddenRow = (box: HTMLElement, width: number): HTMLElement =>
  element(
    'tr',
    { class: 'hidden-method' },
    element('th', { scope: 'row' }, box),
    element('td', { colspan: String(width) }, 'hidden'),
  );

/** A cell of a difference to the baseline, with its p-value. */
type DifferenceCell = readonly [difference: string, p?: string];

/** The differences of S and ΔC; they are computed after the table is drawn. */
function differencesOf(
  comparison: AdjustedComparison | 'baseline' | 'not known yet',
  instances: number,
): readonly DifferenceCell[] {
  if (comparison === 'baseline') return [['baseline'], ['']];
  if (instances === 0) return [['–'], ['–']];
  if (comparison === 'not known yet') return [['…'], ['…']];
  const { shares, delta, adjusted } = comparison;
  return [
    [signed(shares.success.difference), pValue(adjusted.success)],
    adjusted.delta === undefined || delta.difference === undefined
      ? ['–']
      : [signed(delta.difference), pValue(adjusted.delta)],
  ];
}

function rowOf(
  summary: Summary,
  box: HTMLElement,
  comparison: AdjustedComparison | 'baseline' | 'not known yet',
  { compares, mutated }: { readonly compares: boolean; readonly mutated: boolean },
): HTMLElement {
  const differences = compares ? differencesOf(comparison, summary.selected) : [];
  return element(
    'tr',
    {},
    element(
      'th',
      { scope: 'row' },
      box,
      summary.grading === 'harness' && element('span', { class: 'tag' }, 'harness grading'),
      summary.answerSeen !== undefined && answerSeenTag(summary.answerSeen),
    ),
    element(
      'td',
      { class: 'words', title: summary.notEvaluated.map(reasonWords).join('\n') },
      `${summary.evaluated} of ${summary.selected}`,
    ),
    ...shareKeys.map((key) => shareCell(summary[key])),
    ...deltaKeys.map((key) => meanCell(summary[key])),
    ...(mutated ? [mutantsCell(summary)] : []),
    element(
      'td',
      {},
      summary.resolved === undefined
        ? '–'
        : inPercent(summary.resolved.count / summary.resolved.of),
      summary.differing > 0 &&
        element('span', { class: 'interval' }, `${summary.differing} differ`),
    ),
    ...differences.map(([difference, p]) =>
      element(
        'td',
        { class: 'difference' },
        difference,
        p !== undefined && element('span', { class: 'interval' }, p),
      ),
    ),
  );
}

/** Beside the name of a method that is known to look at the answer: what it sees. */
const answerSeenTag = (why: string): HTMLElement =>
  element('span', { class: 'tag' }, `known to look at the answer: ${why}`);

const reasonWords = ({ reason, instances }: Summary['notEvaluated'][number]): string =>
  `${instances.length} ${reason}`;

function shareCell({ count, of, interval: range }: Share): HTMLElement {
  return figureCell(of === 0 ? undefined : count / of, range, `${count} of ${of}`);
}

/** An interval in one line: without brackets, and in whole percent where the window is narrow. */
function intervalOf(range: Interval | undefined): HTMLElement {
  const text = (of: (share: number) => string): string => (range ?? []).map(of).join('–');
  const whole = (share: number): string => String(Math.round(share * 100));
  return element(
    'span',
    { class: 'interval' },
    range && element('span', { class: 'exact' }, text(inPercent)),
    range && element('span', { class: 'rounded' }, text(whole)),
  );
}

function meanCell({ mean, of, interval: range }: DeltaMean): HTMLElement {
  return figureCell(mean, range, `over ${of} instances`);
}

function figureCell(
  value: number | undefined,
  range: Interval | undefined,
  title: string,
): HTMLElement {
  return element('td', { title }, inPercent(value), intervalOf(range));
}

/** The share of the mutants that are killed, and how many candidates were tried on them. */
function mutantsCell({ mutants, selected }: Summary): HTMLElement {
  if (mutants === undefined || mutants.all === 0) return element('td', {}, '–');
  const { killed, all, of } = mutants;
  return element(
    'td',
    { title: `over ${of} of ${selected} instances` },
    inPercent(killed / all),
    element('span', { class: 'interval' }, `${killed} of ${all}`),
  );
}

const signed = (difference: number): string =>
  `${difference > 0 ? '+' : difference < 0 ? '−' : '±'}${inPercent(Math.abs(difference))}`;

function publishedRows(published: readonly PublishedRow[], width: number): HTMLElement {
  const value = (share: number | undefined): HTMLElement => element('td', {}, inPercent(share));
  return element(
    'tbody',
    { class: 'published' },
    element(
      'tr',
      {},
      element(
        'th',
        { colspan: String(width + 1), scope: 'colgroup' },
        'Published, for comparison: not computed here, and on other instances',
      ),
    ),
    ...published.map((row) =>
      element(
        'tr',
        {},
        element(
          'th',
          { scope: 'row' },
          row.oracle === true ? markedAsOracle(row.method) : row.method,
          element(
            'span',
            { class: 'tag' },
            [row.split, row.model, row.source].filter((each) => each !== undefined).join(', '),
          ),
          row.answerSeen !== undefined && answerSeenTag(row.answerSeen),
        ),
        element('td', {}, `– of ${row.selected}`),
        ...shareKeys.map((key) => value(row[key])),
        ...deltaKeys.map((key) => value(row[key])),
        ...Array.from({ length: width - 1 - shareKeys.length - deltaKeys.length }, () =>
          element('td', {}, '–'),
        ),
      ),
    ),
  );
}
