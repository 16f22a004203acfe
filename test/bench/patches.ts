// The cost of conversion to unified diffs, in ratios within one run, and how many damaged patches
// are converted correctly. A benchmark, not a test: `npm run bench -- patch [--only speed|damage]
// [--every N]`. The rows are those of the format tests.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { toUnified, type PatchFormat } from '../unit/patch/formats';
import type { Conversion } from '../../src/patch/toUnified';
import { writeCustom } from '../../src/patch/custom/writeCustom';
import type { PythonParser } from '../../src/python/parser';
import { damage, kindsOfDamage } from '../unit/patch/damage';
import { seeded, writeFuzzy, writeSearchReplace } from '../unit/patch/generators';
import { dataset, goldenRows, type GoldenRow } from '../unit/patch/goldenRows';
import { loadParser } from '../unit/python/loadParser';

const { values } = parseArgs({
  allowPositionals: true,
  options: { only: { type: 'string' }, every: { type: 'string', default: '1' } },
});

const formats = ['unified', 'fuzzy', 'search-replace', 'custom'] as const;

async function main(): Promise<void> {
  const python = await loadParser();
  const all = goldenRows(python);
  if (all === undefined) throw new Error(`there is no dataset at ${dataset}: set SWT_BENCH_DATA`);
  const rows = all.filter((_, i) => i % Number(values.every) === 0);
  const texts = new Map(formats.map((format) => [format, write(rows, format, python)]));
  if (values.only !== 'damage') await speed(rows, texts, python);
  if (values.only !== 'speed') await recovered(rows, texts, python);
  python.dispose();
}

function write(rows: readonly GoldenRow[], format: PatchFormat, python: PythonParser): string[] {
  return rows.map((row, i) => {
    switch (format) {
      case 'unified':
        return row.text;
      case 'fuzzy':
        return writeFuzzy(row.edits, seeded(i)).text;
      case 'search-replace':
        return writeSearchReplace(row.edits, seeded(i)).text;
      case 'custom':
        return writeCustom(row.edits, python).text;
    }
  });
}

const convert = (
  files: ReadonlyMap<string, string>,
  text: string,
  format: PatchFormat,
  python: PythonParser,
): Promise<Conversion> =>
  toUnified(text, { format, python, tree: { read: (path) => Promise.resolve(files.get(path)) } });

/** Clock time, and processor time of all threads of this process. */
interface Time {
  readonly clock: number;
  readonly processor: number;
}

const timed = async (work: () => unknown): Promise<Time> => {
  const started = performance.now();
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return { clock: performance.now() - started, processor: (user + system) / 1000 };
};

const best = (times: readonly Time[]): Time => ({
  clock: Math.min(...times.map((time) => time.clock)),
  processor: Math.min(...times.map((time) => time.processor)),
});

const line = (what: string, { clock, processor }: Time, against?: Time): void =>
  console.log(
    `${what.padEnd(44)} ${clock.toFixed(0).padStart(6)} ms, processor ${processor.toFixed(0).padStart(6)} ms` +
      (against === undefined ? '' : `   × ${(clock / against.clock).toFixed(2)}`),
  );

async function speed(
  rows: readonly GoldenRow[],
  texts: ReadonlyMap<PatchFormat, readonly string[]>,
  python: PythonParser,
): Promise<void> {
  let against: Time | undefined;
  for (const format of formats) {
    const each = async (): Promise<void> => {
      for (const [i, row] of rows.entries()) {
        await convert(row.before, texts.get(format)?.[i] ?? '', format, python);
      }
    };
    await each();
    const times = [await timed(each), await timed(each), await timed(each)];
    const time = best(times);
    against ??= time;
    line(`${rows.length} patches, ${format}, best of 3`, time, against);
  }
  await large(python);
  await largeCustom(rows, texts.get('custom') ?? [], python);
}

