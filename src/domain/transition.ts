import { standing, type Outcome, type Standing, type TestResult } from './outcome';

/**
 * The transition of one test from R to R∘X*. The first letter is for R, the second for R∘X*: F
 * fails, P passes, `-` neither (skipped, missing, or failed as expected).
 */
export const transitions = ['F→P', 'F→F', 'P→P', 'P→F', 'F→-', 'P→-', '-→P', '-→F', '-→-'] as const;
export type Transition = (typeof transitions)[number];

/** The letter of a transition for each standing. */
export const letterOf: Readonly<Record<Standing, 'F' | 'P' | '-'>> = {
  fails: 'F',
  passes: 'P',
  neither: '-',
};

export function transition(base: Outcome, fixed: Outcome): Transition {
  return `${letterOf[standing(base)]}→${letterOf[standing(fixed)]}`;
}

/**
 * A transition in words, for people who do not know the letters. The editor has the same words as
 * literals for translation, and a test checks that both are equal.
 */
export const transitionWords: Readonly<Record<Transition, string>> = {
  'F→P': 'reproduces the issue: fails on R, passes on R∘X*',
  'F→F': 'fails on R and on R∘X*',
  'P→P': 'passes on R: does not reproduce the issue',
  'P→F': 'passes on R, fails on R∘X*',
  'F→-': 'fails on R, did not run on R∘X*',
  'P→-': 'passes on R, did not run on R∘X*',
  '-→P': 'did not run on R, passes on R∘X*',
  '-→F': 'did not run on R, fails on R∘X*',
  '-→-': 'ran on neither side',
};

/** One test on both sides. */
export interface TestTransition {
  readonly test: string;
  readonly transition: Transition;
  readonly base: TestResult;
  readonly fixed: TestResult;
}

/**
 * Pairs the results of two runs by test id. Ids are in the order of their first appearance, R
 * first. A test absent on a side is `missing` there.
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
