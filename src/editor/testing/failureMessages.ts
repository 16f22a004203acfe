import * as l10n from '@vscode/l10n';
import {
  isFailure,
  sideName,
  sides,
  syntaxErrorOf,
  type FailedComparison,
  type StackFrame,
  type Side,
  type SyntaxErrorOfFile,
  type TestResult,
  type TestTransition,
} from '../../domain/outcome';
import { failureFrameInTest } from './testHints';
import { isTestPath } from '../../patch/testFiles';
import { transitionLook } from './transitionLook';
import { causeOnSide, outcomeInWords, transitionInWords } from './transitionTexts';

/** A frame of a failure as the Testing view lists it. */
export interface StackEntry {
  readonly label: string;
  /** The target of a click; undefined when the workspace lacks the code that ran. */
  readonly place: Pick<StackFrame, 'path' | 'line'> | undefined;
}

/** A failure as the Testing view shows it. */
export interface FailureMessage {
  readonly text: string;
  readonly comparison: FailedComparison | undefined;
  /** 1-based line in the file of the test; undefined when the failure names none. */
  readonly line: number | undefined;
  /** Innermost first, as VS Code wants them. */
  readonly stack: readonly StackEntry[];
}

/** Whether a path from tested code is in the workspace. */
type IsInside = (path: string) => boolean;

/**
 * The messages of a test that does not reproduce: its failure on each side. A test that passes on
 * both sides gets none. None of its lines is wrong, and VS Code would put a message over the
 * transition at its definition.
 */
export function failureMessagesOnBoth(
  telling: TestTransition,
  isInside: IsInside,
): FailureMessage[] {
  const { transition } = telling;
  const fault = syntaxErrorOf(telling.base) ?? syntaxErrorOf(telling.fixed);
  if (fault !== undefined) return [messageOfFault(fault)];
  const summary = `${transitionLook[transition].symbol} ${transition}: ${transitionInWords(transition)}`;
  return sides.flatMap((side) => failureMessagesOn(side, telling[side], isInside, summary));
}

/**
 * The failure of a test on one side, its cause first; place, text and values are all of that side.
 * Empty the test did not fail or its result is unknown.
 */
export function failureMessagesOn(
  side: Side,
  result: TestResult,
  isInside: IsInside,
  summary?: string,
): FailureMessage[] {
  if (!isFailure(result)) return [];
  const fault = syntaxErrorOf(result);
  if (fault !== undefined) return [messageOfFault(fault)];
  const line = failureFrameInTest(result)?.line;
  const cause = causeOnSide(side, result);
  const text = result.details ?? result.message?.trim();
  const isTold = text === undefined || cause.endsWith(text);
  const whole = [
    cause,
    ...(summary === undefined ? [] : [summary]),
    outcomeInWords(side, result),
    ...(isTold ? [] : ['', text]),
  ].join('\n');
  const stack = stackOf(side, result.frames ?? [], isInside);
  const told: FailureMessage = { text: whole, comparison: undefined, line, stack };
  if (result.comparison === undefined) return [told];
  const name = sideName[side];
  // VS Code marks a line with its first message, and one with values by the values alone. They are
  // therefore a second message, so that the mark says side and cause.
  const values = l10n.t('Expected and actual value on {0}', name);
  return [told, { text: values, comparison: result.comparison, line, stack: [] }];
}

/** An error of the file, at its line: it is the same for each test of the file and on both sides. */
const messageOfFault = ({ line, problem }: SyntaxErrorOfFile): FailureMessage => ({
  text: l10n.t('Syntax error: {0}. No test in this file can run.', problem),
  comparison: undefined,
  line,
  stack: [],
});

/**
 * Frames, innermost first. The workspace is R with the candidate. A frame on R∘X* in the code under
 * test has no link, since its line may not exist there.
 */
function stackOf(side: Side, frames: readonly StackFrame[], isInside: IsInside): StackEntry[] {
  return [...frames].reverse().map(({ path, line, function: name }) => {
    const isThere = (side === 'base' || isTestPath(path)) && isInside(path);
    return isThere
      ? { label: name, place: { path, line } }
      : { label: `${name} (${path}:${line})`, place: undefined };
  });
}
