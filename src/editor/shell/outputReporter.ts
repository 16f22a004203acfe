import * as vscode from 'vscode';
import type { Reporter } from '../../domain/work';
import { redactKeys } from '../../engine/keysInUse';

/** A log that a command can open. */
export interface OutputReporter extends Reporter {
  show(): void;
}

/**
 * Writes logs and steps to the output channel "SWT-Bench", which the first entry creates. No entry
 * contains a key that is in use.
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
