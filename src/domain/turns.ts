import { throwIfAborted } from './humanError';

/** What long work does between two of its steps, so that it can be ended and others are not kept waiting. */
export interface Turns {
  /**
   * Looks at the signal, and at the clock.
   *
   * @returns whether others have waited so long that it is their turn
   * @throws Cancelled
   */
  look(): boolean;
  /**
   * As `look`, and gives others their turn where it is due: an abort can only arrive then.
   *
   * @throws Cancelled
   */
  pause(): Promise<void>;
}

/** Others wait at most so long, and one step, in milliseconds. */
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

/** Work that is done in steps: whoever drives it has a say after each. */
export type Stepwise<T> = Generator<undefined, T>;

/**
 * Does work to its end in turns with others.
 *
 * @throws Cancelled, and what the work throws
 */
export async function inTurns<T>(work: Stepwise<T>, turns: Turns): Promise<T> {
  for (;;) {
    const step = work.next();
    if (step.done === true) return step.value;
    if (turns.look()) await turns.pause();
  }
}

/** Does work to its end at once. */
export function atOnce<T>(work: Stepwise<T>): T {
  for (;;) {
    const step = work.next();
    if (step.done === true) return step.value;
  }
}
