import type {
  AdjustedComparison,
  Costs,
  DeltaMean,
  PublishedRow,
  RepairRates,
  Share,
  Summary,
  Total,
} from '../studyReportSchema';
import {
  findingKinds,
  findingSentences,
  trajectoryFindingKinds,
  trajectoryFindingSentences,
} from '../../domain/finding';
import { markedAsOracle } from '../../domain/answerSeen';
import { entryReasons } from '../../domain/verdict';
import { type DeltaKey, type ShareKey, deltaKeys, shareKeys } from '../measures/summary';
import { inPercent } from '../numbers';
import { type Format, type TableColumn, column, formats, shareFigure } from './tableColumn';

/** A method that was measured. */
export interface MeasuredMethod {
  readonly summary: Summary;
  /** Undefined for a method that is not compared with the baseline. */
  readonly comparison?: AdjustedComparison | 'baseline' | 'computing' | undefined;
  /** Absent where tables of costs are not drawn. */
  readonly costs?: Costs | undefined;
}

/** A row of the tables of methods: measured, published, or a method of code repair. */
export type MethodRow =
  | MeasuredMethod
  | { readonly published: PublishedRow }
  | { readonly repair: RepairRates };

type MethodColumn = TableColumn<MethodRow>;

/** The value of a column for each kind of row; undefined for the kinds that have none. */
const by =
  <Value>(
    measured: (row: MeasuredMethod) => Value | undefined,
    published?: (row: PublishedRow) => Value | undefined,
    repair?: (row: RepairRates) => Value | undefined,
  ) =>
  (row: MethodRow): Value | undefined => {
    if ('summary' in row) return measured(row);
    return 'published' in row ? published?.(row.published) : repair?.(row.repair);
  };

/** Whether any of the measured methods has something. */
const some =
  (holds: (row: MeasuredMethod) => boolean) =>
  (rows: readonly MethodRow[]): boolean =>
    rows.some((row) => 'summary' in row && holds(row));

const isCompared = some(({ comparison }) => comparison !== undefined);

export const publishedName = ({ method, split, model, oracle }: PublishedRow): string =>
  `${oracle === true ? markedAsOracle(method) : method} [published: ${[split, model].filter(Boolean).join(', ')}]`;

const nameFormat: Format<{ readonly name: string; readonly shown: string }> = {
  text: ({ shown }) => shown,
  raw: { '*': ({ name }) => name },
};

/** The first column of every table of methods. */
export const nameColumn: MethodColumn = column({
  id: 'method',
  head: 'Method',
  help: 'the model or method, with its run if several runs have it',
  value: by(
    ({ summary: { name, grading } }) => ({
      name,
      shown: grading === 'harness' ? `${name} (harness grading)` : name,
    }),
    (row) => ({ name: row.method, shown: publishedName(row) }),
    ({ name, model, madeBy }) => ({
      name,
      shown: madeBy === undefined ? name : name.replace(model, madeBy.method),
    }),
  ),
  format: nameFormat,
});

const origin = (id: string, help: string, ...values: Parameters<typeof by<string>>): MethodColumn =>
  column({
    id,
    head: id.replace('_', ' '),
    help,
    format: formats.text,
    value: by(...values),
    isShown: () => false,
  });

/** What a spreadsheet says of a row; elsewhere its name and the notes say it. */
const originColumns: readonly MethodColumn[] = [
  origin(
    'source',
    'measured, or where the row was published',
    () => 'measured',
    ({ split, source }) => `published: ${split}, ${source}`,
    () => 'measured',
  ),
  origin(
    'oracle',
    'whether candidates were created or selected with the answer',
    ({ summary }) => String(summary.oracle),
    ({ oracle }) => String(oracle === true),
    ({ oracle }) => String(oracle),
  ),
  origin(
    'answer_seen',
    'what a published method is known to see of the answer',
    ({ summary }) => summary.answerSeen,
    ({ answerSeen }) => answerSeen,
  ),
  origin(
    'grading',
    'the grading of S, F→P and ΔC',
    ({ summary }) => summary.grading,
    () => 'harness',
  ),
];

type Head = Pick<MethodColumn, 'id' | 'head' | 'help'>;

/** The columns of Table 2 as the paper heads them. */
export const shareHeads: Readonly<Record<ShareKey, Head>> = {
  wellFormed: { id: 'wellFormed', head: 'W', help: 'the candidate applies to R' },
  success: { id: 'success', head: 'S', help: 'at least one F→P and no ×→F' },
  failToAny: { id: 'failToAny', head: 'F→×', help: 'a test of the candidate fails on R' },
  failToPass: {
    id: 'failToPass',
    head: 'F→P',
    help: 'a test of the candidate goes from failing to passing',
  },
  passToPass: {
    id: 'passToPass',
    head: 'P→P',
    help: 'a test of the candidate passes on both sides',
  },
};

