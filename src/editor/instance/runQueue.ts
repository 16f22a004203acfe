import { orCancelled } from '../../domain/work';

/**
 * Runs one piece of work at a time, in the order of the requests. Work that is cancelled while it
 * waits ends at once. Work that is cancelled while it runs delays the next one until it has ended,
 * since it may still hold what the next one needs.
 */
export class RunQueue {
  private last: Promise<unknown> = Promise.resolve();
  private waiting = 0;

  /** Number of requests that have not ended. */
  get length(): number {
    return this.waiting;
  }

  /** @throws Cancelled, and what `work` throws */
  async inTurn<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    const before = this.last;
    let end = (): void => undefined;
    const ended = new Promise<void>((resolve) => (end = resolve));
    // The next request waits for all earlier ones too, even when this one is cancelled.
    this.last = Promise.all([before, ended]);
    this.waiting++;
    try {
      await orCancelled(before, signal);
      return await work();
    } finally {
      this.waiting--;
      end();
    }
  }
}
