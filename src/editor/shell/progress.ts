import * as vscode from 'vscode';
import { orCancelled, Cancelled, type Reporter } from '../../domain/work';
import { stepBeside } from './plainText';

/** Work that ends within this time shows no notification, in milliseconds. */
const unnoticed = 1000;

/**
 * Does work that is usually short. When it takes long, a notification appears, with which the
 * user can cancel it. Work that does not look at its signal continues unseen then.
 *
 * @param work receives a function that shows its step in the notification
 * @throws Cancelled as soon as the user cancels
 */
export async function afterAWhile<T>(
  title: string,
  work: (signal: AbortSignal, step: (text: string) => void) => Promise<T>,
): Promise<T> {
  const end = new AbortController();
  let report: (step: string) => void = () => undefined;
  let last = '';
  const done = orCancelled(
    work(end.signal, (text) => report((last = text))),
    end.signal,
  );
  const timer = setTimeout(() => {
    void vscode.window.withProgress(
      { location: vscode.ProgressLocation.Notification, title, cancellable: true },
      async (progress, token) => {
        token.onCancellationRequested(() => end.abort());
        report = (message) => progress.report({ message });
        if (last !== '') report(last);
        await done.catch(() => undefined);
      },
    );
  }, unnoticed);
  try {
    return await done;
  } finally {
    clearTimeout(timer);
  }
}

/** As {@link afterAWhile}, for work whose result a view shows: its progress bar runs at once. */
export async function afterAWhileInView<T>(
  viewId: string,
  title: string,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  return vscode.window.withProgress({ location: { viewId } }, () => afterAWhile(title, work));
}

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
