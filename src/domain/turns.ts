import { throwIfAborted } from './humanError';

/**
 * The checks that long work makes between two of its steps, so that it can be cancelled and does
 * not block others.
 */
export interface Turns {
  /**
   * Checks the signal and the clock.
   *
   * @returns whether other work has waited long enough to get its turn
   * @throws Cancelled
   */
  look(): boolean;
  /**
   * Like `look`, and lets other work run if its turn has come. Only then can an abort arrive.
   *
   * @throws Cancelled
   */
  pause(): Promise<void>;
}

/** Milliseconds that other work waits at most, plus one step. */
const longestTurn = 10;

export function turnsOf(
  signal: AbortSignal | undefined,
  now: () => number = () => performance.now(),
): Turns {
  let began = now();
  const look = (): boolean => {
    throwIfAborted(signal);
    return now() - began >= longestTurn;
  };
  return {
    look,
    async pause() {
      if (!look()) return;
      await new Promise((resume) => setImmediate(resume));
      began = now();
      throwIfAborted(signal);
    },
  };
}

/** Work in steps. Its driver decides after each step how to go on. */
export type Stepwise<T> = Generator<undefined, T>;

/**
 * Does work to its end, and lets other work run in between.
 *
 * @throws Cancelled, and any error of the work
 */
export async function inTurns<T>(work: Stepwise<T>, turns: Turns): Promise<T> {
  for (;;) {
    const step = work.next();
    if (step.done === true) return step.value;
    if (turns.look()) await turns.pause();
  }
}

/** Does work to its end without a pause. */
export function atOnce<T>(work: Stepwise<T>): T {
  for (;;) {
    const step = work.next();
    if (step.done === true) return step.value;
  }
}
