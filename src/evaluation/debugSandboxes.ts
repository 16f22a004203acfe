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
  let pair: Promise<Pair> | undefined;
  let disposed = false;
  const discard = async (): Promise<void> => {
    const opened = await pair?.catch(() => undefined);
    pair = undefined;
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
      pair ??= openPair().catch((error: unknown) => {
        pair = undefined;
        throw error;
      });
      return pair;
    },
    discard,
    async dispose() {
      disposed = true;
      await discard();
    },
  };
}
