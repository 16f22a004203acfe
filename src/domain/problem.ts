/**
 * An error that a person caused or can mend: what happened, where, and what to do next. Entry points
 * print `message` alone; anything else that is thrown is a defect of ours.
 */
export class HumanError extends Error {
  override readonly name = 'HumanError';

  /**
   * @param what what happened, with the file, row or field
   * @param next what to do about it
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
  constructor() {
    super('cancelled');
  }
}

export function throwIfAborted(signal: AbortSignal | undefined): void {
  if (signal?.aborted === true) throw new Cancelled();
}

/** The text of whatever was thrown. */
export function messageOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
}