/** The columns of Table 3 as the paper heads them. */
export const deltaHeads: Readonly<Record<DeltaKey, Head>> = {
  deltaAll: {
    id: 'deltaAll',
    head: 'ΔC all',
    help: 'mean change coverage over all instances where it is defined',
  },
  deltaSuccess: {
    id: 'deltaSuccess',
    head: 'ΔC S',
    help: 'mean change coverage over successful instances',
  },
  deltaFailure: {
    id: 'deltaFailure',
    head: 'ΔC ¬S',
    help: 'mean change coverage over the other instances',
  },
};

const ungradedFormat: Format<Pick<Summary, 'selected' | 'evaluated'> & Partial<Summary>> = {
  text: ({ selected, evaluated }) => String(selected - evaluated),
  page: ({ selected, evaluated, notEvaluated = [] }) => ({
    text: String(selected - evaluated),
    hover: notEvaluated.map(({ reason, instances }) => `${instances.length} ${reason}`).join('\n'),
  }),
  raw: { '*': ({ evaluated }) => evaluated },
};

const harnessFormat: Format<{ readonly share: Share; readonly differing: number }> = {
  text: ({ share: { count, of } }) => (of === 0 ? '–' : inPercent(count / of)),
  page: ({ share: { count, of }, differing }) => ({
    text: inPercent(count / of),
    ...(differing > 0 && { small: `${differing} differ` }),
  }),
  raw: { '*_count': ({ share }) => share.count },
};

/** The paper's Table 2. Shares are of all selected instances. */
export const rateColumns: readonly MethodColumn[] = [
  column({
    id: 'selected',
    head: 'n',
    help: 'selected instances: the denominator of every share',
    format: formats.count,
    value: by(
      ({ summary }) => summary.selected,
      ({ selected }) => selected,
      ({ selected }) => selected,
    ),
  }),
  column({
    id: 'evaluated',
    head: 'not evaluated',
    help: 'selected instances without a grade, which count as unsuccessful',
    format: ungradedFormat,
    value: by<Pick<Summary, 'selected' | 'evaluated'> & Partial<Summary>>(
      ({ summary }) => summary,
      () => undefined,
      ({ selected, tried }) => ({ selected, evaluated: tried.length }),
    ),
  }),
  ...shareKeys.map((key) =>
    column({
      ...shareHeads[key],
      format: formats.share,
      value: by(
        ({ summary }) => shareFigure(summary[key]),
        ({ [key]: share }) => (share === undefined ? undefined : { share }),
      ),
    }),
  ),
  column({
    id: 'resolved',
    head: 'S (harness)',
    help: 'S under harness grading, as published numbers are',
    value: by(({ summary: { resolved, differing } }) =>
      resolved === undefined ? undefined : { share: resolved, differing },
    ),
    format: harnessFormat,
    isShown: some(({ summary }) => summary.resolved !== undefined),
  }),
  column({
    id: 'success_differs',
    head: 'ΔS vs. baseline',
    help: 'difference in S, paired by instance: exact McNemar test with Holm’s correction',
    format: formats.difference('success'),
    value: by(({ comparison }) =>
      typeof comparison === 'object'
        ? { ...comparison.shares.success, adjusted: comparison.adjusted.success }
        : comparison,
    ),
    isShown: isCompared,
  }),
];

const mutantsFormat: Format<NonNullable<Summary['mutants']> & { readonly selected: number }> = {
  text: ({ killed, all }) => (all === 0 ? '–' : `${inPercent(killed / all)} (${killed} of ${all})`),
  page: ({ killed, all, of, selected }) =>
    all === 0
      ? { text: '–' }
      : {
          text: inPercent(killed / all),
          small: `${killed} of ${all}`,
          hover: `over ${of} of ${selected} instances`,
        },
  raw: {
    '*_killed': ({ killed }) => killed,
    '*': ({ all }) => all,
    '*_of': ({ of }) => of,
  },
};

