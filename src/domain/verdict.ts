import { isBelow, functionOf } from './testId';
import {
  isNamedByIssue,
  sides,
  standing,
  syntaxErrorOf,
  unrelatedReason,
  functionsWithUnmatchedCases,
  type TestTransition,
} from './outcome';
import { listed, plural } from './text';

/** The strict grade of one candidate on one instance (the paper's definitions, section 3). */
export interface Verdict {
  readonly success: boolean;
  /** The first that holds, in the order in which `gradeStrict` checks. */
  readonly reason: VerdictReason;
  /** One sentence for the user. */
  readonly explanation: string;
  /** W: the candidate patch applies to R. */
  readonly wellFormed: boolean;
  /**
   * Tests of the candidate by transition, without the tests of T^R whose transition stays the same.
   */
  readonly failToPass: readonly string[];
  readonly failToFail: readonly string[];
  readonly passToPass: readonly string[];
  readonly passToFail: readonly string[];
  /** F→×: tests of the candidate that fail on R, with any outcome on R∘X*. */
  readonly failToAny: readonly string[];
  /** ×→F: tests that fail on R∘X* and did not without the candidate. One prevents success. */
  readonly anyToFail: readonly string[];
}

export interface StrictEvidence {
  /** Transitions of the touched files with the candidate, from R+T to R∘X*+T. */
  readonly candidate: readonly TestTransition[];
  /** Transitions of the same files without the candidate, from R to R∘X*. */
  readonly base: readonly TestTransition[];
  /** Functions (ids without parameters) that the candidate adds or changes. */
  readonly ownFunctions: ReadonlySet<string>;
  /** Text of the issue: a failure that it names never looks unrelated to it. */
  readonly issue?: string | undefined;
  /** Set if a run of the candidate was stopped, so that its results are incomplete. */
  readonly stopped?: {
    readonly reason: Limit;
    readonly explanation: string;
  };
  /** How a test ended the run on R∘X*, and what did not run because of it; absent where none did. */
  readonly brokenOff?: string | undefined;
  /** Contradictions between records of the candidate's runs, a sentence each. */
  readonly contradictions?: readonly string[];
}

/**
 * Strict grading. Success is at least one F→P and no ×→F. The candidate answers for the tests that
 * it adds or changes, and for tests of the touched files whose transition it changes. It does not
 * answer for another test that already failed on R∘X*, or already went F→P, without it.
 */
export function gradeStrict(evidence: StrictEvidence): Verdict {
  const before = new Map(evidence.base.map((each) => [each.test, each]));
  const own = (each: TestTransition): boolean =>
    evidence.ownFunctions.has(functionOf(each.test)) ||
    [...evidence.ownFunctions].some((name) => isBelow(name, each.test));
  const answerable = evidence.candidate.filter(
    (each) => own(each) || before.get(each.test)?.transition !== each.transition,
  );
  const failsAfter = (each: TestTransition | undefined): boolean =>
    each !== undefined && standing(each.fixed.outcome) === 'fails';

  const ids = (list: readonly TestTransition[]): string[] => list.map((each) => each.test);
  const failToPassing = answerable.filter((each) => each.transition === 'F→P');
  const failToFailing = answerable.filter((each) => each.transition === 'F→F');
  const failToAny = answerable.filter((each) => standing(each.base.outcome) === 'fails');
  const anyToFailing = answerable.filter(
    (each) => failsAfter(each) && (own(each) || !failsAfter(before.get(each.test))),
  );
  const passToPass = evidence.candidate.filter((each) => own(each) && each.transition === 'P→P');

  const ownFailing = anyToFailing.filter((each) => each.transition === 'F→F' && own(each));
  const lists = { ownFailing, failToPassing, anyToFailing, failToAny, passToPass };
  const { reason, explanation } = reasonOf(evidence, lists);
  return {
    success: reason === 'success',
    reason,
    explanation: `${explanation}${aboutNames(reason, answerable)}`,
    wellFormed: true,
    failToPass: ids(failToPassing),
    failToFail: ids(failToFailing),
    passToPass: ids(passToPass),
    passToFail: ids(answerable.filter((each) => each.transition === 'P→F')),
    failToAny: ids(failToAny),
    anyToFail: ids(anyToFailing),
  };
}

/** The first reason that holds. */
function reasonOf(
  { stopped, brokenOff, contradictions = [], issue }: StrictEvidence,
  {
    ownFailing,
    failToPassing,
    anyToFailing,
    failToAny,
    passToPass,
  }: Readonly<
    Record<
      'ownFailing' | 'failToPassing' | 'anyToFailing' | 'failToAny' | 'passToPass',
      readonly TestTransition[]
    >
  >,
): Pick<Verdict, 'reason' | 'explanation'> {
  const [broken] = anyToFailing;
  if (stopped !== undefined) return stopped;
  const [contradiction] = contradictions;
  if (contradiction !== undefined) {
    const explanation = `the run's records contradict each other: ${contradiction}`;
    return { reason: 'unsound', explanation };
  }
  const unparsed = whatIsNotPython(anyToFailing);
  if (unparsed !== undefined) return { reason: 'syntax error', explanation: unparsed };
  if (failToPassing.length > 0 && broken === undefined) {
    const explanation = `${reproducing(failToPassing.length)}; none fail with the fix`;
    return { reason: 'success', explanation };
  }
  if (failToPassing.length > 0 && ownFailing.length === anyToFailing.length) {
    const explanation = whatFails(ownFailing, failToPassing.length);
    return { reason: 'fails on both sides', explanation };
  }
  if (broken !== undefined && (failToPassing.length > 0 || broken.transition !== 'F→F')) {
    return { reason: 'breaks a test', explanation: whatBreaks(anyToFailing, failToPassing.length) };
  }
  if (broken !== undefined) {
    const unrelated = unrelatedReason(broken.base);
    const isNamed = issue !== undefined && isNamedByIssue(issue, broken.base);
    if (unrelated !== undefined && !isNamed) {
      const explanation = `${broken.test} fails on both sides, probably not because of this issue (${unrelated})`;
      return { reason: 'unrelated failure', explanation };
    }
    const explanation =
      brokenOff === undefined
        ? `${broken.test} still fails with the fix: it expects something the fix does not do`
        : `with the fix too, ${brokenOff}`;
    return { reason: 'fails on both sides', explanation };
  }
  if (passToPass.length > 0) {
    const rest =
      failToAny.length === 0
        ? '; none fail on R'
        : '; those that fail on R do not run with the fix';
    const explanation = `${plural(passToPass.length, 'test')} ${passToPass.length === 1 ? 'passes' : 'pass'} on both sides${rest}`;
    return { reason: 'passes on R', explanation };
  }
  const explanation = 'no test has a pass or fail result on both sides';
  return { reason: 'no test ran', explanation };
}

