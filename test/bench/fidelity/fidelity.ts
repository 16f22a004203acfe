// How the rows of a dataset run here: whether their golden tests give the lists of the row, and why
// not. A benchmark, not a test: `npm run bench -- fidelity --dataset F [--ids a,b] [--repo R]
// [--engine local|docker|auto] [--source repo=PATH] [--workers N] [--fresh] [--table]`, after
// `npm run build`. The same command goes on where it stopped: each row is a line of a journal, keyed
// by what it depends on, and rows that did not run are tried again. A source is what `evaluate`
// takes, or a folder of source releases (`NAME-VERSION.tar.gz`), of which the nearest that both
// patches of the row fit is taken. `--from DIR` uses results that `evaluate --predictions gold --out
// DIR` wrote, and `--quick` tells causes by logs alone, without further runs. `--table` runs nothing, and prints the journal as Markdown.
import { mkdir, readdir, readFile, stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { openDataset } from '../../../src/dataset/dataset';
import { messageOf } from '../../../src/domain/humanError';
import type { Instance } from '../../../src/domain/instance';
import { silent } from '../../../src/domain/reporter';
import { recipeOf } from '../../../src/engine/environments/recipes';
import { openLineJournal } from '../../../src/files/lineJournal';
import { sha256OfJson } from '../../../src/files/sha256';
import { parseSources, repositoryAt, type Sources } from '../../../src/repository/source';
import byHand from './causesByHand.json';
import { fidelityRowSchema, type FidelityRow } from './fidelityRow';
import { fidelityTable } from './fidelityTable';
import { releaseFor, type ReleaseSource } from './releaseFor';
import { runRow, type RowOptions, type RowPlan } from './runRow';

const { values } = parseArgs({
  allowPositionals: true,
  options: {
    dataset: { type: 'string' },
    ids: { type: 'string' },
    repo: { type: 'string' },
    engine: { type: 'string', default: 'auto' },
    source: { type: 'string', multiple: true, default: [] },
    workers: { type: 'string', default: '1' },
    timeout: { type: 'string', default: '1800' },
    storage: { type: 'string' },
    fresh: { type: 'boolean', default: false },
    from: { type: 'string' },
    quick: { type: 'boolean', default: false },
    table: { type: 'boolean', default: false },
  },
});
const root = resolve(__dirname, '..', '..', '..');
const storage =
  values.storage ?? process.env['SWT_BENCH_STORAGE'] ?? join(homedir(), '.cache', 'swt-bench');
/** Version of the rules; raised when results of rows would be others. */
const rules = 1;

const day = (): string => new Date().toISOString().slice(0, 10);

/** The last line of the journal about each row, by its id. */
async function journalOf(path: string): Promise<Map<string, FidelityRow>> {
  const text = await readFile(path, 'utf8').catch(() => '');
  const rows = new Map<string, FidelityRow>();
  for (const line of text.split('\n').slice(0, -1)) {
    const row = fidelityRowSchema.safeParse(JSON.parse(line));
    if (row.success) rows.set(row.data.id, row.data);
  }
  return rows;
}

/** Projects that compile something need a compiler and libraries, which images have. */
function engineFor({ repo, version }: Instance): 'local' | 'docker' {
  if (values.engine === 'local' || values.engine === 'docker') return values.engine;
  const { build, system } = recipeOf(repo, version);
  return build.length + system.length > 0 || repo === 'astropy/astropy' ? 'docker' : 'local';
}

/** Where R comes from. */
type Found =
  | { readonly path: string; readonly release?: ReleaseSource }
  | { readonly none: string };

async function sourceFor(
  instance: Instance,
  sources: Sources,
  scratch: string,
  passedOver: readonly string[],
): Promise<Found> {
  const where = sources.get(instance.repo) ?? sources.get('*');
  if (where === undefined) return { path: `https://github.com/${instance.repo}.git` };
  const isFolder = (await stat(where)).isDirectory() && (await repositoryAt(where)) === undefined;
  const files = isFolder ? await readdir(where) : [];
  if (!files.some((name) => name.endsWith('.tar.gz'))) return { path: where };
  const release = await releaseFor(instance, where, scratch, passedOver);
  return 'none' in release ? release : { path: release.path, release };
}

/** Releases that are tried for a row: X* may fit one whose code lacks what X* uses. */
const releasesTried = 3;

interface Trying {
  readonly sources: Sources;
  readonly options: RowOptions;
}

/** Runs a row unless the journal has it, and gives its new line. */
async function tryRow(
  instance: Instance,
  known: FidelityRow | undefined,
  trying: Trying,
): Promise<FidelityRow | undefined> {
  const passedOver: string[] = [];
  for (;;) {
    const row = await tryOnce(instance, known, passedOver, trying);
    const { release } = row?.source ?? {};
    const isLast = passedOver.length + 1 >= releasesTried;
    if (row?.notRun === undefined || release === undefined || isLast) return row;
    passedOver.push(release);
  }
}

async function tryOnce(
  instance: Instance,
  known: FidelityRow | undefined,
  passedOver: readonly string[],
  { sources, options }: Trying,
): Promise<FidelityRow | undefined> {
  const started = performance.now();
  const engine = engineFor(instance);
  const found = await sourceFor(instance, sources, options.scratch, passedOver);
  const release = 'none' in found ? undefined : found.release;
  const source: FidelityRow['source'] =
    release !== undefined
      ? { kind: 'release', release: release.release, takenOut: [...release.takenOut] }
      : { kind: 'none' in found ? 'release' : 'commit' };
  const { id, repo, version } = instance;
  const key = sha256OfJson([rules, instance, engine, sources.get(repo), recipeOf(repo, version)]);
  if (known?.key === key && known.notRun === undefined && !values.fresh) return undefined;
  const about = { key, id, repo, version, date: new Date().toISOString(), engine, source };
  const seconds = (): number => Math.round((performance.now() - started) / 100) / 10;
  if ('none' in found) return { ...about, notRun: found.none, seconds: seconds(), bytes: 0 };
  const plan: RowPlan = { instance, engine, source: found.path, isRelease: release !== undefined };
  try {
    const result = await runRow(plan, options);
    return { ...about, ...result, seconds: result.seconds ?? seconds() };
  } catch (error) {
    return { ...about, notRun: messageOf(error), seconds: seconds(), bytes: 0 };
  }
}

/** One line about a row, for whoever watches. */
function rowText(row: FidelityRow, left: number): string {
  const differing = row.differing ?? [];
  const causes = [...new Set(differing.map(({ cause }) => cause))].join(', ');
  const said =
    row.notRun !== undefined
      ? `did not run: ${row.notRun.slice(0, 160)}`
      : differing.length === 0
        ? 'lists equal'
        : `${differing.length} differ: ${causes}`;
  return `${row.id}: ${said} (${Math.round(row.seconds)} s, ${left} left)`;
}

async function selectedRows(): Promise<Instance[]> {
  if (values.dataset === undefined) throw new Error('fidelity needs --dataset FILE');
  const dataset = await openDataset(values.dataset, { storage, reporter: silent });
  const ids = values.ids?.split(',');
  const repos = values.repo?.split(',');
  const chosen = dataset.entries
    .map(({ id }) => id)
    .filter((id) => ids === undefined || ids.includes(id));
  const rows = await dataset.read(chosen);
  return rows.filter(({ repo }) => repos === undefined || repos.includes(repo));
}

async function main(): Promise<void> {
  const scratch = join(storage, 'fidelity');
  await mkdir(scratch, { recursive: true });
  const path = join(scratch, 'journal.jsonl');
  const journal = await journalOf(path);
  const rows = await selectedRows();
  if (values.table) {
    const shown = rows.flatMap(({ id }) => journal.get(id) ?? []);
    console.log(fidelityTable(shown, rows.length, day()));
    return;
  }
  const lines = await openLineJournal(path);
  const options: RowOptions = {
    ...{ root, storage, scratch, dataset: values.dataset ?? '' },
    ...{ timeoutSeconds: Number(values.timeout), from: values.from, isQuick: values.quick },
    byHand,
  };
  const sources = parseSources(values.source);
  const left = [...rows];
  const work = async (): Promise<void> => {
    for (let row = left.shift(); row !== undefined; row = left.shift()) {
      const line = await tryRow(row, journal.get(row.id), { sources, options });
      if (line === undefined) continue;
      await lines.append(JSON.stringify(line));
      console.log(rowText(line, left.length));
    }
  };
  await Promise.all(Array.from({ length: Number(values.workers) }, work));
  await lines.close();
}

main().catch((error: unknown) => {
  console.error(messageOf(error));
  process.exitCode = 2;
});
