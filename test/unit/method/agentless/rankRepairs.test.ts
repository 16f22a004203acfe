import assert from 'node:assert/strict';
import fc from 'fast-check';
import { rankRepairs } from '../../../../src/method/agentless/rankRepairs';
import type { MethodCandidate } from '../../../../src/method/method';

const candidate = (patch: string, at: number): MethodCandidate =>
  ({
    sample: at + 1,
    answer: { text: patch },
    patch: { applies: patch !== '', patch },
  }) as MethodCandidate;

describe('the vote on code patches', () => {
  it('goes to what most samples say, and of equals to the earlier', () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom('', 'a', 'b', 'c')), (patches) => {
        const { candidates, chosen } = rankRepairs(patches.map(candidate));
        const votes = (of: string): number => patches.filter((each) => each === of).length;
        const sound = patches.filter((each) => each !== '');
        const most = Math.max(0, ...sound.map(votes));
        const first = patches.findIndex((each) => each !== '' && votes(each) === most);
        assert.equal(chosen?.sample, first < 0 ? undefined : first + 1);
        const ranked = candidates.flatMap((each) => (each.ranking === undefined ? [] : [each]));
        assert.equal(ranked.length, sound.length);
        assert.equal(candidates.length, patches.length);
        for (const [at, { ranking, patch }] of ranked.entries()) {
          assert.deepEqual(ranking, { rank: at + 1, votes: votes(patch.patch) });
          assert.ok(at === 0 || (ranked[at - 1]?.ranking?.votes ?? 0) >= (ranking?.votes ?? 0));
        }
      }),
    );
  });
});
