import assert from 'node:assert/strict';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { convertUnified } from '../../../src/patch/unified/convertUnified';
import { toUnified } from './formats';
import type { Conversion } from '../../../src/patch/toUnified';
import type { PythonParser } from '../../../src/python/parser';
import { everydayRuns } from '../../everyday';
import { loadParser } from '../python/loadParser';
import { makeGitTree, type GitTree } from './gitTree';

type Files = Record<string, string | undefined>;

let python: PythonParser;
let tree: GitTree;
before(async function () {
  python = await loadParser();
  tree = makeGitTree();
});
after(() => {
  python.dispose();
  tree.remove();
});

const files: Files = {
  f: '1\n2\n3\n4\n5\n',
  'd/crlf': 'a\r\nb\r\nc\r\n',
  'd/mixed': 'a\r\nb\nc\r\nd\n',
  'd/bare': 'a\nb\nc',
  'd/blank': 'a\n    \nb  \nc\n',
  old: 'x\ny\nz\n',
};

const convert = (text: string): Promise<Conversion> =>
  toUnified(text, {
    format: 'auto',
    python,
    tree: { read: (path) => Promise.resolve(files[path]) },
  });

/**
 * The tree after git has applied the result of a conversion; asserts that it is what the conversion
 * reports.
 */
async function judged(text: string): Promise<{ after: Files; converted: Conversion }> {
  const converted = await convert(text);
  assert.notEqual(converted.patch, '', JSON.stringify(converted.diagnostics, undefined, 2));
  tree.write({ ...files, new: undefined, 'd/new': undefined });
  assert.equal(tree.apply(converted.patch), undefined, converted.patch);
  const after: Files = {};
  for (const path of new Set([...Object.keys(files), ...converted.files.keys()])) {
    after[path] = tree.read(path);
    const said = converted.files.has(path) ? converted.files.get(path) : files[path];
    assert.equal(after[path], said, path);
  }
  return { after, converted };
}

const hunk = '@@ -1,3 +1,3 @@\n 1\n-2\n+II\n 3\n';
const names = '--- a/f\n+++ b/f\n';
const changed = { f: '1\nII\n3\n4\n5\n' };

