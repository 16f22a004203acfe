import assert from 'node:assert/strict';
import fc from 'fast-check';
import { hasErrors } from '../../../src/patch/diagnostic';
import { toUnified } from './formats';
import type { PatchTree } from '../../../src/patch/toUnified';
import { makeUnified, type FileEdit } from '../../../src/patch/makeUnified';
import type { PythonParser } from '../../../src/python/parser';
import { everydayRuns } from '../../everyday';
import { loadParser } from '../python/loadParser';

const treeOf = (edits: readonly FileEdit[]): PatchTree => ({
  read: (path) => Promise.resolve(edits.find((edit) => edit.path === path)?.before ?? undefined),
  paths: () => Promise.resolve(edits.map(({ path }) => path)),
});

/** A file whose lines differ, but for blank ones, with some replaced, removed or added. */
const edited = (path: string): fc.Arbitrary<FileEdit> =>
  fc
    .array(
      fc.record({
        blank: fc.boolean(),
        edit: fc.constantFrom('stays', 'stays', 'stays', 'replaced', 'removed', 'followed'),
      }),
      { minLength: 4, maxLength: 40 },
    )
    .map((lines) => {
      // Of blank lines alone nobody can tell the place, nor whether one is missing at the end.
      const text = (i: number, blank: boolean): string =>
        blank && i % 2 === 1 && i + 1 < lines.length ? '' : `    of_${path[0]}_${i} = ${i}`;
      const before = lines.map(({ blank }, i) => text(i, blank));
      const after = lines.flatMap(({ blank, edit }, i) => {
        const line = text(i, blank);
        if (edit === 'replaced') return [`    new_${i}()`];
        if (edit === 'removed') return [];
        return edit === 'followed' ? [line, `    more_${i}()`] : [line];
      });
      const whole = (all: readonly string[]): string => all.map((line) => `${line}\n`).join('');
      return { path, before: whole(before), after: whole(after) };
    });

const patches = fc
  .tuple(edited('a.py'), edited('b.py'))
  .map((edits) => edits.filter(({ before, after }) => before !== after));

/** Without the blank of blank context lines, and with counts that differ from those of the hunk. */
const damagedBy = (patch: string, off: readonly number[]): string => {
  let at = 0;
  const wrong = (count: string): number =>
    Math.max(1, Number(count) + (off[at++ % off.length] ?? 0));
  return patch
    .replace(/^ $/gm, '')
    .replace(
      /^@@ -(\d+),(\d+) \+(\d+),(\d+) @@/gm,
      (_, oldAt: string, oldCount: string, newAt: string, newCount: string) =>
        `@@ -${oldAt},${wrong(oldCount)} +${newAt},${wrong(newCount)} @@`,
    );
};

describe('blank context without its blank, under counts that are wrong', () => {
  let python: PythonParser;
  before(async () => {
    python = await loadParser();
  });
  const convert = (patch: string, edits: readonly FileEdit[]) =>
    toUnified(patch, { tree: treeOf(edits), python, format: 'unified' });

  it('belongs to the file before it, with the hunks that follow', async () => {
    const before = 'a = 1\n\nb = 2\n\nc = 3\n\nd = 4\n\ne = 5\n\nf = 6\n';
    const after = before.replace('b = 2', 'b = 3').replace('f = 6', 'f = 7');
    const patch = [
      '--- a/a.py\n+++ b/a.py',
      '@@ -1,1 +1,1 @@\n a = 1\n\n-b = 2\n+b = 3\n\n c = 3',
      '@@ -9,2 +9,2 @@\n e = 5\n\n-f = 6\n+f = 7\n',
    ].join('\n');
    const { files, diagnostics } = await convert(patch, [{ path: 'a.py', before, after }]);
    assert.equal(files.get('a.py'), after, JSON.stringify(diagnostics));
  });

  it('is not what follows a complete hunk in prose', async () => {
    const [before, after] = ['a = 1\nb = 2\n', 'a = 1\nb = 3\n'];
    const hunk = '--- a/a.py\n+++ b/a.py\n@@ -1,2 +1,2 @@\n a = 1\n-b = 2\n+b = 3\n';
    const endings = ['\n- I changed b.\n  It was 2.\n', '\nThis changes b.\n', '\n---\nEnd\n'];
    for (const prose of endings) {
      const { files } = await convert(hunk + prose, [{ path: 'a.py', before, after }]);
      assert.equal(files.get('a.py'), after, prose);
    }
  });

  it('gives the same files, or an error, and never other files', async () => {
    const off = fc.array(fc.integer({ min: -6, max: 6 }), { minLength: 1, maxLength: 8 });
    let same = 0;
    let all = 0;
    await fc.assert(
      fc.asyncProperty(patches, off, async (edits, by) => {
        const damaged = damagedBy(makeUnified(edits), by);
        const { files, diagnostics } = await convert(damaged, edits);
        all += 1;
        if (hasErrors(diagnostics)) return;
        for (const { path, after } of edits) assert.equal(files.get(path), after, damaged);
        same += 1;
      }),
      { numRuns: everydayRuns(1000) },
    );
    assert.ok(same > all * 0.9, `${same} of ${all} convert`);
  });
});
