import * as vscode from 'vscode';
import { Cancelled, HumanError, messageOf } from '../../domain/humanError';
import type { Reporter } from '../../domain/reporter';
import { engineNames, runsInContainers, type EngineName } from '../../engine/engine';
import { redactKeys } from '../../engine/keysInUse';
import { inTermsOfSettings } from './settingNames/inTermsOfSettings';
import { commandIds, settingKeys } from './names';
import { openSetting } from './settingNames/openSetting';
import { withoutLinkMarkup } from './withoutLinkMarkup';

/**
 * An error as text for a person. One that is not the person's fault is called a fault of the
 * extension.
 */
export function problemText(error: unknown): string {
  return redactKeys(
    error instanceof HumanError
      ? inTermsOfSettings(error.message)
      : `SWT-Bench: internal error: ${messageOf(error)}`,
  );
}

/** A button of a message: its title, and the id of the command that it runs. */
export interface Offer {
  readonly title: string;
  readonly command: string;
}

/** Adds a button to the message of an error, which leads to what is missing. */
export const offering = (error: HumanError, offer: Offer): HumanError =>
  Object.assign(error, { offer });

/** Looks for the field, since several bundles have a class of an error each. */
function offerOf(error: unknown): Offer | undefined {
  return error instanceof HumanError && 'offer' in error ? (error.offer as Offer) : undefined;
}

/** Logs an error and shows it once. A person who cancelled needs no message. */
export function showProblem(error: unknown, reporter: Reporter): void {
  if (error instanceof Cancelled) return;
  const text = withoutLinkMarkup(logged(error, reporter));
  const offer = offerOf(error);
  if (offer === undefined) {
    void vscode.window.showErrorMessage(text);
    return;
  }
  const { title, command } = offer;
  void vscode.window.showErrorMessage(text, title).then((chosen) => {
    if (chosen === title) void vscode.commands.executeCommand(command);
  });
}

/**
 * As {@link showProblem}, for work that needed the engine: the message offers next steps as
 * buttons.
 */
export function showEngineProblem(
  error: unknown,
  reporter: Reporter,
  folder?: vscode.WorkspaceFolder,
): void {
  if (error instanceof Cancelled) return;
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
      void openSetting(`swt-bench.${engine}`);
    }
    if (chosen === useLocal) void useEngine('local', folder);
  });
}

/**
 * Sets the engine in the settings of the open instance's workspace, or in the user settings when
 * none is open.
 */
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
