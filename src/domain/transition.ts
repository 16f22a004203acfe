import { functionOf, standing, type Outcome, type Standing, type TestResult } from './outcome';

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

/**
 * Parts of an id that say nothing but when and where a run took place: addresses in memory, UUIDs
 * and other long hexadecimal numbers, clocks, and names that
 * `tempfile` makes. Shorter numbers may tell two cases apart.
 */
const ofOneRun =
  /0x[0-9a-f]+|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|(?<![0-9a-z])(?=[a-f]*\d)[0-9a-f]{8,}|\d{8,}|\btmp[a-z0-9_]{8}\b/gi;

const withoutRun = (id: string): string => id.replace(ofOneRun, '#');

/**
 * The names in `known` of tests that have other names in a second run, since their ids hold what
 * differs between two runs: the `repr` of an object, a time, a temporary folder. Two ids are those of
 * one test if nothing else differs, or else if they are the same case, by position, of a function
 * that has equally many. Ids that both runs have are not changed.
 *
 * @param known ids of the first run, in the order of its tests
 * @param ids ids of the second run, in the order of its tests
 * @returns the known id for each id that changed and that can be told
 */
export function matchChangedNames(
  known: Iterable<string>,
  ids: Iterable<string>,
): ReadonlyMap<string, string> {
  const [before, after] = [new Set(known), new Set(ids)];
  const gone = new Set([...before].filter((id) => !after.has(id)));
  const appeared = gone.size === 0 ? [] : [...after].filter((id) => !before.has(id));
  const found = new Map<string, string>();
  if (appeared.length === 0) return found;
  const add = (id: string, name: string): void => {
    if (!gone.delete(name)) return;
    found.set(id, name);
  };
  const shapes = groupedBy(gone, withoutRun);
  for (const [shape, those] of groupedBy(appeared, withoutRun)) {
    const these = shapes.get(shape);
    if (these?.length === those.length) those.forEach((id, at) => add(id, these[at] ?? ''));
  }
  // An id without a case may stand for all of them, such as that of an error in collection.
  const isCase = (id: string): boolean => functionOf(id) !== id;
  const cases = groupedBy([...before].filter(isCase), functionOf);
  for (const [name, those] of groupedBy([...after].filter(isCase), functionOf)) {
    const these = cases.get(name);
    if (these?.length !== those.length) continue;
    those.forEach((id, at) => {
      if (!before.has(id) && !found.has(id)) add(id, these[at] ?? '');
    });
  }
  return found;
}

/**
 * Functions that have cases on each side which the other one lacks, after what `matchChangedNames`
 * could match. Which of them are the same test cannot be told.
 */
export function functionsWithUnmatchedCases(tests: readonly TestTransition[]): string[] {
  const only = (side: 'base' | 'fixed', other: 'base' | 'fixed'): string[] =>
    tests
      .filter((each) => each[side].outcome !== 'missing' && each[other].outcome === 'missing')
      .map(({ test }) => functionOf(test));
  const onFixed = new Set(only('fixed', 'base'));
  return [...new Set(only('base', 'fixed'))].filter((name) => onFixed.has(name));
}

function groupedBy(
  ids: Iterable<string>,
  keyOf: (id: string) => string,
): ReadonlyMap<string, string[]> {
  const groups = new Map<string, string[]>();
  for (const id of ids) {
    const key = keyOf(id);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [id]);
    else group.push(id);
  }
  return groups;
}
