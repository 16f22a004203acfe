/** How often tests and fixes are right, in the mean over all instances, from 0 to 1. */
export interface PublishedRates {
  readonly name: string;
  readonly rightTests: number;
  readonly rightFixes: number;
  /**
   * How much instances differ: a share is drawn from Beta(mean / spread, (1 − mean) / spread), with
   * the mean above. Great spreads give instances that always or never succeed.
   */
  readonly spread: number;
}

/**
 * W, F→× and S of tests are those of the SWT-Bench paper (ZeroShotPlus and Pass@5, tables 2 and 3) and of
 * the leaderboard of 2026. Rates of fixes are those of retrieval, of Agentless and of later agents on
 * SWE-bench. Nobody has published how instances differ.
 */
export const publishedRates: readonly PublishedRates[] = [
  {
    name: 'tests of 2024, fixes by retrieval',
    ...{ rightTests: 0.1, rightFixes: 0.04, spread: 1 },
  },
  {
    name: 'tests of 2024, fixes by Agentless',
    ...{ rightTests: 0.1, rightFixes: 0.35, spread: 1 },
  },
  {
    name: 'tests of 2026, fixes by Agentless',
    ...{ rightTests: 0.5, rightFixes: 0.35, spread: 0.5 },
  },
  { name: 'tests and fixes of 2026', ...{ rightTests: 0.5, rightFixes: 0.65, spread: 0.5 } },
];

/** Share of wrong tests that fail on R. */
export const failingWrongTests = 0.5;

/** How many tests, and how many fixes, a population has. */
export interface PopulationSize {
  readonly tests: number;
  readonly fixes: number;
}

/** The shares of right tests and of right fixes of one instance. */
export function ratesOfInstance(
  { rightTests, rightFixes, spread }: PublishedRates,
  random: () => number,
): { readonly tests: number; readonly fixes: number } {
  const rate = (mean: number): number => beta(mean / spread, (1 - mean) / spread, random);
  return { tests: rate(rightTests), fixes: rate(rightFixes) };
}

/** A number of the Beta distribution, by two of the Gamma distribution. */
function beta(a: number, b: number, random: () => number): number {
  const [x, y] = [gamma(a, random), gamma(b, random)];
  return x + y === 0 ? 0 : x / (x + y);
}

/** A number of the Gamma distribution with scale 1 (Marsaglia and Tsang 2000). */
function gamma(shape: number, random: () => number): number {
  if (shape < 1) return gamma(shape + 1, random) * random() ** (1 / shape);
  const d = shape - 1 / 3;
  const c = 1 / Math.sqrt(9 * d);
  for (;;) {
    const normal = Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
    const v = (1 + c * normal) ** 3;
    if (v > 0 && Math.log(1 - random()) < normal ** 2 / 2 + d - d * v + d * Math.log(v))
      return d * v;
  }
}
