import type * as vscode from 'vscode';
import { wire } from './editor/activate';

/** When the bundle began to run, in milliseconds of this process. */
const loaded = performance.now();

/** Wires the extension and tells how long that took in milliseconds, which the tests print. */
export function activate(context: vscode.ExtensionContext): { readonly activationMs: number } {
  wire(context);
  return { activationMs: performance.now() - loaded };
}
