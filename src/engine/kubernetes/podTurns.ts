import { setTimeout as sleep } from 'node:timers/promises';
import { Cancelled, throwIfAborted } from '../../domain/work';

/** The input and the reports of one attempt to open a pod. */
export interface Placing {
  /** Ends the attempt: the pod is to be removed. */
  readonly signal: AbortSignal;
  /** The pod has a node. */
  readonly placed: () => void;
}

/** Opens one thing in a pod. Rejects, with nothing left behind, when the attempt is ended. */
export type Opening<T> = (placing: Placing) => Promise<T>;

interface OpeningWork<T> {
  readonly signal?: AbortSignal | undefined;
  /** Removes what was opened, where another one of the same pair was not. Never throws. */
  readonly remove: (opened: T) => Promise<void>;
  /** Others open pods, and this has to wait for its turn. */
  readonly onQueued: () => void;
  /** No room was found at once: pods that nobody needs are in the way. Repeated until there is room. */
  readonly onShort: () => void;
  /** A half was released, and both are to be opened again. */
  readonly onReleased: () => void;
}

/** Times in milliseconds. */
interface TurnTiming {
  /** After which missing room counts as short, and counts again. */
  readonly short: number;
  /** How long a half is held on average while the other waits for room. */
  readonly hold: number;
  /** How long nothing is held afterwards, at most: `hold`, doubled each time up to this. */
  readonly longestRest: number;
  /** At least 0 and less than 1. */
  readonly random: () => number;
}

const usual: TurnTiming = {
  ...{ short: 2000, hold: 10_000, longestRest: 30_000 },
  random: () => Math.random(),
};

/**
 * Opens pods together: both of a pair, or none. Within this process pairs take turns until their
 * pods have nodes, so that only one of them waits with a half. Another process may hold a half as
 * well, so a half is released after a while, and opened again after a random rest.
 */
export class PodTurns {
  private last: Promise<unknown> = Promise.resolve();
  /** Attempts that have or wait for their turn. */
  private busy = 0;

  constructor(private readonly timing: TurnTiming = usual) {}

  /**
   * @returns what was opened, in the order of `openings`
   * @throws what the first failed opening says, with nothing left open; Cancelled
   */
  async open<T>(openings: readonly Opening<T>[], work: OpeningWork<T>): Promise<T[]> {
    const { short, hold, longestRest, random } = this.timing;
    for (let time = 0; ; time += 1) {
      const timeout = hold * (0.5 + random());
      const attempt = await this.inTurn(() => begin(openings, work, { short, timeout }), work);
      const opened = await attempt.opened;
      if (opened !== undefined) return opened;
      work.onReleased();
      const { signal } = work;
      const rest = random() * Math.min(hold * 2 ** time, longestRest);
      await sleep(rest, undefined, { signal }).catch(() => {
        throw new Cancelled();
      });
    }
  }

  /** Begins an attempt after all that asked before have their nodes. */
  private async inTurn<A extends { readonly placed: Promise<void> }>(
    start: () => A,
    { signal, onQueued }: Pick<OpeningWork<never>, 'signal' | 'onQueued'>,
  ): Promise<A> {
    throwIfAborted(signal);
    if (this.busy > 0) onQueued();
    this.busy += 1;
    const before = this.last;
    let leave: () => void = () => undefined;
    this.last = new Promise<void>((resolve) => (leave = resolve)).then(() => before);
    let stop: () => void = () => undefined;
    const aborted = new Promise<void>((resolve) => (stop = resolve));
    signal?.addEventListener('abort', stop, { once: true });
    try {
      await Promise.race([before, aborted]);
      throwIfAborted(signal);
      const attempt = start();
      await attempt.placed;
      return attempt;
    } finally {
      signal?.removeEventListener('abort', stop);
      this.busy -= 1;
      leave();
    }
  }
}

/**
 * Begins to open things together.
 *
 * @returns `placed`, which resolves once each has a node or has failed; `opened`, which is undefined
 *   when a half was released
 */
function begin<T>(
  openings: readonly Opening<T>[],
  work: OpeningWork<T>,
  times: { readonly short: number; readonly timeout: number },
): { readonly placed: Promise<void>; readonly opened: Promise<T[] | undefined> } {
  const ending = new AbortController();
  const signals = [ending.signal, ...(work.signal === undefined ? [] : [work.signal])];
  const signal = AbortSignal.any(signals);
  let failure: { readonly error: unknown } | undefined;
  let missing = openings.length;
  let resolvePlaced: () => void = () => undefined;
  const placed = new Promise<void>((resolve) => (resolvePlaced = resolve));
  // Repeated, since a pod that nobody needs may only be starting now.
  const shortage = setInterval(work.onShort, times.short);
  let release: NodeJS.Timeout | undefined;
  const onePlaced = (): void => {
    missing -= 1;
    if (missing > 0) {
      release ??= setTimeout(() => ending.abort(), times.timeout);
      return;
    }
    clearInterval(shortage);
    clearTimeout(release);
    resolvePlaced();
  };
  const started = openings.map(async (open) => {
    let isPlaced = false;
    const one = (): void => {
      if (!isPlaced) onePlaced();
      isPlaced = true;
    };
    try {
      return await open({ signal, placed: one });
    } catch (error) {
      if (!ending.signal.aborted) failure = { error };
      // One half alone is of no use.
      ending.abort();
      throw error;
    } finally {
      one();
    }
  });
  const opened = Promise.allSettled(started).then(async (settled) => {
    const all = settled.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []));
    if (all.length === openings.length && work.signal?.aborted !== true) return all;
    await Promise.all(all.map(work.remove));
    throwIfAborted(work.signal);
    if (failure !== undefined) throw failure.error;
    return undefined;
  });
  // A caller that is cancelled meanwhile does not wait for it.
  opened.catch(() => undefined);
  return { placed, opened };
}
