import {
  failingWrongTests,
  ratesOfInstance,
  type PopulationSize,
  type PublishedRates,
} from './publishedRates';
import type { Drawn, JudgedCandidate } from './selectionRules';

/** Tests and fixes of one instance, all of which have run with each other. */
export interface TestPool {
  readonly id: string;
  /** The votes are for the fixes of the pool, in their order. */
  readonly tests: readonly (JudgedCandidate & { readonly kind: string })[];
  /** Whether each fix is right: T* accepts it. */
  readonly rightFixes: readonly boolean[];
}

/** A pool with its tests and fixes sorted by what a population has shares of. */
export interface SortedPool {
  readonly right: readonly JudgedCandidate[];
  readonly wrong: {
    readonly failing: readonly JudgedCandidate[];
    readonly passing: readonly JudgedCandidate[];
  };
  /** Numbers of fixes. */
  readonly fixes: { readonly right: readonly number[]; readonly wrong: readonly number[] };
}

/** @throws Error where the pool has no right or no wrong test, or no right or no wrong fix */
export function sortedPool({ id, tests, rightFixes }: TestPool): SortedPool {
  const wrong = tests.filter(({ isRight }) => !isRight);
  const fixes = [...rightFixes.keys()];
  const sorted = {
    right: tests.filter(({ isRight }) => isRight),
    wrong: {
      failing: wrong.filter(({ fails }) => fails),
      passing: wrong.filter(({ fails }) => !fails),
    },
    fixes: {
      right: fixes.filter((fix) => rightFixes[fix] === true),
      wrong: fixes.filter((fix) => rightFixes[fix] !== true),
    },
  };
  const { right, wrong: wrongFixes } = sorted.fixes;
  if ([sorted.right, wrong, right, wrongFixes].some((part) => part.length === 0)) {
    throw new Error(`${id} has nothing to choose between`);
  }
  return sorted;
}

/** A pool of the same sizes, drawn with replacement from each part of it. */
export function resampledPool(
  { right, wrong, fixes }: SortedPool,
  random: () => number,
): SortedPool {
  const again = <T>(all: readonly T[]): readonly T[] => all.map(() => oneOf(all, random));
  return {
    right: again(right),
    wrong: { failing: again(wrong.failing), passing: again(wrong.passing) },
    fixes: { right: again(fixes.right), wrong: again(fixes.wrong) },
  };
}

/**
 * Draws tests and fixes of a pool with replacement, with the published shares of right ones. Half of
 * the wrong tests fail on R, where the pool has both kinds.
 */
export function populationOf(
  { right, wrong, fixes }: SortedPool,
  rates: PublishedRates,
  size: PopulationSize,
  random: () => number,
): Drawn {
  const rate = ratesOfInstance(rates, random);
  const drawn = Array.from({ length: size.fixes }, () =>
    oneOf(random() < rate.fixes ? fixes.right : fixes.wrong, random),
  );
  const test = (): JudgedCandidate => {
    if (random() < rate.tests) return oneOf(right, random);
    const { failing, passing } = wrong;
    const isFailing = passing.length === 0 || (failing.length > 0 && random() < failingWrongTests);
    return oneOf(isFailing ? failing : passing, random);
  };
  const candidates = Array.from({ length: size.tests }, () => {
    const each = test();
    return { ...each, accepts: drawn.map((fix) => each.accepts[fix] === true) };
  });
  return { candidates };
}

/** @param all not empty */
export const oneOf = <T>(all: readonly T[], random: () => number): T =>
  all[Math.floor(random() * all.length)] as T;