/** The paper's Table 3, and what tells more of the tests than the lines that they run. */
export const coverageColumns: readonly MethodColumn[] = [
  ...deltaKeys.map((key) =>
    column({
      ...deltaHeads[key],
      format: formats.meanShare,
      value: by<Omit<DeltaMean, 'of'> & { readonly of?: number }>(
        ({ summary }) => summary[key],
        ({ [key]: mean }) => (mean === undefined ? undefined : { mean }),
      ),
    }),
  ),
  column({
    id: 'mutants',
    head: 'mutants killed',
    help: 'of all bugs seeded in lines that X* adds, over the candidates that were tested on them',
    value: by(({ summary: { mutants, selected } }) => mutants && { ...mutants, selected }),
    format: mutantsFormat,
    isShown: some(({ summary }) => summary.mutants !== undefined),
  }),
  column({
    id: 'delta_differs',
    head: 'ΔC vs. baseline',
    help: 'mean difference in ΔC where both are known: paired permutation test with Holm’s correction',
    format: formats.difference('delta'),
    value: by(({ comparison }) =>
      typeof comparison === 'object'
        ? { ...comparison.delta, adjusted: comparison.adjusted.delta }
        : comparison,
    ),
    isShown: isCompared,
  }),
];

/** A published sum over instances, as a total. */
const publishedTotal = (sum: number | undefined, known: number): Total | undefined =>
  sum === undefined ? undefined : { sum, known, mean: sum / known };

/** The paper's Tables 9 to 11. */
export const costColumns: readonly MethodColumn[] = [
  column({
    id: 'candidates',
    head: 'candidates',
    help: "candidates whose costs are counted; for an oracle's choice, all samples",
    format: formats.count,
    value: by(({ costs }) => costs?.candidates),
  }),
  column({
    id: 'dollars',
    head: 'USD',
    help: 'for generating all candidates',
    format: formats.sum(2),
    value: by(
      ({ costs }) => costs?.dollars,
      ({ dollars, selected }) => publishedTotal(dollars, selected),
    ),
  }),
  column({
    id: 'dollars_per_candidate',
    head: 'USD per candidate',
    help: 'mean over the candidates that state it',
    format: formats.mean(3),
    value: by(
      ({ costs }) => costs?.dollars,
      ({ dollars, selected }) => publishedTotal(dollars, selected),
    ),
  }),
  column({
    id: 'dollars_per_success',
    head: 'USD per success',
    help: 'over the instances whose candidates all state it',
    format: formats.number(2),
    value: by(
      ({ costs }) => costs?.dollarsPerSuccess,
      ({ dollars, success, selected }) =>
        dollars === undefined ? undefined : dollars / Math.round(success * selected),
    ),
  }),
  column({
    id: 'input_tokens',
    head: 'tokens in',
    help: 'for generating all candidates',
    format: formats.sum(0),
    value: by(({ costs }) => costs?.inputTokens),
  }),
  column({
    id: 'output_tokens',
    head: 'tokens out',
    help: 'for generating all candidates',
    format: formats.sum(0),
    value: by(({ costs }) => costs?.outputTokens),
  }),
  column({
    id: 'seconds_to_make',
    head: 's to generate each',
    help: 'mean seconds to generate a candidate',
    format: formats.mean(1),
    value: by(
      ({ costs }) => costs?.makingSeconds,
      ({ seconds }) => (seconds === undefined ? undefined : { mean: seconds }),
    ),
  }),
  column({
    id: 'seconds_to_evaluate',
    head: 's to evaluate each',
    help: 'mean seconds to evaluate a candidate',
    format: formats.mean(1),
    value: by(({ costs }) => costs?.evaluationSeconds),
  }),
  column({
    id: 'seconds_to_evaluate_all',
    head: 's to evaluate all',
    help: 'seconds to evaluate all candidates',
    format: formats.sum(1),
    value: by(({ costs }) => costs?.evaluationSeconds),
  }),
];

/** Whether any figure of costs is known. */
export const hasCosts = (row: MethodRow): boolean =>
  costColumns.some(({ id, raw }) => id !== 'candidates' && raw(row)[0] !== undefined);

/** How many instances have each reason. */
export const reasonColumns: readonly MethodColumn[] = [...entryReasons, 'not run yet' as const].map(
  (reason) =>
    column({
      id: `reason: ${reason}`,
      head: reason,
      help: 'instances with this reason',
      format: formats.count,
      value: by(
        ({ summary: { reasons } }) => reasons.find((each) => each.reason === reason)?.count ?? 0,
      ),
      isShown: some(({ summary: { reasons } }) => reasons.some((each) => each.reason === reason)),
    }),
);

/** Candidates of a method with something, of those that were looked at. */
interface Counted {
  readonly count: number;
  readonly of?: string;
}
const counted = {
  text: ({ count }: Counted) => String(count),
  page: ({ count, of }: Counted) => ({ text: String(count), hover: of }),
  raw: { '*': ({ count }: Counted) => count },
};

