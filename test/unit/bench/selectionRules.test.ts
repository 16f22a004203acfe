import assert from 'node:assert/strict';
import fc from 'fast-check';
import {
  selectionRuleNames,
  selectionRules,
  type Drawn,
  type SelectionRuleName,
} from '../../bench/selection/selectionRules';

const fixes = 4;
const anyDrawn = fc.record({
  candidates: fc.array(
    fc.record({
      applies: fc.constant(true),
      fails: fc.boolean(),
      accepts: fc.array(fc.boolean(), { minLength: fixes, maxLength: fixes }),
      tests: fc.constant(1),
      isRight: fc.boolean(),
    }),
    { minLength: 1, maxLength: 7 },
  ),
});

describe('the selection rules of the bench', () => {
  for (const rule of selectionRuleNames) {
    it(`“${rule}” chooses as its naive second implementation`, () => {
      fc.assert(
        fc.property(anyDrawn, fc.double({ min: 0, max: 0.999, noNaN: true }), (drawn, number) => {
          const random = (): number => number;
          assert.equal(selectionRules[rule](drawn, random), naiveRules[rule](drawn, random));
        }),
        { numRuns: 500 },
      );
    });
  }
});

type Candidates = Drawn['candidates'];
type NaiveRule = (drawn: Drawn, random: () => number) => number;

const accepted = (candidates: Candidates, at: number, fix: number): boolean =>
  candidates[at]?.accepts[fix] === true;

const isVoter = (candidates: Candidates, at: number): boolean => {
  if (candidates[at]?.fails !== true) return false;
  for (let fix = 0; fix < fixes; fix += 1) if (accepted(candidates, at, fix)) return true;
  return false;
};

/** The index with the most points among the voters, from the first to the last of all. */
const bestVoter =
  (points: (candidates: Candidates, at: number) => number): NaiveRule =>
  ({ candidates }) => {
    let best = -1;
    let most = -1;
    for (let at = 0; at < candidates.length; at += 1) {
      if (!isVoter(candidates, at)) continue;
      const found = points(candidates, at);
      if (found > most) [best, most] = [at, found];
    }
    for (let at = 0; best < 0 && at < candidates.length; at += 1) {
      if (candidates[at]?.fails === true) best = at;
    }
    return Math.max(best, 0);
  };

/** Over all pairs of the candidate and a voter, the sum of what `count` says of their votes. */
const overVoters =
  (count: (equal: number) => number) =>
  (candidates: Candidates, at: number): number => {
    let sum = 0;
    for (let other = 0; other < candidates.length; other += 1) {
      if (!isVoter(candidates, other)) continue;
      let equal = 0;
      for (let fix = 0; fix < fixes; fix += 1) {
        if (accepted(candidates, at, fix) === accepted(candidates, other, fix)) equal += 1;
      }
      sum += count(equal);
    }
    return sum;
  };

const likeIt = overVoters((equal) => (equal === fixes ? 1 : 0));

const naiveRules: Readonly<Record<SelectionRuleName, NaiveRule>> = {
  random: ({ candidates }, random) => {
    // Each candidate has an interval of the same length between 0 and 1.
    let at = 0;
    while (random() * candidates.length >= at + 1) at += 1;
    return at;
  },
  'fails on R': ({ candidates }) => {
    for (let at = 0; at < candidates.length; at += 1) if (candidates[at]?.fails) return at;
    return 0;
  },
  majority: bestVoter(likeIt),
  'equal votes': bestVoter(overVoters((equal) => equal)),
  'dual agreement': bestVoter((candidates, at) => {
    let own = 0;
    for (let fix = 0; fix < fixes; fix += 1) own += accepted(candidates, at, fix) ? 1 : 0;
    return likeIt(candidates, at) * own;
  }),
  agreement: bestVoter((candidates, at) => {
    let common = 0;
    for (let fix = 0; fix < fixes; fix += 1) {
      for (let other = 0; other < candidates.length; other += 1) {
        const both = accepted(candidates, at, fix) && accepted(candidates, other, fix);
        if (both && isVoter(candidates, other)) common += 1;
      }
    }
    return common;
  }),
  oracle: ({ candidates }) => {
    for (let at = 0; at < candidates.length; at += 1) if (candidates[at]?.isRight) return at;
    for (let at = 0; at < candidates.length; at += 1) if (candidates[at]?.fails) return at;
    return 0;
  },
};
