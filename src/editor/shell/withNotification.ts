import * as vscode from 'vscode';
import { Cancelled, type Reporter } from '../../domain/work';
import { stepBeside } from './stepBeside';

/**
 * Does work with a notification that shows its steps and can be cancelled. Resolves to undefined
 * when it was cancelled.
 *
 * @param instance id of the open instance if the work is about it: the window names it already
 */
export async function withNotification<T>(
  title: string,
  reporter: Reporter,
  work: (reporter: Reporter, signal: AbortSignal) => Promise<T>,
  instance = '',
): Promise<T | undefined> {
  return vscode.window.withProgress(
    { location: vscode.ProgressLocation.Notification, title, cancellable: true },
    async (progress, token) => {
      const abort = new AbortController();
      token.onCancellationRequested(() => abort.abort());
      const shown: Reporter = {
        log: (line) => reporter.log(line),
        progress: (step) => {
          reporter.progress(step);
          progress.report({ message: stepBeside(`${title} ${instance}`, step) });
        },
      };
      try {
        return await work(shown, abort.signal);
      } catch (error) {
        if (error instanceof Cancelled || abort.signal.aborted) return undefined;
        throw error;
      }
    },
  );
}
