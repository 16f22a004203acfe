import * as l10n from '@vscode/l10n';
import type { LineState } from '../../domain/changeCoverage';
import {
  sideName,
  sides,
  type FailedComparison,
  type Side,
  type TestResult,
  type TestTransition,
  type Transition,
} from '../../domain/outcome';
import { functionOf } from '../../domain/testId';
import { hintOn, tellingCase, type HintContext } from './testHints';
import { transitionLook } from './transitionLook';

export { tellingCase } from './testHints';

/**
 * Results of a run by test function, cached since each key stroke needs them once for each test.
 */
const indexed = new WeakMap<readonly TestTransition[], ReadonlyMap<string, TestTransition[]>>();

/** Transitions of all cases of one test function, in the order they ran. */
export function casesOf(
  { tests }: { readonly tests: readonly TestTransition[] },
  test: string,
): TestTransition[] {
  let byFunction = indexed.get(tests);
  if (byFunction === undefined) {
    const made = new Map<string, TestTransition[]>();
    for (const each of tests) {
      const name = functionOf(each.test);
      const known = made.get(name);
      if (known === undefined) made.set(name, [each]);
      else known.push(each);
    }
    indexed.set(tests, made);
    byFunction = made;
  }
  return byFunction.get(test) ?? [];
}

/** `F→P`, or `2 F→P, 1 P→P` for a parametrised test whose cases differ; undefined when it did not run. */
export function transitionLabel(cases: readonly TestTransition[]): string | undefined {
  if (cases.length === 0) return undefined;
  const counts = new Map<Transition, number>();
  for (const each of cases) counts.set(each.transition, (counts.get(each.transition) ?? 0) + 1);
  if (counts.size === 1) return cases[0]?.transition;
  return [...counts].map(([transition, count]) => `${count} ${transition}`).join(', ');
}

/** Symbol and letters, `✓ F→P`, where there is room for no more; undefined when the test did not run. */
export function markText(cases: readonly TestTransition[]): string | undefined {
  const telling = tellingCase(cases);
  const label = transitionLabel(cases);
  return telling === undefined || label === undefined
    ? undefined
    : `${transitionLook[telling.transition].symbol} ${label}`;
}

/**
 * One line of text after a test's definition: symbol, letters, how it failed on R, and words.
 *
 * @param room in characters; a longer text is cut
 */
export function inlineText(
  cases: readonly TestTransition[],
  about: HintContext = {},
  room = Infinity,
): string | undefined {
  const mark = markText(cases);
  if (mark === undefined) return undefined;
  return `${mark}  ${causeText(cases, about, room - mark.length - 2)}`;
}

/** Fewer characters of a cause say nothing. */
const leastCause = 24;
const between = ' · ';

/**
 * The same without symbol and letters, below a lens that begins with them. A doubt is first; the
 * cause is cut where room is short. Words that the letters say too are left out then.
 */
export function causeText(
  cases: readonly TestTransition[],
  about: HintContext = {},
  room = Infinity,
): string | undefined {
  const telling = tellingCase(cases);
  if (telling === undefined) return undefined;
  const { transition } = telling;
  // A test that reproduces the issue fails for a reason that is related to it.
  const isUnrelated = transition !== 'F→P' && hintOn(cases, about)?.kind === 'unrelated failure';
  const doubt = isUnrelated ? `${l10n.t('probably not this issue')}${between}` : '';
  const words = inFewWords(transition);
  const cause = causeOf(telling, Math.max(leastCause, room - doubt.length));
  if (cause === undefined) return `${doubt}${words}`;
  const said = `${doubt}${cause}`;
  const whole = `${said}${between}${words}`;
  return whole.length <= room ? whole : said;
}

function causeOf(telling: TestTransition, room: number): string | undefined {
  for (const side of sides) {
    const space = room - sidePrefixed(side, '').length;
    const failure = failureText(telling[side], Math.min(mostOfFailure, space));
    if (failure !== undefined) return sidePrefixed(side, failure);
  }
  return undefined;
}

/**
 * The text after a test whose text has changed since. The note comes first, where a long line still
 * shows it.
 */
export function staleText(text: string): string {
  return `${l10n.t('out of date, run again')} · ${l10n.t('was {0}', text)}`;
}

const sidePrefixed = (side: Side, text: string): string =>
  side === 'base' ? l10n.t('on R: {0}', text) : l10n.t('on R∘X*: {0}', text);

/** Side and cause of a failure, in this order: `on R: AssertionError: 1 != 2`. */
export function causeOnSide(side: Side, result: TestResult): string {
  const cause =
    failureText(result) ??
    result.exception ??
    (result.outcome === 'error' ? l10n.t('error') : l10n.t('failed'));
  return sidePrefixed(side, cause);
}

