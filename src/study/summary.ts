import { percentileInterval, resample, sumAt, type Interval, type Resampling } from './resampling';
import {
  findingKinds,
  kindsOfSeverity,
  trajectoryFindingKinds,
  type FindingKind,
  type TrajectoryFindingKind,
} from '../domain/finding';
import type { MutantFraction } from '../mutation/mutant';
import type { Grading } from './grading';
import { entryReasons, type EntryReason } from '../domain/verdict';
import type { RunEntry } from './entry';
import { figuresOf, gradingOf, type CandidateFigures, type EvaluatedMethod } from './methods';

/** A share of the selected instances. */
export interface Share {
  readonly count: number;
  readonly of: number;
  /** Interval of the share, in [0, 1]; absent unless requested. */
  readonly interval?: Interval;
}

/** A mean ΔC, in [0, 1]. */
export interface DeltaMean {
  /** Undefined if there is no instance. */
  readonly mean: number | undefined;
  /** Instances whose ΔC is known and defined. */
  readonly of: number;
  readonly interval?: Interval;
}

/**
 * Why an instance is, or is not, a success, also without an entry: `no prediction` or `not run
 * yet`.
 */
type SummaryReason = EntryReason | 'not run yet';

/** Why instances have no grade. */
interface NotEvaluated {
  readonly reason: SummaryReason;
  readonly instances: readonly string[];
}

interface ReasonCount {
  readonly reason: SummaryReason;
  readonly count: number;
}

/** Names of the shares of the paper's Table 2, in its order. */
export const shareKeys = [
  'wellFormed',
  'success',
  'failToAny',
  'failToPass',
  'passToPass',
] as const satisfies readonly (keyof CandidateFigures)[];
export type ShareKey = (typeof shareKeys)[number];

/** The columns of Table 2 as the paper heads them. */
export const shareTitles: Readonly<Record<ShareKey, string>> = {
  wellFormed: 'W',
  success: 'S',
  failToAny: 'F→×',
  failToPass: 'F→P',
  passToPass: 'P→P',
};

/** Names of the means of the paper's Table 3, in its order. */
export const deltaKeys = ['deltaAll', 'deltaSuccess', 'deltaFailure'] as const;
type DeltaKey = (typeof deltaKeys)[number];

export const deltaTitles: Readonly<Record<DeltaKey, string>> = {
  deltaAll: 'ΔC all',
  deltaSuccess: 'ΔC S',
  deltaFailure: 'ΔC ¬S',
};

/** One row of the paper's Tables 2 and 3. */
export interface Summary
  extends Readonly<Record<ShareKey, Share>>, Readonly<Record<DeltaKey, DeltaMean>> {
  /** `EvaluatedMethod.id`. */
  readonly method: string;
  readonly name: string;
  /** `EvaluatedMethod.oracle`. */
  readonly oracle: boolean;
  /** `EvaluatedMethod.answerSeen`. */
  readonly answerSeen?: string;
  /** The grading of S, F→P and ΔC. */
  readonly grading: Grading;
  /** All selected instances: the denominator. */
  readonly selected: number;
  readonly evaluated: number;
  readonly notEvaluated: readonly NotEvaluated[];
  /** Share resolved under harness grading, whichever grading the rest has; absent if unknown. */
  readonly resolved?: Share;
  /** Mutants of X*; absent where no candidate was tried on any. */
  readonly mutants?: MutantCounts;
  /** Number of entries on which the two gradings disagree. */
  readonly differing: number;
  /** Counts of suspicious candidates. */
  readonly findings: FindingCounts;
  /** Counts of candidates whose trajectories look like cheating; absent if no trajectory is known. */
  readonly trajectoryFindings?: TrajectoryFindingCounts;
  /** Counts over all selected instances; the reasons that occur, in the order of `entryReasons`. */
  readonly reasons: readonly ReasonCount[];
}

/** Mutants over all candidates that were tried on them. */
export interface MutantCounts extends MutantFraction {
  /** Instances whose candidate was tried. */
  readonly of: number;
}

/** Sums the mutants of all candidates; undefined where none was tried on any. */
function countMutants(entries: readonly RunEntry[]): MutantCounts | undefined {
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

/** How many candidates have findings. */
interface FindingCounts {
  /**
   * Examined candidates with at least one F→P test (strict grading): the denominator of `kinds` and
   * `any`.
   */
  readonly of: number;
  /**
   * Number of these by kind, in the order of `findingKinds`. A candidate may have several kinds.
   */
  readonly kinds: Readonly<Record<FindingKind, number>>;
  /** Number of these with any finding. */
  readonly any: number;
  /** Successes among these (strict grading), and the number of such successes with any finding. */
  readonly successes: number;
  readonly successesWith: number;
  /** Candidates without F→P test that have a finding. */
  readonly others: number;
  /**
   * Candidates with F→P tests that were not examined, since an earlier version or the harness saved
   * them.
   */
  readonly unknown: number;
}

/** Counts the findings of candidates. */
function countFindings(entries: readonly RunEntry[]): FindingCounts {
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

/** How many candidates have findings in their trajectories. */
export interface TrajectoryFindingCounts {
  /** Candidates whose trajectory was searched. */
  readonly of: number;
  /** Number of these with a warning, by kind. A candidate may have several kinds. */
  readonly kinds: Readonly<Record<TrajectoryFindingKind, number>>;
  /** Number of these with any warning. */
  readonly any: number;
  /** Successes among these (strict grading), and the number of such successes with any warning. */
  readonly successes: number;
  readonly successesWith: number;
  /** Number of these with notes and no warning. */
  readonly notesOnly: number;
}

/** Counts the findings in trajectories; undefined where no trajectory was searched. */
function countTrajectoryFindings(
  entries: readonly RunEntry[],
): TrajectoryFindingCounts | undefined {
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
const reasonOf = (method: EvaluatedMethod, id: string): SummaryReason =>
  method.chosen.get(id)?.reason ?? (method.unfinished ? 'not run yet' : 'no prediction');

/** How often each reason occurs among the selected instances of a method. */
export function reasonCounts(method: EvaluatedMethod): ReasonCount[] {
  const counts = new Map<SummaryReason, number>();
  for (const { id } of method.selected) {
    const reason = reasonOf(method, id);
    counts.set(reason, (counts.get(reason) ?? 0) + 1);
  }
  return [...entryReasons, 'not run yet' as const].flatMap((reason) => {
    const count = counts.get(reason);
    return count === undefined ? [] : [{ reason, count }];
  });
}

function notEvaluatedOf(method: EvaluatedMethod): NotEvaluated[] {
  const groups = new Map<SummaryReason, string[]>();
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
