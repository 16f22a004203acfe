import * as vscode from 'vscode';

/**
 * Opens the settings at those that match a text. In a remote window and in a browser, most settings
 * belong to the machine where the extension runs. The settings of the person have no effect on them
 * there, and do not list them.
 */
export async function openSetting(query: string): Promise<void> {
  await (vscode.env.remoteName === undefined
    ? vscode.commands.executeCommand('workbench.action.openSettings', query)
    : vscode.commands.executeCommand('workbench.action.openRemoteSettings', { query }));
}
