import assert from 'node:assert/strict';
import fc from 'fast-check';
import { lineMap } from '../../../src/editor/coverage/workspaceLines';

const lines = fc.array(fc.constantFrom('a', 'b', 'c', '', 'd'), { maxLength: 40 });

describe('where lines stand in a later text', () => {
  it('moves with what is put in above, and leaves out what was rewritten', () => {
    const map = lineMap(['a', 'b', 'c', 'd'], ['new', 'a', 'B', 'c', 'd', 'end']);
    assert.deepEqual([...map].sort(), [
      [1, 2],
      [3, 4],
      [4, 5],
    ]);
  });

  it('is the same line for the same text', () => {
    const map = lineMap(['a', 'a', 'a'], ['a', 'a', 'a']);
    assert.deepEqual([...map.entries()].sort(), [
      [1, 1],
      [2, 2],
      [3, 3],
    ]);
  });

  it('joins equal lines only, in the same order, each at most once', () => {
    fc.assert(
      fc.property(lines, lines, (before, now) => {
        const pairs = [...lineMap(before, now)].sort(([a], [b]) => a - b);
        let last = 0;
        for (const [from, to] of pairs) {
          assert.ok(before[from - 1] !== undefined);
          assert.equal(now[to - 1], before[from - 1]);
          assert.ok(to > last);
          last = to;
        }
      }),
    );
  });

  it('finds every line again where lines were only put in', () => {
    fc.assert(
      fc.property(lines, fc.nat(), lines, (before, at, more) => {
        const place = at % (before.length + 1);
        const now = [...before.slice(0, place), ...more, ...before.slice(place)];
        assert.equal(lineMap(before, now).size, before.length);
      }),
    );
  });
});
