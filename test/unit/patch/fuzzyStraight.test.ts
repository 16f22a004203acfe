import assert from 'node:assert/strict';
import fc from 'fast-check';
import { applyPatch } from '../../../src/patch/applyPatch';
import { makeUnified } from '../../../src/patch/makeUnified';
import { convertFuzzy } from '../../../src/patch/fuzzy/convertFuzzy';
import { oldSide } from '../../../src/patch/fuzzy/alignment';
import { askedPlaces } from '../../../src/patch/fuzzy/placeAt';
import { TreeLines } from '../../../src/patch/fuzzy/treeLines';
import { straightPlace } from '../../../src/patch/fuzzy/straightPlace';
import { statedStart } from '../../../src/patch/unified/hunk';
import { parseUnified } from '../../../src/patch/parseUnified';
import { everydayRuns } from '../../everyday';

const path = 'tests/test_table.py';
const row = (name: string, value: number): string => `    ('${name}', ${value}, 'ok'),`;
const table = (rows: readonly string[]): string => `CASES = [\n${rows.join('\n')}\n]\n`;
const rows = Array.from({ length: 12 }, (_, i) => row(`case_${i}`, i));

const tree = (before: string) => ({
  read: (asked: string) => Promise.resolve(asked === path ? before : undefined),
});
const head = `--- a/${path}\n+++ b/${path}\n`;

/**
 * The 0-based line where the first hunk of a diff applies without a search; undefined if a search
 * is needed.
 */
function straight(before: string, diff: string): number | undefined {
  const [hunk] = parseUnified(diff, 'loose').files[0]?.hunks ?? [];
  assert.ok(hunk, diff);
  const lines = new TreeLines(before);
  const stated = statedStart(hunk);
  const expected = stated === undefined ? [] : [stated];
  return straightPlace(oldSide(hunk, lines), lines, expected, askedPlaces(hunk))?.start;
}

/** The result of git for the diff; undefined where git refuses it. */
async function byGit(before: string, diff: string): Promise<string | undefined> {
  const read = (asked: string): Promise<string | undefined> => tree(before).read(asked);
  const result = await applyPatch(parseUnified(diff), read);
  return result.ok ? result.files.get(path) : undefined;
}

async function fuzzy(before: string, diff: string): Promise<{ after?: string; codes: string[] }> {
  const { files, diagnostics } = await convertFuzzy(diff, tree(before));
  const after = files.get(path);
  const codes = diagnostics.filter((d) => d.severity === 'error').map((d) => String(d.code));
  return { ...(after !== undefined && { after }), codes };
}

