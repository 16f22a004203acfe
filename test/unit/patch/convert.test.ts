import assert from 'node:assert/strict';
import { recognise, toUnified } from './formats';
import type { Conversion } from '../../../src/patch/toUnified';
import type { PythonParser } from '../../../src/python/parser';
import { loadParser } from '../python/loadParser';
import { makeGitTree, type GitTree } from './gitTree';

type Files = Record<string, string | undefined>;

let python: PythonParser;
before(async function () {
  python = await loadParser();
});
after(() => python.dispose());

function convert(files: Files, text: string): Promise<Conversion> {
  return toUnified(text, {
    format: 'auto',
    python,
    tree: { read: (path) => Promise.resolve(files[path]) },
  });
}

async function told(files: Files, text: string): Promise<string[]> {
  const { diagnostics } = await convert(files, text);
  return diagnostics.map((d) => `${d.severity} ${d.line}: ${d.message}`);
}

const block = (path: string, action: string, place: string | number, code: string): string =>
  `diff\n${path}\n${action}\n${place}\n${code}\nend diff\n`;

describe('the format of a patch', () => {
  it('is found, with prose and fences around them', () => {
    const unified = '--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n';
    const custom = block('x.py', 'insert', 'EOF', 'def f(): pass');
    const cases: [string, string][] = [
      [' \n', 'empty'],
      ['I cannot do that.', 'unknown'],
      [unified, 'unified'],
      [`Sure:\n\`\`\`diff\n${unified}\`\`\`\n`, 'unified'],
      ['diff --git a/x b/x\nold mode 100644\nnew mode 100755\n', 'unified'],
      [custom, 'custom'],
      [`Sure:\n\`\`\`custom-diff\n${custom}\`\`\`\n`, 'custom'],
      [block('x.py', 'replace', 1, 'x'), 'custom'],
    ];
    for (const [text, format] of cases) assert.equal(recognise(text, 'auto').format, format, text);
  });
});

describe('toUnified of unified diffs', function () {
  let tree: GitTree;
  before(() => {
    tree = makeGitTree();
  });
  after(() => tree.remove());

  const files: Files = { f: '1\n2\n3\n4\n5\n', 'd/g': 'a\r\nb\r\nc\r\n' };
  const sound =
    'diff --git a/f b/f\nindex 1..2 100644\n--- a/f\n+++ b/f\n@@ -1,3 +1,3 @@\n 1\n-2\n+II\n 3\n';

  it('gives back what git wrote, byte for byte, without what stands around it', async () => {
    const { patch, diagnostics, format } = await convert(
      files,
      `Fix:\n\`\`\`diff\n${sound}\`\`\`\nthere\n`,
    );
    assert.equal(patch, sound);
    assert.deepEqual([diagnostics, format], [[], 'unified']);
  });

  for (const [name, text, wanted] of [
    ['no git line', '--- a/f\n+++ b/f\n@@ -1,3 +1,3 @@\n 1\n-2\n+II\n 3\n', 'II'],
    ['no prefixes', '--- f\n+++ f\n@@ -1,3 +1,3 @@\n 1\n-2\n+II\n 3\n', 'II'],
    ['wrong counts', '--- a/f\n+++ b/f\n@@ -1,7 +1,9 @@\n 1\n-2\n+II\n 3\n', 'II'],
    ['wrong line numbers', '--- a/f\n+++ b/f\n@@ -40,3 +41,3 @@\n 2\n-3\n+II\n 4\n', 'II'],
    ['no newline at the end', '--- a/f\n+++ b/f\n@@ -1,3 +1,3 @@\n 1\n-2\n+II\n 3', 'II'],
    ['CRLF in the tree alone', '--- d/g\n+++ d/g\n@@ -1,3 +1,3 @@\n a\n-b\n+II\n c\n', 'II\r'],
    ['CRLF headers', sound.replace(/^(diff|---|\+\+\+|@@)(.*)$/gm, '$1$2\r'), 'II'],
    [
      'a new file as git does not take it',
      'diff --git a/n b/n\n--- /dev/null\n+++ b/n\n@@ -0,0 +1 @@\n+II\n',
      'II',
    ],
    [
      'blank lines between hunks',
      '--- a/f\n+++ b/f\n@@ -1,3 +1,3 @@\n 1\n-2\n+II\n 3\n\n@@ -4,2 +4,2 @@\n 4\n-5\n+V\n',
      'V',
    ],
  ] as const) {
    it(`mends ${name}, so that git apply accepts it`, async () => {
      const { patch, diagnostics } = await convert(files, text);
      assert.notEqual(patch, '', JSON.stringify(diagnostics));
      tree.write({ ...files, n: undefined });
      assert.equal(tree.apply(patch), undefined, patch);
      const all = `${tree.read('f')}${tree.read('d/g')}${tree.read('n')}`;
      assert.ok(all.split('\n').includes(wanted), all);
      assert.match(patch, /^diff --git a\//);
    });
  }

  it('leaves binary parts out and says so', async () => {
    const binary = 'diff --git a/b b/b\nindex 1..2 100644\nBinary files a/b and b/b differ\n';
    const { patch, diagnostics } = await convert(files, binary + sound);
    assert.equal(patch, sound);
    assert.deepEqual(
      diagnostics.map((d) => d.message),
      ['b: binary content is ignored'],
    );
  });

  it('gives nothing where anything is lost, unsafe or does not fit', async () => {
    for (const [text, message] of [
      [`@@ -1 +1 @@\n-a\n+b\n\n${sound}`, /no file header/],
      [`${sound}--- a/../x\n+++ b/../x\n@@ -0,0 +1 @@\n+a\n`, /has a component "\.\."/],
      [
        `${sound}--- a/f\n+++ b/f\n@@ -1,3 +1,3 @@\n 1\n-9\n+II\n 3\n`,
        /line 2 of the file is "II", not "9"/,
      ],
      [`${sound}--- a/f\n+++ b/f\n@@ some @@\n 1\n`, /no line numbers/],
    ] as const) {
      const { patch, diagnostics } = await convert(files, text);
      assert.equal(patch, '');
      assert.ok(
        diagnostics.some((d) => d.severity === 'error' && message.test(d.message)),
        JSON.stringify(diagnostics),
      );
    }
  });

  it('takes an empty text for no error, and prose for one', async () => {
    assert.deepEqual(await told(files, '\n'), ['info 1: The patch is empty']);
    assert.deepEqual(await told(files, 'Sorry.'), ['error 1: The text contains no patch']);
  });
});
