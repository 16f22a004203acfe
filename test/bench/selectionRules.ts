import { meanOf, percentileInterval, resample } from '../../src/domain/study/resampling';
import { pickByAgreement, type SurrogateCandidate } from '../../src/method/surrogate/agreement';

/** How many tests, and how many fixes, each draw has. */
export const samples = 5;

/** Tests of one instance, and what they do with fixes. */
export interface Drawn {
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

/**
 * Prints how often each rule chooses a test that goes F→P, with an interval of 95 %, and the
 * difference of the agreement to taking the first test that fails on R.
 */
export function printRules(name: string, draws: readonly Drawn[], random: () => number): void {
  const chosen = new Map(
    Object.entries(rules).map(([rule, pick]) => [
      rule,
      draws.map((drawn) => Number(drawn.candidates[pick(drawn, random) ?? -1]?.isRight === true)),
    ]),
  );
  console.log(`${name} (${draws.length} draws)`);
  for (const [rule, hits] of chosen) {
    console.log(`  ${rule.padEnd(15)} ${percent(meanOf(hits) ?? 0)} %   ${interval(hits)}`);
  }
  const usual = chosen.get('fails on R') ?? [];
  const gain = (chosen.get('agreement') ?? []).map((hit, index) => hit - (usual[index] ?? 0));
  console.log(`  agreement − fails on R: ${interval(gain)} points\n`);
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
