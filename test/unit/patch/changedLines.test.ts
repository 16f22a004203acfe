import assert from 'node:assert/strict';
import { changedLines, newToOldLine, oldToNewLine } from '../../../src/patch/changedLines';
import { parseUnified } from '../../../src/patch/parseUnified';

describe('changedLines', () => {
  it('numbers removed lines by R and added lines by the patched file', () => {
    const patch = parseUnified(
      'diff --git a/old.py b/new.py\nrename from old.py\nrename to new.py\n--- a/old.py\n+++ b/new.py\n' +
        '@@ -3,3 +3,2 @@\n a\n-b\n c\n@@ -10,0 +10,2 @@\n+d\n+e\n' +
        'diff --git a/gone b/gone\ndeleted file mode 100644\n--- a/gone\n+++ /dev/null\n@@ -1 +0,0 @@\n-g\n' +
        'diff --git a/add b/add\nnew file mode 100644\n--- /dev/null\n+++ b/add\n@@ -0,0 +1 @@\n+n\r\n',
    );
    assert.deepEqual(patch.problems, []);
    assert.deepEqual(changedLines(patch), {
      removed: [
        { path: 'old.py', line: 4, text: 'b' },
        { path: 'gone', line: 1, text: 'g' },
      ],
      added: [
        { path: 'new.py', line: 10, text: 'd' },
        { path: 'new.py', line: 11, text: 'e' },
        { path: 'add', line: 1, text: 'n\r' },
      ],
    });
    const [file, gone, add] = patch.files;
    assert.ok(file && gone && add);
    assert.deepEqual(
      [2, 3, 4, 5, 10, 11].map((n) => oldToNewLine(file, n)),
      [2, 3, undefined, 4, 9, 12],
    );
    assert.deepEqual(
      [3, 4, 9, 10, 12].map((n) => newToOldLine(file, n)),
      [3, 5, 10, undefined, 11],
    );
    assert.equal(oldToNewLine(gone, 1), undefined);
    assert.equal(newToOldLine(add, 1), undefined);
  });
});
