import type { LineState } from '../domain/changeCoverage';
import { functionOf, sideName, type Side, type TestResult } from '../domain/outcome';
import type { TestTransition, Transition } from '../domain/transition';

/** Transitions of all cases of one test function, in the order they ran. */
export function casesOf(
  result: { readonly tests: readonly TestTransition[] },
  test: string,
): TestTransition[] {
  return result.tests.filter((each) => functionOf(each.test) === test);
}

/** `F→P`, or `2 F→P, 1 P→P` for a parametrised test whose cases differ; undefined when it did not run. */
export function transitionLabel(cases: readonly TestTransition[]): string | undefined {
  if (cases.length === 0) return undefined;
  const counts = new Map<Transition, number>();
  for (const each of cases) counts.set(each.transition, (counts.get(each.transition) ?? 0) + 1);
  if (counts.size === 1) return cases[0]?.transition;
  return [...counts].map(([transition, count]) => `${count} ${transition}`).join(', ');
}

/** The case that says most about the test: a failure after the fix, else one that reproduces. */
export function tellingCase(cases: readonly TestTransition[]): TestTransition | undefined {
  return (
    cases.find((each) => each.transition.endsWith('F')) ??
    cases.find((each) => each.transition === 'F→P') ??
    cases[0]
  );
}

/** One line of text after a test's definition: symbol, letters, words, and how it failed on R. */
export function inlineText(cases: readonly TestTransition[]): string | undefined {
  const telling = tellingCase(cases);
  const label = transitionLabel(cases);
  if (telling === undefined || label === undefined) return undefined;
  const message = firstLine(telling.base);
  const failure = message === undefined ? '' : ` · on R: ${message}`;
  return `${symbol(telling.transition)} ${label}  ${inFewWords[telling.transition]}${failure}`;
}

/** Short, since it stands behind a line of code. */
const inFewWords: Readonly<Record<Transition, string>> = {
  'F→P': 'reproduces the issue',
  'F→F': 'fails on both sides',
  'P→P': 'passes on R: does not reproduce',
  'P→F': 'fails on R∘X* only',
  'F→-': 'fails on R, did not run on R∘X*',
  'P→-': 'passes on R, did not run on R∘X*',
  '-→P': 'did not run on R, passes on R∘X*',
  '-→F': 'did not run on R, fails on R∘X*',
  '-→-': 'ran on neither side',
};

export function symbol(transition: Transition): string {
  return transition === 'F→P'
    ? '✓'
    : transition === 'P→P'
      ? '○'
      : transition.includes('F')
        ? '✗'
        : '–';
}

/** The first line of a failure, short enough for the end of a line of code. */
export function firstLine(result: TestResult): string | undefined {
  const text = result.message?.split('\n').find((line) => line.trim() !== '');
  if (text === undefined) return undefined;
  const named =
    result.exception === undefined || text.startsWith(result.exception)
      ? text.trim()
      : `${result.exception}: ${text.trim()}`;
  return named.length > 90 ? `${named.slice(0, 89)}…` : named;
}

/** An outcome in words: `failed on R in 0.01 s`. */
export function outcomeInWords(side: Side, result: TestResult): string {
  const time = result.seconds === undefined ? '' : ` in ${result.seconds.toFixed(2)} s`;
  return `${result.outcome} on ${sideName[side]}${time}`;
}

export const stateSymbol: Readonly<Record<LineState, string>> = {
  'newly covered': '✓',
  'already covered': '=',
  missed: '✗',
  'not executable': '·',
};
