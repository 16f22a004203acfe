import assert from 'node:assert/strict';
import { toUnified, type PatchFormat } from './formats';
import type { Conversion } from '../../../src/patch/toUnified';
import { writeCustom } from '../../../src/patch/custom/writeCustom';
import { hasErrors } from '../../../src/patch/diagnostic';
import { unsafePath } from '../../../src/patch/unsafePath';
import { parseUnified } from '../../../src/patch/parseUnified';
import { readModule } from '../../../src/python/module';
import type { PythonParser } from '../../../src/python/parser';
import { isEveryday } from '../../everyday';
import { loadParser } from '../python/loadParser';
import { damage, kindsOfDamage } from './damage';
import { seeded, writeFuzzy, writeSearchReplace } from './generators';
import { applyAll, dataset, goldenRows, type GoldenRow } from './goldenRows';

/** For each kind of damage and format, every tenth row is checked, from another start each time. */
const step = 10;

const formats = ['unified', 'fuzzy', 'search-replace', 'custom'] as const;

/**
 * The expected shares of the twenty checked rows, by kind of damage and format in the order of
 * {@link formats}. The first number is how many at least convert as without damage, the second how
 * many at most become another tree. The rest is refused. Damage and texts are the same in each run,
 * so that these numbers change only with the engine. Record better numbers here. Text that was cut
 * off or re-indented means something else than before, and is often valid.
 */
const shares: Readonly<Record<string, string>> = {
  'cut in a line': '0/6 3/15 0/1 1/5',
  'cut behind a line': '3/10 5/15 2/1 4/8',
  'given twice': '20/0 20/0 20/0 20/0',
  'a part doubled': '20/0 20/0 20/0 20/0',
  'parts shuffled': '20/0 17/0 18/1 20/0',
  'lines re-indented': '7/4 11/9 5/15 11/4',
  'all re-indented by two': '0/0 8/7 11/8 4/16',
  'wrong numbers': '20/0 20/0 20/0 14/5',
  'wrong counts': '18/0 20/0 20/0 20/0',
  'blanks at ends lost': '20/0 20/0 20/0 20/0',
  'context without its blank': '7/0 20/0 20/0 20/0',
  'tabs for blanks': '0/0 18/0 4/15 3/17',
  'end lines missing': '20/0 20/0 0/0 20/0',
  CRLF: '20/0 20/0 20/0 20/0',
  'HTML-escaped': '20/0 20/0 19/1 20/0',
  'prose between parts': '20/0 19/0 19/1 20/0',
  'prose inserted anywhere': '4/0 16/0 2/12 1/2',
  'quoted as in mail': '0/0 0/0 0/0 0/0',
};

/** The same of every fifth row and all kinds of damage together, which is what is looked at each day. */
const everydayShares: Readonly<Record<PatchFormat, string>> = {
  unified: '43/3',
  fuzzy: '58/9',
  'search-replace': '42/13',
  custom: '47/11',
};

describe('damaged patches', function () {
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
  });
  after(() => python.dispose());

  const writers: Record<PatchFormat, (row: GoldenRow, seed: number) => string> = {
    unified: (row) => row.text,
    fuzzy: (row, seed) => writeFuzzy(row.edits, seeded(seed)).text,
    'search-replace': (row, seed) => writeSearchReplace(row.edits, seeded(seed)).text,
    custom: (row) => writeCustom(row.edits, python).text,
  };

  /** What is seen of all kinds of damage, by format. */
  const seen = new Map<PatchFormat, Outcomes>();

  for (const [k, kind] of kindsOfDamage.entries()) {
    it(`${kind}: nothing but what they name is changed, and as many recovered as stated`, async () => {
      const applied: Applied[] = [];
      for (const format of formats) {
        for (let i = k % step; i < rows.length; i += step) {
          const row = rows[i];
          if (row === undefined) continue;
          const text = damage(writers[format](row, i), kind, format, i);
          const tree = { read: (path: string) => Promise.resolve(row.before.get(path)) };
          // The format is detected where it is not given by name; only fuzzy cannot always be
          // detected.
          const asked = i % 2 === 0 && format !== 'fuzzy' ? 'auto' : format;
          const result = await toUnified(text, { format: asked, tree, python });
          checkHarmless(row, text, result, python);
          const { id, before, after } = row;
          applied.push({ format, id, before, after, patch: result.patch });
        }
      }
      // Git takes what came out, all of it.
      const trees = applyAll(applied);
      for (const [at, format] of formats.entries()) {
        const { same, other } = outcomes(applied, trees, format);
        const before = seen.get(format) ?? { same: 0, other: 0 };
        seen.set(format, { same: before.same + same, other: before.other + other });
        if (!isEveryday)
          checkShare(`${kind}, ${format}`, { same, other }, shares[kind]?.split(' ')[at]);
      }
    });
  }

  if (isEveryday) {
    it('are recovered in all as stated', () => {
      for (const format of formats) checkShare(format, seen.get(format), everydayShares[format]);
    });
  }
});

interface Applied {
  readonly format: PatchFormat;
  readonly id: string;
  readonly before: GoldenRow['before'];
  /** The files after the undamaged patch. */
  readonly after: GoldenRow['after'];
  readonly patch: string;
}

/** How many trees are what the undamaged patch makes of them, and how many have become another one. */
interface Outcomes {
  readonly same: number;
  readonly other: number;
}

