/** What the choice by surrogate fixes knows of a candidate. */
export interface SurrogateCandidate {
  readonly applies: boolean;
  /** Whether one of its tests fails on R that did not fail before. */
  readonly fails: boolean;
  /** Whether it goes F→P with each fix, in the order of the fixes. */
  readonly accepts: readonly boolean[];
  /** How many tests it adds or changes. */
  readonly tests: number;
}

/** The candidate that agrees best, and how well. */
export interface Agreement {
  readonly index: number;
  /**
   * The share of the other candidates' votes on fixes that are as its own, from 0 to 1. Undefined
   * where no other candidate votes.
   */
  readonly share: number | undefined;
}

/**
 * The candidate whose F→P with surrogate fixes agree best with those of the others.
 *
 * A candidate votes when it fails on R and goes F→P with at least one fix. A test that fails with
 * every fix says nothing about the fixes: it may be broken. The score of a voter is the number of
 * pairs of another voter and a fix where both accept the fix or neither does. This is the choice of
 * least expected Hamming distance to the vector of a right test, where each voter's vector is as
 * likely as the others to be that of a right test (minimum Bayes risk decoding with execution,
 * https://arxiv.org/abs/2204.11454).
 *
 * Where nothing votes, a candidate that fails on R comes first, then one that applies. Ties go to
 * fewer tests, then to the earlier candidate.
 *
 * @param weights how many fixes each fix stands for, since equal ones run once
 * @returns undefined when there is nothing to choose from
 */
export function pickByAgreement(
  candidates: readonly SurrogateCandidate[],
  weights: readonly number[],
): Agreement | undefined {
  const voters = candidates.filter(votes);
  const scores = candidates.map((candidate) =>
    votes(candidate) ? agreementWith(candidate, voters, weights) : 0,
  );
  const order = candidates.map((candidate, index): readonly number[] => [
    Number(candidate.applies),
    Number(candidate.applies && candidate.fails),
    Number(votes(candidate)),
    scores[index] ?? 0,
    -candidate.tests,
    -index,
  ]);
  const [index] = candidates
    .map((_, at) => at)
    .sort((one, other) => compare(order[other], order[one]));
  if (index === undefined) return undefined;
  const most = (voters.length - 1) * weights.reduce((sum, weight) => sum + weight, 0);
  const isVoter = candidates[index] !== undefined && votes(candidates[index]);
  return { index, share: isVoter && most > 0 ? (scores[index] ?? 0) / most : undefined };
}

const votes = ({ applies, fails, accepts }: SurrogateCandidate): boolean =>
  applies && fails && accepts.includes(true);

/** Weighted number of equal votes, with all voters but one that is the candidate itself. */
function agreementWith(
  candidate: SurrogateCandidate,
  voters: readonly SurrogateCandidate[],
  weights: readonly number[],
): number {
  let equal = 0;
  for (const voter of voters) {
    if (voter === candidate) continue;
    for (const [fix, weight] of weights.entries()) {
      if (voter.accepts[fix] === candidate.accepts[fix]) equal += weight;
    }
  }
  return equal;
}

/** Compares number by number, as `sort` does. */
function compare(one: readonly number[] = [], other: readonly number[] = []): number {
  const at = one.findIndex((value, place) => value !== other[place]);
  return at < 0 ? 0 : (one[at] ?? 0) - (other[at] ?? 0);
}
