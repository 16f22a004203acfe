import {
  isNamedByIssue,
  type TestTransition,
  type StackFrame,
  type TestResult,
} from '../../domain/outcome';
import { fileOf } from '../../domain/testId';
import { isTestPath } from '../../patch/testFiles';
import { unrelatedFailure, type UnrelatedFailure } from '../../evaluation/unrelatedFailure';
import * as l10n from '@vscode/l10n';

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

/** Advice for a test that passes on R. */
const assertTheIssue = (): string =>
  l10n.t('Assert what the issue says should happen, so that the test fails on R.');

/** The advice of a hint, for a place that already shows the result of the test. */
export function adviceOn(hint: TestHint): string {
  return hint.kind === 'passes on R' ? assertTheIssue() : hintInWords(hint);
}

/** What is wrong with a test, and what to do about it. */
export function hintInWords(hint: TestHint): string {
  switch (hint.kind) {
    case 'passes on R':
      return l10n.t('Passes on R: does not reproduce the issue. {0}', assertTheIssue());
    case 'fails on both sides':
      return l10n.t(
        'Fails on both sides: it expects something that the fix does not do. Compare the test output of both sides, and assert only what the issue asks for.',
      );
    case 'fails on R∘X* only':
      return l10n.t(
        'Fails on R∘X* only: it depends on behaviour that the fix changes. Assert what the issue asks for.',
      );
    case 'unrelated failure':
      return hint.both ? brokenInWords(hint.failure) : missingOnRInWords(hint.failure);
  }
}

/** Explains a test that fails on both sides and seems to be faulty itself. */
function brokenInWords({ reason, missing, importedBy }: UnrelatedFailure): string {
  const what = missing ?? l10n.t('something that it uses');
  switch (reason) {
    case 'import error':
      if (importedBy !== undefined) {
        return l10n.t(
          'Fails on both sides because {0}, which {1} needs, is not installed. The test is not the cause. Install it where the tests run, or create an environment for this instance.',
          what,
          importedBy,
        );
      }
      return l10n.t(
        'Fails on both sides with an import error that is probably not this issue: {0} cannot be imported. Import something that R has.',
        what,
      );
    case 'syntax error':
      return l10n.t(
        'Fails on both sides with a syntax error that is probably not this issue. Fix the syntax of the test file.',
      );
    case 'fixture error':
      return l10n.t(
        'Fails on both sides during setup, which is probably not this issue: {0} is missing or fails. Fix the fixture, or use one that R has.',
        what,
      );
    case 'undefined name':
      return l10n.t(
        'Fails on both sides because of an undefined name, which is probably not this issue: {0}. Define or import it, or use something that R has.',
        what,
      );
  }
}

/** Explains a test that fails only on R, apparently because R lacks something that the fix adds. */
function missingOnRInWords({ reason, missing }: UnrelatedFailure): string {
  const what = missing ?? l10n.t('something that it uses');
  switch (reason) {
    case 'import error':
    case 'undefined name':
      return l10n.t(
        'Fails on R because R has no {0}. Keep the test only if the issue names {0}. Otherwise it guesses the fix; use something that R has.',
        what,
      );
    case 'syntax error':
      return l10n.t(
        'Fails on R with a syntax error. Keep the test only if the issue is about that. Otherwise fix the syntax.',
      );
    case 'fixture error':
      return l10n.t(
        'Fails on R during setup: {0} is missing or fails. Keep the test only if the issue is about that. Otherwise move the code that shows the issue into the test.',
        what,
      );
  }
}
