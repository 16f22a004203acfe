import assert from 'node:assert/strict';
import fc from 'fast-check';
import { similarity } from '../../../src/patch/fuzzy/treeLines';
import { everydayRuns } from '../../everyday';

describe('the similarity of lines', () => {
  it('measures likeness as the share of characters that stay', () => {
    assert.equal(similarity('  a  b', 'a b'), 1);
    assert.equal(similarity('kitten', 'sitten'), 5 / 6);
    assert.equal(similarity('abc', ''), 0);
  });

  it('counts the same steps as the table does, in short and long lines', () => {
    const text = fc.string({ unit: fc.constantFrom('a', 'b', 'c', 'é', '(', '9'), maxLength: 120 });
    fc.assert(
      fc.property(text, text, (a, b) => {
        const longest = Math.max(a.length, b.length, 1);
        assert.ok(
          Math.abs(similarity(a, b) - (1 - stepsByTable(a, b) / longest)) < 1e-9 || longest === 1,
        );
      }),
      { numRuns: everydayRuns(500) },
    );
  });
});

/** Levenshtein's distance by its definition, cell by cell. */
function stepsByTable(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const replaced = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(replaced, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[b.length] ?? 0;
}
