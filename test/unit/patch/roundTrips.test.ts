import assert from 'node:assert/strict';
import { toUnified, type PatchFormat } from './formats';
import type { Conversion } from '../../../src/patch/toUnified';
import { writeCustom } from '../../../src/patch/custom/writeCustom';
import { hasErrors } from '../../../src/patch/diagnostic';
import type { PythonParser } from '../../../src/python/parser';
import { isEveryday } from '../../everyday';
import { loadParser } from '../python/loadParser';
import {
  asWrittenByHand,
  seeded,
  writeFuzzy,
  writeSearchReplace,
  writeUnified,
  type Written,
} from './generators';
import { applyAll, dataset, goldenRows, type GoldenRow } from './goldenRows';

describe('the golden tests of real instances, from unified to each format and back', function () {
  let python: PythonParser;
  let rows: readonly GoldenRow[] = [];
  before(async function () {
    python = await loadParser();
    const found = goldenRows(python);
    if (found === undefined) {
      console.log(`      skipped: no dataset at ${dataset} (set SWT_BENCH_DATA)`);
      this.skip();
    }
    rows = found;
    assert.ok(rows.length >= (isEveryday ? 40 : 200));
  });
  after(() => python.dispose());

  const convert = (
    row: GoldenRow,
    text: string,
    format: PatchFormat | 'auto',
  ): Promise<Conversion> =>
    toUnified(text, {
      format,
      python,
      tree: { read: (path) => Promise.resolve(row.before.get(path)) },
    });

  /**
   * Writes every row in a format, converts that back, and applies the results with git, all in one
   * call.
   *
   * @returns edits that the format cannot express, counted by reason
   */
  const roundTrip = async (
    format: PatchFormat,
    asked: PatchFormat | 'auto',
    write: (row: GoldenRow, random: () => number) => Written,
  ): Promise<Record<string, number>> => {
    const patches: { id: string; before: GoldenRow['before']; patch: string }[] = [];
    const expected: Map<string, string>[] = [];
    const reasons: Record<string, number> = {};
    for (const [i, row] of rows.entries()) {
      const { text, left } = write(row, seeded(i));
      const after = new Map(row.after);
      for (const { path, why } of left) {
        reasons[why] = (reasons[why] ?? 0) + 1;
        const was = row.before.get(path);
        if (was === undefined) after.delete(path);
        else after.set(path, was);
      }
      const result = await convert(row, text, asked);
      const told = JSON.stringify(result.diagnostics, undefined, 2);
      assert.ok(!hasErrors(result.diagnostics), `${row.id}: ${told}\n${text}`);
      assert.equal(result.format, format, row.id);
      for (const [path, content] of result.files) {
        assert.equal(content, after.get(path), `${row.id}: ${path}`);
      }
      patches.push({ id: row.id, before: row.before, patch: result.patch });
      expected.push(after);
    }
    for (const [i, tree] of applyAll(patches).entries()) {
      const byPath = (files: ReadonlyMap<string, string> | undefined): [string, string][] =>
        [...(files ?? [])].sort(([a], [b]) => (a < b ? -1 : 1));
      assert.deepEqual(byPath(tree), byPath(expected[i]), rows[i]?.id);
    }
    return reasons;
  };
  const whole = (text: string): Written => ({ text, left: [] });

  it('apply to trees that are rebuilt from them, nearly all of which Python reads', () => {
    const edits = rows.flatMap((row) => row.edits).filter((edit) => edit.path.endsWith('.py'));
    const read = edits.filter(({ before = '', after = '' }) =>
      [before, after].every((text) => python.parse(text, (root) => !root.hasError)),
    );
    assert.ok(read.length > 0.9 * edits.length, `${read.length} of ${edits.length}`);
    const changed = edits.filter((edit) => edit.before !== edit.after);
    // Adding an empty file changes no lines.
    assert.ok(changed.length > 0.95 * edits.length);
  });

  it('survive as unified diffs of the dataset', async () => {
    assert.deepEqual(await roundTrip('unified', 'auto', (row) => whole(row.text)), {});
  });

  it('survive as unified diffs that are made anew', async () => {
    assert.deepEqual(
      await roundTrip('unified', 'unified', (row) => whole(writeUnified(row.edits))),
      {},
    );
  });

  it('survive as unified diffs written by hand, in an answer with prose', async () => {
    const left = await roundTrip('unified', 'auto', (row, random) => {
      const empty = row.edits.filter((edit) => (edit.before ?? '') === '' && edit.after === '');
      return {
        text: asWrittenByHand(writeUnified(row.edits), random),
        // Without git's own lines, nothing mentions the file.
        left: empty.map(({ path }) => ({ path, why: 'new file without content' })),
      };
    });
    assert.deepEqual(left, { 'new file without content': isEveryday ? 1 : 3 });
  });

  it('survive as fuzzy diffs with wrong and missing line numbers', async () => {
    const left = await roundTrip('fuzzy', 'fuzzy', (row, random) => writeFuzzy(row.edits, random));
    assert.deepEqual(left, {});
  });

  it('survive as search/replace blocks', async () => {
    const left = await roundTrip('search-replace', 'auto', (row, random) =>
      writeSearchReplace(row.edits, random),
    );
    assert.deepEqual(left, { 'new file without content': isEveryday ? 1 : 3 });
  });

  it('survive in the custom format, most of them as whole functions', async () => {
    let blocks = 0;
    let ranges = 0;
    const left = await roundTrip('custom', 'auto', (row) => {
      const written = writeCustom(row.edits, python);
      blocks += [...written.text.matchAll(/^(rewrite|insert)$/gm)].length;
      ranges += [...written.text.matchAll(/^rewrite\n\d+-\d+$/gm)].length;
      return written;
    });
    assert.deepEqual(left, {});
    console.log(`      ${blocks - ranges} of ${blocks} blocks are functions, classes or files`);
    assert.ok(
      blocks - ranges > (isEveryday ? 0.45 : 0.55) * blocks,
      `${ranges} of ${blocks} are ranges of lines`,
    );
  });
});
