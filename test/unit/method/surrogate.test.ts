import assert from 'node:assert/strict';
import fc from 'fast-check';
import { pickByAgreement, type SurrogateCandidate } from '../../../src/method/surrogate/agreement';
import { disagreements, refinementPrompt } from '../../../src/method/surrogate/surrogatePrompt';
import type { SurrogateRun } from '../../../src/method/surrogate/surrogateRuns';

const candidate = (votes: string, more: Partial<SurrogateCandidate> = {}): SurrogateCandidate => ({
  applies: true,
  fails: true,
  accepts: [...votes].map((vote) => vote === '1'),
  tests: 1,
  ...more,
});

describe('the choice by surrogate fixes', () => {
  const pick = (candidates: readonly SurrogateCandidate[], weights = [1, 1, 1]) =>
    pickByAgreement(candidates, weights);

  it('takes the tests whose fixes have most votes', () => {
    const found = pick([candidate('001'), candidate('110'), candidate('100'), candidate('100')]);
    assert.deepEqual(found, { index: 1, share: 4 / 5 });
  });

  it('gives no vote to tests that fail with every fix, pass on R or do not apply', () => {
    const broken = candidate('000');
    const found = pick([
      broken,
      broken,
      candidate('', { fails: false, accepts: [true, true, true] }),
      candidate('110'),
      candidate('', { applies: false, fails: false }),
    ]);
    assert.deepEqual(found, { index: 3, share: 1 });
  });

  it('counts a fix as often as the model wrote it', () => {
    const candidates = [candidate('110'), candidate('001')];
    assert.deepEqual(pick(candidates), { index: 0, share: 2 / 3 });
    assert.deepEqual(pick(candidates, [1, 1, 3]), { index: 1, share: 3 / 5 });
  });

  it('takes the fewest tests of equals, then the first', () => {
    const three = candidate('10', { tests: 3 });
    assert.equal(pick([three, candidate('10'), candidate('10')], [1, 1])?.index, 1);
  });

  it('takes one that fails on R where none votes, then one that applies', () => {
    const applies = candidate('', { fails: false });
    assert.equal(pick([{ ...applies, applies: false }, applies])?.index, 1);
    assert.deepEqual(pick([applies, candidate('000')]), { index: 1, share: undefined });
    assert.equal(pick([]), undefined);
  });

  const anyCandidates = fc
    .tuple(
      fc.array(
        fc.record({
          applies: fc.boolean(),
          fails: fc.boolean(),
          accepts: fc.array(fc.boolean(), { minLength: 4, maxLength: 4 }),
          tests: fc.nat(3),
        }),
        { maxLength: 7 },
      ),
      fc.array(fc.integer({ min: 1, max: 5 }), { minLength: 4, maxLength: 4 }),
    )
    .map(([candidates, weights]) => ({ candidates, weights }));

  it('is that of a naive second implementation', () => {
    fc.assert(
      fc.property(anyCandidates, ({ candidates, weights }) => {
        assert.equal(pickByAgreement(candidates, weights)?.index, naive(candidates, weights));
      }),
      { numRuns: 500 },
    );
  });
});

/** Goes through the candidates one by one, and through each pair of tests and fix. */
function naive(
  candidates: readonly SurrogateCandidate[],
  weights: readonly number[],
): number | undefined {
  const score = (at: number): number => {
    let common = 0;
    for (const other of candidates) {
      for (let fix = 0; fix < weights.length; fix += 1) {
        const both = candidates[at]?.accepts[fix] === true && other.accepts[fix] === true;
        if (both && other.applies && other.fails) common += weights[fix] ?? 0;
      }
    }
    return common;
  };
  const rank = (at: number): number => {
    const each = candidates[at];
    return each?.applies !== true ? 0 : each.fails ? 2 : 1;
  };
  let best: number | undefined;
  for (const at of candidates.keys()) {
    if (best === undefined || rank(at) > rank(best)) best = at;
    else if (rank(at) === rank(best)) {
      const more = rank(at) === 2 ? score(at) - score(best) : 0;
      const fewer = (candidates[best]?.tests ?? 0) - (candidates[at]?.tests ?? 0);
      if (more > 0 || (more === 0 && fewer > 0)) best = at;
    }
  }
  return best;
}

describe('the prompt of a refinement', () => {
  const run = (accepts: boolean, text = ''): SurrogateRun => ({
    accepts,
    failures: accepts ? [] : [{ test: 'tests/test_a.py::test_x', text }],
  });
  const tests = [
    { patch: 'TESTS 1', runs: [run(true), run(false, 'one says 2 != 3'), run(true)] },
    { patch: 'TESTS 2', runs: [run(true), run(true), run(false, 'two says 5 != 6')] },
    { patch: 'TESTS 3', runs: [run(true), run(true), run(true)] },
  ];

  it('shows the candidates, and the fixes that they disagree on, with outputs', () => {
    const shown = disagreements(tests, ['FIX A', 'FIX B', 'FIX C']).join('\n');
    for (const patch of ['TESTS 1', 'TESTS 2', 'TESTS 3', 'FIX B', 'FIX C']) {
      assert.ok(shown.includes(patch), patch);
    }
    assert.ok(!shown.includes('FIX A'), 'all agree on it');
    assert.match(shown, /With fix 1, the tests of candidate 1 do not pass\.\n<failure/);
    assert.match(shown, /2 != 3/);
    assert.match(shown, /5 != 6/);
  });

  it('shows all fixes where no tests pass with one', () => {
    const broken = [{ patch: 'TESTS 1', runs: [run(false, 'no module named x'), run(false)] }];
    const shown = disagreements(broken, ['FIX A', 'FIX B']).join('\n');
    assert.match(shown, /FIX A/);
    assert.match(shown, /FIX B/);
    assert.match(shown, /no module named x/);
  });

  it('has the report and the format of the answer, and cuts what is long', () => {
    const long = disagreements([{ patch: 'x'.repeat(100_000), runs: [] }], []);
    assert.ok(long.join('').length < 10_000);
    const prompt = refinementPrompt({ repo: 'octo/cat', issue: 'It breaks.', shown: ['SHOWN'] });
    const [{ content } = { content: '' }] = prompt.messages;
    assert.match(String(content), /octo\/cat[^]*It breaks\.[^]*SHOWN[^]*custom-diff/);
  });
});
