const humanError = Symbol.for('swt-bench.HumanError');
const cancelled = Symbol.for('swt-bench.Cancelled');
const isMarked = (value: unknown, mark: symbol): boolean =>
  typeof value === 'object' && value !== null && mark in value;
const isDerived = (kind: unknown, value: unknown): boolean =>
  Function.prototype[Symbol.hasInstance].call(kind as () => void, value);

/**
 * An error that the user caused or can fix: it says what happened, where, and what to do next.
 * Entry points print only its `message`. Any other error is a defect of this program.
 */
export class HumanError extends Error {
  override readonly name = 'HumanError';
  readonly [humanError] = true;

  /**
   * The extension consists of several bundles, each with its own copy of this class, and one bundle
   * shows what another throws. So `instanceof` checks the mark, except for derived classes.
   */
  static override [Symbol.hasInstance](value: unknown): boolean {
    return this === HumanError ? isMarked(value, humanError) : isDerived(this, value);
  }

  /**
   * @param what what happened, with the file, row or field
   * @param next what the reader can do about it
   */
  constructor(
    readonly what: string,
    readonly next?: string,
  ) {
    super(next === undefined ? what : `${what}. ${next}`);
  }
}

/** Thrown by work that its caller cancelled. */
export class Cancelled extends Error {
  override readonly name = 'Cancelled';
  readonly [cancelled] = true;
  static override [Symbol.hasInstance](value: unknown): boolean {
    return this === Cancelled ? isMarked(value, cancelled) : isDerived(this, value);
  }
  constructor() {
    super('cancelled');
  }
}

export function throwIfAborted(signal: AbortSignal | undefined): void {
  if (signal?.aborted === true) throw new Cancelled();
}

/**
 * The result of work, or Cancelled as soon as the signal aborts. The work itself may continue, so its
 * result must be dispensable.
 */
export function orCancelled<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const cancel = (): void => reject(new Cancelled());
    if (signal.aborted) cancel();
    signal.addEventListener('abort', cancel, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', cancel));
  });
}

/** The code of an error of the operating system or of Node, such as `ENOENT`. */
export function systemCode(thrown: unknown): string | undefined {
  const code = (thrown as { readonly code?: unknown } | null | undefined)?.code;
  return typeof code === 'string' ? code : undefined;
}

/** What happened, by anything that was thrown, without the advice of a HumanError. */
export const whatOf = (thrown: unknown): string =>
  thrown instanceof HumanError ? thrown.what : messageOf(thrown);

/** The message of anything that was thrown, also of values that are not errors. */
export function messageOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
}

/**
 * Receives the progress of work below the entry points. The command line writes it to stderr, the
 * editor to its output channel and progress notifications.
 */
export interface Reporter {
  /** One line for a log. */
  log(line: string): void;
  /** The current step, in a few words. */
  progress(step: string): void;
}

export const silent: Reporter = { log: () => undefined, progress: () => undefined };

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

/**
 * Runs work on the first request and keeps its result. Requests that arrive meanwhile share the
 * same promise. A failure is not kept, so the next request starts the work again.
 */
export class RetryingMemo<T, Given extends readonly unknown[] = []> {
  #kept: Promise<T> | undefined;
  readonly #make: (...given: Given) => Promise<T>;

  constructor(make: (...given: Given) => Promise<T>) {
    this.#make = make;
  }

  /**
   * Returns the kept or pending result, or starts the work.
   *
   * @param given arguments of the work, if this call starts it
   * @throws what the work throws
   */
  get(...given: Given): Promise<T> {
    if (this.#kept !== undefined) return this.#kept;
    const making = this.#make(...given);
    this.#kept = making;
    making.catch(() => {
      // A failure of forgotten work must not discard the work that started since.
      if (this.#kept === making) this.#kept = undefined;
    });
    return making;
  }

  /**
   * The kept result, once pending work has ended; undefined if there is none or the work failed.
   * Never rejects.
   */
  async made(): Promise<T | undefined> {
    return this.#kept?.catch(() => undefined);
  }

  /** Discards the kept or pending result, so that the next request starts the work again. */
  forget(): void {
    this.#kept = undefined;
  }
}

/**
 * Like {@link RetryingMemo}, for one key of a map.
 *
 * @throws what `make` throws
 */
export function retryingMemoOf<Key, T>(
  kept: Pick<Map<Key, Promise<T>>, 'get' | 'delete'> & { set(key: Key, made: Promise<T>): unknown },
  key: Key,
  make: () => Promise<T>,
): Promise<T> {
  const known = kept.get(key);
  if (known !== undefined) return known;
  const making = make();
  kept.set(key, making);
  making.catch(() => {
    if (kept.get(key) === making) kept.delete(key);
  });
  return making;
}

/** A part of a run that several machines share. */
export interface Shard {
  /** From 1 to `count`. */
  readonly number: number;
  readonly count: number;
}

/** A shard as options and messages write it: `2/4`. */
export const shardText = ({ number, count }: Shard): string => `${number}/${count}`;

/** A type of data that nobody changes, such as what a schema infers. */
export type Immutable<T> = T extends object ? { readonly [Key in keyof T]: Immutable<T[Key]> } : T;