describe('straightPlace in a table of rows that are nearly equal', () => {
  const before = table(rows);
  const change = (from: number, lines: readonly string[]): string =>
    `${head}@@ -${from},${lines.filter((l) => !l.startsWith('+')).length} +${from},${lines.filter((l) => !l.startsWith('-')).length} @@\n${lines.join('\n')}\n`;
  const context = (i: number): string => ` ${rows[i]}`;
  const seventh = [
    context(5),
    context(6),
    `-${rows[7]}`,
    `+${row('case_7', 70)}`,
    context(8),
    context(9),
  ];

  it('finds rows that stand there once, whatever the number, as git does', async () => {
    for (const from of [7, 4, 10, 90]) {
      const diff = change(from, seventh);
      assert.equal(straight(before, diff), 6, String(from));
      const wanted = before.replace("7', 7,", "7', 70,");
      assert.equal((await fuzzy(before, diff)).after, wanted);
      assert.equal(await byGit(before, diff), wanted);
    }
  });

  it('leaves rows to the search of which none stands there once', () => {
    const twice = table([...rows, ...rows]);
    for (const from of [7, 19, 4]) assert.equal(straight(twice, change(from, seventh)), undefined);
  });

  it('takes a reworded row between rows that are sure, but none that is another row of the table', () => {
    const reworded = (to: string): string =>
      change(7, [context(4), ...seventh, context(10), ` ${to}`, ' ]']);
    const wanted = change(6, [context(4), ...seventh, context(10), ` ${row('case-11', 11)}`, ' ]']);
    assert.equal(straight(before, wanted), 5);
    assert.equal(straight(before, reworded(rows[3] ?? '')), undefined);
  });

  it('leaves a removed row to the search that has a twin but for white space', () => {
    const twin = table(
      rows.map((line, i) => (i === 9 ? (rows[7] ?? '').replace(', ', ',  ') : line)),
    );
    const lines = [
      ` ${rows[4]}`,
      ` ${rows[5]}`,
      ` ${row('case_six', 6)}`,
      `-${rows[7]}`,
      ` ${rows[8]}`,
    ];
    assert.equal(straight(twin, change(6, lines)), undefined);
  });

  it('refuses a removed row that the table has with other numbers alone', async () => {
    for (const gone of [row('case_7', 8), row('case_77', 7), row('case_8', 7)]) {
      const { after, codes } = await fuzzy(
        before,
        change(
          7,
          seventh.map((line) => (line.startsWith('-') ? `-${gone}` : line)),
        ),
      );
      assert.equal(after, undefined, gone);
      assert.equal(codes.length, 1);
      assert.match(codes[0] ?? '', /^(ambiguous|not-found|low-confidence)$/);
    }
  });
});

describe('hunks in tables of rows that are nearly equal', function () {
  const cell = fc.tuple(fc.constantFrom('case_a', 'case_b', 'case_ab'), fc.nat(3));
  // Lines around it, since git takes line 1 and missing context for the ends of the file.
  const frame = Array.from({ length: 8 }, (_, i) => `# line ${i}\n`).join('');
  const framed = (all: readonly string[]): string => frame + table(all) + frame;
  const cells = cell.map(([name, value]) => row(name, value));

  it('go where git puts them, or where they were made, or nowhere', async () => {
    let [placed, refused] = [0, 0];
    await fc.assert(
      fc.asyncProperty(
        fc.array(cells, { minLength: 6, maxLength: 24 }),
        fc.nat(23),
        fc.constantFrom('replace', 'remove', 'insert'),
        fc.integer({ min: -6, max: 6 }),
        fc.option(fc.tuple(fc.nat(5), cells)),
        async (all, at, does, shift, other) => {
          const i = at % all.length;
          const changed = [...all];
          changed.splice(
            i,
            does === 'insert' ? 0 : 1,
            ...(does === 'remove' ? [] : [row('new', 9)]),
          );
          const [before, after] = [framed(all), framed(changed)];
          let diff = makeUnified([{ path, before, after }]).replace(
            /^@@ -(\d+)(.*?) \+(\d+)/m,
            (_, old: string, count: string, now: string) =>
              `@@ -${Math.max(1, Number(old) + shift)}${count} +${Math.max(1, Number(now) + shift)}`,
          );
          if (other !== null) {
            // One line of context is another row, or nearly one.
            const lines = diff.split('\n');
            const contexts = lines.flatMap((line, k) => (line.startsWith('     (') ? [k] : []));
            const k = contexts[other[0] % Math.max(1, contexts.length)];
            if (k !== undefined) lines[k] = ` ${other[1]}`;
            diff = lines.join('\n');
          }
          const { after: found, codes } = await fuzzy(before, diff);
          if (found === undefined) {
            refused += 1;
            assert.equal(codes.length, 1, diff);
            assert.match(codes[0] ?? '', /^(ambiguous|not-found|low-confidence)$/);
            return;
          }
          placed += 1;
          const git = await byGit(before, diff);
          assert.ok(found === git || found === after, `${before}\n${diff}\n${found}`);
        },
      ),
      { numRuns: everydayRuns(500) },
    );
    assert.ok(
      placed > everydayRuns(100) && refused > everydayRuns(10),
      `${placed} placed, ${refused} refused`,
    );
  });
});
