import * as vscode from 'vscode';
import { orCancelled } from '../../domain/work';
import { withProgressInViews } from '../instances/twinViews';

/** Work that ends within this time shows no notification, in milliseconds. */
const unnoticed = 500;

/**
 * Does work that is usually short. When it takes long, a notification appears, with which the
 * person can cancel it. Work that does not look at its signal goes on unseen then.
 *
 * @param work gets what tells the notification its step
 * @throws Cancelled as soon as the person cancels
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

/** As {@link afterAWhile}, for work whose result a list shows: its progress bar runs at once. */
export function afterAWhileInView<T>(
  views: { readonly alone: string; readonly beside: string },
  title: string,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  return withProgressInViews(views, () => afterAWhile(title, work));
}
