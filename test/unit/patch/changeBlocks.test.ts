import assert from 'node:assert/strict';
import fc from 'fast-check';
import {
  changeBlocks,
  compareLines,
  type SideLine,
  changedLines,
} from '../../../src/patch/changedLines';
import { parseUnified } from '../../../src/patch/parseUnified';
import type { FilePatch } from '../../../src/patch/parsedPatch';
import { makeUnified } from '../../../src/patch/makeUnified';

function patchOf(before: readonly string[], after: readonly string[]): FilePatch | undefined {
  const text = (lines: readonly string[]): string => lines.map((line) => `${line}\n`).join('');
  const made = makeUnified([{ path: 'a.py', before: text(before), after: text(after) }]);
  return parseUnified(made).files[0];
}

/** Few different lines, so that texts have lines in common. */
const lines = fc.array(fc.constantFrom('a', 'b', 'c', 'd'), { minLength: 1, maxLength: 30 });

describe('the blocks of a change', () => {
  it('are what stands between unchanged lines, with the line before', () => {
    const file = patchOf(['1', '2', '3', '4', '5', '6'], ['1', 'x', 'y', '4', '5', '6', '7']);
    assert.ok(file);
    assert.deepEqual(changeBlocks(file), [
      { removed: [2, 3], added: [2, 3], oldBefore: 1, newBefore: 1 },
      { removed: [], added: [7], oldBefore: 6, newBefore: 6 },
    ]);
  });

  it('begin a file that is added, and end one that is emptied', () => {
    const added = patchOf([], ['1', '2']);
    const emptied = patchOf(['1', '2'], []);
    assert.ok(added && emptied);
    const block = { removed: [], added: [1, 2], oldBefore: 0, newBefore: 0 };
    assert.deepEqual(changeBlocks(added), [block]);
    assert.deepEqual(changeBlocks(emptied), [{ ...block, removed: [1, 2], added: [] }]);
  });

  it('hold every changed line once', () => {
    fc.assert(
      fc.property(lines, lines, (before, after) => {
        const file = patchOf(before, after);
        if (file === undefined) return;
        const blocks = changeBlocks(file);
        const { removed, added } = changedLines({ files: [file], problems: [] });
        assert.deepEqual(
          blocks.flatMap((block) => block.removed),
          removed.map(({ line }) => line),
        );
        assert.deepEqual(
          blocks.flatMap((block) => block.added),
          added.map(({ line }) => line),
        );
        for (const block of blocks) {
          if (block.oldBefore > 0 && block.newBefore > 0) {
            assert.equal(before[block.oldBefore - 1], after[block.newBefore - 1]);
          }
        }
      }),
    );
  });

  it('order the lines of both files as a diff shows them', () => {
    fc.assert(
      fc.property(lines, lines, (before, after) => {
        const file = patchOf(before, after);
        if (file === undefined) return;
        const blocks = changeBlocks(file);
        const shown: SideLine[] = file.hunks.flatMap((hunk) => {
          const order: SideLine[] = [];
          const added: SideLine[] = [];
          for (const { kind, oldLine, newLine } of hunk.lines) {
            if (kind === 'added') added.push({ side: 'new', line: newLine ?? 0 });
            else {
              if (kind === 'context') order.push(...added.splice(0));
              order.push({ side: 'old', line: oldLine ?? 0 });
            }
          }
          order.push(...added);
          return order;
        });
        const sorted = [...shown].reverse().sort((a, b) => compareLines(blocks, a, b));
        assert.deepEqual(sorted, shown);
      }),
    );
  });

  it('order unchanged lines by the blocks between them, whichever file they are of', () => {
    const file = patchOf(['1', '2', '3', '4'], ['1', '2', 'x', '4']);
    assert.ok(file);
    const signs = [1, 2, 3, 4].map((line) =>
      Math.sign(compareLines(changeBlocks(file), { side: 'new', line }, { side: 'old', line: 3 })),
    );
    assert.deepEqual(signs, [-1, -1, 1, 1]);
    const reversed = [1, 2, 3, 4].map((line) =>
      Math.sign(compareLines(changeBlocks(file), { side: 'old', line }, { side: 'new', line: 3 })),
    );
    assert.deepEqual(reversed, [-1, -1, -1, 1]);
  });
});
