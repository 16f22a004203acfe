import assert from 'node:assert/strict';
import fc from 'fast-check';
import type { Instance } from '../../../src/domain/instance';
import { instancesOfShard, partOfShard } from '../../../src/batch/partOfShard';

const instance = (id: string, version = '1.0'): Instance => ({
  ...{ id, repo: 'octo/cat', baseCommit: 'abcdef0', version, issue: '', hints: '', createdAt: '' },
  ...{ goldenPatch: '', goldenTests: '', failToPass: undefined, passToPass: undefined },
});

const instances = fc
  .array(fc.constantFrom('1.0', '1.1', '2.0'), { maxLength: 30 })
  .map((versions) => versions.map((version, at) => instance(`octo__cat-${at}`, version)));

describe('the shards of a run', () => {
  it('have each instance once, in the order of the dataset', () => {
    fc.assert(
      fc.property(instances, fc.integer({ min: 1, max: 8 }), (all, count) => {
        const parts = Array.from({ length: count }, (_, at) =>
          instancesOfShard(all, { number: at + 1, count }),
        );
        const places = parts.map((part) => part.map((each) => all.indexOf(each)));
        for (const part of places)
          assert.deepEqual(
            part,
            [...part].sort((a, b) => a - b),
          );
        assert.deepEqual(
          places.flat().sort((a, b) => a - b),
          all.map((_, at) => at),
        );
      }),
    );
  });

  it('have about the same number of candidates', () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 0, max: 5 }), { minLength: 1, maxLength: 40 }),
        fc.integer({ min: 1, max: 6 }),
        (sizes, count) => {
          const all = sizes.map((_, at) => instance(`octo__cat-${at}`));
          const sizeOf = (id: string): number =>
            sizes[all.findIndex((each) => each.id === id)] ?? 0;
          const total = sizes.reduce((sum, size) => sum + size + 1, 0);
          for (let number = 1; number <= count; number++) {
            const part = instancesOfShard(all, { number, count }, sizeOf);
            const size = part.reduce((sum, { id }) => sum + sizeOf(id) + 1, 0);
            // An instance is never cut: of the largest one, half may be too much at either end.
            assert.ok(Math.abs(size - total / count) <= Math.max(...sizes) + 1);
          }
        },
      ),
    );
  });

  it('keep instances of one environment together', () => {
    const all = ['1.0', '2.0', '1.0', '2.0'].map((version, at) => instance(`${at}`, version));
    const first = instancesOfShard(all, { number: 1, count: 2 });
    assert.deepEqual(
      first.map(({ id }) => id),
      ['0', '2'],
    );
  });

  it('have all candidates of their instances', () => {
    const all = ['a', 'b', 'c'].map((id) => instance(id));
    const predictions = ['a', 'c', 'a', 'b', 'elsewhere'].map((instanceId) => ({ instanceId }));
    const part = partOfShard({ instances: all, predictions }, { number: 1, count: 2 });
    assert.deepEqual(
      part.instances.map(({ id }) => id),
      ['a'],
    );
    assert.deepEqual(part.predictions, [{ instanceId: 'a' }, { instanceId: 'a' }]);
  });
});
