import * as vscode from 'vscode';
import { readMarker } from '../../repository/workspace';
import { settingKeys } from '../shell/names';
import { engineSettings, type EngineSettings } from '../shell/settings';
import { withShellPython } from '../shell/shellPython';
import { pythonOfListed } from './pythonOfListed';

/**
 * The settings of the engine for instances of a list, of which one may be open in this window.
 *
 * @throws HumanError naming the setting whose value is invalid
 */
export async function engineSettingsOfListed(ids: readonly string[]): Promise<EngineSettings> {
  const folder = vscode.workspace.workspaceFolders?.[0];
  const marker = folder && (await readMarker(folder.uri.fsPath));
  const set = vscode.workspace.getConfiguration().inspect(settingKeys.python);
  const ofUser = set?.globalValue;
  const settings = pythonOfListed(engineSettings(), {
    ids,
    open: marker?.id,
    ofUser: typeof ofUser === 'string' ? ofUser.trim() : '',
  });
  return withShellPython(settings);
}
