import { mean, quantile } from 'simple-statistics';

/** How intervals and resampled p-values are made. Equal settings give equal figures. */
export interface Resampling {
  /** Resamples of the bootstrap, or random sign changes; 1000 by default. */
  readonly resamples?: number;
  readonly seed?: number;
  /** Confidence level of an interval; 0.95 by default. */
  readonly level?: number;
}

/** Lower and upper end. */
export type Interval = readonly [low: number, high: number];

export const defaultResampling = { resamples: 1000, seed: 20240618, level: 0.95 } as const;

/**
 * Returns a function that fills arrays with random whole numbers from 0 to 2³² − 1, the same for
 * the same seed. The generator is Chris Doty-Humphrey's sfc32 of PractRand.
 */
function randomFill(seed: number): (into: Uint32Array) => void {
  const state = Int32Array.of(0, seed, 0x9e3779b9, 1);
  const fill = (into: Uint32Array): void => {
    let [a = 0, b = 0, c = 0, counter = 0] = state;
    for (let index = 0; index < into.length; index++) {
      const result = (a + b + counter) | 0;
      counter = (counter + 1) | 0;
      a = b ^ (b >>> 9);
      b = (c + (c << 3)) | 0;
      c = (((c << 21) | (c >>> 11)) + result) | 0;
      into[index] = result;
    }
    state.set([a, b, c, counter]);
  };
  // Similar seeds give similar first numbers, so these are dropped.
  fill(new Uint32Array(12));
  return fill;
}

/** The numbers of {@link randomFill} one by one. */
export function randomNumbers(seed: number): () => number {
  const fill = randomFill(seed);
  const buffer = new Uint32Array(256);
  let at = buffer.length;
  return () => {
    if (at === buffer.length) {
      fill(buffer);
      at = 0;
    }
    return buffer[at++] ?? 0;
  };
}

/** Totals of one resample, by place: the number of instances drawn, and the sum of their values. */
interface ResampleTotals {
  readonly counts: Uint32Array;
  readonly sums: Float64Array;
}

/** The places of the totals of those patterns for which `holds` is true. */
type PlacesWhere = (holds: (pattern: number) => boolean) => readonly number[];

/**
 * Draws resamples of the size of the whole, with replacement. Two calls with equal numbers of
 * instances and equal settings draw the same ones. So figures of two methods over the same
 * instances are resampled in pairs.
 *
 * @param patterns the pattern of each instance: a number, such as a set of flags. Shares are sums of
 *   counts over patterns, and means over a part are sums over its patterns.
 * @param values one for each instance
 * @param begin called once with what finds places. It returns a function that is called after each
 *   resample with counts and sums; the next resample overwrites these arrays
 */
export function resample(
  patterns: Uint16Array,
  values: Float64Array,
  begin: (where: PlacesWhere) => (drawn: ResampleTotals) => void,
  settings: Resampling = {},
): void {
  const { resamples, seed } = { ...defaultResampling, ...settings };
  const fill = randomFill(seed);
  const of = patterns.length;
  const scale = of / 2 ** 32;
  // Few of the patterns occur, so it is much less work to count only these.
  const present = [...new Set(patterns)].sort((left, right) => left - right);
  const places = new Map(present.map((pattern, place) => [pattern, place]));
  const placed = patterns.map((pattern) => places.get(pattern) ?? 0);
  const look = begin((holds) =>
    present.flatMap((pattern, place) => (holds(pattern) ? [place] : [])),
  );
  const counts = new Uint32Array(present.length);
  const sums = new Float64Array(present.length);
  const draws = new Uint32Array(of);
  for (let round = 0; round < resamples; round++) {
    counts.fill(0);
    sums.fill(0);
    fill(draws);
    for (let drawn = 0; drawn < of; drawn++) {
      const index = Math.floor(draws[drawn]! * scale);
      const place = placed[index]!;
      counts[place]! += 1;
      sums[place]! += values[index]!;
    }
    look({ counts, sums });
  }
}

/**
 * The percentile interval (Efron & Tibshirani 1993, chapter 13) of a figure over resamples. NaN
 * values are left out.
 *
 * @returns undefined if all values are NaN
 */
export function percentileInterval(
  values: readonly number[],
  level: number = defaultResampling.level,
): Interval | undefined {
  const known = values.filter((value) => !Number.isNaN(value));
  if (known.length === 0) return undefined;
  const outside = (1 - level) / 2;
  // This selects the ends. To sort all values takes ten times as long.
  const [low = NaN, high = NaN] = quantile(known, [outside, 1 - outside]);
  return [low, high];
}

/** The sum over some places of the totals of a resample. */
export function sumAt(of: Uint32Array | Float64Array, places: readonly number[]): number {
  let sum = 0;
  for (let at = 0; at < places.length; at++) sum += of[places[at]!]!;
  return sum;
}

/** The mean; undefined for an empty list, for which the library's function throws. */
export const meanOf = (values: readonly number[]): number | undefined =>
  values.length === 0 ? undefined : mean([...values]);
