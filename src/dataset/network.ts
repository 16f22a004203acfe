import { setTimeout as sleep } from 'node:timers/promises';
import pRetry from 'p-retry';
import { HumanError, throwIfAborted, type Reporter } from '../domain/work';

export interface NetworkOptions {
  readonly signal?: AbortSignal | undefined;
  readonly reporter: Reporter;
}

/** A failure of the network or of a server that may be temporary. */
export class NetworkTrouble extends Error {
  override readonly name = 'NetworkTrouble';
  /** Whether the attempt received data, so that another one makes sense. */
  progressed = false;
  /** @param waitMs milliseconds that the server asks the client to wait */
  constructor(
    message: string,
    readonly waitMs = 0,
  ) {
    super(message);
  }
}

/** Milliseconds without a byte after which a connection counts as broken. */
const longestSilence = 60_000;

/** Attempts after the first, and milliseconds before the first of them. Tests wait less. */
export const retries = { count: 4, firstWait: 400 };

/**
 * Repeats work that failed with NetworkTrouble, with growing pauses. Attempts that received more
 * data do not count.
 */
export async function retryingRequest<Result>(
  work: () => Promise<Result>,
  { signal, reporter }: NetworkOptions,
  what: string,
): Promise<Result> {
  try {
    return await pRetry(
      async () => {
        throwIfAborted(signal);
        return work();
      },
      {
        retries: retries.count,
        minTimeout: retries.firstWait,
        maxTimeout: 10_000,
        ...(signal === undefined ? {} : { signal }),
        shouldRetry: ({ error }) => error instanceof NetworkTrouble,
        shouldConsumeRetry: ({ error }) => !(error instanceof NetworkTrouble && error.progressed),
        onFailedAttempt: async ({ error, retriesLeft }) => {
          if (!(error instanceof NetworkTrouble) || retriesLeft === 0) return;
          reporter.log(`${what}: ${error.message}; trying again`);
          if (error.waitMs > 0) {
            await sleep(error.waitMs, undefined, { signal }).catch(() => undefined);
          }
        },
      },
    );
  } catch (error) {
    throwIfAborted(signal);
    throw error;
  }
}

/** A response. The caller must discard it when it has read what it needs. */
export interface HttpResponse {
  readonly url: string;
  readonly status: number;
  readonly headers: Headers;
  /** Chunks as they arrive. */
  readonly body: AsyncIterable<Uint8Array>;
  /** Closes the connection if the body was not read to its end. */
  discard(): void;
}

/**
 * Sends a GET request and follows redirections.
 *
 * @throws NetworkTrouble also if no data arrives for a minute
 */
export async function request(
  url: string,
  headers: Readonly<Record<string, string>>,
  signal: AbortSignal | undefined,
): Promise<HttpResponse> {
  const silence = new AbortController();
  let timer = setTimeout(() => silence.abort(), longestSilence);
  const all = signal === undefined ? silence.signal : AbortSignal.any([signal, silence.signal]);
  let response: Response;
  try {
    response = await fetch(url, { headers: { ...headers }, signal: all });
  } catch (error) {
    clearTimeout(timer);
    throwIfAborted(signal);
    throw silence.signal.aborted
      ? new NetworkTrouble('the server does not respond')
      : (troubleOf(error) ?? error);
  }
  async function* body(): AsyncGenerator<Uint8Array> {
    try {
      for await (const chunk of response.body ?? []) {
        clearTimeout(timer);
        yield chunk as Uint8Array;
        timer = setTimeout(() => silence.abort(), longestSilence);
      }
    } catch (error) {
      throwIfAborted(signal);
      if (silence.signal.aborted) throw new NetworkTrouble('no data arrived for a minute');
      throw troubleOf(error) ?? error;
    } finally {
      clearTimeout(timer);
    }
  }
  const discard = (): void => {
    clearTimeout(timer);
    silence.abort();
  };
  const { status } = response;
  return { url: response.url, status, headers: response.headers, body: body(), discard };
}

/** The error for a response without content: trouble that may be temporary, or a HumanError. */
export function refusal({ url, status, headers }: HttpResponse, what: string): Error {
  if (status === 429 || status >= 500) {
    const seconds = Number(headers.get('retry-after') ?? 0);
    const wait = Number.isFinite(seconds) ? Math.min(Math.max(seconds, 0), 60) * 1000 : 0;
    return new NetworkTrouble(`${hostOfAddress(url)} responded with status ${status}`, wait);
  }
  const said = `${hostOfAddress(url)} responded with status ${status} to the request for the ${what}`;
  return status === 401 || status === 403
    ? new HumanError(
        said,
        'You need permission. For a gated or private Hugging Face dataset, set HF_TOKEN to a token with read access',
      )
    : new HumanError(said, status === 404 ? 'Check the URL' : 'Try again later');
}

/** Converts a failure of `fetch` or of its connection; undefined for any other error. */
export function troubleOf(error: unknown): NetworkTrouble | undefined {
  if (error instanceof NetworkTrouble) return error;
  // The TypeError of `fetch` says only "fetch failed" or "terminated".
  if (!(error instanceof TypeError)) return undefined;
  const cause = error.cause instanceof Error ? error.cause : undefined;
  if (cause === undefined && !/fetch failed|terminated/.test(error.message)) return undefined;
  const code = cause !== undefined && 'code' in cause ? String(cause.code) : undefined;
  const text = cause?.message ?? error.message;
  return new NetworkTrouble(
    code === undefined || text.includes(code) ? text || (code ?? 'it failed') : `${code}: ${text}`,
  );
}

/** Host and port of an address, for messages, since the rest of it may contain a secret. */
export function hostOfAddress(url: string): string {
  try {
    return new URL(url).host;
  } catch {
    return 'the server';
  }
}
