const humanError = Symbol.for('swt-bench.HumanError');
const cancelled = Symbol.for('swt-bench.Cancelled');
const isMarked = (value: unknown, mark: symbol): boolean =>
  typeof value === 'object' && value !== null && mark in value;
const isDerived = (kind: unknown, value: unknown): boolean =>
  Function.prototype[Symbol.hasInstance].call(kind as () => void, value);

/**
 * An error that a person caused or can fix: it says what happened, where, and what to do next.
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
 * The result of work, or Cancelled as soon as the signal aborts. The work itself may go on, so its
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
