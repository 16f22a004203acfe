import assert from 'node:assert/strict';
import { parsePatch } from 'diff';
import { hasErrors } from '../../../src/patch/diagnostic';
import { parseUnified } from '../../../src/patch/parseUnified';
import type { FilePatch } from '../../../src/patch/parsedPatch';
import { formatFilePatch } from '../../../src/patch/makeUnified';
import { makeGitTree, type GitTree } from './gitTree';

function only(text: string): FilePatch {
  const { files, problems } = parseUnified(text);
  assert.deepEqual(problems, []);
  assert.equal(files.length, 1);
  return files[0] as FilePatch;
}

const messages = (text: string): string[] => parseUnified(text).problems.map((p) => p.message);
const body = (file: FilePatch): string[] =>
  file.hunks.flatMap((h) =>
    h.lines.map((l) => `${l.kind[0]}${l.oldLine ?? ''}:${l.newLine ?? ''} ${l.text}`),
  );

describe('parseUnified', () => {
  it('numbers lines on both sides', () => {
    const file = only(
      'diff --git a/x.py b/x.py\nindex 1..2 100644\n--- a/x.py\n+++ b/x.py\n' +
        '@@ -3,3 +3,4 @@ def f():\n a\n-b\n+c\n+d\n e\n',
    );
    assert.equal(file.kind, 'modified');
    assert.equal(file.oldMode, '100644');
    assert.equal(file.hunks[0]?.section, 'def f():');
    assert.deepEqual(body(file), ['c3:3 a', 'r4: b', 'a:4 c', 'a:5 d', 'c5:6 e']);
    assert.deepEqual([file.line, file.endLine, file.hunks[0]?.line], [1, 10, 5]);
  });

  it('reads counts of zero as zero, with the line before as the start', () => {
    const file = only('--- a/x\n+++ b/x\n@@ -10,2 +9,0 @@\n-a\n-b\n@@ -20,0 +19,2 @@\n+c\n+d\n');
    assert.deepEqual(
      file.hunks.map((h) => [h.oldStart, h.oldLines, h.newStart, h.newLines]),
      [
        [10, 2, 9, 0],
        [20, 0, 19, 2],
      ],
    );
    assert.deepEqual(body(file), ['r10: a', 'r11: b', 'a:19 c', 'a:20 d']);
  });

  it('reads a new file of one line, whose count is left out', () => {
    const file = only('--- /dev/null\n+++ b/n.py\n@@ -0,0 +1 @@\n+x\n');
    assert.equal(file.kind, 'added');
    assert.equal(file.oldPath, null);
    assert.deepEqual(body(file), ['a:1 x']);
  });

  it('takes what JavaScript calls an end of line, and git does not, as part of a header', () => {
    for (const odd of ['\r', '\u2028', '\u2029']) {
      const text = `--- a/x\n+++ b/x\n@@ -2,2 +2,2 @@ r${odd}a = 1\n a\n-b\n+c\n`;
      const file = only(text);
      assert.equal(file.hunks[0]?.section, `r${odd}a = 1`);
      assert.equal(file.hunks[0].oldStart, 2);
      assert.ok(formatFilePatch(file).endsWith(text.slice(text.indexOf('@@'))));
    }
  });

  it('keeps carriage returns of content and drops those of headers', () => {
    const file = only(
      'diff --git a/x b/x\r\n--- a/x\r\n+++ b/x\r\n@@ -1,2 +1,2 @@ s\r\n a\r\n-b\r\n+c\r\n',
    );
    assert.equal(file.newPath, 'x');
    assert.equal(file.hunks[0]?.section, 's');
    assert.deepEqual(body(file), ['c1:1 a\r', 'r2: b\r', 'a:2 c\r']);
  });

  it('marks lines without a newline on either side', () => {
    const file = only(
      '--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n a\n-b\n\\ No newline at end of file\n+c\n\\ Kein Zeilenumbruch am Dateiende.\n',
    );
    assert.deepEqual(
      file.hunks[0]?.lines.map((l) => l.noNewline),
      [false, true, true],
    );
  });

  it('takes content for content, whatever it looks like', () => {
    const text =
      '--- a/x\n+++ b/x\n@@ -1,6 +1,6 @@\n--- a/y\n-++ b/y\n-@@ -1 +1 @@\n-diff --git a/y b/y\n' +
      '+++ b/z\n+-- a/z\n+@@ -1 +1 @@\n+diff --git a/z b/z\n \n  x\n--- a/q\n+++ b/q\n@@ -1 +1 @@\n-a\n+b\n';
    const { files, problems } = parseUnified(text);
    assert.deepEqual(problems, []);
    assert.deepEqual(
      files.map((f) => [f.newPath, f.hunks[0]?.lines.length]),
      [
        ['x', 10],
        ['q', 2],
      ],
    );
    assert.deepEqual(files[0]?.hunks[0]?.lines[0], {
      kind: 'removed',
      text: '-- a/y',
      oldLine: 1,
      noNewline: false,
    });
  });

  it('reads blank lines in a hunk as blank context, as GNU diff may write them', () => {
    assert.deepEqual(body(only('--- a/x\n+++ b/x\n@@ -1,3 +1,3 @@\n a\n\n-b\n+c\n')), [
      'c1:1 a',
      'c2:2 ',
      'r3: b',
      'a:3 c',
    ]);
  });

  for (const [written, path] of [
    ['"a/caf\\303\\251.py"', 'café.py'],
    ['"a/t\\tb\\"q\\\\.py"', 't\tb"q\\.py'],
    ['a/my file.py\t', 'my file.py'],
    ['a/x.py\t2024-01-01 10:00:00.000000000 +0000', 'x.py'],
    ['a/x.py 2024-01-01 10:00:00 +0000', 'x.py'],
    ['a/x.py Mon Jan  1 10:00:00 2024', 'x.py'],
    ['x.py', 'x.py'],
  ] as const) {
    it(`reads the name ${written}`, () => {
      const other = written.replace(/^("?)a\//, '$1b/');
      const file = only(`--- ${written}\n+++ ${other}\n@@ -1 +1 @@\n-a\n+b\n`);
      assert.deepEqual([file.oldPath, file.newPath], [path, path]);
    });
  }

  it('parts the names of a git line that holds spaces', () => {
    const { files } = parseUnified(
      'diff --git a/a b/c d b/a b/c d\nold mode 100644\nnew mode 100755\n' +
        'diff --git "a/\\303\\251" b/e\nsimilarity index 100%\nrename from "\\303\\251"\nrename to e\n',
    );
    assert.deepEqual(
      files.map((f) => [f.oldPath, f.newPath, f.kind]),
      [
        ['a b/c d', 'a b/c d', 'mode'],
        ['é', 'e', 'renamed'],
      ],
    );
  });

  it('takes f for the name where the sides are f.orig and f', () => {
    assert.equal(only('--- f.py.orig\n+++ f.py\n@@ -1 +1 @@\n-a\n+b\n').oldPath, 'f.py');
    assert.equal(only('--- f.py\n+++ f.py~\n@@ -1 +1 @@\n-a\n+b\n').newPath, 'f.py');
  });

  it('passes over a mail, its signature and prose', () => {
    const mail =
      'From 1234 Mon Sep 17 00:00:00 2001\nFrom: A <a@example.org>\nSubject: [PATCH] x\n\n' +
      'Text with a rule\n---\n x | 2 +-\n 1 file changed\n\n' +
      'diff --git a/x b/x\nindex 1..2 100644\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n-- \n2.39.5\n\n';
    assert.deepEqual(body(only(mail)), ['r1: a', 'a:1 b']);
    assert.deepEqual(
      body(
        only('Here it is:\n```diff\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n```\n- that is all\n'),
      ),
      ['r1: a', 'a:1 b'],
    );
  });

  it('counts again where the header is wrong, and says so', () => {
    const wrong =
      '--- a/x\n+++ b/x\n@@ -1,9 +1,9 @@\n a\n-b\n+c\n--- a/y\n+++ b/y\n@@ -4 +4 @@\n a\n-b\n+c\n d\n```\n';
    const { files, problems } = parseUnified(wrong);
    assert.deepEqual(
      files.map((f) => f.hunks.map((h) => [h.oldStart, h.oldLines, h.newStart, h.newLines])),
      [[[1, 2, 1, 2]], [[4, 3, 4, 3]]],
    );
    assert.deepEqual(
      problems.map((p) => [p.line, p.severity, p.hint]),
      [
        [3, 'error', 'Write "@@ -1,2 +1,2 @@"'],
        [9, 'error', 'Write "@@ -4,3 +4,3 @@"'],
      ],
    );
  });

  it('takes a removed "- " for no signature, whatever the header counts', () => {
    const text = '--- a/x\n+++ b/x\n@@ -1,9 +1,9 @@\n a\n-- \n+- x\n b\n';
    assert.deepEqual(
      parseUnified(text).files[0]?.hunks[0]?.lines.map(({ kind, text: line }) => [kind, line]),
      [
        ['context', 'a'],
        ['removed', '- '],
        ['added', '- x'],
        ['context', 'b'],
      ],
    );
  });

  it('never takes a count it cannot read for 1', () => {
    const { files, problems } = parseUnified('--- a/x\n+++ b/x\n@@ -1,x +1 @@\n-a\n');
    assert.equal(files.length, 0);
    assert.match(problems[0]?.message ?? '', /no line numbers/);
  });

  it('reports what has no file, no name, or no change', () => {
    assert.deepEqual(messages('@@ -1 +1 @@\n-a\n+b\n'), ['The hunk has no file header']);
    assert.deepEqual(messages('diff --git a/x b/x\nindex 1..2\n'), [
      'The part of x changes nothing',
    ]);
    assert.deepEqual(messages('--- /dev/null\n+++ /dev/null\n@@ -1 +1 @@\n-a\n+b\n'), [
      'Both names of the part are /dev/null',
    ]);
    assert.match(messages('diff --cc x\n@@@ -1 -1 +1 @@@\n++a\n')[0] ?? '', /merge/);
  });

  it('joins a hunk that blank lines part from its file', () => {
    const { files, problems } = parseUnified(
      '--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n\n@@ -5 +5 @@\n-a\n+b\n',
    );
    assert.equal(files[0]?.hunks.length, 2);
    assert.equal(problems[0]?.message, 'The hunk is separated from its file header');
  });

  it('warns of line numbers that do not add up', () => {
    const { problems } = parseUnified(
      '--- a/x\n+++ b/x\n@@ -5,2 +5,3 @@\n a\n+b\n c\n@@ -20,2 +20,3 @@\n a\n+b\n c\n',
    );
    assert.deepEqual(
      problems.map((p) => [p.severity, p.line]),
      [['warning', 7]],
    );
  });
});

describe('parseUnified beside git', function () {
  let tree: GitTree;
  before(() => {
    tree = makeGitTree();
  });
  after(() => tree.remove());

  const lines = (n: number, word = 'line'): string =>
    Array.from({ length: n }, (_, i) => `${word} ${i + 1}\n`).join('');

  it('reads what git diff writes of every kind of change', () => {
    tree.write({
      'my file.txt': 'a\nb\nc\n',
      'café.py': 'x\n',
      't\tb.txt': 'tab\n',
      nonl: 'no newline',
      'crlf.txt': 'x\r\ny\r\n',
      'old name.py': lines(20),
      'gone.py': 'a\nb\n',
      'emptied.py': 'a\n',
      'copied.py': lines(30, 'copied'),
    });
    tree.git('add', '-A');
    tree.git('commit', '-qm', 'one');
    tree.git('mv', 'old name.py', 'new name.py');
    tree.write({
      'my file.txt': 'a\nB\nc\n',
      'café.py': 'y\n',
      't\tb.txt': 'tab2\n',
      nonl: 'with newline\n',
      'crlf.txt': 'x\r\nz\r\n',
      'new name.py': lines(20).replace('line 7\n', 'line seven\n'),
      'gone.py': undefined,
      'emptied.py': '',
      'copy.py': lines(30, 'copied'),
      'copied.py': lines(30, 'copied') + 'more\n',
      'empty-new': '',
      'dir/new.py': 'n\n',
      bin: '\0\x01\x02',
    });
    tree.git('add', '-A');
    tree.git('update-index', '--chmod=+x', 'café.py');
    tree.git('update-index', '--chmod=+x', 'nonl');
    for (const context of ['-U3', '-U0', '-U30']) {
      const patch = tree.git('diff', '--cached', '-M', '-C', context, 'HEAD');
      const { files, problems } = parseUnified(patch);
      assert.deepEqual(problems, []);
      const kinds: Record<string, string> = {};
      for (const f of files) kinds[f.newPath ?? f.oldPath ?? ''] = f.kind;
      assert.deepEqual(kinds, {
        'my file.txt': 'modified',
        'café.py': 'modified',
        't\tb.txt': 'modified',
        nonl: 'modified',
        'crlf.txt': 'modified',
        'new name.py': 'renamed',
        'gone.py': 'deleted',
        'emptied.py': 'modified',
        'copy.py': 'copied',
        'copied.py': 'modified',
        'empty-new': 'added',
        'dir/new.py': 'added',
        bin: 'added',
      });
      const byPath = new Map(files.map((f) => [f.newPath, f]));
      assert.equal(byPath.get('new name.py')?.oldPath, 'old name.py');
      assert.equal(byPath.get('bin')?.binary, true);
      assert.deepEqual(
        [byPath.get('nonl')?.oldMode, byPath.get('nonl')?.newMode],
        ['100644', '100755'],
      );
      // Written again, the text is the same except for object names and similarity, which we do not
      // keep.
      const plain = patch
        .split('\n')
        .filter((line) => !/^(index|similarity index|Binary files) /.test(line))
        .join('\n');
      assert.equal(files.map(formatFilePatch).join(''), plain);
    }
    const binary = parseUnified(tree.git('diff', '--cached', '--binary', 'HEAD'));
    assert.deepEqual(binary.problems, []);
    assert.equal(binary.files.find((f) => f.newPath === 'bin')?.binary, true);
    assert.equal(binary.files.length, 13);
  });

  it('says error where git refuses the form of a patch, and none where git accepts', () => {
    const git = 'diff --git a/f b/f\n';
    const names = '--- a/f\n+++ b/f\n';
    const cases: Record<string, string> = {
      sound: `${git}${names}@@ -1,2 +1,2 @@\n-1\n+one\n 2\n`,
      'no git line': `${names}@@ -1,2 +1,2 @@\n-1\n+one\n 2\n`,
      'no final newline': `${names}@@ -1,2 +1,2 @@\n-1\n+one\n 2`,
      'count too large': `${names}@@ -1,3 +1,3 @@\n-1\n+one\n 2\n`,
      'no prefixes at the top': `--- f\n+++ f\n@@ -1,2 +1,2 @@\n-1\n+one\n 2\n`,
      'no prefixes in a folder': `--- d/h\n+++ d/h\n@@ -1,2 +1,2 @@\n-1\n+one\n 2\n`,
      'added without mode': `diff --git a/n b/n\n--- /dev/null\n+++ b/n\n@@ -0,0 +1 @@\n+x\n`,
      'added without git line': `--- /dev/null\n+++ b/n\n@@ -0,0 +1 @@\n+x\n`,
      'added, both names': `--- a/n\n+++ b/n\n@@ -0,0 +1 @@\n+x\n`,
      'added, old name': `diff --git a/n b/n\nnew file mode 100644\n--- a/n\n+++ b/n\n@@ -0,0 +1 @@\n+x\n`,
      'added with old lines': `diff --git a/n b/n\nnew file mode 100644\n--- /dev/null\n+++ b/n\n@@ -1 +1,2 @@\n a\n+x\n`,
      'deleted without mode': `diff --git a/f b/f\n--- a/f\n+++ /dev/null\n@@ -1,2 +0,0 @@\n-1\n-2\n`,
      'other name below': `diff --git a/f b/f\n--- a/g\n+++ b/g\n@@ -1,2 +1,2 @@\n-1\n+one\n 2\n`,
      'nothing changes': git,
      'stray hunk': `@@ -1,2 +1,2 @@\n-1\n+one\n 2\n`,
      'blank line between hunks': `${names}@@ -1,2 +1,2 @@\n-1\n+one\n 2\n\n@@ -1,2 +1,2 @@\n-1\n+one\n 2\n`,
      'blank context': `--- a/b\n+++ b/b\n@@ -1,3 +1,3 @@\n-1\n+one\n\n 3\n`,
      'blank context with CR': `--- a/b\n+++ b/b\n@@ -1,3 +1,3 @@\n-1\n+one\n\r\n 3\n`,
      'headers with CR': `--- a/f\r\n+++ b/f\r\n@@ -1,2 +1,2 @@\r\n-1\n+one\n 2\n`,
      'mark inside, after context': `${names}@@ -1 +1,2 @@\n 1\n\\ No newline at end of file\n+2\n`,
      'mark inside, after a removed line': `${names}@@ -1,2 +1 @@\n-1\n\\ No newline at end of file\n 2\n`,
      signature: `${git}${names}@@ -1,2 +1,2 @@\n-1\n+one\n 2\n-- \n2.39.5\n\n`,
    };
    for (const [name, patch] of Object.entries(cases)) {
      tree.write({ f: '1\n2\n', g: '1\n2\n', 'd/h': '1\n2\n', b: '1\n\n3\n', n: undefined });
      const refused = tree.apply(patch);
      const { problems } = parseUnified(patch);
      assert.equal(hasErrors(problems), refused !== undefined, `${name}: ${refused ?? 'accepted'}`);
    }
  });

  it('reports lines behind the counted ones, which git drops in silence', () => {
    const patch = '--- a/f\n+++ b/f\n@@ -1,2 +1,2 @@\n-1\n+one\n 2\n+lost\n';
    tree.write({ f: '1\n2\n' });
    assert.equal(tree.apply(patch), undefined);
    assert.equal(tree.read('f'), 'one\n2\n');
    const { files, problems } = parseUnified(patch);
    assert.equal(hasErrors(problems), true);
    assert.equal(files[0]?.hunks[0]?.newLines, 3);
  });
});

describe('the diff package, and why its reader is not used', () => {
  it('cannot read a mail of git format-patch', () => {
    const mail = 'diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n-- \n2.39.5\n';
    assert.throws(() => parsePatch(mail));
    assert.deepEqual(parseUnified(mail).problems, []);
  });

  it('numbers an empty side by the line behind the place', () => {
    const text = '--- a/x\n+++ b/x\n@@ -10,2 +9,0 @@\n-a\n-b\n';
    assert.equal(parsePatch(text)[0]?.hunks[0]?.newStart, 10);
    assert.equal(parseUnified(text).files[0]?.hunks[0]?.newStart, 9);
  });
});
