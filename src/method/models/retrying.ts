import pRetry from 'p-retry';
import { throwIfAborted, type Reporter } from '../../domain/work';

/** A temporary failure of a request: 429, 5xx, a dropped connection, no answer in time. */
export class ModelTrouble extends Error {
  override readonly name = 'ModelTrouble';
  /** @param waitMs how long the server asks clients to wait, in milliseconds */
  constructor(
    message: string,
    readonly waitMs = 0,
  ) {
    super(message);
  }
}

export interface Retries {
  /** Tries after the first. */
  readonly count: number;
  /** Wait before the first retry, in milliseconds; each further wait doubles, up to a minute. */
  readonly firstWaitMs: number;
}

/** So many retries, the first after a second. */
export const retriesOf = (count: number): Retries => ({ count, firstWaitMs: 1000 });

/** The longest wait that a server can ask for, in milliseconds. */
const longestWait = 120_000;

/**
 * Retries an attempt that failed with ModelTrouble, after growing waits, and never earlier than the
 * server allows.
 *
 * @throws ModelTrouble of the last try, what else `attempt` throws at once, Cancelled
 */
export async function retrying<Result>(
  attempt: () => Promise<Result>,
  retries: Retries,
  { signal, reporter }: { readonly signal?: AbortSignal | undefined; readonly reporter: Reporter },
): Promise<Result> {
  try {
    return await pRetry(
      async () => {
        throwIfAborted(signal);
        return attempt();
      },
      {
        retries: retries.count,
        minTimeout: retries.firstWaitMs,
        maxTimeout: Math.max(60_000, retries.firstWaitMs),
        randomize: true,
        ...(signal === undefined ? {} : { signal }),
        shouldRetry: ({ error }) => error instanceof ModelTrouble,
        onFailedAttempt: async ({ error, retriesLeft }) => {
          if (!(error instanceof ModelTrouble) || retriesLeft === 0) return;
          reporter.log(`${error.message}; trying again`);
          await pause(Math.min(error.waitMs, longestWait), signal);
        },
      },
    );
  } catch (error) {
    throwIfAborted(signal);
    throw error;
  }
}

/** Resolves after this time, or at once when the signal aborts. */
export function pause(milliseconds: number, signal: AbortSignal | undefined): Promise<void> {
  if (milliseconds <= 0) return Promise.resolve();
  return new Promise((done) => {
    const stop = (): void => {
      clearTimeout(timer);
      done();
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', stop);
      done();
    }, milliseconds);
    signal?.addEventListener('abort', stop, { once: true });
  });
}

/**
 * How long a server asks clients to wait, in milliseconds. It sends `retry-after` in seconds or as
 * a date (RFC 9110, 10.2.3), or `retry-after-ms`, as OpenAI does.
 */
export function retryAfter(
  headers: Readonly<Record<string, string>> | undefined,
  now: number = Date.now(),
): number {
  const exact = Number(headers?.['retry-after-ms']);
  if (Number.isFinite(exact) && exact > 0) return exact;
  const value = headers?.['retry-after'];
  if (value === undefined) return 0;
  const seconds = Number(value);
  const wait = Number.isFinite(seconds) ? seconds * 1000 : Date.parse(value) - now;
  return Number.isFinite(wait) ? Math.max(0, wait) : 0;
}