/** One patch of 5 MB beside `git apply --check` of it. */
async function large(python: PythonParser): Promise<void> {
  const files = new Map<string, string>();
  const parts: string[] = [];
  let length = 0;
  for (let n = 0; length < 5e6; n += 1) {
    const path = `tests/test_${n}.py`;
    const lines = Array.from({ length: 4000 }, (_, i) => `    assert value(${n}, ${i}) == ${i}`);
    files.set(path, `${lines.join('\n')}\n`);
    const hunks = Array.from({ length: 390 }, (_, k) => {
      const at = 10 * k + 3;
      const [a, b, c, d] = lines.slice(at, at + 4);
      const now = `    assert value(${n}, ${at + 1}) != ${at}  # changed`;
      return `@@ -${at + 1},4 +${at + 1},4 @@\n ${a}\n-${b}\n+${now}\n ${c}\n ${d}\n`;
    });
    const part = `diff --git a/${path} b/${path}\n--- a/${path}\n+++ b/${path}\n${hunks.join('')}`;
    parts.push(part);
    length += part.length;
  }
  const text = parts.join('');
  const folder = mkdtempSync(join(tmpdir(), 'bench-patch-'));
  try {
    execFileSync('git', ['init', '-q', folder]);
    execFileSync('mkdir', [join(folder, 'tests')]);
    for (const [path, content] of files) writeFileSync(join(folder, path), content);
    const check = (): unknown =>
      execFileSync('git', ['apply', '--check', '-'], { cwd: folder, input: text });
    const git = best([await timed(check), await timed(check), await timed(check)]);
    line(`git apply --check of ${(text.length / 1e6).toFixed(1)} MB`, git);
    for (const format of ['unified', 'fuzzy'] as const) {
      const work = (): Promise<Conversion> => convert(files, text, format, python);
      const { diagnostics, patch } = await work();
      if (patch === '') throw new Error(`${format}: ${JSON.stringify(diagnostics[0])}`);
      const ours = best([await timed(work), await timed(work)]);
      line(`the same converted, ${format}`, ours, git);
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The rows' blocks, repeated for other files up to 5 MB, beside tree-sitter alone. */
async function largeCustom(
  rows: readonly GoldenRow[],
  texts: readonly string[],
  python: PythonParser,
): Promise<void> {
  const files = new Map<string, string>();
  const parts: string[] = [];
  let length = 0;
  for (let n = 0; length < 5e6; n += 1) {
    const row = rows[n % rows.length];
    const folder = `tests/part_${n}`;
    const text = (texts[n % rows.length] ?? '').replace(/^diff\n(?=.+$)/gm, `diff\n${folder}/`);
    for (const [path, before] of row?.before ?? []) files.set(`${folder}/${path}`, before);
    parts.push(text);
    length += text.length;
  }
  const text = parts.join('');
  const alone = await timed(() => parts.forEach((part) => python.parse(part, () => undefined)));
  line(`tree-sitter alone on ${(text.length / 1e6).toFixed(1)} MB of blocks`, alone);
  const ours = await timed(() => convert(files, text, 'custom', python));
  line('the same converted, custom', ours, alone);
}

/** The files that a conversion changes in a tree, as one text for comparison. */
const outcome = (row: GoldenRow, files: Conversion['files']): string => {
  const tree = new Map<string, string | undefined>([...row.before, ...files]);
  return JSON.stringify([...tree].filter(([, text]) => text !== undefined).sort());
};

async function recovered(
  rows: readonly GoldenRow[],
  texts: ReadonlyMap<PatchFormat, readonly string[]>,
  python: PythonParser,
): Promise<void> {
  console.log(
    `\n${rows.length} patches of each kind and format: same tree as undamaged / refused / another tree, ` +
      'of those that the damage changes\n',
  );
  console.log(`${''.padEnd(28)}${formats.map((format) => format.padStart(18)).join('')}`);
  for (const kind of kindsOfDamage) {
    const cells: string[] = [];
    for (const format of formats) {
      const counts = { all: 0, same: 0, refused: 0, other: 0 };
      for (const [i, row] of rows.entries()) {
        const text = texts.get(format)?.[i] ?? '';
        const damaged = damage(text, kind, format, i);
        if (damaged === text) continue;
        counts.all += 1;
        const sound = await convert(row.before, text, format, python);
        const result = await convert(row.before, damaged, format, python);
        if (result.files.size === 0 && sound.files.size > 0) counts.refused += 1;
        else if (outcome(row, result.files) === outcome(row, sound.files)) counts.same += 1;
        else counts.other += 1;
      }
      const share = (count: number): string => ((100 * count) / counts.all).toFixed(0);
      const { same, refused, other } = counts;
      cells.push(counts.all === 0 ? '–' : `${share(same)} / ${share(refused)} / ${share(other)} %`);
    }
    console.log(`${kind.padEnd(28)}${cells.map((cell) => cell.padStart(18)).join('')}`);
  }
}

void main();
