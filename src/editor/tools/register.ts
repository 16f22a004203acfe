import * as vscode from 'vscode';
import { idOfTool, modelToolNames } from '../shell/names';
import type { WorkspaceTools } from './workspaceTools';

/**
 * Offers the tools to the agents of this VS Code.
 *
 * @param load imports the implementation at the first call
 */
export function registerTools(load: () => Promise<WorkspaceTools>): vscode.Disposable {
  return vscode.Disposable.from(
    ...modelToolNames.map((name) =>
      vscode.lm.registerTool<object>(idOfTool(name), {
        prepareInvocation: async () => (await load()).prepare(name),
        invoke: async (options, token) => (await load()).invoke(name, options, token),
      }),
    ),
  );
}
