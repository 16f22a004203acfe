import assert from 'node:assert/strict';
import fc from 'fast-check';
import { sampleNumbers, type NumberedRow } from '../../../src/domain/sampleNumbers';

/** A row with the keys that `generate` writes. */
const made = (instance: string, method: string, more: object): NumberedRow => ({
  ...{ instance, model: `${method}/p/m` },
  row: { method, model: 'p/m', applies: true, why: 'the only answer', requests: 5, ...more },
});
/** A row in the form that other programs write. */
const plain = (instance: string, sample?: number): NumberedRow => ({
  ...{ instance, model: 'm' },
  row: sample === undefined ? {} : { sample },
});
const of = (...files: NumberedRow[][]): unknown[] => sampleNumbers(files).flat();

describe('numbers of samples', () => {
  it('are what a row says, and the choice of a method is no sample', () => {
    assert.deepEqual(
      of([plain('a', 2), plain('b'), made('a', 'libro', { chosen_sample: 3 }), plain('c', 1.5)]),
      [{ sample: 2 }, {}, { chosenSample: 3 }, {}],
    );
  });

  it('are choices in rows of generate from before the choice had a key of its own', () => {
    for (const method of ['libro', 'pass-at-5']) {
      const rows = [2, 5, 1].map((sample, index) => made(`i-${index}`, method, { sample }));
      assert.deepEqual(of(rows), [{ chosenSample: 2 }, { chosenSample: 5 }, { chosenSample: 1 }]);
    }
    assert.deepEqual(of([made('a', 'zero-shot', { sample: 1 })]), [{ chosenSample: 1 }]);
  });

  it('are told by each file: old and new runs of one method are samples by their order', () => {
    const [one, two, three] = [
      [made('a', 'libro', { sample: 4 }), made('b', 'libro', { sample: 1 })],
      [made('a', 'libro', { sample: 1 }), made('b', 'libro', { sample: 1 })],
      [made('a', 'libro', { chosen_sample: 2 }), made('b', 'libro', { chosen_sample: 3 })],
    ];
    assert.ok([...of(one, two, three)].every((each) => !('sample' in (each as object))));
  });

  it('are those of samples where somebody has numbered the rows of generate', () => {
    const together = [1, 2, 3].flatMap((sample) => [
      made('a', 'libro', { sample }),
      made('b', 'libro', { sample }),
    ]);
    assert.deepEqual(
      of(together),
      [1, 1, 2, 2, 3, 3].map((sample) => ({ sample })),
    );
    const apart = [3, 1].map((sample) => [
      made('a', 'libro', { sample }),
      made('b', 'libro', { sample }),
    ]);
    assert.deepEqual(
      of(...apart),
      [3, 3, 1, 1].map((sample) => ({ sample })),
    );
    // ZeroShot has never chosen among answers.
    assert.deepEqual(of([made('a', 'zero-shot', { sample: 2 })]), [{ sample: 2 }]);
  });

  it('are kept in every file with several candidates of a model for each instance', () => {
    const file = fc
      .record({
        instances: fc.integer({ min: 1, max: 4 }),
        samples: fc.integer({ min: 2, max: 5 }),
        method: fc.constantFrom('libro', 'pass-at-5', 'zero-shot', undefined),
      })
      .chain(({ instances, samples, method }) =>
        fc.shuffledSubarray(
          Array.from({ length: instances * samples }, (_, index) => {
            const [instance, sample] = [
              `i-${index % instances}`,
              1 + Math.floor(index / instances),
            ];
            return method === undefined
              ? plain(instance, sample)
              : made(instance, method, { sample });
          }),
          { minLength: instances * samples },
        ),
      );
    fc.assert(
      fc.property(file, (rows) =>
        assert.deepEqual(
          of(rows),
          rows.map(({ row }) => ({ sample: row['sample'] })),
        ),
      ),
    );
  });

  it('are kept in rows without the keys of generate, whatever they are', () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.constantFrom('a', 'b', 'c'), fc.integer({ min: 1, max: 9 }))),
        (rows) =>
          assert.deepEqual(
            of(rows.map(([instance, sample]) => plain(instance, sample))),
            rows.map(([, sample]) => ({ sample })),
          ),
      ),
    );
  });
});
