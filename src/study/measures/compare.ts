import {
  type Interval,
  type Resampling,
  meanOf,
  percentileInterval,
  resample,
  sumAt,
} from './resampling';
import type { Grading } from '../entry';
import { type CandidateFigures, type EvaluatedMethod, figuresOf, gradingOf } from './methods';
import { holm, mcNemar, signFlips } from './significance';
import type { AdjustedComparison } from '../studyReportSchema';
import { type ShareKey, saysShare, shareKeys } from './summary';

/** Two methods on the instances that both selected. */
type MethodComparison = Omit<AdjustedComparison, 'adjusted'>;
type PairedShare = AdjustedComparison['shares'][ShareKey];

interface ComparisonOptions {
  readonly grading?: Grading;
  readonly resampling?: Resampling;
  /** Also compute the intervals of differences, which takes some milliseconds. */
  readonly intervals?: boolean;
}

/**
 * Compares two methods, paired by instance, and tests whether their difference is more than chance.
 */
export function compareMethods(
  first: EvaluatedMethod,
  second: EvaluatedMethod,
  options: ComparisonOptions = {},
): MethodComparison {
  const others = new Set(second.selected.map(({ id }) => id));
  const pairs = first.selected
    .filter(({ id }) => others.has(id))
    .map(({ id }): Pair => ({
      left: figuresOf(first.chosen.get(id), gradingOf(first, options.grading)),
      right: figuresOf(second.chosen.get(id), gradingOf(second, options.grading)),
    }));
  const intervals = options.intervals === true ? bootstrap(pairs, options.resampling) : {};
  const withInterval = (interval: Interval | undefined): { interval?: Interval } =>
    interval === undefined ? {} : { interval };
  const share = (key: ShareKey): PairedShare => {
    if (!saysShare(first, key) || !saysShare(second, key)) return unknownShare;
    const count = (left: boolean, right: boolean): number =>
      pairs.filter((pair) => pair.left[key] === left && pair.right[key] === right).length;
    const onlyFirst = count(true, false);
    const onlySecond = count(false, true);
    return {
      both: count(true, true),
      onlyFirst,
      onlySecond,
      neither: count(false, false),
      difference: pairs.length === 0 ? 0 : (onlyFirst - onlySecond) / pairs.length,
      ...withInterval(intervals[key]),
      p: mcNemar(onlyFirst, onlySecond),
    };
  };
  const differences = pairs.flatMap((pair) => differenceOf(pair) ?? []);
  return {
    first: first.id,
    second: second.id,
    instances: pairs.length,
    shares: {
      wellFormed: share('wellFormed'),
      success: share('success'),
      failToAny: share('failToAny'),
      failToPass: share('failToPass'),
      passToPass: share('passToPass'),
    },
    delta: {
      of: differences.length,
      difference: meanOf(differences),
      ...withInterval(intervals.delta),
      p: signFlips(differences, options.resampling),
    },
  };
}

/** The comparison of a share that one of the methods does not say. */
const unknownShare: PairedShare = {
  ...{ both: 0, onlyFirst: 0, onlySecond: 0, neither: 0 },
  ...{ difference: 0, p: 1 },
};

/** The figures of two methods on one instance. */
interface Pair {
  readonly left: CandidateFigures;
  readonly right: CandidateFigures;
}

/** The difference of ΔC; undefined unless both are known. */
const differenceOf = ({ left, right }: Pair): number | undefined =>
  left.delta === undefined || right.delta === undefined ? undefined : left.delta - right.delta;

/** Percentile intervals of all differences, by the paired bootstrap over instances. */
function bootstrap(
  pairs: readonly Pair[],
  settings: Resampling = {},
): Partial<Record<ShareKey | 'delta', Interval>> {
  const of = pairs.length;
  if (of === 0) return {};
  // Each share takes two bits, one for each method. One more bit says that the difference of ΔC is
  // known.
  const isKnown = 4 ** shareKeys.length;
  const patterns = Uint16Array.from(pairs, (pair) =>
    shareKeys.reduce(
      (code, key, place) =>
        code + 4 ** place * (Number(pair.left[key]) + 2 * Number(pair.right[key])),
      differenceOf(pair) === undefined ? 0 : isKnown,
    ),
  );
  const shares = shareKeys.map((key, place) => ({ key, place, differences: [] as number[] }));
  const deltas: number[] = [];
  resample(
    patterns,
    Float64Array.from(pairs, (pair) => differenceOf(pair) ?? 0),
    (where) => {
      const known = where((pattern) => (pattern & isKnown) !== 0);
      const parts = shares.map(({ place, differences }) => {
        const bits = (pattern: number): number => (pattern >> (2 * place)) & 3;
        const onlyFirst = where((pattern) => bits(pattern) === 1);
        const onlySecond = where((pattern) => bits(pattern) === 2);
        return { onlyFirst, onlySecond, differences };
      });
      return ({ counts, sums }) => {
        for (const { onlyFirst, onlySecond, differences } of parts) {
          differences.push((sumAt(counts, onlyFirst) - sumAt(counts, onlySecond)) / of);
        }
        deltas.push(sumAt(sums, known) / sumAt(counts, known));
      };
    },
    settings,
  );
  const values = [
    ...shares.map(({ key, differences }) => [key, differences] as const),
    ['delta', deltas] as const,
  ];
  return Object.fromEntries(
    values.flatMap(([key, list]) => {
      const interval = percentileInterval(list, settings.level);
      return interval === undefined ? [] : [[key, interval]];
    }),
  );
}

/** Each other method against a baseline. */
export function compareWith(
  baseline: EvaluatedMethod,
  others: readonly EvaluatedMethod[],
  options: ComparisonOptions = {},
): AdjustedComparison[] {
  const all = others.map((other) => compareMethods(other, baseline, options));
  const success = holm(all.map((each) => each.shares.success.p));
  const known = all.flatMap((each) => (each.delta.p === undefined ? [] : [each.delta.p]));
  const delta = holm(known);
  let next = 0;
  return all.map((each, index) => ({
    ...each,
    adjusted: {
      success: success[index] ?? 1,
      delta: each.delta.p === undefined ? undefined : delta[next++],
    },
  }));
}
