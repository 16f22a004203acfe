import * as vscode from 'vscode';
import type { Side, TestResult, TestTransition } from '../../domain/outcome';
import { workspacePath } from '../shell/workspacePath';
import {
  failureMessagesOn,
  failureMessagesOnBoth,
  type FailureMessage,
  type StackEntry,
} from './failureMessages';

/** The id, file and range of a test, which place its messages. */
interface TestLocation {
  readonly id: string;
  readonly uri: vscode.Uri;
  readonly range: vscode.Range;
}

/** The messages of a test that does not reproduce: its failure on each side, at the line of the failure. */
export function testMessagesOf(test: TestLocation, telling: TestTransition): vscode.TestMessage[] {
  const folder = vscode.workspace.getWorkspaceFolder(test.uri);
  return failureMessagesOnBoth(telling, (path) => placeIn(folder, path) !== undefined).map(
    (message) => drawn(test, folder, message),
  );
}

/** The failure of a test on one side; empty when the test did not fail or its result is unknown. */
export function testMessageOn(
  test: TestLocation,
  side: Side,
  result: TestResult,
): vscode.TestMessage[] {
  const folder = vscode.workspace.getWorkspaceFolder(test.uri);
  return failureMessagesOn(side, result, (path) => placeIn(folder, path) !== undefined).map(
    (message) => drawn(test, folder, message),
  );
}

function drawn(
  test: TestLocation,
  folder: vscode.WorkspaceFolder | undefined,
  { text, comparison, line, stack }: FailureMessage,
): vscode.TestMessage {
  const message =
    comparison === undefined
      ? new vscode.TestMessage(text)
      : vscode.TestMessage.diff(text, comparison.expected, comparison.actual);
  // At the end of the test, since at its definition the box would cover the transition.
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

/** The address of a path from tested code; undefined for a path that leads out of the workspace. */
export function uriInside(folder: vscode.WorkspaceFolder, path: string): vscode.Uri | undefined {
  const uri = vscode.Uri.joinPath(folder.uri, path);
  return workspacePath(folder, uri) === undefined ? undefined : uri;
}
