import assert from 'node:assert/strict';
import { convertUnified } from '../../../src/patch/unified/convertUnified';

const files: Readonly<Record<string, string>> = {
  f: '1\n2\n3\n4\n5\n',
  g: 'a\nb  \nc\n',
  old: 'o\n',
  'd/f': '1\n2\n3\n',
};

const names = '--- a/f\n+++ b/f\n';
const hunk = '@@ -1,3 +1,3 @@\n 1\n-2\n+II\n 3\n';
const git = (path: string, lines: string): string => `diff --git a/${path} b/${path}\n${lines}`;

/** Texts, each with its diagnostics in the order of the text: severity, line, code. */
const cases: readonly (readonly [name: string, text: string, told: readonly string[]])[] = [
  ['sound', git('f', names + hunk), []],

  // parseUnified.ts
  ["a merge's combined diff", 'diff --cc f\n@@@ -1,2 -1,2 +1,3 @@@\n', ['error 1 unknown-format']],
  ['no newline at the end', (names + hunk).slice(0, -1), ['warning 7 incomplete']],
  ['a hunk without a file', hunk, ['error 1 missing-header']],
  ['a hunk apart from its file', `${names}${hunk}\n@@ -5 +5 @@\n-5\n+V\n`, ['warning 9 malformed']],
  [
    'hunks out of order',
    `${names}@@ -5 +5 @@\n-5\n+V\n@@ -1,2 +1,2 @@\n-1\n+I\n 2\n`,
    ['warning 6 counts'],
  ],
  [
    'a new file with old lines',
    git('n', 'new file mode 100644\n--- /dev/null\n+++ b/n\n@@ -1 +1 @@\n-a\n+b\n'),
    ['warning 5 malformed', 'error 6 does-not-apply'],
  ],
  [
    'a deleted file that keeps lines',
    git('old', 'deleted file mode 100644\n--- a/old\n+++ /dev/null\n@@ -1 +1 @@\n-o\n+p\n'),
    ['warning 5 malformed', 'error 1 incomplete'],
  ],

  // hunk.ts
  [
    'a header without numbers',
    `${names}@@ def f():\n 1\n-2\n`,
    ['error 3 counts', 'warning 1 no-change'],
  ],
  [
    'wrong counts',
    `${names}${hunk.replace('-1,3', '-1,7')}${hunk.replace('1,3 +1,3', '4,2 +4,2').replace(/ 1\n-2\n.II\n 3/, '-4\n+IV\n 5')}`,
    ['warning 3 counts'],
  ],
  [
    'counts of a text that is cut off',
    `${names}@@ -1,4 +1,4 @@\n 1\n-2\n+II\n 3\n`,
    ['warning 3 incomplete'],
  ],
  [
    'a blank context line that is a carriage return',
    '--- a/r\n+++ b/r\n@@ -1,2 +1,3 @@\n a\n\r\n+b\n',
    ['warning 5 white-space'],
  ],

  // fileHeader.ts
  [
    'a mode that is none',
    git('f', `old mode 9\nnew mode 100755\n${names}${hunk}`),
    ['warning 1 mode'],
  ],
  ['no file named', `diff --git f\n${hunk}`, ['error 1 missing-header']],
  ['both names /dev/null', `--- /dev/null\n+++ /dev/null\n${hunk}`, ['error 1 missing-header']],
  ['names without prefixes', `--- d/f\n+++ d/f\n${hunk}`, ['warning 1 prefixes']],
  [
    'a new file that is not said to be one',
    git('n', '--- /dev/null\n+++ b/n\n@@ -0,0 +1 @@\n+a\n'),
    ['warning 1 malformed'],
  ],
  ['three lines that name two files', git('g', names + hunk), ['warning 1 rename']],
  [
    'a part without hunks',
    git('g', 'index 1..2 100644\n') + git('f', names + hunk),
    ['warning 1 no-change'],
  ],

  // readUnified.ts
  [
    'binary content',
    git('b', 'Binary files a/b and b/b differ\n') + git('f', names + hunk),
    ['warning 1 binary'],
  ],
  [
    'a submodule',
    git(
      's',
      'new file mode 160000\n--- /dev/null\n+++ b/s\n@@ -0,0 +1 @@\n+Subproject commit 1\n',
    ) + git('f', names + hunk),
    ['warning 1 submodule'],
  ],
  ['nothing of a diff', 'Nothing to do.\n', ['error 1 no-patch']],
  [
    'context alone',
    `${names}@@ -1,2 +1,2 @@\n 1\n 2\n`,
    ['warning 3 no-change', 'error 1 no-change'],
  ],
  ['a hunk said twice', names + hunk + hunk, ['warning 8 counts', 'warning 8 duplicate']],

  // unsafePath.ts
  ['a path out of the tree', '--- a/../f\n+++ b/../f\n' + hunk, ['error 1 unsafe-path']],
  [
    'a link out of the tree',
    git(
      'l',
      'new file mode 120000\n--- /dev/null\n+++ b/l\n@@ -0,0 +1 @@\n+../..\n\\ No newline at end of file\n',
    ),
    ['error 1 unsafe-path'],
  ],

  // applyPatch.ts
  ['a file that is not there', hunk.replace(/^/, '--- a/no\n+++ b/no\n'), ['error 1 unknown-file']],
  [
    'a new file that is there',
    '--- /dev/null\n+++ b/f\n@@ -0,0 +1 @@\n+a\n',
    ['error 1 file-exists'],
  ],
  [
    'lines that are not there',
    `${names}@@ -1,2 +1,2 @@\n-one\n+eins\n two\n`,
    ['error 4 does-not-apply'],
  ],
  [
    'a file that is written and deleted',
    `${names}${hunk}--- a/f\n+++ /dev/null\n@@ -1,5 +0,0 @@\n-1\n-II\n-3\n-4\n-5\n`,
    ['error 8 overlap'],
  ],

  // convertUnified.ts
  [
    'blanks at the end of a line',
    '--- a/g\n+++ b/g\n@@ -1,3 +1,3 @@\n a\n b\n-c\n+d\n',
    ['warning 1 white-space'],
  ],
  [
    'prose in a hunk',
    `${names}@@ -1,5 +1,5 @@\n 1\n-2\n+II\nNow for the rest:\n-4\n+IV\n`,
    ['warning 3 counts', 'error 7 incomplete'],
  ],
];

describe('diagnostics of the unified reader', () => {
  for (const [name, text, expected] of cases) {
    it(`have a code: ${name}`, async () => {
      const read = (path: string): Promise<string | undefined> =>
        Promise.resolve(path === 'r' ? 'a\n\n' : files[path]);
      const { diagnostics } = await convertUnified(text, { read });
      assert.deepEqual(
        diagnostics.map((d) => `${d.severity} ${d.line} ${d.code}`),
        expected,
      );
    });
  }
});
