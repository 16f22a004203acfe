import { Cancelled } from '../../domain/humanError';

/**
 * Lets one piece of work run at a time, in the order in which they were asked for. What is cancelled
 * while it waits ends at once; what is cancelled while it runs is waited for, since until it has ended
 * it may still hold what the next one needs.
 */
export class RunQueue {
  private last: Promise<unknown> = Promise.resolve();
  private waiting = 0;

  /** How much was asked for and has not ended. */
  get length(): number {
    return this.waiting;
  }

  /** @throws Cancelled, and what `work` throws */
  async inTurn<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    const before = this.last;
    let end = (): void => undefined;
    const ended = new Promise<void>((resolve) => (end = resolve));
    // The next one waits for everything before us as well, even when we are cancelled.
    this.last = Promise.all([before, ended]);
    this.waiting++;
    try {
      await until(before, signal);
      return await work();
    } finally {
      this.waiting--;
      end();
    }
  }
}

/** Waits for what never fails. @throws Cancelled as soon as the signal aborts */
function until(earlier: Promise<unknown>, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const cancel = (): void => reject(new Cancelled());
    if (signal.aborted) {
      cancel();
      return;
    }
    signal.addEventListener('abort', cancel, { once: true });
    void earlier.then(() => {
      signal.removeEventListener('abort', cancel);
      resolve();
    });
  });
}
