import assert from 'node:assert/strict';
import fc from 'fast-check';
import { rates, type RatedEntry } from '../../../src/study/rates';
import { nothingKnown, type DeltaFraction } from '../../../src/study/entry';
import { ungraded, type Verdict } from '../../../src/domain/verdict';

const coverage = (covered: number, executable: number): DeltaFraction => ({ covered, executable });

const verdict = (more: Partial<Verdict>): Verdict => ({
  ...ungraded('no test ran', '', true),
  ...more,
});

const reproduces = verdict({
  success: true,
  reason: 'success',
  failToPass: ['a'],
  failToAny: ['a'],
});

function graded(instance: string, of: Verdict | undefined, delta?: DeltaFraction): RatedEntry {
  const figures =
    of === undefined
      ? nothingKnown
      : {
          evaluated: true,
          wellFormed: of.wellFormed,
          success: of.success,
          failToAny: of.failToAny.length,
          failToPass: of.failToPass.length,
          passToPass: of.passToPass.length,
        };
  const explanation = of?.explanation ?? 'not run';
  return { instance, explanation, ...figures, ...(delta === undefined ? {} : { delta }) };
}

describe('rates', () => {
  const selection: readonly RatedEntry[] = [
    graded('one', reproduces, coverage(3, 4)),
    graded('two', reproduces, coverage(0, 0)),
    graded('three', verdict({ failToAny: ['a'], failToFail: ['a'] }), coverage(1, 4)),
    graded('four', verdict({ passToPass: ['a'] }), coverage(0, 2)),
    graded('five', ungraded('does not apply', '', false), coverage(0, 8)),
    { ...graded('six', undefined), explanation: 'no such commit' },
    graded('seven', undefined),
  ];
  const result = rates(selection);

  it('are shares of all selected instances, not of those that ran', () => {
    assert.equal(result.selected, 7);
    assert.deepEqual(result.wellFormed, { count: 4, of: 7 });
    assert.deepEqual(result.success, { count: 2, of: 7 });
    assert.deepEqual(result.failToAny, { count: 3, of: 7 });
    assert.deepEqual(result.failToPass, { count: 2, of: 7 });
    assert.deepEqual(result.passToPass, { count: 1, of: 7 });
  });

  it('name what could not be evaluated, each with its reason', () => {
    assert.deepEqual(result.notEvaluated, [
      { instance: 'six', reason: 'no such commit' },
      { instance: 'seven', reason: 'not run' },
    ]);
  });

  it('give the mean ΔC where it is defined, over all, successful and unsuccessful instances', () => {
    assert.deepEqual(result.deltaAll, { mean: (0.75 + 0.25 + 0 + 0) / 4, of: 4 });
    assert.deepEqual(result.deltaSuccess, { mean: 0.75, of: 1 });
    assert.deepEqual(result.deltaFailure, { mean: 0.25 / 3, of: 3 });
  });

  it('of nothing', () => {
    const none = rates([]);
    assert.deepEqual(none.success, { count: 0, of: 0 });
    assert.deepEqual(none.deltaAll, { mean: undefined, of: 0 });
    assert.deepEqual(none.notEvaluated, []);
  });

  it('every instance is graded or named, and means stay between 0 and 1', () => {
    const any = fc.record({
      instance: fc.string(),
      verdict: fc.option(
        fc
          .tuple(fc.boolean(), fc.boolean())
          .map(([success, wellFormed]) => verdict({ success, wellFormed: success || wellFormed })),
        { nil: undefined },
      ),
      changeCoverage: fc.option(
        fc.tuple(fc.nat(9), fc.nat(9)).map(([a, b]) => coverage(Math.min(a, b), Math.max(a, b))),
        { nil: undefined },
      ),
    });
    fc.assert(
      fc.property(fc.array(any), (some) => {
        const of = rates(
          some.map(({ instance, verdict, changeCoverage }) =>
            graded(instance, verdict, changeCoverage),
          ),
        );
        const evaluated = some.filter((each) => each.verdict !== undefined).length;
        assert.equal(evaluated + of.notEvaluated.length, some.length);
        assert.ok(of.success.count <= of.wellFormed.count && of.wellFormed.count <= evaluated);
        assert.equal(of.deltaSuccess.of + of.deltaFailure.of, of.deltaAll.of);
        for (const { mean, of: over } of [of.deltaAll, of.deltaSuccess, of.deltaFailure]) {
          assert.equal(mean === undefined, over === 0);
          assert.ok(mean === undefined || (mean >= 0 && mean <= 1));
        }
      }),
    );
  });
});
