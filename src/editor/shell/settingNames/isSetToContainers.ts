import * as vscode from 'vscode';
import { engineNames, runsInContainers } from '../../../engine/engine';
import { settingKeys } from '../names';

/**
 * Whether tests run in containers, as set. An invalid setting counts as the local engine, since it
 * is reported when tests run. It stands apart from the other settings, whose schemas a window need
 * not load to start.
 */
export function isSetToContainers(scope: vscode.Uri): boolean {
  const set: unknown = vscode.workspace.getConfiguration(undefined, scope).get(settingKeys.engine);
  const name = engineNames.find((each) => typeof set === 'string' && each === set.trim());
  return name !== undefined && runsInContainers(name);
}
