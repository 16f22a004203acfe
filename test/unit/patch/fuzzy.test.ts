import assert from 'node:assert/strict';
import { applyPatch } from '../../../src/patch/applyPatch';
import type { Conversion } from '../../../src/patch/reading/conversion';
import { convertFuzzy } from '../../../src/patch/fuzzy/convertFuzzy';
import { clearlyNearer } from '../../../src/patch/fuzzy/choosePlace';
import { parseUnified } from '../../../src/patch/parseUnified';
import { linesOf } from './gitTree';

type Files = Record<string, string | undefined>;

const convert = (files: Files, text: string): Promise<Conversion> =>
  convertFuzzy(text, {
    read: (path) => Promise.resolve(files[path]),
    paths: () => Promise.resolve(Object.keys(files)),
  });

/**
 * The file after a conversion that must succeed; asserts that the resulting patch has the same
 * effect.
 */
async function after(before: string, text: string): Promise<string | undefined> {
  const files = { 'f.py': before };
  const { patch, diagnostics, files: result } = await convert(files, text);
  assert.notEqual(patch, '', JSON.stringify(diagnostics, undefined, 2));
  const applied = await applyPatch(parseUnified(patch), (p) => Promise.resolve(files[p as 'f.py']));
  assert.ok(applied.ok, patch);
  assert.deepEqual(parseUnified(patch).problems, []);
  assert.deepEqual([...applied.files], [...result]);
  return result.get('f.py');
}

async function refused(before: string, text: string): Promise<string> {
  const { patch, files, diagnostics } = await convert({ 'f.py': before }, text);
  assert.equal(patch, '');
  assert.equal(files.size, 0);
  const error = diagnostics.find((d) => d.severity === 'error');
  return `${error?.code}: ${error?.message}`;
}

const head = '--- a/f.py\n+++ b/f.py\n';
const hunk = (...lines: string[]): string => `${head}${lines.join('\n')}\n`;

const file = [
  'import os',
  '',
  '',
  'def test_one():',
  '    value = compute(1)',
  '    assert value == 1',
  '',
  '',
  'def test_two():',
  '    value = compute(2)',
  '    assert value == 2',
  '    assert os.path',
  '',
  '',
  'def test_three():',
  '    prepare()',
  '    assert value == 2',
  '',
].join('\n');
const replaced = (from: string, to: string): string => file.replace(from, () => to);

