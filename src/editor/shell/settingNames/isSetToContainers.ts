import * as vscode from 'vscode';
import { runsInContainers } from '../../../engine/engines';
import { settingKeys } from '../names';

/**
 * Whether tests run in containers, as set. An invalid setting counts as the local engine, since it
 * is reported when tests run. It stands apart from the other settings, whose schemas a window need
 * not load to start.
 */
export function isSetToContainers(scope: vscode.Uri): boolean {
  const set: unknown = vscode.workspace.getConfiguration(undefined, scope).get(settingKeys.engine);
  return typeof set === 'string' && runsInContainers(set.trim());
}
