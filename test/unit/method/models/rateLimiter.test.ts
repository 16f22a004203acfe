import assert from 'node:assert/strict';
import { Cancelled, silent } from '../../../../src/domain/work';
import { ModelFailure } from '../../../../src/method/models/chatModel';
import { statedRates, type StatedRates } from '../../../../src/method/models/rateHeaders';
import {
  RateLimiter,
  TooManyRequests,
  type Clock,
} from '../../../../src/method/models/rateLimiter';
import type { RateLimits } from '../../../../src/method/models/requestPace';

/** A clock that jumps to the next time anything waits for, once nothing else is to be done. */
class JumpingClock implements Clock {
  private time = Date.parse('2026-01-01T00:00:00Z');
  private waiting: { at: number; go: () => void }[] = [];

  readonly now = (): number => this.time;

  readonly pause = (milliseconds: number, signal: AbortSignal | undefined): Promise<void> =>
    new Promise((go) => {
      this.waiting.push({ at: this.time + milliseconds, go });
      signal?.addEventListener('abort', () => go(), { once: true });
    });

  /** Lets time pass until the work is done. */
  async during<Result>(work: Promise<Result>): Promise<Result> {
    let isDone = false;
    const done = work.finally(() => (isDone = true));
    done.catch(() => undefined);
    for (;;) {
      // All promises that can go on have gone on when the event loop comes round.
      await new Promise((go) => setImmediate(go));
      if (isDone) return done;
      this.waiting.sort((left, right) => left.at - right.at);
      const next = this.waiting.shift();
      assert.ok(next, 'nothing waits, and the work is not done');
      this.time = Math.max(this.time, next.at);
      next.go();
    }
  }
}

/** What a gateway says to a request at a time. */
type Gateway = (now: number) => {
  readonly refusal?: number;
  readonly rates?: StatedRates;
  readonly seconds?: number;
};

/** A gateway that takes so many requests in each window, and says after a 429 when the next begins. */
function windowGateway(most: number, windowMs: number, says: 'when' | 'nothing'): Gateway {
  let taken: number[] = [];
  return (now) => {
    taken = taken.filter((at) => now - at < windowMs);
    if (taken.length < most) {
      taken.push(now);
      return {};
    }
    return { refusal: says === 'when' ? (taken[0] ?? now) + windowMs - now : 0 };
  };
}

