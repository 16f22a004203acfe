// How the rows of a dataset run here: whether their golden tests give the lists of the row, and why
// not. A benchmark, not a test: `npm run bench -- fidelity --dataset F [--ids a,b] [--repo R]
// [--engine local|docker|auto] [--source repo=PATH] [--workers N] [--fresh] [--table]`, after
// `npm run build`. The same command goes on where it stopped: each row is a line of a journal, keyed
// by what it depends on, and rows that did not run are tried again. A source is what `evaluate`
// takes, or a folder of source releases (`NAME-VERSION.tar.gz`), of which the nearest that both
// patches of the row fit is taken. `--base-image` and `--prebuilt` are those of `evaluate`. `--quick` tells causes by logs alone, and a later call without it
// makes further runs for what is left. Results are kept, and `--causes` tells all causes again from
// them. `--table` runs nothing, and prints the journal as Markdown.
import { mkdir, readdir, readFile, stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { valuesOf } from '../../../src/commands/options/engineOptions';
import { openDataset } from '../../../src/dataset/dataset';
import { dockerSettings } from '../../../src/engine/docker/dockerSettings';
import { messageOf, silent } from '../../../src/domain/work';
import type { Instance } from '../../../src/domain/instance';
import { recipeOf } from '../../../src/environments/recipes';
import { openLineJournal } from '../../../src/files/lineJournal';
import { sha256OfJson } from '../../../src/files/digest';
import { repositoryAt, parseSources, type Sources } from '../../../src/repository/source';
import byHand from './causesByHand.json';
import {
  fidelityLine,
  fidelityOrder,
  forEachRow,
  isSettled,
  onReleases,
  readFidelityJournal,
} from './fidelityLoop';
import { causesByHandSchema, type FidelityRow } from './fidelityRow';
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
    'base-image': { type: 'string' },
    prebuilt: { type: 'string' },
    fresh: { type: 'boolean', default: false },
    causes: { type: 'boolean', default: false },
    quick: { type: 'boolean', default: false },
    table: { type: 'boolean', default: false },
  },
});
const root = resolve(__dirname, '..', '..', '..');
const storage =
  values.storage ?? process.env['SWT_BENCH_STORAGE'] ?? join(homedir(), '.cache', 'swt-bench');
const day = (): string => new Date().toISOString().slice(0, 10);

/** Projects that compile something need a compiler and libraries, which images have. */
function engineFor({ repo, version }: Instance): 'local' | 'docker' {
  if (values.engine === 'local' || values.engine === 'docker') return values.engine;
  const { build, system } = recipeOf(repo, version);
  return build.length + system.length > 0 || repo === 'astropy/astropy' ? 'docker' : 'local';
}

/** Source of R. */
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

interface Trying {
  readonly sources: Sources;
  readonly options: RowOptions;
  /** Interpreters of environments in which rows ran, by repository and version. */
  readonly environments: Map<string, string>;
}

/** Runs a row unless the journal has it, and gives its new line. */
async function tryOnce(
  instance: Instance,
  known: FidelityRow | undefined,
  passedOver: readonly string[],
  { sources, options, environments }: Trying,
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
  const from = sources.get(repo);
  const key = sha256OfJson([instance, engine, from, recipeOf(repo, version)]);
  if (isSettled(known, key, values)) return undefined;
  const about = { key, id, repo, version, date: new Date().toISOString(), engine, source };
  const seconds = (): number => Math.round((performance.now() - started) / 100) / 10;
  if ('none' in found) return { ...about, notRun: found.none, seconds: seconds(), bytes: 0 };
  const isRelease = release !== undefined;
  const shared = engine === 'local' ? environments.get(`${repo} ${version}`) : undefined;
  const plan: RowPlan = {
    ...{ instance, engine, source: found.path, isRelease, shared },
    key: sha256OfJson([instance, engine, from, source, recipeOf(repo, version)]),
  };
  try {
    const result = await runRow(plan, options);
    const { interpreter } = result;
    if (interpreter !== undefined && result.notRun === undefined) {
      environments.set(`${repo} ${version}`, interpreter);
    }
    return { ...about, ...result, seconds: seconds() };
  } catch (error) {
    return { ...about, notRun: messageOf(error), seconds: seconds(), bytes: 0 };
  }
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
  return fidelityOrder(
    rows.filter(({ repo }) => repos === undefined || repos.includes(repo)),
    ids,
  );
}

/** The environments in which rows of the journal ran, as far as they are still there. */
async function environmentsOf(journal: ReadonlyMap<string, FidelityRow>) {
  const found = new Map<string, string>();
  for (const { repo, version, engine, interpreter, notRun } of journal.values()) {
    if (engine !== 'local' || interpreter === undefined || notRun !== undefined) continue;
    if (await stat(interpreter).catch(() => undefined))
      found.set(`${repo} ${version}`, interpreter);
  }
  return found;
}

async function main(): Promise<void> {
  const scratch = join(storage, 'fidelity');
  await mkdir(scratch, { recursive: true });
  const path = join(scratch, 'journal.jsonl');
  const journal = readFidelityJournal(await readFile(path, 'utf8').catch(() => ''));
  const rows = await selectedRows();
  if (values.table) {
    console.log(fidelityTable([...journal.values()], rows, day()));
    return;
  }
  const lines = await openLineJournal(path);
  const options: RowOptions = {
    ...{ root, storage, scratch, timeoutSeconds: Number(values.timeout), isQuick: values.quick },
    ...{ isFresh: values.fresh, byHand: causesByHandSchema.parse(byHand) },
    docker: valuesOf(dockerSettings, {
      baseImage: values['base-image'],
      prebuilt: values.prebuilt,
    }),
  };
  const environments = await environmentsOf(journal);
  const trying: Trying = { sources: parseSources(values.source), options, environments };
  const ran = ({ id }: Instance): boolean => journal.get(id)?.resolved !== undefined;
  const chosen = rows.filter((row) => !values.causes || ran(row));
  await forEachRow(chosen, Number(values.workers), async (row, left) => {
    const known = journal.get(row.id);
    const line = await onReleases((passedOver) => tryOnce(row, known, passedOver, trying));
    if (line === undefined) return;
    await lines.append(JSON.stringify(line));
    console.log(fidelityLine(line, left));
  });
  await lines.close();
}

main().catch((error: unknown) => {
  console.error(messageOf(error));
  process.exitCode = 2;
});