const countOf =
  <Counts>(
    countsOf: (summary: Summary) => Counts | undefined,
    count: (counts: Counts) => number,
    of?: (counts: Counts) => string,
  ) =>
  (row: MethodRow): Counted | undefined => {
    const counts = 'summary' in row ? countsOf(row.summary) : undefined;
    return counts && { count: count(counts), ...(of && { of: of(counts) }) };
  };
const ofFindings = (
  count: (counts: Summary['findings']) => number,
  of?: (counts: Summary['findings']) => string,
) => countOf(({ findings }) => findings, count, of);
const ofTrajectories = (
  count: (counts: NonNullable<Summary['trajectoryFindings']>) => number,
  of?: (counts: NonNullable<Summary['trajectoryFindings']>) => string,
) => countOf(({ trajectoryFindings }) => trajectoryFindings, count, of);

const ofAll = ({ of }: { readonly of: number }): string => `of ${of}`;
const ofSuccesses = ({ successes }: { readonly successes: number }): string =>
  `of ${successes} successes`;

/** Candidates with findings. */
export const findingColumns: readonly MethodColumn[] = [
  column({
    id: 'findings_of',
    head: 'with F→P',
    help: 'candidates with at least one F→P test: the denominator of the other numbers',
    format: counted,
    value: ofFindings(
      ({ of }) => of,
      ({ others }) => (others === 0 ? '' : `${others} others have findings too`),
    ),
  }),
  ...findingKinds.map((kind) =>
    column({
      id: `finding: ${kind}`,
      head: kind,
      help: findingSentences[kind],
      format: counted,
      value: ofFindings(({ kinds }) => kinds[kind], ofAll),
      isShown: some(({ summary: { findings } }) => findings.kinds[kind] > 0),
    }),
  ),
  column({
    id: 'any_finding',
    head: 'any finding',
    help: 'candidates with at least one finding',
    format: counted,
    value: ofFindings(({ any }) => any, ofAll),
  }),
  column({
    id: 'findings_success',
    head: 'S',
    help: 'successes among them (strict grading)',
    format: counted,
    value: ofFindings(({ successes }) => successes, ofAll),
  }),
  column({
    id: 'success_with_finding',
    head: 'S with a finding',
    help: 'successes that have a finding',
    format: counted,
    value: ofFindings(({ successesWith }) => successesWith, ofSuccesses),
  }),
];

/** Candidates whose trajectories look like cheating. */
export const trajectoryColumns: readonly MethodColumn[] = [
  column({
    id: 'trajectories',
    head: 'with a trajectory',
    help: 'candidates whose trajectory was searched',
    format: counted,
    value: ofTrajectories(({ of }) => of),
  }),
  ...trajectoryFindingKinds.map((kind) =>
    column({
      id: `trajectory warning: ${kind}`,
      head: kind,
      help: trajectoryFindingSentences[kind],
      format: counted,
      value: ofTrajectories(({ kinds }) => kinds[kind], ofAll),
      isShown: some(({ summary }) => (summary.trajectoryFindings?.kinds[kind] ?? 0) > 0),
    }),
  ),
  column({
    id: 'any_trajectory_warning',
    head: 'any warning',
    help: 'candidates with at least one warning',
    format: counted,
    value: ofTrajectories(({ any }) => any, ofAll),
  }),
  column({
    id: 'trajectories_success',
    head: 'S',
    help: 'successes among them (strict grading)',
    format: counted,
    value: ofTrajectories(({ successes }) => successes, ofAll),
  }),
  column({
    id: 'success_with_trajectory_warning',
    head: 'S with a warning',
    help: 'successes whose trajectory has a warning',
    format: counted,
    value: ofTrajectories(({ successesWith }) => successesWith, ofSuccesses),
  }),
  column({
    id: 'trajectory_notes_only',
    head: 'notes only',
    help: 'candidates with notes and no warning',
    format: counted,
    value: ofTrajectories(({ notesOnly }) => notesOnly, ofAll),
  }),
];

/** Whether any trajectory has a finding. */
export const hasTrajectoryFindings = some(
  ({ summary: { trajectoryFindings: found } }) =>
    found !== undefined && found.any + found.notesOnly > 0,
);

/** The columns of a spreadsheet; those of trajectories come after them where there are any. */
export const methodColumns = (): readonly MethodColumn[] => [
  nameColumn,
  ...originColumns,
  ...rateColumns,
  ...coverageColumns,
  ...costColumns,
  ...reasonColumns,
  ...findingColumns,
];
