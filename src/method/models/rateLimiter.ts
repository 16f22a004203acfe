import PQueue from 'p-queue';
import { throwIfAborted, type Reporter } from '../../domain/work';
import { ModelFailure } from './chatModel';
import type { StatedRates } from './rateHeaders';
import { RequestPace, type RateLimits, type StartedRequest } from './requestPace';
import { pause } from './retrying';

/** The server refuses a request because there are too many: status 429. */
export class TooManyRequests extends Error {
  override readonly name = 'TooManyRequests';
  /** @param waitMs how long the server asks to wait, in milliseconds; 0 when it does not say */
  constructor(
    message: string,
    readonly waitMs: number,
  ) {
    super(message);
  }
}

/** Time, which tests replace. */
export interface Clock {
  /** Milliseconds of a clock that is never set. */
  readonly now: () => number;
  /** Resolves after this time, or at once when the signal aborts. */
  readonly pause: (milliseconds: number, signal: AbortSignal | undefined) => Promise<void>;
}

/** One try of a request under the limits of a run. */
interface LimitedTry<Result> {
  /** The most tokens that it can take. */
  readonly tokens: number;
  /**
   * Sends the request.
   *
   * @param stated to be called with the limits in the headers of the answer
   * @throws TooManyRequests for a 429
   */
  readonly send: (stated: (rates: StatedRates) => void) => Promise<Result>;
  /** The tokens that the answer took. */
  readonly used: (result: Result) => number;
}

/** After this many refusals a single request is given up; the run has then waited for long. */
const mostRefusals = 50;

/**
 * The rate limits of all requests of a run. Requests start in their order, but one that the server
 * refused goes first.
 */
export class RateLimiter {
  private readonly pace: RequestPace;
  private readonly turns = new PQueue({ concurrency: 1 });

  constructor(
    limits: RateLimits = {},
    private readonly clock: Clock = { now: () => performance.now(), pause },
  ) {
    this.pace = new RequestPace(limits);
  }

  /**
   * Sends a request when the limits let it start. After a 429 the whole run pauses, and the request
   * is sent again.
   *
   * @throws ModelFailure when the server keeps refusing, Cancelled, what else `send` throws
   */
  async run<Result>(
    { tokens, send, used }: LimitedTry<Result>,
    {
      signal,
      reporter,
    }: { readonly signal?: AbortSignal | undefined; readonly reporter: Reporter },
  ): Promise<Result> {
    const { clock, pace } = this;
    for (let refusals = 0; ;) {
      const started = await this.turn(tokens, refusals > 0, signal);
      try {
        const result = await send((rates) => pace.stated(rates, started, clock.now()));
        pace.ended(started, used(result), true, clock.now());
        return result;
      } catch (error) {
        if (!(error instanceof TooManyRequests)) {
          pace.ended(started, 0, false, clock.now());
          throw error;
        }
        const waitMs = pace.refused(started, error.waitMs, clock.now());
        refusals += 1;
        if (refusals >= mostRefusals) throw new ModelFailure(`${error.message}, ${refusals} times`);
        if (waitMs !== undefined) {
          const seconds = Math.max(1, Math.round(waitMs / 1000));
          reporter.log(`${error.message}; pausing all requests for ${seconds} s`);
        }
      }
    }
  }

  /** Waits for the turn of a request, and takes it. */
  private turn(tokens: number, isAgain: boolean, signal: AbortSignal | undefined) {
    const { clock, pace } = this;
    const take = async (): Promise<StartedRequest> => {
      // A pause may grow while this waits.
      for (;;) {
        throwIfAborted(signal);
        const wait = pace.waitFor(tokens, clock.now());
        if (wait <= 0) return pace.started(tokens, clock.now());
        await clock.pause(wait, signal);
      }
    };
    return this.turns.add(take, { priority: isAgain ? 1 : 0 });
  }
}
