import assert from 'node:assert/strict';
import fc from 'fast-check';
import { applyBySearch, applyPatch, makeUnified } from '../../../src/patch/apply';
import type { Conversion } from '../../../src/patch/conversion';
import { convertFuzzy } from '../../../src/patch/fuzzy';
import { applyAtNumbers } from '../../../src/patch/applyAtNumbers';
import { similarity } from '../../../src/patch/fuzzyLines';
import { clearlyNearer } from '../../../src/patch/fuzzySettle';
import { parseUnified } from '../../../src/patch/unified';
import { linesOf } from './gitTree';

type Files = Record<string, string | undefined>;

const convert = (files: Files, text: string): Promise<Conversion> =>
  convertFuzzy(text, {
    read: (path) => Promise.resolve(files[path]),
    paths: () => Promise.resolve(Object.keys(files)),
  });

/** The file after a conversion that has to succeed; the patch it gives has to do the same. */
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
  this.timeout(60_000);

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
    // With another number it is another line.
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
    assert.match(await refused(file, orphan), /belongs to no hunk/);
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

  it('measures likeness as the share of characters that stay', () => {
    assert.equal(similarity('  a  b', 'a b'), 1);
    assert.equal(similarity('kitten', 'sitten'), 5 / 6);
    assert.equal(similarity('abc', ''), 0);
  });

  it('counts the same steps as the table does, in short and long lines', () => {
    const text = fc.string({ unit: fc.constantFrom('a', 'b', 'c', 'é', '(', '9'), maxLength: 120 });
    fc.assert(
      fc.property(text, text, (a, b) => {
        const longest = Math.max(a.length, b.length, 1);
        assert.ok(
          Math.abs(similarity(a, b) - (1 - stepsByTable(a, b) / longest)) < 1e-9 || longest === 1,
        );
      }),
      { numRuns: 500 },
    );
  });
});

/** Levenshtein's distance as it is defined, cell by cell. */
function stepsByTable(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const replaced = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(replaced, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[b.length] ?? 0;
}

/** Few words, so that lines repeat and are alike; blank lines, indentation, CRLF and header look-alikes. */
const line = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.constantFrom('a = 1', 'a = 2', '    call(a)', 'def f():', '', '    x', 'b'),
  },
  {
    weight: 3,
    arbitrary: fc.integer({ min: 0, max: 40 }).map((n) => `    value_${n} = compute(${n})`),
  },
  { weight: 1, arbitrary: fc.constantFrom('-- a/x', '++ b/x', '@@ -1 +1 @@', 'é😀', 'r\r', '\ty') },
);
const lines = fc.array(line, { minLength: 1, maxLength: 50 });
const edited = fc
  .tuple(
    lines,
    fc.array(fc.tuple(fc.nat(50), fc.nat(3), fc.array(line, { maxLength: 3 })), {
      minLength: 1,
      maxLength: 4,
    }),
    fc.boolean(),
  )
  .map(([before, edits, ended]) => {
    const now = [...before];
    for (const [at, remove, insert] of edits) now.splice(at, remove, ...insert);
    const join = (all: string[]): string => all.join('\n') + (ended && all.length > 0 ? '\n' : '');
    return { before: join(before), after: join(now) };
  });
const damage = fc.array(
  fc.tuple(
    fc.constantFrom('cut', 'double', 'swap', 'indent', 'number', 'word', 'end'),
    fc.nat(200),
  ),
  { maxLength: 5 },
);

function damaged(patch: string, kinds: [string, number][]): string {
  let all = patch.split('\n');
  for (const [kind, n] of kinds) {
    const i = n % all.length;
    const text = all[i] ?? '';
    if (kind === 'cut') all.splice(i, 1);
    else if (kind === 'double') all.splice(i, 0, text);
    else if (kind === 'swap') all.splice(i, 2, all[i + 1] ?? '', text);
    else if (kind === 'indent') all[i] = text.replace(/^([ +-])/, '$1  ');
    else if (kind === 'number') all[i] = text.replace(/\d+/, String(n));
    else if (kind === 'word') all[i] = text.replace(/^(.\s*)\w+/, '$1other');
    else all = all.slice(0, Math.max(1, i));
  }
  return all.join('\n');
}

describe('the files that convertFuzzy tells', () => {
  it('are those that git makes where two files swap their names', async () => {
    const swap = ['a', 'b']
      .map((name, i) => {
        const other = ['b', 'a'][i];
        return `diff --git a/${name}.py b/${other}.py\nrename from ${name}.py\nrename to ${other}.py\n`;
      })
      .join('');
    const { files } = await convert({ 'a.py': 'one\n', 'b.py': 'two\n' }, swap);
    assert.deepEqual(Object.fromEntries(files), { 'a.py': 'two\n', 'b.py': 'one\n' });
  });
});

