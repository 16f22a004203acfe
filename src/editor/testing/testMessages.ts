import * as vscode from 'vscode';
import { isFailure, sides, type Frame, type Side, type TestResult } from '../../domain/outcome';
import type { TestTransition } from '../../domain/transition';
import { frameInTest } from '../../evaluation/hints/failurePlace';
import { isTestPath } from '../../patch/testFiles';
import { transitionLook } from './transitionLook';
import { outcomeInWords, transitionInWords } from './transitionTexts';
import { workspacePath } from '../shell/workspacePath';

/** What a message needs of a test: its id, its file and where it stands there. */
export interface TestLocation {
  readonly id: string;
  readonly uri: vscode.Uri;
  readonly range: vscode.Range;
}

/**
 * What the Testing view shows of a test that does not reproduce: the failure on each side, at its line.
 * None where it passes on both: no line is wrong then, and at its definition, where VS Code puts what
 * names no line, a message would cover the transition.
 */
export function messagesOf(test: TestLocation, telling: TestTransition): vscode.TestMessage[] {
  const summary = `${transitionLook[telling.transition].symbol} ${telling.transition}: ${transitionInWords(vscode.l10n, telling.transition)}`;
  return sides.flatMap((side) => messageOn(test, side, telling[side], summary));
}

/** The failure of a test on one side; none where it did not fail or nothing is known of it. */
export function failureMessage(
  test: TestLocation,
  side: Side,
  result: TestResult,
): vscode.TestMessage[] {
  return messageOn(test, side, result);
}

function messageOn(
  test: TestLocation,
  side: Side,
  result: TestResult,
  summary?: string,
): vscode.TestMessage[] {
  if (!isFailure(result)) return [];
  const head = [
    ...(summary === undefined ? [] : [summary]),
    outcomeInWords(vscode.l10n, side, result),
  ];
  const text = result.details ?? result.message;
  const whole = text === undefined ? head.join('\n') : `${head.join('\n')}\n\n${text}`;
  const message =
    result.comparison === undefined
      ? new vscode.TestMessage(whole)
      : vscode.TestMessage.diff(whole, result.comparison.expected, result.comparison.actual);
  const frame = frameInTest(result);
  // At the end of the test: at its definition the box would cover the transition that stands there.
  const place = frame === undefined ? test.range.end : new vscode.Position(frame.line - 1, 0);
  message.location = new vscode.Location(test.uri, place);
  message.stackTrace = stackOf(test, side, result.frames ?? []);
  return [message];
}

/**
 * Frames, innermost first as VS Code wants them. The workspace is R with the candidate: what a frame on
 * R∘X* says of the code under test need not be there, and has no link.
 */
function stackOf(
  test: TestLocation,
  side: Side,
  frames: readonly Frame[],
): vscode.TestMessageStackFrame[] {
  const folder = vscode.workspace.getWorkspaceFolder(test.uri);
  return [...frames].reverse().map((frame) => {
    const uri =
      folder === undefined || (side === 'fixed' && !isTestPath(frame.path))
        ? undefined
        : uriInside(folder, frame.path);
    const label =
      uri === undefined ? `${frame.function} (${frame.path}:${frame.line})` : frame.function;
    return new vscode.TestMessageStackFrame(
      label,
      uri,
      uri === undefined ? undefined : new vscode.Position(Math.max(frame.line - 1, 0), 0),
    );
  });
}

/** Address of a path that tested code has named; undefined when it leads out of the workspace. */
export function uriInside(folder: vscode.WorkspaceFolder, path: string): vscode.Uri | undefined {
  const uri = vscode.Uri.joinPath(folder.uri, path);
  return workspacePath(folder, uri) === undefined ? undefined : uri;
}
