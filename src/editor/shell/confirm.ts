import * as vscode from 'vscode';

/**
 * Asks in a modal dialog before something of consequence.
 *
 * @param message a sentence that says what will happen
 * @param action the button beside VS Code's Cancel, a verb
 * @returns whether the user chose it
 */
export async function confirm(message: string, action: string, detail = ''): Promise<boolean> {
  const options = { modal: true, detail };
  return (await vscode.window.showWarningMessage(message, options, action)) === action;
}
