import { errorFunction, gammaln } from 'simple-statistics';
import { randomNumbers, usualResampling, type Resampling } from './resampling';

/** ln of n choose k; −∞ where there is no way to choose. */
const logChoose = (n: number, k: number): number =>
  k < 0 || k > n ? -Infinity : gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1);

const clamped = (p: number): number => Math.min(1, Math.max(0, p));

/**
 * Exact two-sided McNemar test (binomial on the discordant pairs): could two methods differ this much on
 * the same instances if each discordant one had been either's with equal chance?
 *
 * @param onlyFirst instances on which it holds of the first method alone
 * @returns p; 1 where there is no discordant pair
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
 * Probability that two sets, drawn independently and uniformly from a population, have at least so many
 * members in common: Fisher's exact test, one-sided. It is the test of the paper's Table 6, whose 80.4 %
 * (26, 16, 1) and 72.8 % (44, 50, 7) it gives for 276 instances.
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
 * Fisher's exact test, two-sided: could two shares, `first` of `ofFirst` and `second` of `ofSecond`, be of
 * one population? Sums all tables that are no likelier than this one.
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
    // Equally likely tables differ in the last digits only.
    if (p <= observed * (1 + 1e-7)) sum += p;
  }
  return clamped(sum);
}

/**
 * One-sided z-test of two shares with the pooled variance: chance of a difference at least this far in this
 * direction. It is the test of the paper's Table 7, whose 37 % it gives for S of 5 and 4 in 83.
 *
 * @returns undefined where a share is of nothing, or both are 0 or 1
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
 * Paired permutation test of a mean difference, two-sided: each difference could as well have had the other
 * sign. All sign changes where there are at most `resamples` of them, random ones otherwise, counting the
 * observed one among them.
 *
 * @returns p; undefined without any difference to look at
 */
export function signFlips(
  differences: readonly number[],
  settings: Resampling = {},
): number | undefined {
  if (differences.length === 0) return undefined;
  const { resamples, seed } = { ...usualResampling, ...settings };
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
 * Holm's correction (1979) for looking at several comparisons: p-values that hold for all together, in the
 * order given.
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
