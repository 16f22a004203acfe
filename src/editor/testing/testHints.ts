import {
  isNamedByIssue,
  type TestTransition,
  type StackFrame,
  type TestResult,
} from '../../domain/outcome';
import { fileOf } from '../../domain/testId';
import { isTestPath } from '../../patch/testFiles';
import { unrelatedFailure, type UnrelatedFailure } from '../../evaluation/unrelatedFailure';

/** Why a test of the candidate does not reproduce the issue, or may do so for a wrong reason. */
export type TestHint =
  | { readonly kind: 'passes on R' }
  | { readonly kind: 'fails on both sides' }
  /** Does not fail on R, and fails on R∘X*. */
  | { readonly kind: 'fails on R∘X* only' }
  /**
   * Fails on R for a reason that looks unrelated. `both`: on R∘X* too, so that the test is of no
   * use.
   */
  | {
      readonly kind: 'unrelated failure';
      readonly failure: UnrelatedFailure;
      readonly both: boolean;
    };

/** What a hint heeds besides the results of its test. */
export interface HintContext {
  /** Text of the issue; undefined while it is not read. */
  readonly issue?: string | undefined;
  /** Whether the candidate is a success, so that none of its failures needs an excuse. */
  readonly success?: boolean | undefined;
}

/** The most informative case of a test: a failure after the fix, else one that reproduces. */
export function tellingCase(cases: readonly TestTransition[]): TestTransition | undefined {
  return (
    cases.find((each) => each.transition.endsWith('F')) ??
    cases.find((each) => each.transition === 'F→P') ??
    cases[0]
  );
}

/**
 * The hint for an author on a test of the candidate.
 *
 * @param cases of one test function
 * @param about a failure that the issue names never looks unrelated to it
 * @returns undefined when the test appears to reproduce the issue, or did not run on a side
 */
export function hintOn(
  cases: readonly TestTransition[],
  about: HintContext = {},
): TestHint | undefined {
  const telling = tellingCase(cases);
  if (telling === undefined) return undefined;
  const both = telling.transition === 'F→F';
  const failure = unrelatedTo(about, telling);
  if (failure !== undefined) return { kind: 'unrelated failure', failure, both };
  switch (telling.transition) {
    case 'P→P':
      return { kind: 'passes on R' };
    case 'F→F':
      return { kind: 'fails on both sides' };
    case 'P→F':
    case '-→F':
      return { kind: 'fails on R∘X* only' };
    case 'F→P':
    case 'F→-':
    case 'P→-':
    case '-→P':
    case '-→-':
      return undefined;
  }
}

/** How a test fails on R, if that looks unrelated to the issue. */
function unrelatedTo(
  { issue, success }: HintContext,
  { transition, base, fixed }: TestTransition,
): UnrelatedFailure | undefined {
  const failure = unrelatedFailure(base);
  if (failure === undefined) return undefined;
  if (issue !== undefined && isNamedByIssue(issue, base)) return undefined;
  // On R∘X* it may fail for another reason, which then matters more.
  if (transition === 'F→F') {
    return unrelatedFailure(fixed)?.reason === failure.reason ? failure : undefined;
  }
  // What R lacks and the issue does not name may be a guess at the fix, also in a success.
  const isGuess = failure.reason === 'import error' || failure.reason === 'undefined name';
  return success === true && !isGuess ? undefined : failure;
}

/**
 * The innermost frame of a failure in the test's own file: the line of the assertion, or of the
 * call that raised. Undefined when no frame is in that file.
 */
export function failureFrameInTest(result: TestResult): StackFrame | undefined {
  const file = fileOf(result.test);
  return result.frames?.findLast((frame) => frame.path === file && frame.line > 0);
}

/**
 * The innermost frame of a failure outside the tests, in the code under test. Undefined when no such frame
 * is known, as for a failed assertion of the test itself.
 */
export function failureFrameInCode(result: TestResult): StackFrame | undefined {
  return result.frames?.findLast((frame) => !isTestPath(frame.path) && frame.line > 0);
}