describe('convertFuzzy, whatever it is given', function () {
  this.timeout(60_000);

  it('makes of what git applies the same tree, or names the places between which it cannot tell', async () => {
    await fc.assert(
      fc.asyncProperty(
        edited,
        fc.integer({ min: -3, max: 30 }),
        async ({ before, after }, shift) => {
          const path = 'dir/f.py';
          const sound = makeUnified([{ path, before, after }]);
          const moved = sound.replace(
            /^@@ -(\d+)(.*) \+(\d+)/gm,
            (_, a: string, b: string, c: string) => {
              const at = (n: string): number => Math.max(2, Number(n) + shift);
              return `@@ -${at(a)}${b} +${at(c)}`;
            },
          );
          for (const [patch, exact] of [
            [sound, true],
            [moved, false],
          ] as const) {
            if (patch === '') continue;
            const read = (p: string): Promise<string | undefined> =>
              Promise.resolve(p === path ? before : undefined);
            const git = await applyPatch(parseUnified(patch), read);
            const ours = await convertFuzzy(patch, { read });
            if (exact) assert.notEqual(ours.patch, '', JSON.stringify(ours.diagnostics));
            if (!git.ok) continue;
            if (ours.patch !== '') assert.deepEqual([...ours.files], [...git.files]);
            else assert.match(ours.diagnostics.map((d) => d.message).join('\n'), /\blines? \d/);
          }
        },
      ),
      { numRuns: 400 },
    );
  });

  it('puts hunks in at their numbers as git does, or leaves them to the search', () => {
    let taken = 0;
    fc.assert(
      fc.property(edited, fc.integer({ min: -1, max: 1 }), ({ before, after }, shift) => {
        const text = makeUnified([{ path: 'f.py', before, after }]).replace(
          /^@@ -(\d+)/gm,
          (_, n: string) => `@@ -${Math.max(0, Number(n) + shift)}`,
        );
        const patch = parseUnified(text);
        const hunks = patch.files[0]?.hunks ?? [];
        const ours = applyAtNumbers(before, hunks);
        const git = applyBySearch(before, hunks);
        if (ours === undefined) {
          if (shift === 0 && text !== '') assert.fail(text);
          return;
        }
        taken += 1;
        assert.ok('text' in git, text);
        assert.equal(git.text, ours);
        assert.deepEqual(git.placed, hunks);
      }),
      { numRuns: 400 },
    );
    assert.ok(taken > 50, `${taken}`);
  });

  it('never crashes, never deletes what is not removed, and gives a patch that does what it says', async () => {
    await fc.assert(
      fc.asyncProperty(edited, damage, lines, async ({ before, after }, kinds, others) => {
        const path = 'f.py';
        const patch = damaged(makeUnified([{ path, before, after }]), kinds);
        const tree = kinds.length % 2 === 0 ? before : before + others.join('\n');
        const read = (p: string): Promise<string | undefined> =>
          Promise.resolve(p === path ? tree : undefined);
        const { patch: converted, files } = await convertFuzzy(patch, { read });
        if (converted === '') {
          assert.equal(files.size, 0);
          return;
        }
        const applied = await applyPatch(parseUnified(converted), read);
        assert.ok(applied.ok, converted);
        assert.deepEqual([...applied.files], [...files]);
        const removed = patch
          .split('\n')
          .filter((text) => text.startsWith('-'))
          .map((text) => text.slice(1));
        for (const gone of parseUnified(converted).files.flatMap((f) =>
          f.hunks.flatMap((h) => h.lines),
        )) {
          if (gone.kind !== 'removed' || gone.noNewline) continue;
          assert.ok(
            removed.some((text) => similarity(text, gone.text) >= 0.8),
            `${gone.text} is deleted by ${patch}`,
          );
        }
      }),
      { numRuns: 600 },
    );
  });

  it('never crashes on text that is no patch', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(
          fc.oneof(
            line,
            fc.string(),
            fc.constantFrom(
              '--- a/f',
              '+++ b/f',
              '@@',
              '@@ -1 +1 @@',
              '+x',
              '-y',
              ' z',
              '```diff',
              'diff --git a/f b/f',
            ),
          ),
        ),
        fc.string(),
        async (text, tree) => {
          const result = await convertFuzzy(text.join('\n'), { read: () => Promise.resolve(tree) });
          assert.ok(result.patch !== '' || result.files.size === 0);
        },
      ),
      { numRuns: 500 },
    );
  });
});
