import assert from 'node:assert/strict';
import fc from 'fast-check';
import { compareMethods, compareWith } from '../../../src/study/measures/compare';
import { methodsOf } from '../../../src/study/measures/methods';
import {
  fisherExact,
  holm,
  mcNemar,
  overlapAtLeast,
  proportionsDiffer,
  signFlips,
} from '../../../src/study/measures/significance';
import { anyEntry, entry, run, solved } from './examples';

const near = (actual: number | undefined, expected: number, within = 5e-5): void => {
  assert.ok(
    actual !== undefined && Math.abs(actual - expected) <= within,
    `${actual} is not ${expected}`,
  );
};

describe('the p-values of the paper', () => {
  it('of Table 6 come out: 80.4 % and 72.8 %', () => {
    near(overlapAtLeast(276, 26, 16, 1), 0.8041);
    near(overlapAtLeast(276, 44, 50, 7), 0.7283);
  });

  it('of Table 7 comes out: 37 %', () => {
    near(proportionsDiffer(5, 83, 4, 83), 0.3659);
  });
});

describe('exact tests', () => {
  it('give the p-values of textbooks', () => {
    // 2 · (1 + 12 + 66) / 2¹²
    near(mcNemar(10, 2), 158 / 4096, 1e-9);
    assert.equal(mcNemar(0, 0), 1);
    assert.equal(mcNemar(3, 3), 1);
    // Fisher's lady tasting tea: 34/70 two-sided.
    near(fisherExact(3, 4, 1, 4), 34 / 70, 1e-9);
    assert.equal(fisherExact(0, 5, 0, 7), 1);
    near(signFlips([1, 2, 3, 4, 5]), 2 / 32, 1e-12);
    assert.equal(signFlips([0, 0]), 1);
    assert.equal(signFlips([]), undefined);
    assert.equal(proportionsDiffer(0, 5, 0, 5), undefined);
    assert.equal(proportionsDiffer(0, 0, 3, 10), undefined);
    assert.equal(proportionsDiffer(3, 10, 0, 0), undefined);
  });

  it('of an overlap agree with summing over all sets of a small population', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 8 }), fc.nat(8), fc.nat(8), fc.nat(8), (n, f, s, o) => {
        const first = Math.min(f, n);
        const second = Math.min(s, n);
        const overlap = Math.min(o, first, second);
        let sets = 0;
        let hits = 0;
        for (let set = 0; set < 2 ** n; set++) {
          const members = Array.from({ length: n }, (_, bit) => bit).filter(
            (bit) => (set >> bit) & 1,
          );
          if (members.length !== second) continue;
          sets++;
          if (members.filter((member) => member < first).length >= overlap) hits++;
        }
        near(overlapAtLeast(n, first, second, overlap), hits / sets, 1e-9);
      }),
    );
  });

  it('by random sign changes come near the exact ones, and do not depend on the sign', () => {
    const differences = Array.from(
      { length: 14 },
      (_, index) => (index % 4 === 0 ? -1 : 1) * (index + 1),
    );
    const exact = signFlips(differences, { resamples: 2 ** 14 });
    const random = signFlips(differences, { resamples: 8000 });
    near(random, exact ?? NaN, 0.02);
    assert.equal(signFlips(differences.map((each) => -each)), signFlips(differences));
  });

  it('are adjusted by Holm in order, never below what they were', () => {
    assert.deepEqual(holm([0.01, 0.04, 0.03]), [0.03, 0.06, 0.06]);
    fc.assert(
      fc.property(fc.array(fc.double({ min: 0, max: 1, noNaN: true })), (values) => {
        const adjusted = holm(values);
        assert.ok(adjusted.every((each, index) => each >= (values[index] ?? 0) && each <= 1));
      }),
    );
  });
});

describe('the comparison of two methods', () => {
  it('is over the instances that both selected, and counts each pair once', () => {
    const methods = methodsOf([
      run(['a', 'b', 'c'], [solved('a'), solved('b'), entry('c')], { label: 'one' }),
      run(['b', 'c', 'd'], [entry('b'), entry('c'), solved('d')], { label: 'two' }),
    ]);
    const [one, two] = methods;
    assert.ok(one && two);
    const comparison = compareMethods(one, two, { intervals: true });
    assert.equal(comparison.instances, 2);
    const { interval, ...share } = comparison.shares.success;
    assert.deepEqual(share, {
      both: 0,
      onlyFirst: 1,
      onlySecond: 0,
      neither: 1,
      difference: 0.5,
      p: 1,
    });
    assert.deepEqual(interval, [0, 1]);
  });

  it('is the other way round when the methods are', () => {
    const ids = ['a', 'b', 'c', 'd', 'e', 'f'];
    const both = fc.tuple(...ids.flatMap((id) => [anyEntry(id, 'left'), anyEntry(id, 'right')]));
    fc.assert(
      fc.property(both, (entries) => {
        const [left, right] = methodsOf([run(ids, entries, { models: ['left', 'right'] })]);
        assert.ok(left && right);
        const forth = compareMethods(left, right);
        const back = compareMethods(right, left);
        assert.equal(forth.shares.success.onlyFirst, back.shares.success.onlySecond);
        assert.equal(forth.shares.success.p, back.shares.success.p);
        assert.equal(forth.delta.of, back.delta.of);
        assert.equal(forth.delta.p, back.delta.p);
        const same = compareMethods(left, left);
        assert.equal(same.shares.success.p, 1);
        assert.ok(same.delta.p === 1 || same.delta.p === undefined);
      }),
    );
  });

  it('has p-values for a whole table', () => {
    const ids = Array.from({ length: 12 }, (_, index) => `i${index}`);
    const entries = ids.flatMap((id, index) => [
      entry(id, { model: 'base' }),
      solved(id, { model: 'good' }),
      index < 6 ? solved(id, { model: 'some' }) : entry(id, { model: 'some' }),
    ]);
    const [baseline, ...others] = methodsOf([run(ids, entries)]);
    assert.ok(baseline);
    const [good, some] = compareWith(baseline, others);
    near(good?.shares.success.p, 2 / 4096, 1e-9);
    near(good?.adjusted.success, 4 / 4096, 1e-9);
    near(some?.adjusted.success, 2 / 64, 1e-9);
    assert.equal(good?.adjusted.delta, undefined);
  });
});
