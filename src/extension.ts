import type * as vscode from 'vscode';
import { wire } from './editor/shell/activate';

let close: (() => Promise<void>) | undefined;

/** Wires the extension and tells how long that took in milliseconds, which the tests print. */
export function activate(context: vscode.ExtensionContext): { readonly activationMs: number } {
  const started = performance.now();
  close = wire(context);
  return { activationMs: performance.now() - started };
}

/** VS Code waits for it: the containers of the window are gone before its process is. */
export async function deactivate(): Promise<void> {
  await close?.();
}
