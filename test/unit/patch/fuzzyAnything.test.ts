import assert from 'node:assert/strict';
import fc from 'fast-check';
import { applyPatch } from '../../../src/patch/applyPatch';
import { makeUnified } from '../../../src/patch/makeUnified';
import type { Conversion } from '../../../src/patch/reading/conversion';
import { convertFuzzy } from '../../../src/patch/fuzzy/convertFuzzy';
import { similarity } from '../../../src/patch/fuzzy/treeLines';
import { parseUnified } from '../../../src/patch/parseUnified';
import { everydayRuns } from '../../everyday';

type Files = Record<string, string | undefined>;

const convert = (files: Files, text: string): Promise<Conversion> =>
  convertFuzzy(text, {
    read: (path) => Promise.resolve(files[path]),
    paths: () => Promise.resolve(Object.keys(files)),
  });

/**
 * Few words, so that lines repeat and are similar; blank lines, indentation, CRLF and header
 * look-alikes.
 */
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
      { numRuns: everydayRuns(400) },
    );
  });

  it('puts hunks in at their numbers as git does', async () => {
    await fc.assert(
      fc.asyncProperty(edited, async ({ before, after }) => {
        const text = makeUnified([{ path: 'f.py', before, after }]);
        const patch = parseUnified(text);
        const applied = await applyPatch(patch, () => Promise.resolve(before));
        assert.ok(applied.ok, text);
        assert.equal(applied.files.get('f.py') ?? before, after);
        assert.deepEqual(applied.placed.files[0]?.hunks, patch.files[0]?.hunks);
      }),
      { numRuns: everydayRuns(400) },
    );
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
      { numRuns: everydayRuns(600) },
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
      { numRuns: everydayRuns(500) },
    );
  });
});
