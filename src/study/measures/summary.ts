import { type Interval, type Resampling, percentileInterval, resample, sumAt } from './resampling';
import {
  type FindingKind,
  type TrajectoryFindingKind,
  findingKinds,
  kindsOfSeverity,
  trajectoryFindingKinds,
} from '../../domain/finding';
import type { MutantFraction } from '../../mutation/mutant';
import type { Grading, RunEntry } from '../entry';
import { entryReasons } from '../../domain/verdict';
import { type CandidateFigures, type EvaluatedMethod, figuresOf, gradingOf } from './methods';
import type { DeltaMean, Share, Summary } from '../studyReportSchema';

/** Also `no prediction` or `not run yet`, of an instance without an entry. */
type Reason = Summary['reasons'][number]['reason'];

/** Names of the shares of the paper's Table 2, in its order. */
export const shareKeys = [
  'wellFormed',
  'success',
  'failToAny',
  'failToPass',
  'passToPass',
] as const satisfies readonly (keyof CandidateFigures)[];
export type ShareKey = (typeof shareKeys)[number];

/** Names of the means of the paper's Table 3, in its order. */
export const deltaKeys = ['deltaAll', 'deltaSuccess', 'deltaFailure'] as const;
export type DeltaKey = (typeof deltaKeys)[number];

/** Sums the mutants of all candidates; undefined where none was tried on any. */
function countMutants(entries: readonly RunEntry[]): Summary['mutants'] {
  const tried = entries.flatMap(({ mutants }) => mutants ?? []);
  if (tried.length === 0) return undefined;
  const sum = (of: (each: MutantFraction) => number): number =>
    tried.reduce((total, each) => total + of(each), 0);
  return {
    killed: sum(({ killed }) => killed),
    all: sum(({ all }) => all),
    of: tried.length,
  };
}

/** Counts the findings of candidates. */
function countFindings(entries: readonly RunEntry[]): Summary['findings'] {
  const all = entries.filter((entry) => entry.failToPass > 0);
  const telling = all.filter((entry) => entry.findings !== undefined);
  const has = ({ findings = [] }: RunEntry, kind?: FindingKind): boolean =>
    findings.some((each) => kind === undefined || each.kind === kind);
  const successes = telling.filter((entry) => entry.success);
  return {
    of: telling.length,
    kinds: Object.fromEntries(
      findingKinds.map((kind) => [kind, telling.filter((entry) => has(entry, kind)).length]),
    ) as Record<FindingKind, number>,
    any: telling.filter((entry) => has(entry)).length,
    successes: successes.length,
    successesWith: successes.filter((entry) => has(entry)).length,
    others: entries.filter((entry) => entry.failToPass === 0 && has(entry)).length,
    unknown: all.length - telling.length,
  };
}

/** Counts the findings in trajectories; undefined where no trajectory was searched. */
function countTrajectoryFindings(entries: readonly RunEntry[]): Summary['trajectoryFindings'] {
  const searched = entries.flatMap(({ success, trajectoryFindings: found }) =>
    found === undefined
      ? []
      : [{ success, notes: found.length, kinds: kindsOfSeverity(found, 'warning') }],
  );
  if (searched.length === 0) return undefined;
  const warned = searched.filter(({ kinds }) => kinds.length > 0);
  return {
    of: searched.length,
    kinds: Object.fromEntries(
      trajectoryFindingKinds.map((kind) => [
        kind,
        warned.filter(({ kinds }) => kinds.includes(kind)).length,
      ]),
    ) as Record<TrajectoryFindingKind, number>,
    any: warned.length,
    successes: searched.filter(({ success }) => success).length,
    successesWith: warned.filter(({ success }) => success).length,
    notesOnly: searched.filter(({ kinds, notes }) => kinds.length === 0 && notes > 0).length,
  };
}

export interface SummaryOptions {
  /** `strict` by default; a method with harness figures alone keeps harness grading. */
  readonly grading?: Grading;
  /**
   * Settings of bootstrap percentile intervals over the selected instances; absent: no intervals.
   */
  readonly intervals?: Resampling;
}

/**
 * Rates of one method. Every selected instance is in the denominator of every share, evaluated or
 * not. The means leave out instances whose ΔC is unknown or without executable lines.
 */
export function summariseMethod(method: EvaluatedMethod, options: SummaryOptions = {}): Summary {
  const grading = gradingOf(method, options.grading);
  const of = method.selected.length;
  const entries = method.selected.map(({ id }) => method.chosen.get(id));
  const known = entries.filter((entry) => entry !== undefined);
  const trajectoryFindings = countTrajectoryFindings(known);
  const mutants = countMutants(known);
  const figures = entries.map((entry) => figuresOf(entry, grading));
  const intervals =
    options.intervals === undefined ? undefined : bootstrap(figures, options.intervals);

  const share = (key: ShareKey): Share =>
    saysShare(method, key)
      ? {
          count: figures.filter((each) => each[key]).length,
          of,
          ...withInterval(intervals?.[key]),
        }
      : { count: 0, of: 0 };
  const deltas = figures.filter((each) => each.delta !== undefined);
  const mean = (key: DeltaKey, part: readonly CandidateFigures[]): DeltaMean => ({
    mean:
      part.length === 0
        ? undefined
        : part.reduce((sum, each) => sum + (each.delta ?? 0), 0) / part.length,
    of: part.length,
    ...withInterval(intervals?.[key]),
  });
  return {
    method: method.id,
    name: method.name,
    oracle: method.oracle,
    ...(method.answerSeen !== undefined && { answerSeen: method.answerSeen }),
    grading,
    selected: of,
    evaluated: figures.filter((each) => each.evaluated).length,
    notEvaluated: notEvaluatedOf(method),
    wellFormed: share('wellFormed'),
    success: share('success'),
    failToAny: share('failToAny'),
    failToPass: share('failToPass'),
    passToPass: share('passToPass'),
    deltaAll: mean('deltaAll', deltas),
    deltaSuccess: mean(
      'deltaSuccess',
      deltas.filter((each) => each.success),
    ),
    deltaFailure: mean(
      'deltaFailure',
      deltas.filter((each) => !each.success),
    ),
    ...resolvedOf(known, of),
    ...(mutants !== undefined && { mutants }),
    differing: known.filter((entry) => entry.difference !== undefined).length,
    findings: countFindings(known),
    ...(trajectoryFindings !== undefined && { trajectoryFindings }),
    reasons: reasonCounts(method),
  };
}

