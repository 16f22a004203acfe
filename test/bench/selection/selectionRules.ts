import { pickByAgreement, type SurrogateCandidate } from '../../../src/method/surrogate/agreement';

/** A candidate test, with its votes for the fixes, and whether it goes F→P with X*. */
export interface JudgedCandidate extends SurrogateCandidate {
  readonly isRight: boolean;
}

/** Tests of one instance, and what they do with the same fixes; at least one of each. */
export interface Drawn {
  readonly candidates: readonly JudgedCandidate[];
}

/** A way to choose among tests: the index of the chosen one. */
type SelectionRule = (drawn: Drawn, random: () => number) => number;

/** The candidates that take part in a vote by fixes: they fail on R and accept a fix. */
const votersOf = ({ candidates }: Drawn): number[] =>
  candidates.flatMap((each, at) => (each.fails && each.accepts.includes(true) ? [at] : []));

/** What a score may look at: all votes as texts of 0 and 1, and who votes. */
interface Ballot {
  readonly votes: readonly string[];
  readonly voters: readonly number[];
}

const firstFailing: SelectionRule = ({ candidates }) =>
  Math.max(
    0,
    candidates.findIndex(({ fails }) => fails),
  );

/** The voter with the greatest score; without a voter, the first that fails on R. */
const byScore =
  (score: (ballot: Ballot, at: number) => number): SelectionRule =>
  (drawn, random) => {
    const voters = votersOf(drawn);
    const votes = drawn.candidates.map(({ accepts }) => accepts.map(Number).join(''));
    const scores = voters.map((at) => score({ votes, voters }, at));
    return voters[scores.indexOf(Math.max(...scores))] ?? firstFailing(drawn, random);
  };

const sameVotes = ({ votes, voters }: Ballot, at: number): number =>
  voters.filter((other) => votes[other] === votes[at]).length;

const acceptedFixes = ({ votes }: Ballot, at: number): number =>
  (votes[at] ?? '').replaceAll('0', '').length;

const equalVotes = ({ votes }: Ballot, one: number, other: number): number =>
  [...(votes[one] ?? '')].filter((vote, fix) => vote === votes[other]?.[fix]).length;

/** The rules that are compared, by their names in tables. */
export const selectionRules = {
  random: ({ candidates }, random) => Math.floor(random() * candidates.length),
  'fails on R': firstFailing,
  majority: byScore(sameVotes),
  // The votes that are as those of the others: minimum Bayes risk decoding with execution
  // (https://arxiv.org/abs/2204.11454).
  'equal votes': byScore((ballot, at) =>
    ballot.voters.reduce((sum, other) => sum + equalVotes(ballot, at, other), 0),
  ),
  // CodeT (https://arxiv.org/abs/2207.10397): tests with equal votes × fixes that they accept.
  'dual agreement': byScore((ballot, at) => sameVotes(ballot, at) * acceptedFixes(ballot, at)),
  agreement: ({ candidates }) => {
    const [first] = candidates;
    const weights = first?.accepts.map(() => 1) ?? [];
    return pickByAgreement(candidates, weights)?.index ?? 0;
  },
  oracle: (drawn, random) => {
    const found = drawn.candidates.findIndex(({ isRight }) => isRight);
    return found < 0 ? firstFailing(drawn, random) : found;
  },
} as const satisfies Readonly<Record<string, SelectionRule>>;

export type SelectionRuleName = keyof typeof selectionRules;

export const selectionRuleNames = Object.keys(selectionRules) as readonly SelectionRuleName[];
