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
   * Of all votes for fixes, the share of those for fixes that the candidate goes F→P with; from 0 to
   * 1. Undefined where there are no votes.
   */
  readonly share: number | undefined;
}

/**
 * The candidate whose F→P with surrogate fixes agree best with those of the others.
 *
 * A candidate that fails on R votes for each fix that it goes F→P with. Its score is the number of
 * votes of all candidates for these fixes. X* is one more fix: the votes for a fix estimate how
 * likely that is right. So the score is proportional to the chance that the candidate goes F→P with
 * a fix drawn by its votes. A test that fails with every fix has no score and no vote: it may be
 * broken. CodeT (https://arxiv.org/abs/2207.10397) multiplies the number of tests with equal votes
 * by the number of their fixes; here tests that differ in one fix still support each other.
 * docs/models.md has what the rules are worth on made-up populations and on mutants.
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
  const voters = candidates.filter(({ applies, fails }) => applies && fails);
  const votes = weights.map(
    (weight, fix) => weight * voters.filter(({ accepts }) => accepts[fix] === true).length,
  );
  const scores = candidates.map(({ accepts, applies, fails }) =>
    applies && fails ? sum(votes.filter((_, fix) => accepts[fix] === true)) : 0,
  );
  const order = candidates.map(({ applies, fails, tests }, index): readonly number[] => [
    Number(applies),
    Number(applies && fails),
    scores[index] ?? 0,
    -tests,
    -index,
  ]);
  const [index] = [...candidates.keys()].sort((one, other) => compare(order[other], order[one]));
  if (index === undefined) return undefined;
  const all = sum(votes);
  return { index, share: all > 0 ? (scores[index] ?? 0) / all : undefined };
}

const sum = (values: readonly number[]): number => values.reduce((all, value) => all + value, 0);

/** Compares number by number, as `sort` does. */
function compare(one: readonly number[] = [], other: readonly number[] = []): number {
  const at = one.findIndex((value, place) => value !== other[place]);
  return at < 0 ? 0 : (one[at] ?? 0) - (other[at] ?? 0);
}
