import * as vscode from 'vscode';
import { messageOf, type Reporter } from '../../domain/work';
import { fittingPython } from '../../engine/local';
import { afterAWhile } from '../shell/progress';
import { commandIds, settingKeys } from '../shell/names';
import { choosePython } from '../shell/pythonExtension';
import { withoutLinkMarkup } from '../shell/plainText';
import type { OpenInstance } from './openInstance';

/**
 * Opens the sandboxes with the interpreter that is set now, so that the view names its environment
 * and forgets a verdict of another one. An interpreter that does not work is left to the next run,
 * which says why.
 */
export async function takeUp(open: OpenInstance, reporter: Reporter): Promise<void> {
  try {
    const title = vscode.l10n.t('Starting the sandboxes with the new environment');
    await afterAWhile(title, (signal) => open.runs.warmUp(signal));
  } catch (error) {
    reporter.log(`${open.marker.id}: ${messageOf(error)}`);
  }
}

/** Says what tests run with from now on, and offers to run them. */
export function announcePython(said: string): void {
  const reproduce = vscode.l10n.t('Reproduce');
  void vscode.window.showInformationMessage(withoutLinkMarkup(said), reproduce).then((chosen) => {
    if (chosen === reproduce) void vscode.commands.executeCommand(commandIds.reproduce);
  });
}

/** Sets the interpreter of an instance's tests, here and in the Python extension. */
export async function setPython(
  python: string,
  open: OpenInstance,
  reporter: Reporter,
): Promise<void> {
  const scope = open.folder.uri;
  await vscode.workspace
    .getConfiguration(undefined, scope)
    .update(
      settingKeys.python,
      python === '' ? undefined : python,
      vscode.ConfigurationTarget.WorkspaceFolder,
    );
  if (python === '' || python === fittingPython) return;
  await choosePython(python, scope).catch((error: unknown) => {
    // The tests of this extension run with it anyway.
    reporter.log(`the Python extension did not take ${python}: ${String(error)}`);
  });
}