describe('toUnified of diffs as people and models write them', function () {
  const cases: [string, string, Files][] = [
    ['without "diff --git"', names + hunk, changed],
    ['without counts', `${names}@@ -1 +1 @@\n 1\n-2\n+II\n 3\n`, changed],
    ['with counts too high', names + hunk.replace('-1,3 +1,3', '-1,9 +1,8'), changed],
    ['with counts too low', names + hunk.replace('-1,3 +1,3', '-1,1 +1,1'), changed],
    ['without prefixes', `--- f\n+++ f\n${hunk}`, changed],
    [
      'without prefixes, in a folder',
      '--- d/bare\n+++ d/bare\n@@ -1,2 +1,2 @@\n-a\n+A\n b\n',
      { 'd/bare': 'A\nb\nc' },
    ],
    ['with "diff --git" without prefixes', `diff --git f f\n--- f\n+++ f\n${hunk}`, changed],
    [
      'with time stamps',
      `--- a/f\t2024-01-01 10:00:00.000000000 +0000\n+++ b/f\t2024-01-02 10:00:00.000000000 +0000\n${hunk}`,
      changed,
    ],
    [
      'with time stamps behind blanks',
      `--- a/f 2024-01-01 10:00:00\n+++ b/f 2024-01-02 10:00:00\n${hunk}`,
      changed,
    ],
    [
      'with an index line alone',
      `Index: f\n===================================\n${names}${hunk}`,
      changed,
    ],
    [
      'in a fence with prose',
      `So:\n\n\`\`\`diff\n${names}${hunk}\`\`\`\n\nThis changes - a lot.\n`,
      changed,
    ],
    ['in a fence, with blank lines around', `\`\`\`\n\n${names}${hunk}\n\`\`\`\n`, changed],
    ['in tags', `<patch>\n${names}${hunk}</patch>\n`, changed],
    ['without the last newline', (names + hunk).trimEnd(), changed],
    [
      'in a mail',
      `From 0 Mon\nSubject: x\n\n---\n f | 2 +-\n\ndiff --git a/f b/f\n${names}${hunk}-- \n2.40.1\n`,
      changed,
    ],
    ['of a new file', '--- /dev/null\n+++ b/new\n@@ -0,0 +1,2 @@\n+a\n+b\n', { new: 'a\nb\n' }],
    [
      'of a new file with wrong counts',
      '--- /dev/null\n+++ b/d/new\n@@ -0,0 +1,7 @@\n+a\n+b\n',
      { 'd/new': 'a\nb\n' },
    ],
    [
      'of a new file with its mode',
      'diff --git a/new b/new\nnew file mode 100755\n--- /dev/null\n+++ b/new\n@@ -0,0 +1 @@\n+a\n',
      { new: 'a\n' },
    ],
    [
      'of an empty new file',
      `diff --git a/new b/new\nnew file mode 100644\nindex 0000000..e69de29\n${names}${hunk}`.replace(
        names,
        `diff --git a/f b/f\n${names}`,
      ),
      { ...changed, new: '' },
    ],
    [
      'of a deleted file',
      '--- a/old\n+++ /dev/null\n@@ -1,3 +0,0 @@\n-x\n-y\n-z\n',
      { old: undefined },
    ],
    [
      'of a renamed file',
      'diff --git a/old b/new\nsimilarity index 100%\nrename from old\nrename to new\n',
      { old: undefined, new: 'x\ny\nz\n' },
    ],
    [
      'of a renamed file that changes',
      'diff --git a/old b/new\nsimilarity index 60%\nrename from old\nrename to new\n--- a/old\n+++ b/new\n@@ -1,3 +1,3 @@\n x\n-y\n+Y\n z\n',
      { old: undefined, new: 'x\nY\nz\n' },
    ],
    [
      'of a CRLF file',
      '--- a/d/crlf\n+++ b/d/crlf\n@@ -1,3 +1,4 @@\n a\n-b\n+B\n+BB\n c\n',
      { 'd/crlf': 'a\r\nB\r\nBB\r\nc\r\n' },
    ],
    [
      'of a CRLF file, at its end',
      '--- a/d/crlf\n+++ b/d/crlf\n@@ -2,2 +2,3 @@\n b\n c\n+d\n',
      { 'd/crlf': 'a\r\nb\r\nc\r\nd\r\n' },
    ],
    [
      'of a file with mixed line ends',
      '--- a/d/mixed\n+++ b/d/mixed\n@@ -1,4 +1,5 @@\n a\n-b\n+B\n c\n+C\n d\n',
      { 'd/mixed': 'a\r\nB\nc\r\nC\r\nd\n' },
    ],
    ['with CRLF of a file with LF', `${names}${hunk}`.replaceAll('\n', '\r\n'), changed],
    ['with CRLF in the lines alone', names + hunk.replace(/^([ +-].*)$/gm, '$1\r'), changed],
    [
      'of a last line without newline',
      '--- a/d/bare\n+++ b/d/bare\n@@ -1,3 +1,3 @@\n a\n b\n-c\n+C\n',
      { 'd/bare': 'a\nb\nC' },
    ],
    [
      'behind a last line without newline',
      '--- a/d/bare\n+++ b/d/bare\n@@ -2,2 +2,3 @@\n b\n c\n+d\n',
      { 'd/bare': 'a\nb\nc\nd' },
    ],
    [
      'with a mark for a newline that is there',
      `${names}@@ -4,2 +4,2 @@\n 4\n-5\n\\ No newline at end of file\n+V\n\\ No newline at end of file\n`,
      { f: '1\n2\n3\n4\nV\n' },
    ],
    [
      'with blank context that lost its blanks',
      '--- a/d/blank\n+++ b/d/blank\n@@ -1,4 +1,4 @@\n a\n\n b\n-c\n+C\n',
      { 'd/blank': 'a\n    \nb  \nC\n' },
    ],
    [
      'of two files',
      `${names}${hunk}--- a/old\n+++ b/old\n@@ -1,2 +1,2 @@\n-x\n+X\n y\n`,
      { ...changed, old: 'X\ny\nz\n' },
    ],
    [
      'with hunks far from their lines',
      `${names}@@ -101,3 +101,3 @@\n 2\n-3\n+III\n 4\n`,
      { f: '1\n2\nIII\n4\n5\n' },
    ],
  ];
  for (const [name, text, wanted] of cases) {
    it(`gives git what it takes: ${name}`, async () => {
      const { after } = await judged(text);
      assert.deepEqual(after, { ...files, ...wanted });
    });
  }

  it('carries modes over', async () => {
    const { converted } = await judged('diff --git a/f b/f\nold mode 100644\nnew mode 100755\n');
    assert.match(converted.patch, /^new mode 100755$/m);
    assert.equal(statSync(join(tree.root, 'f')).mode & 0o111, 0o111);
    await judged(`diff --git a/f b/f\nold mode 100755\nnew mode 100644\n${names}${hunk}`).catch(
      () => undefined,
    );
  });

  it('drops binary parts with a notice, of every form that git writes', async () => {
    const literal =
      'diff --git a/b.png b/b.png\nnew file mode 100644\nindex 0000000..1234567\nGIT binary patch\nliteral 3\nKcmZQzWMT#Y01f~L\n\nliteral 0\nHcmV?d00001\n\n';
    const { after, converted } = await judged(`${literal}diff --git a/f b/f\n${names}${hunk}`);
    assert.deepEqual(after, { ...files, ...changed });
    assert.deepEqual(
      converted.diagnostics.map((d) => [d.severity, d.code, d.line]),
      [['warning', 'binary', 1]],
    );
  });

  it('exchanges the names of two files', async () => {
    const rename = (from: string, to: string): string =>
      `diff --git a/${from} b/${to}\nsimilarity index 100%\nrename from ${from}\nrename to ${to}\n`;
    const { after } = await judged(rename('f', 'old') + rename('old', 'f'));
    assert.deepEqual([after['f'], after['old']], [files['old'], files['f']]);
  });

  it('leaves out what is said twice and what changes nothing, with a notice each', async () => {
    const idle = '@@ -4,2 +4,2 @@\n 4\n 5\n';
    for (const [text, code] of [
      [names + hunk + names + hunk, 'duplicate'],
      [names + hunk + hunk, 'duplicate'],
      [names + hunk + idle, 'no-change'],
    ] as const) {
      const { after, converted } = await judged(text);
      assert.equal(after['f'], changed.f);
      assert.ok(
        converted.diagnostics.some((each) => each.code === code && each.severity === 'warning'),
        JSON.stringify(converted.diagnostics),
      );
    }
  });

  it('refuses what git would refuse, or do otherwise, and what leaves nothing', async () => {
    const added = (path: string): string => `--- /dev/null\n+++ b/${path}\n@@ -0,0 +1 @@\n+a\n`;
    for (const [text, why] of [
      [added('f/new'), /f is a file/],
      [added('new') + added('new/below'), /new is a file/],
      [
        `${names}${hunk}--- a/f\n+++ /dev/null\n@@ -1,5 +0,0 @@\n-1\n-II\n-3\n-4\n-5\n`,
        /another deletes it/,
      ],
      ['diff --git a/f b/f\nold mode 1\nnew mode 9\n', /no unified diff that changes/],
      ['diff --git a/f b/f\nBinary files a/f and b/f differ\n', /changes anything/],
    ] as const) {
      const { patch, diagnostics } = await convert(text);
      assert.equal(patch, '', text);
      const errors = diagnostics.filter((each) => each.severity === 'error');
      assert.ok(
        errors.some((each) => why.test(each.message)),
        JSON.stringify(diagnostics),
      );
    }
  });

  it('names a new file as its own lines do', async () => {
    const text =
      'diff --git a/d/x b/d/x\nnew file mode 100644\n--- /dev/null\n+++ b/new\n@@ -0,0 +1 @@\n+a\n';
    assert.equal((await judged(text)).after['new'], 'a\n');
  });

  it('says where --format fuzzy places what does not fit, and does not do so by itself', async () => {
    const { patch, diagnostics } = await convert(`${names}@@ -1,3 +1,3 @@\n 2\n 3\n-4\n+IV\n 99\n`);
    assert.equal(patch, '');
    assert.match(diagnostics.at(-1)?.hint ?? '', /; --format fuzzy places it at line 4$/);
  });

  it('never changes lines that the diff does not name, whatever the line ends', async () => {
    const end = fc.constantFrom('\n', '\r\n', '  \n');
    await fc.assert(
      fc.asyncProperty(
        fc.array(end, { minLength: 3, maxLength: 12 }),
        fc.nat(11),
        fc.boolean(),
        async (ends, at, cut) => {
          const k = at % ends.length;
          const lines = ends.map(
            (each, i) => `line ${i}${cut && i === ends.length - 1 ? '' : each}`,
          );
          const before = lines.join('');
          const old = lines
            .map((_, i) => (i === k ? `-line ${i}\n+new\n` : ` line ${i}\n`))
            .join('');
          const text = `--- a/x\n+++ b/x\n@@ -1,${lines.length} +1,${lines.length} @@\n${old}`;
          const { files: now, diagnostics } = await convertUnified(text, {
            read: (path) => Promise.resolve(path === 'x' ? before : undefined),
          });
          const after = now.get('x');
          assert.ok(after !== undefined, JSON.stringify(diagnostics));
          const got = after.split(/(?<=\n)/);
          assert.equal(got.length, lines.length);
          for (const [i, line] of lines.entries()) if (i !== k) assert.equal(got[i], line);
          assert.equal(got[k]?.trimEnd(), 'new');
          assert.equal(after.endsWith('\n'), before.endsWith('\n'));
        },
      ),
      { numRuns: everydayRuns(300) },
    );
  });
});
