// What rules for choosing among candidate tests are worth, on made-up populations of tests and
// fixes. A benchmark, not a test: `npm run bench -- selection [--instances N]`. It prints, for each
// population, the share of instances for which a rule chooses a test that goes F→P, with an interval
// of 95 %, and the difference of the agreement to taking the first test that fails on R.
import { parseArgs } from 'node:util';
import {
  meanOf,
  percentileInterval,
  randomNumbers,
  resample,
} from '../../src/domain/study/resampling';
import { pickByAgreement, type SurrogateCandidate } from '../../src/method/surrogate/agreement';

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

const samples = 5;

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

interface Drawn {
  readonly candidates: readonly (SurrogateCandidate & { readonly isRight: boolean })[];
}

type Rule = (drawn: Drawn, random: () => number) => number | undefined;

const ones = Array.from({ length: samples }, () => 1);

/** The candidates that take part in a vote by fixes: they fail on R and accept a fix. */
const voters = ({ candidates }: Drawn): number[] =>
  candidates.flatMap((each, at) => (each.fails && each.accepts.includes(true) ? [at] : []));

const votesOf = (drawn: Drawn, at: number): string =>
  drawn.candidates[at]?.accepts.map(Number).join('') ?? '';

const firstFailing: Rule = ({ candidates }) => {
  const found = candidates.findIndex(({ fails }) => fails);
  return found < 0 ? 0 : found;
};

/** The voter with the greatest score; without a voter, the first that fails on R. */
const byScore =
  (score: (drawn: Drawn, at: number) => number): Rule =>
  (drawn, random) => {
    const among = voters(drawn);
    const best = Math.max(...among.map((at) => score(drawn, at)));
    return among.find((at) => score(drawn, at) === best) ?? firstFailing(drawn, random);
  };

const sameVotes = (drawn: Drawn, at: number): number =>
  voters(drawn).filter((other) => votesOf(drawn, other) === votesOf(drawn, at)).length;

const equalVotes = ({ candidates }: Drawn, one: number, other: number): number =>
  ones.filter((_, fix) => candidates[one]?.accepts[fix] === candidates[other]?.accepts[fix]).length;

const rules: Readonly<Record<string, Rule>> = {
  random: ({ candidates }, random) => Math.floor(random() * candidates.length),
  'fails on R': firstFailing,
  majority: byScore(sameVotes),
  // CodeT (https://arxiv.org/abs/2207.10397): tests with equal votes × fixes that they accept.
  'dual agreement': byScore(
    (drawn, at) =>
      sameVotes(drawn, at) * [...votesOf(drawn, at)].filter((vote) => vote === '1').length,
  ),
  // The votes that are as those of the others: minimum Bayes risk decoding with execution
  // (https://arxiv.org/abs/2204.11454).
  'equal votes': byScore((drawn, at) =>
    voters(drawn).reduce((sum, other) => sum + equalVotes(drawn, at, other), 0),
  ),
  agreement: ({ candidates }) => pickByAgreement(candidates, ones)?.index,
  oracle: (drawn, random) => {
    const found = drawn.candidates.findIndex(({ isRight }) => isRight);
    return found < 0 ? firstFailing(drawn, random) : found;
  },
};

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

/** The interval of a mean over resampled instances. */
function interval(values: readonly number[]): string {
  const means: number[] = [];
  const sums = Float64Array.from(values);
  resample(new Uint16Array(values.length), sums, ({ sums: [sum = 0] }) =>
    means.push(sum / values.length),
  );
  const [low = 0, high = 0] = percentileInterval(means) ?? [];
  return `[${percent(low)}, ${percent(high)}]`;
}

const percent = (share: number): string => (100 * share).toFixed(1).padStart(5);

function main(): void {
  const count = Number(values.instances);
  for (const [at, population] of populations.entries()) {
    const numbers = randomNumbers(1000 + at);
    const random = (): number => numbers() / 2 ** 32;
    const chosen = new Map<string, number[]>(Object.keys(rules).map((name) => [name, []]));
    for (let drawn = 0; drawn < count; drawn += 1) {
      const instance = draw(population, random);
      for (const [name, rule] of Object.entries(rules)) {
        const pick = rule(instance, random);
        const isRight = pick !== undefined && instance.candidates[pick]?.isRight === true;
        chosen.get(name)?.push(Number(isRight));
      }
    }
    console.log(`${population.name} (${count} instances)`);
    for (const [name, hits] of chosen) {
      console.log(`  ${name.padEnd(15)} ${percent(meanOf(hits) ?? 0)} %   ${interval(hits)}`);
    }
    const usual = chosen.get('fails on R') ?? [];
    const gain = (chosen.get('agreement') ?? []).map((hit, index) => hit - (usual[index] ?? 0));
    console.log(`  agreement − fails on R: ${interval(gain)} points\n`);
  }
}

main();
