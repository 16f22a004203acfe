import { Cancelled, throwIfAborted } from '../../domain/work';
import type { Tool } from './tool';

/**
 * Does the calls on one candidate one after the other, in the order in which they came. Models send
 * several calls at once, and `run_tests` must run the candidate that was applied just before it.
 */
export class CallOrder {
  private last: Promise<unknown> = Promise.resolve();

  /**
   * Calls `work` when the earlier calls have ended; at once for a tool that does not use the
   * candidate.
   *
   * @throws Cancelled when the signal aborts during the wait; what `work` throws
   */
  inTurn<T>(
    { usesCandidate }: Pick<Tool, 'usesCandidate'>,
    signal: AbortSignal | undefined,
    work: () => Promise<T>,
  ): Promise<T> {
    if (!usesCandidate) return work();
    const before = this.last;
    const done = orAborted(before, signal).then(work);
    const settled = done.catch(() => undefined);
    // A call that is cancelled during its wait does not let later calls overtake earlier ones.
    this.last = before.then(() => settled);
    return done;
  }
}

async function orAborted(wait: Promise<unknown>, signal: AbortSignal | undefined): Promise<void> {
  throwIfAborted(signal);
  let abort = (): void => undefined;
  const aborted = new Promise<never>((_, reject) => (abort = () => reject(new Cancelled())));
  signal?.addEventListener('abort', abort, { once: true });
  try {
    await Promise.race([wait, aborted]);
  } finally {
    signal?.removeEventListener('abort', abort);
  }
}
