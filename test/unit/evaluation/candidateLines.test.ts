import assert from 'node:assert/strict';
import fc from 'fast-check';
import { candidateLines } from '../../../src/evaluation/coverage/candidateLines';
import { makeUnified } from '../../../src/patch/makeUnified';

const tree = new Map([['m.py', 'a\nb\nc\nd\ne\nf\ng\nh\n']]);
const read = (path: string): Promise<string | undefined> => Promise.resolve(tree.get(path));
const at = (line: number, path = 'm.py') => ({ path, line });

describe('lines of a tree that a candidate edits', () => {
  it('stay where they are without a candidate, and in files that it leaves alone', async () => {
    for (const patch of ['', edit('x.py', undefined, 'new\n')]) {
      const lines = await candidateLines(patch, read);
      assert.deepEqual(lines.with(at(3)), at(3));
      assert.deepEqual(lines.without(at(3)), at(3));
    }
  });

  it('move with what is put before them, also where a hunk lies elsewhere than it says', async () => {
    const patch = edit('m.py', tree.get('m.py'), `x\ny\n${tree.get('m.py') ?? ''}`);
    const lines = await candidateLines(patch, read);
    assert.deepEqual(lines.with(at(3)), at(5));
    assert.deepEqual(lines.without(at(5)), at(3));
    assert.equal(lines.without(at(1)), undefined);
    const shifted =
      'diff --git a/m.py b/m.py\n--- a/m.py\n+++ b/m.py\n@@ -1,4 +1,5 @@\n c\n d\n+x\n e\n f\n';
    const placed = await candidateLines(shifted.replaceAll('-1,4 +1,5', '-2,4 +2,5'), read);
    assert.deepEqual(placed.with(at(5)), at(6));
    assert.deepEqual(placed.with(at(4)), at(4));
  });

  it('are nowhere when it replaces or deletes them', async () => {
    const lines = await candidateLines(
      edit('m.py', tree.get('m.py'), 'a\nb\nC\nd\ne\nf\ng\nh\n'),
      read,
    );
    assert.equal(lines.with(at(3)), undefined);
    assert.equal(lines.without(at(3)), undefined);
    assert.deepEqual(lines.with(at(4)), at(4));
    const gone = await candidateLines(edit('m.py', tree.get('m.py'), undefined), read);
    assert.equal(gone.with(at(3)), undefined);
    assert.equal(gone.without(at(3)), undefined);
  });

  it('go along when it renames their file', async () => {
    const patch =
      'diff --git a/m.py b/n.py\nsimilarity index 100%\nrename from m.py\nrename to n.py\n';
    const lines = await candidateLines(patch, read);
    assert.deepEqual(lines.with(at(3)), at(3, 'n.py'));
    assert.deepEqual(lines.without(at(3, 'n.py')), at(3));
  });

  it('stay when it copies their file, whose copy has lines of its own', async () => {
    const patch = 'diff --git a/m.py b/n.py\nsimilarity index 100%\ncopy from m.py\ncopy to n.py\n';
    const lines = await candidateLines(patch, read);
    assert.deepEqual([lines.with(at(3)), lines.without(at(3))], [at(3), at(3)]);
    assert.equal(lines.without(at(3, 'n.py')), undefined);
  });

  it('keep their text there and back, whatever it edits', async () => {
    const text = fc
      .array(fc.constantFrom('a', 'b', 'c', 'd'), { minLength: 1, maxLength: 30 })
      .map((lines) => lines.map((each) => `${each}\n`).join(''));
    await fc.assert(
      fc.asyncProperty(text, text, async (before, after) => {
        fc.pre(before !== after);
        const lines = await candidateLines(edit('m.py', before, after), () =>
          Promise.resolve(before),
        );
        for (const [index, each] of before.trimEnd().split('\n').entries()) {
          const now = lines.with(at(index + 1));
          if (now === undefined) continue;
          assert.equal(after.split('\n')[now.line - 1], each);
          assert.deepEqual(lines.without(now), at(index + 1));
        }
      }),
    );
  });
});

function edit(path: string, before: string | undefined, after: string | undefined): string {
  return makeUnified([{ path, before, after }]);
}
