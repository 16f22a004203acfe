import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import fc from 'fast-check';
import { outlineOf, scan, sizeOf } from '../../../src/dataset/rows/patchOutline';
import { changedLines } from '../../../src/patch/changedLines';
import { checkPatchPaths } from '../../../src/patch/unsafePath';
import { parseUnified } from '../../../src/patch/parseUnified';
import { everydayRuns } from '../../everyday';

/** Asserts that the scan agrees with the parser, which must report no problem. */
function assertAgrees(text: string): boolean {
  const scanned = scan(text);
  if (scanned === undefined) return false;
  const parsed = parseUnified(text);
  assert.deepEqual(
    parsed.problems.filter((problem) => problem.severity === 'error'),
    [],
    text,
  );
  assert.deepEqual(checkPatchPaths(parsed), [], text);
  assert.deepEqual(
    scanned.files,
    parsed.files.map(({ oldPath, newPath }) => ({ oldPath, newPath })),
    text,
  );
  const { removed, added } = changedLines(parsed);
  assert.equal(scanned.lines, removed.length + added.length, text);
  return true;
}

const modified = (path: string, hunk = '@@ -1,2 +1,2 @@ def f():\n a\n-b\n+c\n'): string =>
  `diff --git a/${path} b/${path}\nindex 1..2 100644\n--- a/${path}\n+++ b/${path}\n${hunk}`;

const examples = [
  modified('a.py'),
  modified('a.py') + modified('tests/b.py'),
  modified('a.py', '@@ -1 +0,0 @@\n-b\n@@ -9,0 +9 @@\n+c\n'),
  modified(
    'a.py',
    '@@ -1 +1 @@\n-b\n\\ No newline at end of file\n+c\n\\ No newline at end of file\n',
  ),
  modified('a.py', '@@ -1,2 +1,2 @@\n---- a\n+++++ b\n c\n'),
  'diff --git a/n.py b/n.py\nnew file mode 100644\nindex 0..2\n--- /dev/null\n+++ b/n.py\n@@ -0,0 +1,2 @@\n+a\n+b\n',
  'diff --git a/n.py b/n.py\ndeleted file mode 100644\nindex 2..0\n--- a/n.py\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n',
];

describe('the outline of a patch', () => {
  it('is scanned from what git writes', () => {
    for (const text of examples) assert.ok(assertAgrees(text), text);
  });

  it('is not scanned from hunks that do not hold the lines they count', () => {
    for (const hunk of [
      '@@ -1 +1 @@\n-a\n-b\n+c\n',
      '@@ -1 +1 @@\n-a\n+b\n+c\n',
      '@@ -1,2 +1,2 @@\n-a\n+b\n',
      '@@ -1,2 +1,2 @@\n a\nb\n',
      '@@ -1 +1 @@\n-a\n+b\n\\ No newline',
      '@@ -1 +1 @@\n-a\n\\+ No newline at end of file\n+b\n',
    ]) {
      assert.equal(scan(modified('a.py', hunk)), undefined, hunk);
    }
  });

  it('is parsed from anything else, or says what is wrong', () => {
    const renamed = 'diff --git a/a.py b/b.py\nrename from a.py\nrename to b.py\n';
    assert.deepEqual(outlineOf(renamed), {
      files: [{ oldPath: 'a.py', newPath: 'b.py' }],
      lines: 0,
    });
    assert.deepEqual(outlineOf('prose\n'), { problem: 'is not a unified diff' });
    for (const path of ['../a.py', '.git/config', 'a/../../b.py']) {
      const outline = outlineOf(modified(path));
      assert.match('problem' in outline ? outline.problem : '', /outside the tree/, path);
    }
    const cut = outlineOf(modified('a.py').slice(0, -4));
    assert.match('problem' in cut ? cut.problem : '', /^cannot be parsed: line 5: /);
  });

  it('agrees with the parser, whatever is done to a patch', () => {
    const text = fc.constantFrom(...examples, examples.join(''));
    const bit = fc.constantFrom(
      '\n',
      ' ',
      '-',
      '+',
      '\\ x\n',
      '@@',
      'diff --git ',
      '\r',
      '1',
      '',
      ' x\n',
      '+y\n',
      '-- \n2.1\n',
      'a/',
    );
    const edit = fc.tuple(fc.double({ min: 0, max: 1, noNaN: true }), fc.nat(6), bit);
    let scanned = 0;
    fc.assert(
      fc.property(text, fc.array(edit, { maxLength: 3 }), (start, edits) => {
        let edited = start;
        for (const [where, removed, added] of edits) {
          const at = Math.floor(where * edited.length);
          edited = edited.slice(0, at) + added + edited.slice(at + removed);
        }
        if (edited.endsWith('\n') && assertAgrees(edited)) scanned += 1;
      }),
      { numRuns: everydayRuns(3000) },
    );
    assert.ok(scanned > everydayRuns(300), `only ${scanned} were scanned`);
  });

  it('agrees with the parser on 400 published patches', function () {
    const root = resolve(__dirname, '../../..');
    const path =
      process.env['SWT_BENCH_DATA'] ?? resolve(root, '../shared/data/swe-bench-lite.dev.jsonl');
    if (!existsSync(path)) {
      console.log(`      skipped: no dataset at ${path} (set SWT_BENCH_DATA)`);
      this.skip();
    }
    let scanned = 0;
    for (const line of readFileSync(path, 'utf8').trim().split('\n')) {
      const row = JSON.parse(line) as { patch: string; test_patch: string };
      for (const text of [row.patch, row.test_patch]) {
        if (assertAgrees(text)) scanned += 1;
        const outline = outlineOf(text);
        assert.ok('files' in outline && sizeOf(outline).files.length > 0);
      }
    }
    assert.ok(scanned > 390, `only ${scanned} were scanned`);
  });
});
