import * as vscode from 'vscode';

/** Work that ends within this time shows no notification, in milliseconds. */
const unnoticed = 1000;

/**
 * Does work that is usually short. When it takes long, a notification appears, with which the
 * person can cancel it.
 */
export async function afterAWhile<T>(
  title: string,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const end = new AbortController();
  const done = work(end.signal);
  const timer = setTimeout(() => {
    void vscode.window.withProgress(
      { location: vscode.ProgressLocation.Notification, title, cancellable: true },
      async (_, token) => {
        token.onCancellationRequested(() => end.abort());
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
