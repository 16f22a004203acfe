import type * as vscode from 'vscode';
import { ExtensionWindow } from './editor/shell/extensionWindow';

let open: ExtensionWindow | undefined;

/**
 * Activates the extension in this window. Returns how many milliseconds that took; the tests print
 * the figure.
 */
export function activate(context: vscode.ExtensionContext): { readonly activationMs: number } {
  const started = performance.now();
  open = new ExtensionWindow(context);
  return { activationMs: performance.now() - started };
}

/**
 * VS Code awaits this promise, so the containers of the window are removed before its process ends.
 */
export async function deactivate(): Promise<void> {
  await open?.close();
}
