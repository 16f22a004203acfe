import * as vscode from 'vscode';
import type { Reporter } from '../../domain/work';
import { settingKeys } from '../shell/names';
import { openSetting, problemText } from '../shell/problems';
import { sourceProblemText } from './validationTexts';
import { withoutLinkMarkup } from '../shell/plainText';

/**
 * Shows that R is not available, and lets the user choose a folder that has it. The setting then
 * names the folder.
 *
 * @returns whether a folder was chosen
 */
export async function chooseRepositoryFolder(
  repo: string,
  error: unknown,
  reporter: Reporter,
): Promise<boolean> {
  const text = problemText(error);
  reporter.log(text);
  const choose = vscode.l10n.t('Choose Repository Folder…');
  const settings = vscode.l10n.t('Open Settings');
  const said = sourceProblemText(error) ?? text;
  const next = await vscode.window.showErrorMessage(withoutLinkMarkup(said), choose, settings);
  if (next === settings) await openSetting(settingKeys.repositorySources);
  return next === choose && (await askForRepositoryFolder(repo)) !== undefined;
}

/**
 * Lets the user choose a folder that has R. The setting then names it.
 *
 * @returns its path; undefined when the user cancels
 */
export async function askForRepositoryFolder(repo: string): Promise<string | undefined> {
  const [folder] =
    (await vscode.window.showOpenDialog({
      title: vscode.l10n.t('Repository or release of {0}', repo),
      openLabel: vscode.l10n.t('Use as {0}', repo),
      canSelectFiles: false,
      canSelectFolders: true,
    })) ?? [];
  if (folder === undefined) return undefined;
  const configuration = vscode.workspace.getConfiguration();
  const before = configuration.inspect<Record<string, unknown>>(settingKeys.repositorySources);
  // VS Code writes the settings of the remote machine where the setting belongs to one.
  await configuration.update(
    settingKeys.repositorySources,
    { ...before?.globalValue, [repo]: folder.fsPath },
    vscode.ConfigurationTarget.Global,
  );
  return folder.fsPath;
}
