import assert from 'node:assert/strict';
import fc from 'fast-check';
import { applyPatch, type ApplyResult } from '../../../src/patch/applyPatch';
import { makeUnified } from '../../../src/patch/makeUnified';
import { changedLines, newToOldLine, oldToNewLine } from '../../../src/patch/changedLines';
import { hasErrors } from '../../../src/patch/diagnostic';
import { parseUnified } from '../../../src/patch/parseUnified';
import { everydayRuns } from '../../everyday';
import { linesOf, makeGitTree, type GitTree } from './gitTree';

type Files = Record<string, string | undefined>;

function apply(files: Files, patch: string): Promise<ApplyResult> {
  return applyPatch(parseUnified(patch), (path) => Promise.resolve(files[path]));
}

async function problem(files: Files, patch: string): Promise<string> {
  const result = await apply(files, patch);
  assert.equal(result.ok, false);
  return result.ok ? '' : (result.problems[0]?.message ?? '');
}

/** Few different words, so that lines repeat; blank lines, CRLF and lines that look like headers. */
const line = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom('a', 'b', 'c', 'd', '', '    x', '\ty') },
  {
    weight: 1,
    arbitrary: fc.constantFrom('-- a/x', '++ b/x', '@@ -1 +1 @@', '\\ No', 'é😀', 'r\r'),
  },
);
const text = fc
  .tuple(fc.array(line, { maxLength: 30 }), fc.boolean())
  .map(([lines, ended]) => lines.join('\n') + (ended && lines.length > 0 ? '\n' : ''));

/** A text, and the result of a few line edits of it. */
const edited = fc
  .tuple(
    fc.array(line, { minLength: 1, maxLength: 60 }),
    fc.array(fc.tuple(fc.nat(60), fc.nat(3), fc.array(line, { maxLength: 3 })), {
      minLength: 1,
      maxLength: 4,
    }),
    fc.boolean(),
    fc.boolean(),
  )
  .map(([lines, edits, endBefore, endAfter]) => {
    const after = [...lines];
    for (const [at, remove, insert] of edits) after.splice(at, remove, ...insert);
    const join = (all: string[], end: boolean): string =>
      all.join('\n') + (end && all.length > 0 ? '\n' : '');
    return { before: join(lines, endBefore), after: join(after, endAfter) };
  });

