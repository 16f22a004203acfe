// How good the thresholds of likeness are. Takes the golden patches of the dataset with words of
// their old lines changed. Prints, by threshold, how many give the same tree, are refused, and give
// another tree.
// Run: node --import tsx test/bench/thresholds.ts [--every N]
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { build } from 'esbuild';
import type { PatchTree } from '../../src/patch/toUnified';
import type { Conversion } from '../../src/patch/toUnified';
import { seeded, writeFuzzy, writeSearchReplace } from '../unit/patch/generators';
import { dataset, goldenRows } from '../unit/patch/goldenRows';
import { loadParser } from '../unit/python/loadParser';

const { values } = parseArgs({
  options: { every: { type: 'string', default: '1' } },
});

const sweeps = {
  contextSimilarity: [0.4, 0.5, 0.6, 0.7, 0.8],
  removedSimilarity: [0.6, 0.7, 0.75, 0.8, 0.85, 0.9],
  leastFit: [0.3, 0.4, 0.5, 0.6, 0.7],
} as const;

interface Engine {
  convertFuzzy(text: string, tree: PatchTree): Promise<Conversion>;
  convertSearchReplace(text: string, tree: PatchTree): Promise<Conversion>;
}

/** The engine with one constant of alignment.ts at another value. */
async function engineWith(folder: string, name: string, value: number): Promise<Engine> {
  const outfile = join(folder, `${name}-${value}.cjs`);
  const from = (file: string): string => JSON.stringify(resolve('src/patch', file));
  await build({
    stdin: {
      contents: `export * from ${from('fuzzy/convertFuzzy.ts')}; export * from ${from('searchReplace/convertSearchReplace.ts')};`,
      resolveDir: process.cwd(),
      loader: 'ts',
    },
    ...{ bundle: true, platform: 'node', format: 'cjs', outfile, logLevel: 'error' },
    plugins: [
      {
        name: 'threshold',
        setup(build) {
          build.onLoad({ filter: /alignment\.ts$/ }, ({ path }) => {
            const text = readFileSync(path, 'utf8');
            const constant = new RegExp(`(export const ${name} = )[\\d.]+;`);
            if (!constant.test(text)) throw new Error(`no constant ${name}`);
            return { contents: text.replace(constant, `$1${value};`), loader: 'ts' };
          });
        },
      },
    ],
  });
  return createRequire(join(folder, 'x.cjs'))(outfile) as Engine;
}

/** Every other line that `isOld` accepts with one or two of its words changed. */
function reworded(text: string, seed: number, isOld: (line: string, i: number) => boolean): string {
  const random = seeded(seed);
  return text
    .split('\n')
    .map((line, i) => {
      if (!isOld(line, i) || random() < 0.5) return line;
      const words = [...line.matchAll(/\w{2,}/g)];
      let now = line;
      for (let k = random() < 0.5 ? 1 : 2; k > 0 && words.length > 0; k -= 1) {
        const word = words[Math.floor(random() * words.length)]?.[0] ?? '';
        now = now.replace(word, () => `${word.slice(1)}_x`);
      }
      return now;
    })
    .join('\n');
}

const oldOfDiff = (line: string): boolean => /^[ -](?!-- )/.test(line);

function oldOfBlocks(text: string): (line: string, i: number) => boolean {
  let within = false;
  const old = text.split('\n').map((line) => {
    if (/^<{5,9} SEARCH/.test(line)) within = true;
    else if (/^={5,9}$/.test(line)) within = false;
    else return within;
    return false;
  });
  return (_, i) => old[i] === true;
}

async function main(): Promise<void> {
  const python = await loadParser();
  const all = goldenRows(python);
  if (all === undefined) throw new Error(`there is no dataset at ${dataset}: set SWT_BENCH_DATA`);
  const rows = all
    .filter((_, i) => i % Number(values.every) === 0)
    .map((row, i) => {
      const fuzzy = writeFuzzy(row.edits, seeded(i)).text;
      const blocks = writeSearchReplace(row.edits, seeded(i)).text;
      return {
        row,
        ...{ fuzzy, blocks },
        damagedFuzzy: reworded(fuzzy, i, oldOfDiff),
        damagedBlocks: reworded(blocks, i, oldOfBlocks(blocks)),
      };
    });
  python.dispose();
  const folder = mkdtempSync(join(tmpdir(), 'bench-thresholds-'));
  try {
    for (const [name, thresholds] of Object.entries(sweeps)) {
      console.log(`\n${name}: same tree / refused / another tree, of ${rows.length}`);
      for (const value of thresholds) {
        const engine = await engineWith(folder, name, value);
        const counts = { fuzzy: [0, 0, 0], blocks: [0, 0, 0] };
        for (const { row, ...texts } of rows) {
          const tree = { read: (path: string) => Promise.resolve(row.before.get(path)) };
          const count = (own: number[], sound: Conversion, found: Conversion): void => {
            const of = (files: Conversion['files']): string => JSON.stringify([...files].sort());
            const at = found.files.size === 0 ? 1 : of(found.files) === of(sound.files) ? 0 : 2;
            own[at] = (own[at] ?? 0) + 1;
          };
          count(
            counts.fuzzy,
            await engine.convertFuzzy(texts.fuzzy, tree),
            await engine.convertFuzzy(texts.damagedFuzzy, tree),
          );
          count(
            counts.blocks,
            await engine.convertSearchReplace(texts.blocks, tree),
            await engine.convertSearchReplace(texts.damagedBlocks, tree),
          );
        }
        const told = (own: number[]): string => own.join(' / ');
        console.log(`${value}: fuzzy ${told(counts.fuzzy)}, search-replace ${told(counts.blocks)}`);
      }
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

void main();
