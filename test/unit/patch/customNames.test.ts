import assert from 'node:assert/strict';
import fc from 'fast-check';
import { nearestPaths } from '../../../src/patch/custom/findTarget';
import { everydayRuns } from '../../everyday';

describe('nearestPaths', () => {
  it('puts the same end before the same name, and that before a name that is like it', () => {
    const paths = [
      'tests/forms/test_field.py',
      'other/tests/test_fields.py',
      'tests/fields/test_fields.py',
      'tests/forms/test_fields.py',
      'tests/forms/test_queries_and_more.py',
    ];
    assert.deepEqual(nearestPaths(paths, 'forms/test_fields.py'), [
      'tests/forms/test_fields.py',
      'other/tests/test_fields.py',
      'tests/fields/test_fields.py',
    ]);
    assert.deepEqual(nearestPaths(paths, 'tests/forms/test_fiel.py'), [
      'tests/forms/test_field.py',
      'tests/forms/test_fields.py',
      'tests/fields/test_fields.py',
    ]);
    assert.deepEqual(nearestPaths(paths, 'src/engine.py'), []);
  });

  it('gives the three that are likest of many that are alike, as comparing all of them does', () => {
    const folder = fc.constantFrom('tests', 'testing', 'tets');
    const name = fc
      .array(fc.constantFrom('a', 'b', 'c', '1', '2', '_'), { minLength: 3, maxLength: 8 })
      .map((letters) => letters.join(''));
    const path = fc.tuple(folder, name).map(([f, n]) => `${f}/module/test_${n}.py`);
    fc.assert(
      fc.property(fc.uniqueArray(path, { maxLength: 30 }), path, (paths, wanted) => {
        const file = (of: string): string => of.slice(of.lastIndexOf('/') + 1);
        // Files of the same name come first, by other rules.
        const others = paths.filter((each) => file(each) !== file(wanted));
        const expected = others
          .map((each) => ({ each, like: 1 - apart(each, wanted) / longest(each, wanted) }))
          .filter(({ like }) => like >= 0.75)
          .sort((a, b) => b.like - a.like || (a.each < b.each ? -1 : 1))
          .slice(0, 3)
          .map(({ each }) => each);
        assert.deepEqual(nearestPaths(others, wanted), expected);
      }),
      { numRuns: everydayRuns(300) },
    );
  });
});

const longest = (a: string, b: string): number => Math.max(a.length, b.length);

/** Levenshtein's distance, by its definition. */
function apart(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const change = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(change, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[b.length] ?? 0;
}