function outcomes(
  rows: readonly Applied[],
  trees: readonly ReadonlyMap<string, string>[],
  format: PatchFormat,
): Outcomes {
  const applied = rows.flatMap((row, i) =>
    row.format === format && row.patch !== '' ? [{ after: row.after, i }] : [],
  );
  const same = applied.filter(({ after, i }) => {
    const tree = trees[i];
    return tree?.size === after.size && [...after].every(([path, text]) => tree.get(path) === text);
  });
  return { same: same.length, other: applied.length - same.length };
}

/** @param share as in {@link shares}: how many at least are the same / at most become another tree */
function checkShare(what: string, { same, other } = { same: 0, other: 0 }, share = ''): void {
  const [least = NaN, most = NaN] = share.split('/').map(Number);
  assert.ok(same >= least, `${what}: ${same} are recovered, not ${least}`);
  assert.ok(other <= most, `${what}: ${other} become another tree, not ${most}`);
}

/** Checks what is true of every conversion, however broken the text is. */
function checkHarmless(
  row: GoldenRow,
  text: string,
  { patch, files, diagnostics, format }: Conversion,
  python: PythonParser,
): void {
  const what = `${row.id}\n${text}\n→\n${patch}`;
  if (hasErrors(diagnostics)) {
    assert.equal(patch, '', what);
    assert.equal(files.size, 0, what);
  }
  const count = text.split('\n').length;
  for (const { line, endLine = line } of diagnostics) {
    assert.ok(1 <= line && line <= endLine && endLine <= count, `line ${line}-${endLine}: ${what}`);
  }
  const named = [...files.keys(), ...parseUnified(patch).files.map((f) => f.newPath ?? f.oldPath)];
  for (const path of named) {
    assert.ok(path !== null && unsafePath(path) === undefined, what);
    assert.ok(text.includes(path), `${path} is not named in ${what}`);
  }
  for (const [path, after] of files) {
    const before = row.before.get(path);
    if (before === undefined) continue;
    const isNamed =
      format === 'custom'
        ? namesOfBlocks(text, before, diagnostics, python)
        : removedLines(text, format);
    for (const line of lostLines(before, after ?? '')) {
      assert.ok(isNamed(line), `${path}: ${JSON.stringify(line)} is lost: ${what}`);
    }
  }
}

/** Lines that occur less often afterwards. Blank lines are ignored. */
function lostLines(before: string, after: string): string[] {
  const counts = new Map<string, number>();
  const normal = (line: string): string => line.trim();
  for (const line of after.split('\n').map(normal)) counts.set(line, (counts.get(line) ?? 0) + 1);
  return before
    .split('\n')
    .map(normal)
    .filter((line) => {
      const left = counts.get(line) ?? 0;
      counts.set(line, left - 1);
      return line !== '' && left <= 0;
    });
}

/** Whether a text removes a line, or one so similar that it may be meant. */
function removedLines(text: string, format: Conversion['format']): (line: string) => boolean {
  const plain = text
    .split(/\r?\n/)
    .map((line) => unescaped(line).replace(/^> ?/, ''))
    .map((line) => (format === 'search-replace' ? line : /^-/.test(line) ? line.slice(1) : ''))
    .map((line) => line.trim())
    .filter((line) => line !== '');
  return (line) => plain.some((other) => other === line || alike(other, line) >= 0.6);
}

const unescaped = (line: string): string =>
  line
    .replace(/&lt;/g, '<')
    .replace(/&gt;/g, '>')
    .replace(/&quot;/g, '"')
    .replace(/&amp;/g, '&');

/** Share of character pairs that two lines have in common (Dice's coefficient), 0 to 1. */
function alike(a: string, b: string): number {
  const pairs = (text: string): string[] =>
    Array.from({ length: Math.max(1, text.length - 1) }, (_, i) => text.slice(i, i + 2));
  const rest = pairs(a);
  const total = rest.length + pairs(b).length;
  let common = 0;
  for (const pair of pairs(b)) {
    const at = rest.indexOf(pair);
    if (at < 0) continue;
    rest.splice(at, 1);
    common += 1;
  }
  return (2 * common) / total;
}

/** Whether a line lies in a function or class, or in a range of lines, that a block names. */
function namesOfBlocks(
  text: string,
  before: string,
  diagnostics: Conversion['diagnostics'],
  python: PythonParser,
): (line: string) => boolean {
  const names = new Set([...text.matchAll(/\b(?:def|class)\s+(\w+)/g)].map((match) => match[1]));
  const guessed = diagnostics
    .filter((each) => each.code === 'closest-name')
    .map((each) => each.message);
  const lines = before.split('\n');
  const ranges = readModule(python, before.replace(/\r\n/g, '\n'))
    .definitions.filter(
      ({ name }) => names.has(name) || guessed.some((message) => message.includes(name)),
    )
    .map(({ range }) => [range.startLine, range.endLine]);
  for (const [, from, to] of text.matchAll(/^\W*(\d+)\s*-\s*(\d+)\W*$/gm)) {
    ranges.push([Number(from), Number(to)]);
  }
  const named = new Set(
    ranges.flatMap(([from = 1, to = 0]) => lines.slice(from - 1, to)).map((line) => line.trim()),
  );
  return (line) => named.has(line);
}
