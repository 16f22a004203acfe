import assert from 'node:assert/strict';
import fc from 'fast-check';
import {
  pickByFlip,
  pickByLibro,
  pickByOracle,
  type FlipFacts,
  type LibroCandidate,
  type OracleVerdict,
} from '../../../src/method/steps/picks';

const verdict = (more: Partial<OracleVerdict>): OracleVerdict => ({
  ...{ applies: true, success: false, failToPass: 0, delta: null },
  ...more,
});
const candidate = (more: Partial<LibroCandidate>): LibroCandidate => ({
  ...{ applies: true, fails: true, matches: undefined, length: 100 },
  ...more,
});

describe('the oracle of Pass@5', () => {
  const picks: [string, Partial<OracleVerdict>[], number | undefined][] = [
    ['nothing of nothing', [], undefined],
    ['a success before more F→P', [{ failToPass: 9 }, { success: true, failToPass: 1 }], 1],
    [
      'more F→P before more ΔC',
      [
        { delta: 1, failToPass: 1 },
        { delta: 0, failToPass: 2 },
      ],
      1,
    ],
    ['more ΔC before applying', [{ delta: 0.2 }, { delta: 0.5 }, { delta: null }], 1],
    ['a ΔC of 0 before none', [{ delta: null }, { delta: 0 }], 1],
    ['one that applies', [{ applies: false }, { applies: true }], 1],
    ['the first of equals', [{ applies: false }, { applies: false }], 0],
    [
      'the better of two successes',
      [
        { success: true, failToPass: 1 },
        { success: true, failToPass: 3 },
      ],
      1,
    ],
  ];
  for (const [what, candidates, picked] of picks) {
    it(`picks ${what}`, () => assert.equal(pickByOracle(candidates.map(verdict)), picked));
  }

  it('never picks what is worse than another', () => {
    const any = fc.record({
      applies: fc.boolean(),
      success: fc.boolean(),
      failToPass: fc.nat(3),
      delta: fc.option(fc.double({ min: 0, max: 1, noNaN: true })),
    });
    fc.assert(
      fc.property(fc.array(any, { minLength: 1, maxLength: 6 }), (all) => {
        const picked = all[pickByOracle(all) ?? -1];
        assert.ok(picked);
        for (const other of all) {
          assert.ok(picked.success || !other.success);
          if (picked.success === other.success) assert.ok(picked.failToPass >= other.failToPass);
        }
      }),
    );
  });
});

describe('the selection of LIBRO', () => {
  const picks: [string, Partial<LibroCandidate>[], number | undefined][] = [
    ['nothing of nothing', [], undefined],
    ['one that fails before a shorter one that passes', [{ fails: false, length: 1 }, {}], 1],
    ['a yes before a shorter no', [{ matches: false, length: 1 }, { matches: true }], 1],
    ['the shortest yes', [{ matches: true }, { matches: true, length: 50 }, { matches: false }], 1],
    ['the shortest of noes', [{ matches: false }, { matches: false, length: 9 }], 1],
    ['a no and an answer that is neither alike', [{ matches: false }, { length: 99 }], 1],
    ['one that applies where none fails', [{ applies: false }, { fails: false }], 1],
    ['the first where none applies', [{ applies: false }, { applies: false, length: 1 }], 0],
    [
      'not one that does not apply, whatever else is said of it',
      [{ applies: false, matches: true, length: 1 }, { fails: false }],
      1,
    ],
  ];
  for (const [what, candidates, picked] of picks) {
    it(`picks ${what}`, () => assert.equal(pickByLibro(candidates.map(candidate)), picked));
  }
});

describe('AssertFlip where no attempt is validated', () => {
  const ranked: FlipFacts[] = [
    { applies: true, isFlipped: true, fails: true, matches: true },
    { applies: true, isFlipped: true, fails: true, matches: undefined },
    { applies: true, isFlipped: true, fails: true, matches: false },
    { applies: true, isFlipped: true, fails: false, matches: undefined },
    { applies: true, isFlipped: false, fails: false, matches: undefined },
    { applies: false, isFlipped: true, fails: false, matches: undefined },
  ];

  it('picks the best of any attempts, and the first of equals', () => {
    assert.equal(pickByFlip([]), undefined);
    fc.assert(
      fc.property(fc.array(fc.nat(ranked.length - 1), { minLength: 1 }), (places) => {
        const attempts = places.map((place) => ranked[place] ?? assert.fail());
        assert.equal(pickByFlip(attempts), places.indexOf(Math.min(...places)));
      }),
    );
  });
});
