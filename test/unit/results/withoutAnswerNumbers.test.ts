import assert from 'node:assert/strict';
import fc from 'fast-check';
import { withoutAnswerNumbers } from '../../../src/results/withoutAnswerNumbers';

const entry = (instance: string, sample: number, model = 'm') => ({ instance, model, sample });
const finished = (entries: readonly object[]) => ({ most: 99, candidates: entries.length });

describe('samples of a saved run', () => {
  it('are one where the numbers are those of the answers that a method chose', () => {
    const entries = [entry('a', 2), entry('b', 1), entry('c', 5), entry('a', 1, 'other')];
    assert.deepEqual(
      withoutAnswerNumbers(entries, finished(entries)).map(({ sample }) => sample),
      [1, 1, 1, 1],
    );
  });

  it('are kept where an instance has two, by model', () => {
    const real = [entry('a', 1), entry('a', 2), entry('b', 1)];
    const chosen = [entry('a', 3, 'x'), entry('b', 1, 'x')];
    const all = [...real, ...chosen];
    assert.deepEqual(
      withoutAnswerNumbers(all, finished(all)).map(({ sample }) => sample),
      [1, 2, 1, 1, 1],
    );
  });

  it('are kept where a run is of one sample alone', () => {
    const entries = [entry('a', 2), entry('b', 2)];
    assert.equal(withoutAnswerNumbers(entries, finished(entries)), entries);
  });

  it('are kept where a run with more candidates than instances is not finished', () => {
    const entries = [entry('a', 3), entry('b', 1)];
    assert.equal(withoutAnswerNumbers(entries, { most: 2, candidates: 10 }), entries);
    assert.deepEqual(
      withoutAnswerNumbers(entries, { most: 4, candidates: 4 }).map(({ sample }) => sample),
      [1, 1],
    );
  });

  it('are kept as they come in from a run of several samples, finished up to anywhere', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 5 }),
        fc.integer({ min: 2, max: 5 }),
        fc.nat(),
        (instances, samples, stop) => {
          const all = Array.from({ length: instances * samples }, (_, index) =>
            entry(`i-${Math.floor(index / samples)}`, 1 + (index % samples)),
          );
          const some = all.slice(0, 1 + (stop % all.length));
          const read = withoutAnswerNumbers(some, { most: instances, candidates: all.length });
          assert.deepEqual(read, some);
        },
      ),
    );
  });
});
