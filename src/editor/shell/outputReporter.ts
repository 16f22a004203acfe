import * as vscode from 'vscode';
import type { Reporter } from '../../domain/reporter';
import { redactKeys } from '../../engine/keysInUse';

/** A log that can be opened. */
export interface OutputReporter extends Reporter {
  show(): void;
}

/**
 * Logs and steps in the output channel "SWT-Bench", which is made when there is something to say. No key
 * in use is written to it.
 */
export function outputReporter(subscriptions: vscode.Disposable[]): OutputReporter {
  let channel: vscode.LogOutputChannel | undefined;
  const out = (): vscode.LogOutputChannel => {
    if (channel === undefined) {
      channel = vscode.window.createOutputChannel('SWT-Bench', { log: true });
      subscriptions.push(channel);
    }
    return channel;
  };
  return {
    log: (line) => out().info(redactKeys(line)),
    progress: (step) => out().debug(redactKeys(step)),
    show: () => out().show(true),
  };
}