describe('makeUnified and applyPatch', function () {
  let tree: GitTree;
  before(() => {
    tree = makeGitTree();
  });
  after(() => tree.remove());

  it('writes what git apply accepts, and reads it back', () => {
    fc.assert(
      fc.property(
        fc.record({
          before: fc.option(text, { nil: undefined }),
          after: fc.option(text, { nil: undefined }),
        }),
        fc.constantFrom('a.py', 'dir/b c.py', 'é/ü "q".py', 'back\\slash.py', ' lead.py'),
        ({ before, after }, path) => {
          const patch = makeUnified([{ path, before, after }]);
          assert.equal(patch === '', before === after);
          if (patch === '') return;
          tree.write({ [path]: before });
          assert.equal(tree.apply(patch), undefined, patch);
          assert.equal(tree.read(path), after);
          assert.deepEqual(parseUnified(patch).problems, []);
        },
      ),
      { numRuns: everydayRuns(150) },
    );
  });

  it('round trips through our own reader and applier, without git', async () => {
    await fc.assert(
      fc.asyncProperty(edited, async ({ before, after }) => {
        if (before === after) return;
        const patch = makeUnified([{ path: 'x', before, after }]);
        const parsed = parseUnified(patch);
        assert.deepEqual(parsed.problems, []);
        const result = await apply({ x: before }, patch);
        assert.ok(result.ok);
        assert.equal(result.files.get('x'), after);
        assert.deepEqual(
          result.placed.files.map((f) => f.hunks),
          parsed.files.map((f) => f.hunks),
        );
        // Changed lines: the numbered lines have the reported text, and all others are unchanged.
        const { removed, added } = changedLines(parsed);
        const [a, b] = [linesOf(before), linesOf(after)];
        for (const { line: n, text: t } of removed) assert.equal(a[n - 1], t);
        for (const { line: n, text: t } of added) assert.equal(b[n - 1], t);
        const left = a.filter((_, i) => !removed.some((l) => l.line === i + 1));
        const right = b.filter((_, i) => !added.some((l) => l.line === i + 1));
        assert.deepEqual(left, right);
        const file = parsed.files[0];
        assert.ok(file);
        a.forEach((content, i) => {
          const now = oldToNewLine(file, i + 1);
          if (now === undefined) assert.ok(removed.some((l) => l.line === i + 1));
          else {
            assert.equal(b[now - 1], content);
            assert.equal(newToOldLine(file, now), i + 1);
          }
        });
      }),
      { numRuns: everydayRuns(500) },
    );
  });

  it('accepts, refuses and places like git apply on trees that differ from the patch', async () => {
    let [accepted, refused] = [0, 0];
    await fc.assert(
      fc.asyncProperty(
        edited,
        fc.array(fc.tuple(fc.nat(60), fc.nat(1), fc.array(line, { maxLength: 2 })), {
          minLength: 1,
          maxLength: 2,
        }),
        async ({ before, after }, damage) => {
          const patch = makeUnified([{ path: 'x', before, after }]);
          if (patch === '') return;
          const lines = before.split('\n');
          for (const [at, remove, insert] of damage) lines.splice(at, remove, ...insert);
          const other = lines.join('\n');
          tree.write({ x: other });
          const said = tree.apply(patch);
          const result = await apply({ x: other }, patch);
          // Git accepts a line without newline in place of one with it, and then loses that
          // newline. We refuse.
          if (said === undefined && !result.ok && patch.includes('\n\\ No newline')) return;
          assert.equal(
            result.ok,
            said === undefined,
            `${patch}\n${JSON.stringify(other)}\n${said}`,
          );
          if (result.ok) {
            accepted += 1;
            assert.equal(result.files.get('x'), tree.read('x'));
            const placed = changedLines(result.placed);
            const now = linesOf(result.files.get('x') ?? '');
            for (const { line: n, text: t } of placed.added) assert.equal(now[n - 1], t);
            for (const { line: n, text: t } of placed.removed)
              assert.equal(linesOf(other)[n - 1], t);
          } else refused += 1;
        },
      ),
      { numRuns: everydayRuns(250), seed: 7 },
    );
    assert.ok(
      accepted > everydayRuns(20) && refused > everydayRuns(20),
      `${accepted} accepted, ${refused} refused`,
    );
  });

  it('looks for a hunk from its line number in the new file, as git does', async () => {
    const lines = Array.from({ length: 40 }, (_, i) => `${i + 1}\n`);
    lines.splice(9, 3, 'p\n', 'q\n', 'r\n');
    lines.splice(19, 3, 'p\n', 'q\n', 'r\n');
    const x = lines.join('');
    // With the ten lines before them the two places are lines 20 and 30: 27 is nearer to the second,
    // 17 to the first.
    const patch = `--- a/x\n+++ b/x\n@@ -1,2 +1,12 @@\n 1\n${'+a\n'.repeat(10)} 2\n@@ -17,3 +27,3 @@\n p\n-q\n+Q\n r\n`;
    tree.write({ x });
    assert.equal(tree.apply(patch), undefined);
    const result = await apply({ x }, patch);
    assert.ok(result.ok);
    assert.equal(result.files.get('x'), tree.read('x'));
    assert.deepEqual(
      result.placed.files[0]?.hunks.map(({ oldStart, newStart }) => [oldStart, newStart]),
      [
        [1, 1],
        [20, 30],
      ],
    );
  });

  it('diffs long unlike texts in bounded time, and mends nothing in them', async () => {
    const before = Array.from({ length: 20000 }, (_, i) => `old ${i}\n`).join('');
    const after = Array.from({ length: 20000 }, (_, i) => `new ${i}\n`).join('');
    const patch = makeUnified([{ path: 'x', before: `h\n${before}t\n`, after: `h\n${after}t` }]);
    const result = await apply({ x: `h\n${before}t\n` }, patch);
    assert.ok(result.ok);
    assert.equal(result.files.get('x'), `h\n${after}t`);
  });

  it('repeats the heading that git writes', () => {
    const before = 'class A:\n    x = 1\n' + '    pass\n'.repeat(9) + '    y = 1\n';
    const patch = makeUnified([{ path: 'x', before, after: before.replace('y = 1', 'y = 2') }]);
    assert.match(patch, /^@@ -9,4 \+9,4 @@ class A:$/m);
  });
});