describe('convertFuzzy', function () {
  it('puts a hunk in where its lines are, whatever its header says', async () => {
    const lines = [' def test_two():', '-    value = compute(2)', '+    value = compute(3)'];
    const wanted = replaced('compute(2)', 'compute(3)');
    for (const header of [
      '@@ -9,3 +9,3 @@',
      '@@ -150,3 +150,3 @@',
      '@@ -1,30 +2,1 @@ def nothing():',
      '@@ -20,-10 +3,-1 @@',
      '@@ +9,3 -9,3 @@',
      '@@ ... @@',
      '@@',
      '@@ def test_two():',
    ]) {
      assert.equal(await after(file, hunk(header, ...lines)), wanted, header);
    }
    assert.equal(await after(file, hunk(...lines)), wanted);
  });

  it('keeps the whole file when nothing follows the change', async () => {
    const text = hunk(
      '@@ -4,2 +4,2 @@',
      ' def test_one():',
      '-    value = compute(1)',
      '+    pass',
    );
    assert.equal(await after(file, text), replaced('    value = compute(1)', '    pass'));
  });

  it("keeps the tree's context where the diff words it otherwise, and lines it leaves out", async () => {
    const text = hunk(
      '@@ -40,5 +40,6 @@',
      ' def test_two():',
      '     value = compute( 2 )',
      '-    assert value == 2',
      '+    assert value == 3',
      '     assert os.paths',
      '+    assert os.sep',
      '',
      ' def test_three():',
    );
    const wanted = replaced(
      '== 2\n    assert os.path',
      '== 3\n    assert os.path\n    assert os.sep',
    );
    assert.equal(await after(file, text), wanted);
  });

  it('takes a removed line that is slightly misquoted, and refuses one that is not there', async () => {
    const text = (line: string): string =>
      hunk('@@ -8,3 +8,2 @@', ' def test_two():', `-${line}`, '     assert value == 2');
    assert.equal(
      await after(file, text('    value = compute(2);')),
      replaced('    value = compute(2)\n', ''),
    );
    assert.match(
      await refused(file, text('    other.prepare(everything)')),
      /^not-found: .*removes/,
    );
    // A line with another number is another line.
    const numbers = 'def t():\n    a = 100\n    b = 200\n    return a\n';
    const other = hunk(
      '@@ -1,4 +1,3 @@',
      ' def t():',
      '     a = 100',
      '-    b = 300',
      '     return a',
    );
    assert.match(await refused(numbers, other), /^not-found: .*b = 300/);
  });

  it('does not guess which of several lines is meant', async () => {
    const twins =
      'a_one()\nassert call(p) == p\nassert call(q) == q\nassert call(r) == r\nb_two()\n';
    const text = hunk('@@ -1,3 +1,2 @@', ' a_one()', '-assert call(s) == s', ' b_two()');
    assert.match(await refused(twins, text), /^ambiguous: .*lines 2, 3 and 4 may be the line/);
    const places = Array.from({ length: 4 }, (_, i) =>
      `block()\nsame_line()\nrest()\n# ${i}\n`.repeat(1),
    );
    const four = places.map((place) => `${place}${'filler()\n'.repeat(20)}`).join('');
    const add = (header: string): string =>
      hunk(header, ' block()', ' same_line()', '+added()', ' rest()');
    assert.match(await refused(four, add('@@')), /^ambiguous: .*lines 1, 25, 49 and 73/);
    assert.match(await refused(four, add('@@ -12,3 +12,4 @@')), /^ambiguous: .*lines 1, 25/);
    assert.equal(
      (await after(four, add('@@ -27,3 +27,4 @@')))?.indexOf('added()'),
      four.indexOf('rest()', 200),
    );
  });

  it('offers each of the places as a fix, and each fix does it', async () => {
    const four = 'block()\nsame_line()\nrest()\n'.repeat(3);
    const text = hunk('@@ ... @@', ' block()', '-same_line()', ' rest()');
    const { diagnostics } = await convert({ 'f.py': four }, text);
    const fixes = diagnostics.flatMap((d) => d.fixes ?? []);
    assert.equal(fixes.length, 3);
    for (const [i, fix] of fixes.entries()) {
      const lines = text.split('\n');
      for (const edit of fix.edits) lines.splice(edit.from - 1, edit.to - edit.from, ...edit.lines);
      const wanted = linesOf(four);
      wanted.splice(3 * i + 1, 1);
      assert.equal(await after(four, lines.join('\n')), `${wanted.join('\n')}\n`);
    }
  });

  it('tells places apart by the heading and by the hunks around', async () => {
    const two =
      'class A:\n    def go(self):\n        run_it()\n\n\nclass B:\n    def go(self):\n        run_it()\n';
    const lines = ['     def go(self):', '+        check()', '         run_it()'];
    assert.match(
      (await after(two, hunk('@@ ... @@ class B:', ...lines))) ?? '',
      /class B:.*check/s,
    );
    const ordered = hunk(
      '@@',
      ' class B:',
      '-    def go(self):',
      '+    def gone(self):',
      '@@',
      '-        run_it()',
      '+        run_on()',
    );
    assert.match(await refused(two, hunk('@@', ...lines)), /^ambiguous/);
    assert.equal(await after(two, ordered), two.replace(/B:(.*)go(.*)run_it/s, 'B:$1gone$2run_on'));
  });

  it('does not place by blank lines or a number alone', async () => {
    assert.match(await refused(file, hunk('@@ -5,1 +5,2 @@', ' ', '+added()')), /^low-confidence/);
    assert.match(await refused(file, hunk('@@ -5,0 +5,1 @@', '+added()')), /^low-confidence/);
  });

  it('refuses to tear a line from its block', async () => {
    const text = hunk(
      '@@ -9,2 +9,5 @@',
      ' def test_two():',
      '     value = compute(2)',
      '+',
      '+def new():',
      '+    pass',
    );
    assert.match(await refused(file, text), /^low-confidence: .*tear line 11/);
  });

  it('indents added lines as the tree is', async () => {
    const text = hunk(
      '@@ -9,3 +9,5 @@',
      ' def test_two():',
      ' \tvalue = compute(2)',
      '+\tif value:',
      '+\t\tprepare()',
      ' \tassert value == 2',
      ' \tassert os.path',
    );
    const wanted = replaced('(2)\n', '(2)\n    if value:\n        prepare()\n');
    assert.equal(await after(file, text), wanted);
  });

  it('keeps line ends: CRLF, mixed, and none at the end', async () => {
    const text = hunk('@@ -1,2 +1,3 @@', ' alpha()', '+middle()', ' omega()');
    assert.equal(await after('alpha()\r\nomega()\r\n', text), 'alpha()\r\nmiddle()\r\nomega()\r\n');
    assert.equal(
      await after('x\nalpha()\r\nomega()\r\n', text),
      'x\nalpha()\r\nmiddle()\r\nomega()\r\n',
    );
    assert.equal(await after('alpha()\nomega()', text), 'alpha()\nmiddle()\nomega()');
    assert.equal(
      await after('alpha()\nomega()\n', text.replaceAll('\n', '\r\n')),
      'alpha()\nmiddle()\nomega()\n',
    );
    const end = hunk('@@ -7 +7,2 @@', ' omega()', '+last()');
    assert.equal(await after('alpha()\nomega()', end), 'alpha()\nomega()\nlast()\n');
  });

  it('reads hunks in prose and fences, unmarked context, and parts of one file apart', async () => {
    const text = [
      'First:',
      '```diff',
      '--- a/f.py',
      '+++ b/f.py',
      '@@ ... @@',
      'import os',
      '+import sys',
      '```',
      'Then the test:',
      '```diff',
      '--- a/f.py',
      '+++ b/f.py',
      '@@ ... @@',
      ' def test_three():',
      '-    prepare()',
      '```',
      'Done.',
      '',
    ].join('\n');
    const wanted = replaced('import os\n', 'import os\nimport sys\n').replace(
      '    prepare()\n',
      '',
    );
    assert.equal(await after(file, text), wanted);
    const orphan = hunk(
      '@@',
      ' def test_three():',
      '-    prepare()',
      '',
      'class X:',
      '+    added()',
    );
    assert.match(await refused(file, orphan), /does not belong to a hunk/);
  });

  it('makes, deletes and renames files, and overwrites none', async () => {
    const add = '--- /dev/null\n+++ b/new.py\n@@ -0,0 +1,9 @@\n+one()\n\n+two()\n';
    const made = await convert({}, add);
    assert.equal(made.files.get('new.py'), 'one()\n\ntwo()\n');
    assert.equal((await convert({}, add.replace('/dev/null', 'a/new.py'))).files.size, 1);
    assert.equal((await convert({ 'new.py': 'x\n' }, add)).patch, '');
    const remove =
      'diff --git a/f.py b/f.py\ndeleted file mode 100644\n--- a/f.py\n+++ /dev/null\n@@ -7,2 +0,0 @@\n-one()\n-two()\n';
    const gone = await convert({ 'f.py': 'one()\ntwo()\n' }, remove);
    assert.deepEqual([...gone.files], [['f.py', undefined]]);
    assert.match(await refused('one()\ntwo()\nthree()\n', remove), /^incomplete: .*line 3/);
    const rename =
      'diff --git a/f.py b/g.py\nrename from f.py\nrename to g.py\n--- a/f.py\n+++ b/g.py\n@@ -70,1 +70,1 @@\n-    prepare()\n+    prepared()\n';
    const moved = await convert({ 'f.py': file }, rename);
    assert.equal(moved.files.get('g.py'), replaced('prepare()', 'prepared()'));
    assert.ok(moved.files.has('f.py') && moved.files.get('f.py') === undefined);
  });

  it('names the paths that may be meant, all or nothing', async () => {
    const good = hunk('@@', ' def test_three():', '-    prepare()');
    const bad = '--- a/dir/g.py\n+++ b/dir/g.py\n@@ -1 +1 @@\n-x_old()\n+x_new()\n';
    const { patch, files, diagnostics } = await convert(
      { 'f.py': file, 'other/g.py': 'x_old()\n' },
      good + bad,
    );
    assert.equal(patch, '');
    assert.equal(files.size, 0);
    const found = diagnostics.find((d) => d.code === 'unknown-file');
    assert.deepEqual(
      found?.fixes?.[0]?.edits.flatMap((edit) => edit.lines),
      ['--- a/other/g.py', '+++ b/other/g.py'],
    );
    assert.equal((await convert({}, '--- a/../g\n+++ b/../g\n@@ -0,0 +1 @@\n+x\n')).patch, '');
  });

  it('leaves out a hunk that is there twice, and refuses two that remove one line', async () => {
    const once = ['@@ -15,2 +15,1 @@', ' def test_three():', '-    prepare()'];
    assert.equal(await after(file, hunk(...once, ...once)), replaced('    prepare()\n', ''));
    const other = ['@@', '-    prepare()', '+    prepared()', '     assert value == 2'];
    assert.match(await refused(file, hunk(...once, ...other)), /^overlap/);
  });

  it('says that the text ends before the counts of a header do', async () => {
    const cut = `${head}@@ -9,4 +9,5 @@\n def test_two():\n+    prepare()\n`;
    for (const text of [cut, `\`\`\`diff\n${cut}\`\`\`\n`]) {
      const { diagnostics, patch } = await convert({ 'f.py': file }, text);
      assert.deepEqual(
        diagnostics.flatMap(({ code, severity }) =>
          code === 'incomplete' || code === 'counts' ? [severity, code] : [],
        ),
        ['warning', 'incomplete'],
      );
      assert.notEqual(patch, '');
      assert.equal(parseUnified(text).problems.filter((p) => p.code === 'incomplete').length, 1);
    }
    const more = `${cut} \n--- a/g.py\n+++ b/g.py\n@@ -1 +1 @@\n-a\n+b\n`;
    assert.deepEqual(
      parseUnified(more).problems.map(({ code }) => code),
      ['counts'],
    );
    const within = parseUnified(
      `${head}@@ -9,2 +9,3 @@\n def test_two():\n+    prepare()\n     val`,
    );
    assert.deepEqual(
      within.problems.map(({ code }) => code),
      ['incomplete'],
    );
  });

  it('takes one tab in the context for the way that the diff is indented', async () => {
    const lines = [' def test_two():', '+\tprepare()', ' \tvalue = compute(2)'];
    const text = hunk('@@ -9,2 +9,3 @@', ...lines);
    const wanted = replaced('def test_two():\n', 'def test_two():\n    prepare()\n');
    assert.equal(await after(file, text), wanted);
  });

  it('lets a number decide only when one place is clearly nearer', () => {
    assert.ok(clearlyNearer(0, 1));
    assert.ok(clearlyNearer(2, 20));
    assert.ok(!clearlyNearer(2, 6));
    assert.ok(!clearlyNearer(40, 400));
  });
});
