import * as vscode from 'vscode';
import { HumanError, messageOf } from '../../domain/humanError';
import type { Reporter } from '../../domain/reporter';
import { engineNames, runsInContainers, type EngineName } from '../../engine/engine';
import { redactKeys } from '../../engine/keysInUse';
import { commandIds, settingKeys } from './names';
import { withoutLinkMarkup } from './withoutLinkMarkup';

/** What went wrong, in words for a person; what is no fault of theirs is called ours. */
export function problemText(error: unknown): string {
  return redactKeys(
    error instanceof HumanError ? error.message : `SWT-Bench: internal error: ${messageOf(error)}`,
  );
}

/** Logs what went wrong and shows it once. */
export function showProblem(error: unknown, reporter: Reporter): void {
  void vscode.window.showErrorMessage(withoutLinkMarkup(logged(error, reporter)));
}

/** As {@link showProblem}, for work that needed the engine: with what a person may want to do next. */
export function showEngineProblem(
  error: unknown,
  reporter: Reporter,
  folder?: vscode.WorkspaceFolder,
): void {
  const text = withoutLinkMarkup(logged(error, reporter));
  const set: unknown = vscode.workspace
    .getConfiguration(undefined, folder?.uri)
    .get(settingKeys.engine);
  const engine = engineNames.find((name) => name === set);
  if (engine === undefined || !runsInContainers(engine) || !(error instanceof HumanError)) {
    void vscode.window.showErrorMessage(text);
    return;
  }
  const showLog = vscode.l10n.t('Show Log');
  const openSettings = vscode.l10n.t('Open Settings');
  const useLocal = vscode.l10n.t('Use Local Engine');
  void vscode.window.showErrorMessage(text, showLog, openSettings, useLocal).then((chosen) => {
    if (chosen === showLog) void vscode.commands.executeCommand(commandIds.showLog);
    if (chosen === openSettings) {
      void vscode.commands.executeCommand('workbench.action.openSettings', 'swt-bench.docker');
    }
    if (chosen === useLocal) void useEngine('local', folder);
  });
}

/** Sets the engine of an open instance, or of everything where none is open. */
export async function useEngine(
  engine: EngineName,
  folder?: vscode.WorkspaceFolder,
): Promise<void> {
  await vscode.workspace
    .getConfiguration(undefined, folder?.uri)
    .update(
      settingKeys.engine,
      engine,
      folder === undefined
        ? vscode.ConfigurationTarget.Global
        : vscode.ConfigurationTarget.Workspace,
    );
}

function logged(error: unknown, reporter: Reporter): string {
  const text = problemText(error);
  reporter.log(
    error instanceof Error && !(error instanceof HumanError) ? (error.stack ?? text) : text,
  );
  return text;
}
