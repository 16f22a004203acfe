/** What is left of one limit of a server. */
export interface RateAllowance {
  /** Requests or tokens that the server still takes before the limit is whole again. */
  readonly remaining: number;
  /** Milliseconds from the answer until the limit is whole again. */
  readonly resetMs: number;
  /** The whole limit; undefined when the server does not say. */
  readonly limit?: number;
}

/** The rate limits that an answer states. */
export interface StatedRates {
  readonly requests?: RateAllowance;
  readonly tokens?: RateAllowance;
}

type HeaderOf = (name: string) => string | null;

/**
 * Reads the rate limits in the headers of an answer. OpenAI, and servers like it, send
 * `x-ratelimit-remaining-requests` with a reset such as `6m0s`
 * (https://platform.openai.com/docs/guides/rate-limits). Anthropic sends
 * `anthropic-ratelimit-requests-remaining` with a time
 * (https://docs.anthropic.com/en/api/rate-limits#response-headers). A limit without a readable
 * reset is left out, since it does not say how long to wait.
 *
 * @param now milliseconds since 1970, which the times of Anthropic are compared with
 */
export function statedRates(header: HeaderOf, now: number): StatedRates {
  const requests =
    openAiAllowance(header, 'requests') ?? anthropicAllowance(header, 'requests', now);
  const tokens =
    openAiAllowance(header, 'tokens') ??
    scarcest(
      ['tokens', 'input-tokens', 'output-tokens'].map((kind) =>
        anthropicAllowance(header, kind, now),
      ),
    );
  return { ...(requests !== undefined && { requests }), ...(tokens !== undefined && { tokens }) };
}

function openAiAllowance(header: HeaderOf, kind: string): RateAllowance | undefined {
  return allowance(
    header(`x-ratelimit-remaining-${kind}`),
    durationOf(header(`x-ratelimit-reset-${kind}`)),
    header(`x-ratelimit-limit-${kind}`),
  );
}

function anthropicAllowance(
  header: HeaderOf,
  kind: string,
  now: number,
): RateAllowance | undefined {
  const [remaining, reset, limit] = ['remaining', 'reset', 'limit'].map((part) =>
    header(`anthropic-ratelimit-${kind}-${part}`),
  );
  return allowance(remaining, Date.parse(reset ?? '') - now, limit);
}

function allowance(
  remaining: string | null | undefined,
  resetMs: number | undefined,
  limit: string | null | undefined,
): RateAllowance | undefined {
  const left = numberOf(remaining);
  const whole = numberOf(limit);
  if (left === undefined || resetMs === undefined || !Number.isFinite(resetMs)) return undefined;
  return { remaining: left, resetMs, ...(whole !== undefined && { limit: whole }) };
}

function numberOf(text: string | null | undefined): number | undefined {
  const number = Number(text?.trim() === '' ? NaN : (text ?? NaN));
  return Number.isFinite(number) && number >= 0 ? number : undefined;
}

const scarcest = (all: readonly (RateAllowance | undefined)[]): RateAllowance | undefined =>
  all
    .filter((each) => each !== undefined)
    .sort((left, right) => left.remaining - right.remaining)
    .at(0);

const unitMs: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
};

/** Milliseconds of `1s`, `120ms`, `2m59.56s` or a number of seconds; undefined for anything else. */
function durationOf(text: string | null): number | undefined {
  if (text === null) return undefined;
  const seconds = numberOf(text);
  if (seconds !== undefined) return seconds * 1000;
  if (!/^(?:\d+(?:\.\d+)?(?:ms|[smhd]))+$/.test(text)) return undefined;
  return [...text.matchAll(/(\d+(?:\.\d+)?)(ms|[smhd])/g)].reduce(
    (sum, [, count, unit]) => sum + Number(count) * (unitMs[unit ?? ''] ?? 0),
    0,
  );
}
