import { RetryingMemo, Cancelled } from '../../domain/work';
import type { EngineWork, Pair } from '../../engine/engine';

/** A pair of sandboxes, opened when first needed. Callers work in it one after the other. */
export class QueuedSandboxes {
  private queue: Promise<unknown> = Promise.resolve();
  private disposed = false;
  private readonly pair: RetryingMemo<Pair, [EngineWork]>;

  /** @param openPair called again after it failed, and after `discard` */
  constructor(openPair: (work: EngineWork) => Promise<Pair>) {
    this.pair = new RetryingMemo(openPair);
  }

  /** Runs `work` after all earlier work has ended. */
  inTurn<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.queue.then(work, work);
    this.queue = turn.catch(() => undefined);
    return turn;
  }

  /**
   * @throws Cancelled after `dispose`, since nobody would remove the pair; what `openPair` throws
   */
  open(work: EngineWork): Promise<Pair> {
    return this.disposed ? Promise.reject(new Cancelled()) : this.pair.get(work);
  }

  /** Removes a pair that can no longer be used. */
  async discard(): Promise<void> {
    const opened = await this.pair.made();
    this.pair.forget();
    await opened?.dispose();
  }

  /**
   * Removes the pair at once, without waiting for its turn: a debugger may be at a breakpoint
   * for ever.
   */
  async dispose(): Promise<void> {
    this.disposed = true;
    await this.discard();
  }
}
