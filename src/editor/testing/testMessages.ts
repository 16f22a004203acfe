import * as vscode from 'vscode';
import type { Side, TestResult } from '../../domain/outcome';
import type { TestTransition } from '../../domain/transition';
import { workspacePath } from '../shell/workspacePath';
import { messagesOn, messagesOnBoth, type ToldFailure, type StackEntry } from './messageTexts';

/** What a message needs of a test: its id, its file and where it stands there. */
export interface TestLocation {
  readonly id: string;
  readonly uri: vscode.Uri;
  readonly range: vscode.Range;
}

/** What the Testing view shows of a test that does not reproduce: the failure on each side, at its line. */
export function messagesOf(test: TestLocation, telling: TestTransition): vscode.TestMessage[] {
  const folder = vscode.workspace.getWorkspaceFolder(test.uri);
  return messagesOnBoth(vscode.l10n, telling, (path) => placeIn(folder, path) !== undefined).map(
    (message) => drawn(test, folder, message),
  );
}

/** The failure of a test on one side; none where it did not fail or nothing is known of it. */
export function failureMessage(
  test: TestLocation,
  side: Side,
  result: TestResult,
): vscode.TestMessage[] {
  const folder = vscode.workspace.getWorkspaceFolder(test.uri);
  return messagesOn(vscode.l10n, side, result, (path) => placeIn(folder, path) !== undefined).map(
    (message) => drawn(test, folder, message),
  );
}

function drawn(
  test: TestLocation,
  folder: vscode.WorkspaceFolder | undefined,
  { text, comparison, line, stack }: ToldFailure,
): vscode.TestMessage {
  const message =
    comparison === undefined
      ? new vscode.TestMessage(text)
      : vscode.TestMessage.diff(text, comparison.expected, comparison.actual);
  // At the end of the test: at its definition the box would cover the transition that stands there.
  const place = line === undefined ? test.range.end : new vscode.Position(line - 1, 0);
  message.location = new vscode.Location(test.uri, place);
  message.stackTrace = stack.map((entry) => drawnFrame(folder, entry));
  return message;
}

function drawnFrame(
  folder: vscode.WorkspaceFolder | undefined,
  { label, place }: StackEntry,
): vscode.TestMessageStackFrame {
  return place === undefined
    ? new vscode.TestMessageStackFrame(label)
    : new vscode.TestMessageStackFrame(
        label,
        placeIn(folder, place.path),
        new vscode.Position(Math.max(place.line - 1, 0), 0),
      );
}

const placeIn = (
  folder: vscode.WorkspaceFolder | undefined,
  path: string,
): vscode.Uri | undefined => (folder === undefined ? undefined : uriInside(folder, path));

/** Address of a path that tested code has named; undefined when it leads out of the workspace. */
export function uriInside(folder: vscode.WorkspaceFolder, path: string): vscode.Uri | undefined {
  const uri = vscode.Uri.joinPath(folder.uri, path);
  return workspacePath(folder, uri) === undefined ? undefined : uri;
}
