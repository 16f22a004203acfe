import { errorFunction, gammaln } from 'simple-statistics';
import { type Resampling, randomNumbers, defaultResampling } from './resampling';

/** ln of n choose k; −∞ if k is out of range. */
const logChoose = (n: number, k: number): number =>
  k < 0 || k > n ? -Infinity : gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1);

const clamped = (p: number): number => Math.min(1, Math.max(0, p));

/**
 * Exact two-sided McNemar test: binomial on the discordant pairs. It gives the chance that two
 * methods differ this much on the same instances if each discordant pair falls either way with
 * equal chance.
 *
 * @param onlyFirst number of instances on which only the first method succeeds
 * @returns p; 1 if there is no discordant pair
 */
export function mcNemar(onlyFirst: number, onlySecond: number): number {
  const n = onlyFirst + onlySecond;
  const few = Math.min(onlyFirst, onlySecond);
  let tail = 0;
  for (let k = 0; k <= few; k++) tail += Math.exp(logChoose(n, k) - n * Math.LN2);
  return clamped(2 * tail);
}

/** Probability of `overlap` common members of two independent random sets of a population. */
const hypergeometric = (population: number, first: number, second: number, overlap: number) =>
  Math.exp(
    logChoose(first, overlap) +
      logChoose(population - first, second - overlap) -
      logChoose(population, second),
  );

/**
 * Probability that two sets, drawn independently and uniformly from a population, have at least so
 * many members in common: Fisher's exact test, one-sided. The paper's Table 6 uses this test. For
 * its 276 instances the function reproduces 80.4 % (26, 16, 1) and 72.8 % (44, 50, 7).
 */
export function overlapAtLeast(
  population: number,
  first: number,
  second: number,
  overlap: number,
): number {
  let tail = 0;
  for (let common = overlap; common <= Math.min(first, second); common++) {
    tail += hypergeometric(population, first, second, common);
  }
  return clamped(tail);
}

/**
 * Fisher's exact test, two-sided: p of the hypothesis that two shares, `first` of `ofFirst` and
 * `second` of `ofSecond`, come from one population. Sums all tables that are at most as likely as
 * the observed one.
 */
export function fisherExact(
  first: number,
  ofFirst: number,
  second: number,
  ofSecond: number,
): number {
  const population = ofFirst + ofSecond;
  const held = first + second;
  const observed = hypergeometric(population, ofFirst, held, first);
  let sum = 0;
  for (let k = Math.max(0, held - ofSecond); k <= Math.min(held, ofFirst); k++) {
    const p = hypergeometric(population, ofFirst, held, k);
    // Equally likely tables may differ in the last digits.
    if (p <= observed * (1 + 1e-7)) sum += p;
  }
  return clamped(sum);
}

/**
 * One-sided z-test of two shares with the pooled variance: the chance of a difference at least this
 * large in this direction. The paper's Table 7 uses this test. For S of 5 and 4 in 83 the function
 * reproduces its 37 %.
 *
 * @returns undefined if a denominator is 0, or both shares are 0 or both 1
 */
export function proportionsDiffer(
  first: number,
  ofFirst: number,
  second: number,
  ofSecond: number,
): number | undefined {
  if (ofFirst === 0 || ofSecond === 0) return undefined;
  const pooled = (first + second) / (ofFirst + ofSecond);
  const deviation = Math.sqrt(pooled * (1 - pooled) * (1 / ofFirst + 1 / ofSecond));
  if (!(deviation > 0)) return undefined;
  const z = Math.abs(first / ofFirst - second / ofSecond) / deviation;
  return clamped((1 - errorFunction(z / Math.SQRT2)) / 2);
}

/**
 * Paired permutation test of a mean difference, two-sided: under the hypothesis each difference has
 * either sign with equal chance. It tries all sign changes if there are at most `resamples`.
 * Otherwise it tries random ones and counts the observed one among them.
 *
 * @returns p; undefined if there is no difference, or no resample
 */
export function signFlips(
  differences: readonly number[],
  settings: Resampling = {},
): number | undefined {
  const { resamples, seed } = { ...defaultResampling, ...settings };
  if (differences.length === 0 || resamples === 0) return undefined;
  // A difference of 0 has no sign to change.
  const moving = differences.filter((difference) => difference !== 0);
  const observed = Math.abs(moving.reduce((sum, each) => sum + each, 0));
  const atLeast = observed * (1 - 1e-12);
  let extreme = 0;
  if (2 ** moving.length <= resamples) {
    const ways = 2 ** moving.length;
    for (let signs = 0; signs < ways; signs++) {
      const sum = moving.reduce((sum, each, bit) => sum + ((signs >> bit) & 1 ? -each : each), 0);
      if (Math.abs(sum) >= atLeast) extreme++;
    }
    return extreme / ways;
  }
  const next = randomNumbers(seed);
  for (let round = 0; round < resamples; round++) {
    let sum = 0;
    let bits = 0;
    for (let index = 0; index < moving.length; index++) {
      if (index % 32 === 0) bits = next();
      const each = moving[index] ?? 0;
      sum += bits & 1 ? -each : each;
      bits >>>= 1;
    }
    if (Math.abs(sum) >= atLeast) extreme++;
  }
  return (extreme + 1) / (resamples + 1);
}

/**
 * Holm's correction (1979) for several comparisons: p-values that hold for all together, in the
 * given order.
 */
export function holm(values: readonly number[]): number[] {
  const order = values.map((value, index) => ({ value, index })).sort((a, b) => a.value - b.value);
  const adjusted = new Array<number>(values.length);
  let largest = 0;
  for (const [rank, { value, index }] of order.entries()) {
    largest = Math.max(largest, clamped((values.length - rank) * value));
    adjusted[index] = largest;
  }
  return adjusted;
}
