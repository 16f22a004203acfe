import { RetryingMemo } from '../domain/retryingMemo';
import { Cancelled } from '../domain/problem';
import type { Pair } from '../engine/engine';

/** The pair of sandboxes that debuggers work in, one after the other; opened for the first. */
export interface DebugSandboxes {
  /** Does work when everything has ended that was asked for before. */
  inTurn<T>(work: () => Promise<T>): Promise<T>;
  /** The pair, which `openPair` opens where there is none. @throws Cancelled after `dispose` */
  open(openPair: () => Promise<Pair>): Promise<Pair>;
  /** Removes a pair that is of no more use. */
  discard(): Promise<void>;
  /** Removes the pair at once: a debugger may stand at a breakpoint for ever. */
  dispose(): Promise<void>;
}

export function debugSandboxes(): DebugSandboxes {
  let queue: Promise<unknown> = Promise.resolve();
  const pair = new RetryingMemo((openPair: () => Promise<Pair>) => openPair());
  let disposed = false;
  const discard = async (): Promise<void> => {
    const opened = await pair.made();
    pair.forget();
    await opened?.dispose();
  };
  return {
    inTurn(work) {
      const turn = queue.then(work, work);
      queue = turn.catch(() => undefined);
      return turn;
    },
    open(openPair) {
      if (disposed) return Promise.reject(new Cancelled());
      return pair.get(openPair);
    },
    discard,
    async dispose() {
      disposed = true;
      await discard();
    },
  };
}
