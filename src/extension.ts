import type * as vscode from 'vscode';
import { ExtensionWindow } from './editor/shell/extensionWindow';

let open: ExtensionWindow | undefined;

/** Opens the extension in this window and tells how long that took in milliseconds, which the tests print. */
export function activate(context: vscode.ExtensionContext): { readonly activationMs: number } {
  const started = performance.now();
  open = new ExtensionWindow(context);
  return { activationMs: performance.now() - started };
}

/** VS Code waits for it: the containers of the window are gone before its process is. */
export async function deactivate(): Promise<void> {
  await open?.close();
}