describe('the rate limits of a run', () => {
  /** Sends requests, `atOnce` in flight at most, and tells when which were taken or refused. */
  const send = async (
    gateway: Gateway,
    more: { count?: number; atOnce?: number; tokens?: number; used?: number } & RateLimits = {},
  ) => {
    const { count = 100, atOnce = 16, tokens = 1000, used = tokens } = more;
    const clock = new JumpingClock();
    const limiter = new RateLimiter(more, clock);
    const first = clock.now();
    const taken: number[] = [];
    const refused: number[] = [];
    const log: string[] = [];
    const work = { reporter: { ...silent, log: (line: string) => void log.push(line) } };
    const one = (): Promise<number> =>
      limiter.run(
        {
          tokens,
          used: () => used,
          send: async (stated) => {
            const { refusal, rates, seconds = 5 } = gateway(clock.now());
            if (rates !== undefined) stated(rates);
            if (refusal !== undefined) {
              refused.push(clock.now() - first);
              throw new TooManyRequests('status 429', refusal);
            }
            taken.push(clock.now() - first);
            await clock.pause(seconds * 1000, undefined);
            return 1;
          },
        },
        work,
      );
    let next = 0;
    const worker = async (): Promise<void> => {
      while (next++ < count) await one();
    };
    await clock.during(Promise.all(Array.from({ length: atOnce }, worker)));
    return { taken, refused, log, seconds: (clock.now() - first) / 1000 };
  };

  it('loses none of 100 requests at one a second, and comes near that pace', async () => {
    for (const says of ['when', 'nothing'] as const) {
      const { taken, refused, seconds } = await send(windowGateway(1, 1000, says));
      assert.equal(taken.length, 100);
      assert.ok(seconds < 200, `${says}: ${seconds} s`);
      // 15 of the first 16, which start at once; after that the pace is known.
      assert.ok(refused.length < 40, `${says}: ${refused.length} refusals`);
    }
  });

  it('uses the burst that a server allows, and then its pace', async () => {
    const { taken, seconds } = await send(windowGateway(50, 60_000, 'when'), { count: 200 });
    assert.equal(taken.length, 200);
    assert.ok(seconds < 240, `${seconds} s`);
  });

  it('a 429 pauses the whole run, and is said once', async () => {
    let refusals = 0;
    const { taken, refused, log } = await send(
      () => (refusals++ === 0 ? { refusal: 30_000 } : {}),
      { count: 40, atOnce: 4, requestsPerMinute: 60 },
    );
    assert.equal(taken.length, 40);
    assert.deepEqual(refused, [0]);
    assert.equal(Math.min(...taken), 30_000);
    assert.deepEqual(log, ['status 429; pausing all requests for 30 s']);
  });

  it('keeps to the requests of a minute, evenly', async () => {
    const { taken } = await send(() => ({}), { count: 30, requestsPerMinute: 30 });
    assert.deepEqual(
      taken,
      Array.from({ length: 30 }, (_, index) => index * 2000),
    );
  });

  it('keeps to the tokens of a minute, and gives back what an answer did not take', async () => {
    const limits = { count: 10, atOnce: 1, tokens: 10_000, tokensPerMinute: 60_000 };
    const whole = await send(() => ({}), limits);
    assert.deepEqual(whole.taken.slice(0, 4), [0, 10_000, 20_000, 30_000]);
    const half = await send(() => ({}), { ...limits, used: 5000 });
    assert.deepEqual(half.taken.slice(0, 4), [0, 5000, 10_000, 15_000]);
  });

  it('waits where headers say that nothing is left, before the server refuses', async () => {
    let left = 0;
    let window = -1;
    const gateway: Gateway = (now) => {
      const at = Math.floor(now / 60_000);
      if (at !== window) [window, left] = [at, 10];
      left -= 1;
      if (left < 0) return { refusal: 1 };
      return {
        rates: { requests: { remaining: left, resetMs: (at + 1) * 60_000 - now } },
        seconds: 0.1,
      };
    };
    const { taken, refused } = await send(gateway, { count: 35, atOnce: 1 });
    assert.equal(taken.length, 35);
    assert.deepEqual(refused, []);
  });

  it('does not wait for ever for more tokens than the limit has', async () => {
    const gateway: Gateway = () => ({
      rates: { tokens: { remaining: 500, limit: 800, resetMs: 10_000 } },
    });
    const { taken } = await send(gateway, { count: 3, atOnce: 1, tokens: 1000 });
    assert.deepEqual(taken, [0, 10_000, 20_000]);
  });

  it('recovers from a passing limit', async () => {
    let count = 0;
    const { taken } = await send(() => (count++ < 20 ? { refusal: 0 } : { seconds: 1 }), {
      count: 3000,
      atOnce: 8,
    });
    const ends = taken.slice(-100);
    assert.ok((ends.at(-1) ?? 0) - (ends[0] ?? 0) < 30_000);
  });

  it('gives a request up that the server never takes', async () => {
    await assert.rejects(
      send(() => ({ refusal: 0 }), { count: 1 }),
      ModelFailure,
    );
  });

  it('is cancelled while it waits', async () => {
    const clock = new JumpingClock();
    const abort = new AbortController();
    const limiter = new RateLimiter({ requestsPerMinute: 1 }, clock);
    const ask = (): Promise<number> =>
      limiter.run(
        { tokens: 1, used: () => 1, send: () => Promise.resolve(1) },
        { signal: abort.signal, reporter: silent },
      );
    assert.equal(await ask(), 1);
    const waiting = [ask(), ask()];
    setImmediate(() => abort.abort());
    for (const each of waiting) await assert.rejects(each, Cancelled);
  });
});

describe('rate limits in headers', () => {
  const now = Date.parse('2026-01-01T00:00:00Z');
  const read = (headers: Record<string, string>): StatedRates =>
    statedRates((name) => headers[name] ?? null, now);

  it('of OpenAI, with durations', () => {
    assert.deepEqual(
      read({
        'x-ratelimit-limit-requests': '500',
        'x-ratelimit-remaining-requests': '499',
        'x-ratelimit-reset-requests': '120ms',
        'x-ratelimit-limit-tokens': '30000',
        'x-ratelimit-remaining-tokens': '0',
        'x-ratelimit-reset-tokens': '1m2.5s',
      }),
      {
        requests: { remaining: 499, resetMs: 120, limit: 500 },
        tokens: { remaining: 0, resetMs: 62_500, limit: 30_000 },
      },
    );
  });

  it('of Anthropic, with times, of which the scarcest kind of token counts', () => {
    const tokens = (kind: string, remaining: string): Record<string, string> => ({
      [`anthropic-ratelimit-${kind}-remaining`]: remaining,
      [`anthropic-ratelimit-${kind}-reset`]: '2026-01-01T00:00:07Z',
    });
    assert.deepEqual(
      read({
        ...tokens('requests', '3'),
        ...tokens('input-tokens', '9000'),
        ...tokens('output-tokens', '80'),
      }),
      {
        requests: { remaining: 3, resetMs: 7000 },
        tokens: { remaining: 80, resetMs: 7000 },
      },
    );
  });

  it('are left out where they do not say until when they hold', () => {
    assert.deepEqual(read({}), {});
    assert.deepEqual(read({ 'x-ratelimit-remaining-requests': '0' }), {});
    assert.deepEqual(
      read({ 'x-ratelimit-remaining-requests': '0', 'x-ratelimit-reset-requests': 'soon' }),
      {},
    );
    assert.deepEqual(
      read({ 'x-ratelimit-remaining-requests': '', 'x-ratelimit-reset-requests': '7' }),
      {},
    );
  });
});
