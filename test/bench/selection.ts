// What rules for choosing among candidate tests are worth, on made-up populations of tests and
// fixes. A benchmark, not a test: `npm run bench -- selection [--instances N]`. It prints, for each
// population, the share of instances for which a rule chooses a test that goes F→P, with an interval
// of 95 %, and the difference of the agreement to taking the first test that fails on R.
import { parseArgs } from 'node:util';
import { randomNumbers } from '../../src/domain/study/resampling';
import { printRules, samples, type Drawn } from './selectionRules';

const { values } = parseArgs({
  allowPositionals: true,
  options: { instances: { type: 'string', default: '2000' } },
});

/** How tests and fixes of an instance come about. Shares are from 0 to 1. */
interface Population {
  readonly name: string;
  /** Share of right tests, and of right fixes, in the mean over all instances. */
  readonly rightTests: number;
  readonly rightFixes: number;
  /**
   * How much instances differ: a share is drawn from Beta(mean / spread, (1 − mean) / spread), with
   * the mean above. Great spreads give instances that always or never succeed.
   */
  readonly spread: number;
  /** Share of wrong tests that fail on R. */
  readonly failing: number;
  /** Of these, the share that fails with every fix. */
  readonly broken: number;
  /** Share of wrong fixes that a right test accepts. */
  readonly accepted: number;
  /** Share of wrong tests and of wrong fixes that follow one wrong reading of the issue. */
  readonly misread: number;
}

/**
 * W, F→× and S of tests are those of the SWT-Bench paper (ZeroShotPlus and Pass@5, tables 2 and 3) and of
 * the leaderboard of 2026. Rates of fixes are those of retrieval, of Agentless and of later agents on
 * SWE-bench. What wrong tests have in common with wrong fixes is not published, so that it varies.
 */
const populations: readonly Population[] = [
  ...(
    [
      ['tests of 2024, fixes by retrieval', 0.1, 0.04, 1],
      ['tests of 2024, fixes by Agentless', 0.1, 0.35, 1],
      ['tests of 2026, fixes by Agentless', 0.5, 0.35, 0.5],
      ['tests and fixes of 2026', 0.5, 0.65, 0.5],
    ] as const
  ).flatMap(([name, rightTests, rightFixes, spread]) =>
    [0.1, 0.4].map((misread) => ({
      name: `${name}, ${Math.round(misread * 100)} % misread`,
      ...{ rightTests, rightFixes, spread, misread },
      ...{ failing: 0.5, broken: 0.5, accepted: 0.3 },
    })),
  ),
];

function draw(population: Population, random: () => number): Drawn {
  const chance = (share: number): boolean => random() < share;
  const rate = (mean: number): number =>
    beta(mean / population.spread, (1 - mean) / population.spread, random);
  const [testRate, fixRate] = [rate(population.rightTests), rate(population.rightFixes)];
  const fixes = Array.from({ length: samples }, () => {
    const isRight = chance(fixRate);
    return { isRight, isMisread: !isRight && chance(population.misread) };
  });
  const candidates = Array.from({ length: samples }, () => {
    const isRight = chance(testRate);
    const isMisread = !isRight && chance(population.misread);
    const fails = isRight || isMisread || chance(population.failing);
    const isBroken = !isRight && !isMisread && chance(population.broken);
    const accepts = fixes.map((fix) => {
      if (!fails || isBroken) return false;
      if (isRight) return fix.isRight || chance(population.accepted);
      // A test that misreads the issue accepts fixes that misread it, others what they like.
      return isMisread ? fix.isMisread : chance(population.accepted);
    });
    return { isRight, applies: true, fails, accepts, tests: 1 };
  });
  return { candidates };
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

function main(): void {
  const count = Number(values.instances);
  for (const [at, population] of populations.entries()) {
    const numbers = randomNumbers(1000 + at);
    const random = (): number => numbers() / 2 ** 32;
    const draws = Array.from({ length: count }, () => draw(population, random));
    printRules(population.name, draws, random);
  }
}

main();