/** The share that harness grading calls resolved; absent where it says nothing. */
function resolvedOf(known: readonly RunEntry[], of: number): Pick<Summary, 'resolved'> {
  const graded = known.filter((entry) => entry.harness !== undefined);
  if (graded.length === 0) return {};
  return { resolved: { count: graded.filter((entry) => entry.harness?.resolved).length, of } };
}

/** Whether a share of a method can be computed; one without instances stands for the others. */
export const saysShare = ({ known }: Pick<EvaluatedMethod, 'known'>, key: ShareKey): boolean =>
  known === undefined || key === known;

const withInterval = (interval: Interval | undefined): { interval?: Interval } =>
  interval === undefined ? {} : { interval };

/** The one reason of an instance, whether it has an entry or not. */
const reasonOf = (method: EvaluatedMethod, id: string): Reason =>
  method.chosen.get(id)?.reason ?? (method.unfinished ? 'not run yet' : 'no prediction');

/** How often each reason occurs among the selected instances of a method. */
export function reasonCounts(method: EvaluatedMethod): Summary['reasons'][number][] {
  const counts = new Map<Reason, number>();
  for (const { id } of method.selected) {
    const reason = reasonOf(method, id);
    counts.set(reason, (counts.get(reason) ?? 0) + 1);
  }
  return [...entryReasons, 'not run yet' as const].flatMap((reason) => {
    const count = counts.get(reason);
    return count === undefined ? [] : [{ reason, count }];
  });
}

function notEvaluatedOf(method: EvaluatedMethod): Summary['notEvaluated'][number][] {
  const groups = new Map<Reason, string[]>();
  for (const { id } of method.selected) {
    if (method.chosen.get(id)?.evaluated === true) continue;
    const reason = reasonOf(method, id);
    const list = groups.get(reason);
    if (list === undefined) groups.set(reason, [id]);
    else list.push(id);
  }
  return [...groups].map(([reason, instances]) => ({ reason, instances }));
}

/**
 * Percentile intervals of all figures of one row. Each resample draws instances with all of their
 * figures, so shares and means of one resample concern the same instances.
 */
function bootstrap(
  figures: readonly CandidateFigures[],
  settings: Resampling,
): Partial<Record<ShareKey | DeltaKey, Interval>> {
  const of = figures.length;
  if (of === 0) return {};
  const isKnown = 2 ** shareKeys.length;
  const isSuccess = 2 ** shareKeys.indexOf('success');
  const patterns = Uint16Array.from(figures, (each) =>
    shareKeys.reduce(
      (code, key, bit) => code + (each[key] ? 2 ** bit : 0),
      each.delta === undefined ? 0 : isKnown,
    ),
  );
  const deltas = Float64Array.from(figures, (each) => each.delta ?? 0);
  const values: Record<ShareKey | DeltaKey, number[]> = {
    wellFormed: [],
    success: [],
    failToAny: [],
    failToPass: [],
    passToPass: [],
    deltaAll: [],
    deltaSuccess: [],
    deltaFailure: [],
  };
  resample(
    patterns,
    deltas,
    (where) => {
      const shares = shareKeys.map((key, bit) => ({
        key,
        places: where((pattern) => (pattern & (2 ** bit)) !== 0),
      }));
      const known = (pattern: number): boolean => (pattern & isKnown) !== 0;
      const success = (pattern: number): boolean => (pattern & isSuccess) !== 0;
      const means: Record<DeltaKey, readonly number[]> = {
        deltaAll: where(known),
        deltaSuccess: where((pattern) => known(pattern) && success(pattern)),
        deltaFailure: where((pattern) => known(pattern) && !success(pattern)),
      };
      return ({ counts, sums }) => {
        for (const { key, places } of shares) values[key].push(sumAt(counts, places) / of);
        // 0 / 0 is NaN: the resample has no such instance, so this mean is left out.
        for (const key of deltaKeys) {
          values[key].push(sumAt(sums, means[key]) / sumAt(counts, means[key]));
        }
      };
    },
    settings,
  );
  const intervals: Partial<Record<ShareKey | DeltaKey, Interval>> = {};
  for (const key of [...shareKeys, ...deltaKeys]) {
    const interval = percentileInterval(values[key], settings.level);
    if (interval !== undefined) intervals[key] = interval;
  }
  return intervals;
}
