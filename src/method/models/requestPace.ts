import type { RateAllowance, StatedRates } from './rateHeaders';

/** Limits of a whole run; undefined for none. */
export interface RateLimits {
  readonly requestsPerMinute?: number | undefined;
  /** Input and output together. */
  readonly tokensPerMinute?: number | undefined;
}

/** A request that was allowed to start. */
export interface StartedRequest {
  readonly at: number;
  /** Requests and tokens of the run that had started before it. */
  readonly requestsBefore: number;
  readonly tokensBefore: number;
  /** The most tokens that it can take. */
  readonly tokens: number;
}

const minute = 60_000;
/** Distance of requests after the first 429, in milliseconds. */
const firstSpacing = 100;
/** The longest pause before the server is tried again, whatever it says. */
const longestPause = 60 * minute;
/** The longest pause where a server does not say how long it wants to be left alone. */
const longestGuess = minute;
/** Accepted requests after which a pace counts as one that the server takes. */
const steady = 20;

/**
 * When the next request of a run may start. It keeps the limits of the user, and learns those of
 * the server: a 429 pauses the whole run and makes it slower, accepted requests make it faster
 * again, and headers that state what is left hold it before the server has to refuse. Requests are
 * spaced evenly, since servers also enforce a limit for a minute within seconds. All times come from
 * the caller, in milliseconds of a clock that never jumps.
 */
export class RequestPace {
  private nextAt = 0;
  private tokensFreeAt = 0;
  private pausedUntil = 0;
  /** Learned distance of two requests. */
  private spacing = 0;
  private slowedAt = -Infinity;
  /** Answers, and requests without a refusal, since the pace was last made slower. */
  private acceptedSince = 0;
  private startedSince = 0;
  private refusedSince = 0;
  private refusalsInRow = 0;
  private requests = 0;
  private tokens = 0;
  private readonly left = new Map<keyof StatedRates, { count: number; until: number }>();
  private readonly limitOf = new Map<keyof StatedRates, number>();

  constructor(private readonly limits: RateLimits) {}

  /** Milliseconds until a request of this size may start; 0 for now. */
  waitFor(tokens: number, now: number): number {
    const times = [this.nextAt, this.tokensFreeAt, this.pausedUntil];
    for (const [kind, { count, until }] of this.left) {
      if (count < this.needed(kind, tokens)) times.push(Math.min(until, now + longestPause));
    }
    return Math.max(0, ...times.map((time) => time - now));
  }

  /** Notes that a request starts. */
  started(tokens: number, now: number): StartedRequest {
    const { requestsPerMinute, tokensPerMinute } = this.limits;
    const own = requestsPerMinute === undefined ? 0 : minute / requestsPerMinute;
    this.nextAt = now + Math.max(own, this.spacing);
    if (tokensPerMinute !== undefined) {
      this.tokensFreeAt = Math.max(now, this.tokensFreeAt) + (tokens * minute) / tokensPerMinute;
    }
    for (const [kind, each] of this.left) each.count -= this.needed(kind, tokens);
    const started = { at: now, requestsBefore: this.requests, tokensBefore: this.tokens, tokens };
    this.requests += 1;
    this.tokens += tokens;
    this.startedSince += 1;
    return started;
  }

  /** Notes what the headers of an answer state. */
  stated(
    rates: StatedRates,
    { requestsBefore, tokensBefore, tokens }: StartedRequest,
    now: number,
  ): void {
    // What started meanwhile is not in the server's count yet.
    this.state('requests', rates.requests, this.requests - requestsBefore - 1, now);
    this.state('tokens', rates.tokens, this.tokens - tokensBefore - tokens, now);
  }

  /** Notes that a request ended without a refusal, and the tokens that it took. */
  ended(started: StartedRequest, used: number, isAnswer: boolean, now: number): void {
    const { tokensPerMinute } = this.limits;
    if (tokensPerMinute !== undefined) {
      this.tokensFreeAt -= ((started.tokens - used) * minute) / tokensPerMinute;
    }
    if (!isAnswer || started.at < this.slowedAt) return;
    this.refusalsInRow = 0;
    this.acceptedSince += 1;
    // Back to the limit slowly, and faster where it may have been a passing one.
    if (this.acceptedSince > steady) {
      this.spacing *= now - this.slowedAt > 5 * minute ? 0.98 : 0.998;
    }
    if (this.spacing < 1) this.spacing = 0;
  }

  /**
   * Notes a 429.
   *
   * @param askedMs how long the server asks to wait; 0 when it does not say
   * @returns how long the whole run waits now; undefined when it already waits that long
   */
  refused(started: StartedRequest, askedMs: number, now: number): number | undefined {
    this.ended(started, 0, false, now);
    this.refusedSince += 1;
    // Those that started before the run became slower say nothing about its pace.
    if (started.at >= this.slowedAt) this.slowDown(askedMs, now);
    const guess = Math.min(longestGuess, 1000 * 2 ** Math.max(0, this.refusalsInRow - 1));
    const until = now + (askedMs > 0 ? Math.min(askedMs, longestPause) : guess);
    const isPaused = this.pausedUntil > now;
    if (until <= this.pausedUntil) return undefined;
    this.pausedUntil = until;
    return isPaused ? undefined : until - now;
  }

  private slowDown(askedMs: number, now: number): void {
    const taken = Math.max(1, this.startedSince - this.refusedSince);
    const grown = this.spacing * (this.acceptedSince >= steady ? 1.25 : 2);
    // After so many requests the server wants so much time, which is about its pace.
    const implied = Math.min(askedMs, minute) / taken;
    this.spacing = Math.min(minute, Math.max(firstSpacing, grown, this.spacing > 0 ? implied : 0));
    this.slowedAt = now;
    this.refusalsInRow += 1;
    this.acceptedSince = 0;
    this.startedSince = 0;
    this.refusedSince = 0;
  }

  private state(
    kind: keyof StatedRates,
    allowance: RateAllowance | undefined,
    startedMeanwhile: number,
    now: number,
  ): void {
    if (allowance === undefined) return;
    const { remaining, resetMs, limit } = allowance;
    if (limit !== undefined) this.limitOf.set(kind, limit);
    this.left.set(kind, { count: remaining - startedMeanwhile, until: now + resetMs });
  }

  /** What a request takes of a limit; never more than the whole, for which it could wait forever. */
  private needed(kind: keyof StatedRates, tokens: number): number {
    const needed = kind === 'requests' ? 1 : tokens;
    return Math.min(needed, this.limitOf.get(kind) ?? needed);
  }
}