describe('applyPatch', function () {
  const f = '1\n2\n3\n4\n5\n6\n7\n8\n9\n';

  it('names file, hunk and the first line that does not fit', async () => {
    const patch = '--- a/f\n+++ b/f\n@@ -3,3 +3,3 @@\n 3\n-four\n+IV\n 5\n';
    const result = await apply({ f }, patch);
    assert.ok(!result.ok);
    assert.deepEqual(result.problems, [
      {
        severity: 'error',
        code: 'does-not-apply',
        line: 5,
        message: 'f: hunk 1 does not apply: line 4 of the file is "4", not "four"',
        hint: 'Copy the context and the removed lines from the file without changes',
        path: 'f',
        hunk: 1,
        fileLine: 4,
        expected: 'four',
        found: '4',
      },
    ]);
  });

  it('says what kind of difference it is', async () => {
    const hint = async (content: string, context: string): Promise<string> => {
      const patch = `--- a/f\n+++ b/f\n@@ -1,2 +1,2 @@\n ${context}\n-2\n+II\n`;
      const result = await apply({ f: content }, patch);
      return result.ok ? '' : (result.problems[0]?.hint ?? '');
    };
    assert.match(await hint('1\r\n2\r\n', '1'), /CRLF/);
    assert.match(await hint('  1\n2\n', '1'), /whitespace/);
    assert.match(await hint('', '1'), /Compare the context/);
  });

  it('explains hunks that git ties to an end of the file', async () => {
    assert.match(
      await problem({ f }, '--- a/f\n+++ b/f\n@@ -5,2 +5,3 @@\n 5\n 6\n+6a\n'),
      /fits at line 5, but it has no context after/,
    );
    assert.match(
      await problem({ f }, '--- a/f\n+++ b/f\n@@ -1,2 +1,3 @@\n 5\n+5a\n 6\n'),
      /fits at line 5, but its line number/,
    );
  });

  it('applies all parts or none, in order, and follows renames', async () => {
    const patch =
      'diff --git a/f b/g\nsimilarity index 90%\nrename from f\nrename to g\n--- a/f\n+++ b/g\n' +
      '@@ -1,2 +1,2 @@\n-1\n+one\n 2\n' +
      'diff --git a/new b/new\nnew file mode 100644\n--- /dev/null\n+++ b/new\n@@ -0,0 +1 @@\n+n\n' +
      'diff --git a/old b/old\ndeleted file mode 100644\n--- a/old\n+++ /dev/null\n@@ -1 +0,0 @@\n-o\n';
    const result = await apply({ f, old: 'o\n' }, patch);
    assert.ok(result.ok);
    assert.deepEqual(
      [...result.files],
      [
        ['f', undefined],
        ['g', f.replace('1', 'one')],
        ['new', 'n\n'],
        ['old', undefined],
      ],
    );
    assert.match(await problem({ f, old: 'o\n', g: '' }, patch), /g: the file already exists/);
    assert.match(await problem({ f }, patch), /old: file not found/);
    assert.match(await problem({ f, old: 'o\np\n' }, patch), /does not apply/);
  });

  it('numbers a hunk that is empty on one side by the line before its place', async () => {
    const placed = async (hunk: string, content = '1\n2\n3\n'): Promise<unknown> => {
      const result = await apply({ f: content }, `--- a/f\n+++ b/f\n${hunk}`);
      const [first] = result.ok ? (result.placed.files[0]?.hunks ?? []) : [];
      return first && [first.oldStart, first.oldLines, first.newStart, first.newLines];
    };
    assert.deepEqual(await placed('@@ -9 +8,0 @@\n-3\n'), [3, 1, 2, 0]);
    assert.deepEqual(await placed('@@ -9,0 +10 @@\n+4\n'), [3, 0, 4, 1]);
    assert.deepEqual(await placed('@@ -0,0 +1 @@\n+0\n', ''), [0, 0, 1, 1]);
  });

  it('leaves a file that is copied where it is', async () => {
    const patch =
      'diff --git a/f b/g\nsimilarity index 100%\ncopy from f\ncopy to g\n' +
      'diff --git a/f b/h\nsimilarity index 90%\ncopy from f\ncopy to h\n--- a/f\n+++ b/h\n' +
      '@@ -1,2 +1,2 @@\n-1\n+one\n 2\n';
    const result = await apply({ f }, patch);
    assert.ok(result.ok);
    assert.deepEqual(
      [...result.files],
      [
        ['g', f],
        ['h', f.replace('1', 'one')],
      ],
    );
  });

  it('refuses to delete a file of which lines are left, blank ones too', async () => {
    const patch =
      'diff --git a/f b/f\ndeleted file mode 100644\n--- a/f\n+++ /dev/null\n@@ -1,2 +1 @@\n-1\n \n';
    assert.match(await problem({ f: '1\n\n' }, patch), /deletes the file but leaves lines/);
  });

  it('finds a blank line with CRLF whose context lacks its space', async () => {
    const result = await apply(
      { f: 'a\r\n\r\nb\r\n' },
      '--- a/f\n+++ b/f\n@@ -1,3 +1,3 @@\n a\r\n\r\n-b\r\n+c\r\n',
    );
    assert.ok(result.ok);
    assert.equal(result.files.get('f'), 'a\r\n\r\nc\r\n');
  });

  it('refuses what it cannot know: binary content, missing files', async () => {
    const binary = 'diff --git a/b b/b\nindex 1..2 100644\nBinary files a/b and b/b differ\n';
    assert.match(await problem({ b: 'x' }, binary), /binary/);
    assert.match(await problem({}, '--- a/f\n+++ b/f\n@@ -1 +1 @@\n-a\n+b\n'), /file not found/);
  });

  it('makes a file of a part without git line whose only hunk has no old lines', async () => {
    const result = await apply({}, '--- a/n\n+++ b/n\n@@ -0,0 +1 @@\n+x\n');
    assert.ok(result.ok);
    assert.equal(result.files.get('n'), 'x\n');
    assert.equal(result.placed.files[0]?.kind, 'added');
  });

  it('never throws, whatever the text', async () => {
    const piece = fc.constantFrom(
      'diff --git a/x b/x',
      '--- a/x',
      '+++ b/x',
      '--- /dev/null',
      '+++ /dev/null',
      '@@ -1 +1 @@',
      '@@ -1,2 +0,0 @@',
      '@@ -0,0 +1,999999999 @@',
      '@@',
      '\\ No newline',
      '-a',
      '+b',
      ' c',
      '',
      'new file mode 100644',
      'rename from y',
      'GIT binary patch',
      'literal 3',
      'Binary files x differ',
      '--- "a/\\303',
      '\r',
      '-- ',
      'prose',
    );
    await fc.assert(
      fc.asyncProperty(fc.array(fc.oneof(piece, fc.string()), { maxLength: 25 }), async (all) => {
        const parsed = parseUnified(all.join('\n'));
        for (const file of parsed.files) {
          for (const hunk of file.hunks) {
            const count = (kind: string): number =>
              hunk.lines.filter((l) => l.kind !== kind).length;
            assert.equal(hunk.oldLines, count('added'));
            assert.equal(hunk.newLines, count('removed'));
          }
        }
        hasErrors(parsed.problems);
        await applyPatch(parsed, (path) => Promise.resolve(path === 'x' ? 'a\nc\n' : undefined));
      }),
      { numRuns: everydayRuns(1000) },
    );
  });
});