/** The first file of the broken tests that Python cannot read. */
function whatIsNotPython(broken: readonly TestTransition[]): string | undefined {
  const [fault] = broken.flatMap((each) =>
    sides.flatMap((side) => syntaxErrorOf(each[side]) ?? []),
  );
  if (fault === undefined) return undefined;
  const problem = fault.problem === '' ? '' : ` (${fault.problem})`;
  return `${fault.path}:${fault.line} is not valid Python${problem}, so none of the file's tests ran`;
}

/** `2 tests reproduce the issue`. */
const reproducing = (count: number): string =>
  `${plural(count, 'test')} ${count === 1 ? 'reproduces' : 'reproduce'} the issue`;

/** Explains outcomes that may be missing because the names of cases change. */
function aboutNames(reason: VerdictReason, tests: readonly TestTransition[]): string {
  if (reason === 'success' || reason === 'unsound' || isLimit(reason)) return '';
  const [first, ...more] = functionsWithUnmatchedCases(tests);
  if (first === undefined) return '';
  const further = more.length === 0 ? '' : ` and ${more.length} more`;
  return `; the parameters in the test IDs of ${first}${further} change between runs, so the sides cannot be compared`;
}

/** Maximum number of tests that an explanation names. */
const mostNamed = 3;

/** The candidate's own tests that fail on both sides: they neither break nor reproduce anything. */
function whatFails(own: readonly TestTransition[], failToPass: number): string {
  const fail = own.length === 1 ? 'fails' : 'fail';
  const names = listed(
    own.map(({ test }) => test),
    mostNamed,
  );
  return `${plural(own.length, 'new or changed test')} still ${fail} with the fix: ${names}; ${reproducing(failToPass)}`;
}

/**
 * Counts and names the tests that fail with the fix, and those that go F→P: `2 tests fail with
 * the fix: a (P→F), b (F→F); 1 test reproduces the issue`.
 */
function whatBreaks(broken: readonly TestTransition[], failToPass: number): string {
  const names = listed(
    broken.map(({ test, transition }) => `${test} (${transition})`),
    mostNamed,
  );
  const fail = broken.length === 1 ? 'fails' : 'fail';
  return [
    `${plural(broken.length, 'test')} ${fail} with the fix: ${names}`,
    ...(failToPass > 0 ? [`; ${reproducing(failToPass)}`] : []),
  ].join('');
}

/** The verdict on a candidate that did not run. */
export function ungraded(reason: VerdictReason, explanation: string, wellFormed: boolean): Verdict {
  return {
    success: false,
    reason,
    explanation,
    wellFormed,
    failToPass: [],
    failToFail: [],
    passToPass: [],
    passToFail: [],
    failToAny: [],
    anyToFail: [],
  };
}

/** Limits on a run. A run that exceeds one is stopped. */
export const limits = [
  'timed out',
  'too many processes',
  'too much output',
  'out of memory',
  'disk full',
] as const;
export type Limit = (typeof limits)[number];

export const isLimit = (word: string): word is Limit =>
  (limits as readonly string[]).includes(word);

/** Why there is no grade at all. `no report`: a published run has none of the candidate. */
export const notEvaluatedReasons = [
  'no prediction',
  'source not available',
  'environment failed',
  'instance cannot be used',
  'internal error',
  'no report',
] as const;
export type NotEvaluatedReason = (typeof notEvaluatedReasons)[number];

/** A published run says that the candidate is no success, and not why. */
const unresolved = 'not resolved';

/**
 * The one reason that every entry has: how it was graded, or why it was not. Tables show them in
 * this order.
 */
export const entryReasons = [
  'success',
  'no candidate',
  'does not apply',
  'edits outside tests',
  'no test found',
  'syntax error',
  'passes on R',
  'fails on both sides',
  'unrelated failure',
  'breaks a test',
  'no test ran',
  'could not run',
  ...limits,
  'unsound',
  unresolved,
  ...notEvaluatedReasons,
] as const;
export type EntryReason = (typeof entryReasons)[number];

/**
 * Why a candidate is, or is not, a success under strict grading. The other reasons come only from
 * batches and published runs.
 */
export type VerdictReason = Exclude<
  EntryReason,
  NotEvaluatedReason | 'edits outside tests' | typeof unresolved
>;

const ofBatches: readonly EntryReason[] = [
  'edits outside tests',
  unresolved,
  ...notEvaluatedReasons,
];

export const verdictReasons = entryReasons.filter(
  (reason): reason is VerdictReason => !ofBatches.includes(reason),
);
