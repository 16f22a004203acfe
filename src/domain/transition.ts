import { standing, type Outcome, type Standing, type TestResult } from './outcome';

/**
 * How one test went from R to R∘X*. The first letter is R, the second R∘X*: F fails, P passes,
 * `-` neither (skipped, missing, or failed as expected).
 */
export type Transition = 'F→P' | 'F→F' | 'P→P' | 'P→F' | 'F→-' | 'P→-' | '-→P' | '-→F' | '-→-';

const letters: Readonly<Record<Standing, 'F' | 'P' | '-'>> = {
  fails: 'F',
  passes: 'P',
  neither: '-',
};

export function transition(base: Outcome, fixed: Outcome): Transition {
  return `${letters[standing(base)]}→${letters[standing(fixed)]}`;
}

/** A transition in words, for people who do not know the letters. */
export function transitionInWords(of: Transition): string {
  switch (of) {
    case 'F→P':
      return 'reproduces the issue: fails on R, passes on R∘X*';
    case 'F→F':
      return 'fails on R and on R∘X*';
    case 'P→P':
      return 'passes on R: does not reproduce the issue';
    case 'P→F':
      return 'passes on R, fails on R∘X*';
    case 'F→-':
      return 'fails on R, did not run on R∘X*';
    case 'P→-':
      return 'passes on R, did not run on R∘X*';
    case '-→P':
      return 'did not run on R, passes on R∘X*';
    case '-→F':
      return 'did not run on R, fails on R∘X*';
    case '-→-':
      return 'ran on neither side';
  }
}

/** One test on both sides. */
export interface TestTransition {
  readonly test: string;
  readonly transition: Transition;
  readonly base: TestResult;
  readonly fixed: TestResult;
}

/**
 * Pairs the results of two runs by test id, in the order in which the ids first appear, R first.
 * A test absent on a side is `missing` there.
 */
export function pairResults(
  base: readonly TestResult[],
  fixed: readonly TestResult[],
): TestTransition[] {
  const onBase = new Map(base.map((result) => [result.test, result]));
  const onFixed = new Map(fixed.map((result) => [result.test, result]));
  const ids = new Set([...onBase.keys(), ...onFixed.keys()]);
  return [...ids].map((test) => {
    const before = onBase.get(test) ?? { test, outcome: 'missing' as const };
    const after = onFixed.get(test) ?? { test, outcome: 'missing' as const };
    return {
      test,
      transition: transition(before.outcome, after.outcome),
      base: before,
      fixed: after,
    };
  });
}
