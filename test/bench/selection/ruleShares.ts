import {
  meanOf,
  percentileInterval,
  resample,
  type Interval,
} from '../../../src/study/measures/resampling';
import {
  selectionRuleNames,
  selectionRules,
  type Drawn,
  type SelectionRuleName,
} from './selectionRules';
import { oneOf, resampledPool, type SortedPool } from './testPool';

/** How often a rule chooses a test that goes F→P, from 0 to 1. */
export interface RuleShare {
  readonly share: number;
  /** Of 95 %. */
  readonly interval: Interval;
}

/** The shares of all rules, and how much agreement is above each. */
export interface RuleShares {
  readonly rules: Readonly<Record<SelectionRuleName, RuleShare>>;
  readonly gains: Readonly<Record<SelectionRuleName, RuleShare>>;
}

type Random = () => number;
type ByRule<T> = Record<SelectionRuleName, T>;

const byRule = <T>(of: (rule: SelectionRuleName) => T): ByRule<T> =>
  Object.fromEntries(selectionRuleNames.map((rule) => [rule, of(rule)])) as ByRule<T>;

/** For each rule and draw, 1 where it chooses a right test. */
function hitsOf(draws: readonly Drawn[], random: Random): ByRule<number[]> {
  return byRule((rule) =>
    draws.map((drawn) =>
      Number(drawn.candidates[selectionRules[rule](drawn, random)]?.isRight === true),
    ),
  );
}

const above = (ones: readonly number[], others: readonly number[]): number[] =>
  ones.map((one, index) => one - (others[index] ?? 0));

/** Shares over independent draws, with intervals of the bootstrap over draws. */
export function sharesOfDraws(draws: readonly Drawn[], random: Random): RuleShares {
  const hits = hitsOf(draws, random);
  const shareOf = (values: readonly number[]): RuleShare => {
    const means: number[] = [];
    resample(
      new Uint16Array(values.length),
      Float64Array.from(values),
      () =>
        ({ sums: [sum = 0] }) =>
          means.push(sum / values.length),
    );
    return { share: meanOf(values) ?? 0, interval: percentileInterval(means) ?? [0, 0] };
  };
  return {
    rules: byRule((rule) => shareOf(hits[rule])),
    gains: byRule((rule) => shareOf(above(hits.agreement, hits[rule]))),
  };
}

/** Resamples of the pools, and draws from each. */
const bootstrap = { resamples: 200, draws: 1000 } as const;

/**
 * Shares over draws from pools, each of which counts as much as the others. The intervals are of a
 * bootstrap over instances, and over the tests and fixes of each: draws alone could be as many as
 * one likes, and say nothing of other instances.
 */
export function sharesOfPools(
  pools: readonly SortedPool[],
  { draws, draw }: { readonly draws: number; readonly draw: (pool: SortedPool) => Drawn },
  random: Random,
): RuleShares {
  const meansOf = (from: readonly SortedPool[], count: number): ByRule<number> => {
    const drawn = Array.from({ length: count }, () => draw(oneOf(from, random)));
    const hits = hitsOf(drawn, random);
    return byRule((rule) => meanOf(hits[rule]) ?? 0);
  };
  const means = meansOf(pools, draws);
  const others = Array.from({ length: bootstrap.resamples }, () =>
    meansOf(
      pools.map(() => resampledPool(oneOf(pools, random), random)),
      bootstrap.draws,
    ),
  );
  const shareOf = (of: (each: ByRule<number>) => number): RuleShare => ({
    share: of(means),
    interval: percentileInterval(others.map(of)) ?? [0, 0],
  });
  return {
    rules: byRule((rule) => shareOf((each) => each[rule])),
    gains: byRule((rule) => shareOf((each) => each.agreement - each[rule])),
  };
}
