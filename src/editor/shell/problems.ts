import * as vscode from 'vscode';
import { Cancelled, HumanError, messageOf, type Reporter } from '../../domain/work';
import { engineNamed, runsInContainers } from '../../engine/engines';
import { redactKeys } from '../../engine/keysInUse';
import { defaultStorage } from '../../repository/storage';
import { windowConfiguration } from './configurationFile';
import { inTermsOfSettings, settingNamedIn } from './inTermsOfSettings';
import { commandIds, settingKeys, settingObjects } from './names';
import { storageFault } from '../../files/checkStorage';
import { systemFault } from '../../files/systemFault';
import { withoutLinkMarkup } from './plainText';

/**
 * An error as text for the user. One that is not the user's fault is called a fault of the
 * extension.
 */
export function problemText(error: unknown): string {
  const known =
    error instanceof HumanError
      ? error
      : (storageFault(error, storagePath()) ?? systemFault(error));
  return redactKeys(
    known === undefined
      ? `SWT-Bench: internal error: ${messageOf(error)}`
      : inTermsOfSettings(known.message),
  );
}

/** The storage folder as it is set; its schemas of other settings are not loaded for it. */
function storagePath(): string {
  const set: unknown = vscode.workspace.getConfiguration().get(settingKeys.storage);
  return typeof set === 'string' && set.trim() !== '' ? set.trim() : defaultStorage();
}

/** A button of a message: its title, and the id of the command that it runs. */
interface Offer {
  readonly title: string;
  readonly command: string;
}

/** Adds a button to the message of an error, which leads to what is missing. */
export const offering = (error: HumanError, offer: Offer): HumanError =>
  Object.assign(error, { offer });

/** The error of a value that a setting has, which then names the setting. */
export function ofSetting(error: unknown, key: string): unknown {
  if (!(error instanceof HumanError)) return error;
  const { what, next } = error;
  if (settingNamedIn(inTermsOfSettings(error.message)) !== undefined) return error;
  const from = vscode.l10n.t('The value comes from the setting {0}', key);
  return new HumanError(what, next === undefined ? from : `${next}. ${from}`);
}

/** A button that runs something. */
interface Button {
  readonly title: string;
  run(): Thenable<unknown>;
}

/**
 * The buttons of a message: what the error offers, and the setting that the message names. Looks for
 * the field, since several bundles have a class of an error each.
 */
function buttonsOf(error: unknown, text: string): Button[] {
  const offer =
    error instanceof HumanError && 'offer' in error ? (error.offer as Offer) : undefined;
  const setting = settingNamedIn(text);
  return [
    ...(offer === undefined
      ? []
      : [{ title: offer.title, run: () => vscode.commands.executeCommand(offer.command) }]),
    ...(setting === undefined
      ? []
      : [{ title: vscode.l10n.t('Open Settings'), run: () => openSetting(setting) }]),
  ];
}

async function showWithButtons(text: string, buttons: readonly Button[]): Promise<void> {
  const titles = buttons.map(({ title }) => title);
  const chosen = await vscode.window.showErrorMessage(text, ...titles);
  await buttons.find(({ title }) => title === chosen)?.run();
}

/** Logs an error and shows it once. A cancellation needs no message. */
export function showProblem(error: unknown, reporter: Reporter): void {
  if (error instanceof Cancelled) return;
  const text = withoutLinkMarkup(logged(error, reporter));
  void showWithButtons(text, buttonsOf(error, text));
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
  const set = windowConfiguration.setting(settingKeys.engine, ['engine'], folder?.uri);
  const engine = engineNamed(set);
  const buttons = buttonsOf(error, text);
  if (engine?.inContainers !== true || !(error instanceof HumanError)) {
    void showWithButtons(text, buttons);
    return;
  }
  const setting = settingNamedIn(text) ?? `swt-bench.${engine.name}`;
  void showWithButtons(text, [
    {
      title: vscode.l10n.t('Show Log'),
      run: () => vscode.commands.executeCommand(commandIds.showLog),
    },
    { title: vscode.l10n.t('Open Settings'), run: () => openSetting(setting) },
    { title: vscode.l10n.t('Use Local Engine'), run: () => useEngine('local', folder) },
  ]);
}

/**
 * Sets the engine in the settings of the open instance's workspace, or in the user settings when
 * none is open.
 */
export async function useEngine(engine: string, folder?: vscode.WorkspaceFolder): Promise<void> {
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

/**
 * Opens the settings at those that match a text. In a remote window and in a browser, most settings
 * belong to the machine where the extension runs. The settings of the user have no effect on them
 * there, and do not list them.
 */
export async function openSetting(setting: string): Promise<void> {
  const object = settingObjects.find((each) => setting.startsWith(`${each}.`));
  const query = object ?? setting;
  await (vscode.env.remoteName === undefined
    ? vscode.commands.executeCommand('workbench.action.openSettings', query)
    : vscode.commands.executeCommand('workbench.action.openRemoteSettings', { query }));
}

/**
 * Whether tests run in containers, as set. An invalid setting counts as the local engine, since it
 * is reported when tests run. It stands apart from the other settings, whose schemas a window need
 * not load to start.
 */
export function isSetToContainers(scope: vscode.Uri): boolean {
  const set = windowConfiguration.setting(settingKeys.engine, ['engine'], scope);
  return typeof set === 'string' && runsInContainers(set.trim());
}