/** Short, since it follows a line of code. */
function inFewWords(of: Transition): string {
  switch (of) {
    case 'F→P':
      return l10n.t('reproduces the issue');
    case 'F→F':
      return l10n.t('fails on both sides');
    case 'P→P':
      return l10n.t('passes on R: does not reproduce');
    case 'P→F':
      return l10n.t('fails on R∘X* only');
    case 'F→-':
    case 'P→-':
    case '-→P':
    case '-→F':
    case '-→-':
      return transitionInWords(of);
  }
}

/** A transition in words, for people who do not know the letters. */
export function transitionInWords(of: Transition): string {
  switch (of) {
    case 'F→P':
      return l10n.t('reproduces the issue: fails on R, passes on R∘X*');
    case 'F→F':
      return l10n.t('fails on R and on R∘X*');
    case 'P→P':
      return l10n.t('passes on R: does not reproduce the issue');
    case 'P→F':
      return l10n.t('passes on R, fails on R∘X*');
    case 'F→-':
      return l10n.t('fails on R, did not run on R∘X*');
    case 'P→-':
      return l10n.t('passes on R, did not run on R∘X*');
    case '-→P':
      return l10n.t('did not run on R, passes on R∘X*');
    case '-→F':
      return l10n.t('did not run on R, fails on R∘X*');
    case '-→-':
      return l10n.t('ran on neither side');
  }
}

/** The transition of a success, for a verdict in one line. */
export const successInWords = (): string => l10n.t('reproduces the issue (F→P)');

/** Most characters of a failure in a line of text. */
const mostOfFailure = 120;

/**
 * A failure in one line: both values of a comparison, else the first line of its message; undefined
 * without either.
 *
 * @param room in characters
 */
export function failureText(
  { message, exception, comparison }: TestResult,
  room = mostOfFailure,
): string | undefined {
  if (comparison !== undefined) return comparisonText(comparison, room);
  const lines = message?.split('\n').map((line) => line.replace(/^E\s+/, '').trim()) ?? [];
  // Python names the file of a syntax error first, and says what is wrong last.
  const text =
    lines.find((line) => /^(?:Syntax|Indentation|Tab)Error: /.test(line)) ??
    lines.find((line) => line !== '');
  if (text === undefined) return undefined;
  const named =
    exception === undefined || text.startsWith(exception) ? text : `${exception}: ${text}`;
  return cutText(named, room);
}

/** Characters before the first difference that show where it is. */
const contextOfDifference = 6;

/**
 * Both values of a failed comparison in one line: whole where they fit, else the part of each where
 * they begin to differ.
 *
 * @param room in characters
 */
function comparisonText(comparison: FailedComparison, room: number): string {
  const expected = inOneLine(comparison.expected);
  const actual = inOneLine(comparison.actual);
  const said = (one: string, other: string): string => l10n.t('expected {0}, got {1}', one, other);
  const whole = said(expected, actual);
  if (whole.length <= room) return whole;
  const left = room - said('', '').length;
  const half = Math.floor(left / 2);
  const from = Math.max(0, firstDifference(expected, actual) - contextOfDifference);
  const [one, other] = [tail(expected, from), tail(actual, from)];
  const short = cutText(one, Math.max(half, left - other.length));
  return said(short, cutText(other, Math.max(half, left - short.length)));
}

const inOneLine = (value: string): string => value.replaceAll(/\s+/g, ' ').trim();

/** A value of which only the beginning is equal has a mark in place of that. */
const tail = (value: string, from: number): string =>
  from === 0 ? value : `…${value.slice(from).replace(/^[\uDC00-\uDFFF]/, '')}`;

function firstDifference(one: string, other: string): number {
  let at = 0;
  while (at < one.length && one[at] === other[at]) at += 1;
  return at;
}

/** Cuts between characters, never within a pair of surrogates. */
function cutText(text: string, most: number): string {
  if (text.length <= most) return text;
  return `${text
    .slice(0, most - 1)
    .replace(/[\uD800-\uDBFF]$/, '')
    .trimEnd()}…`;
}

/** An outcome in words: `failed on R in 0.01 s`. */
export function outcomeInWords(side: Side, result: TestResult): string {
  const said = onSide(side, result);
  const { seconds } = result;
  if (seconds === undefined) return said;
  return seconds < 0.005
    ? l10n.t('{0} in less than 0.01 s', said)
    : l10n.t('{0} in {1} s', said, seconds.toFixed(2));
}

function onSide(side: Side, { outcome }: TestResult): string {
  const where = sideName[side];
  switch (outcome) {
    case 'passed':
      return l10n.t('passed on {0}', where);
    case 'failed':
      return l10n.t('failed on {0}', where);
    case 'error':
      return l10n.t('error on {0}', where);
    case 'skipped':
      return l10n.t('skipped on {0}', where);
    case 'xfailed':
      return l10n.t('failed as expected on {0}', where);
    case 'xpassed':
      return l10n.t('passed on {0}, though it was expected to fail', where);
    case 'missing':
      return l10n.t('did not run on {0}', where);
  }
}

export const stateSymbol: Readonly<Record<LineState, string>> = {
  'newly covered': '✓',
  'already covered': '=',
  missed: '✗',
  'not executable': '·',
};
