import { stat } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { messageOf, throwIfAborted, systemCode, shardText } from '../domain/work';
import type { InstanceFacts, RunData, RunEntry } from '../study/entry';
import { readJournal } from './journal';
import { judgedFolderName } from './judged/judgedRepairSchema';
import { isJudgedFolder } from './judged/readJudgedRuns';
import { type RunManifest, readManifest } from './runFolder';
import { nodesOfRun, readMadeOnNodes, readNodeSeconds } from './nodeSeconds';
import { listReadable } from './published/listedFolder';
import { publishedFolder } from './published/publishedFolder';
import { hasGrades, readPublished, withFilesBeside } from './published/readPublished';
import { readReports } from './reading/readReports';

interface ReadRunsOptions {
  /**
   * The selected instances of runs that do not list them (those of the reference harness). They are
   * the denominator of such runs, and describe their instances.
   */
  readonly instances?: readonly InstanceFacts[] | undefined;
  readonly signal?: AbortSignal | undefined;
}

interface RunsRead {
  readonly runs: readonly RunData[];
  /** One sentence for each file that cannot be read, and for each folder that is not a run. */
  readonly problems: readonly string[];
}

const logs = 'run_instance_swt_logs';

/**
 * Reads saved runs from these folders:
 * - results folders (`evaluate --out`);
 * - folders of one run in them (`DIR/runs/<run>`);
 * - folders of the reference harness (its `run_instance_swt_logs`, or one run in it);
 * - what others publish (`publishedFolder`), or a folder of such folders.
 * Runs over code patches are left to `readJudgedRuns`.
 * Labels are made unique. Damaged, half-written or foreign files become problems, and the rest is
 * read.
 *
 * @throws Cancelled
 */
export async function readRuns(
  dirs: readonly string[],
  options: ReadRunsOptions = {},
): Promise<RunsRead> {
  const problems: string[] = [];
  const runs: RunData[] = [];
  const seen = new Set<string>();
  for (const dir of dirs) {
    throwIfAborted(options.signal);
    for (const place of await placesIn(resolve(dir), dir, problems)) {
      const key = `${place.kind} ${place.folder}`;
      if (seen.has(key)) continue;
      seen.add(key);
      const read = await readers[place.kind](place, options);
      for (const problem of read.problems) problems.push(problem);
      for (const run of read.runs) runs.push(run);
    }
  }
  return { runs: labelled(runs), problems };
}

/** The location of a run. */
interface Place {
  readonly kind: 'ours' | 'harness' | 'published';
  /** Folder of the run. */
  readonly folder: string;
  /** The results folder that holds the run. */
  readonly results: string;
  /** Set where a folder of the harness has no other run. */
  readonly isOnly?: boolean;
}

async function placesIn(dir: string, asked: string, problems: string[]): Promise<Place[]> {
  const names = await foldersIn(dir);
  if (typeof names === 'string') {
    problems.push(`${asked}: ${names}`);
    return [];
  }
  if (isJudgedFolder(dir)) return [];
  if (await isFile(join(dir, 'run.json'))) {
    return [{ kind: 'ours', folder: dir, results: dirname(dirname(dir)) }];
  }
  if (basename(dir) === logs) return harnessPlaces(dir, problems);
  if (basename(dirname(dir)) === logs) {
    return [{ kind: 'harness', folder: dir, results: dirname(dirname(dir)) }];
  }
  // The argument may also be the folder `runs` of a results folder.
  const runsFolder = basename(dir) === 'runs' && !names.includes('runs') ? dir : join(dir, 'runs');
  const places: Place[] = [];
  const own =
    runsFolder === dir ? names : names.includes('runs') ? await foldersIn(runsFolder) : [];
  for (const name of typeof own === 'string' ? [] : own) {
    const folder = join(runsFolder, name);
    if (await isFile(join(folder, 'run.json'))) {
      places.push({ kind: 'ours', folder, results: dirname(runsFolder) });
    } else if (await isFile(join(folder, 'entries.jsonl'))) {
      problems.push(`${folder} has entries but no run.json that describes their run`);
    }
  }
  const known = new Set(places.map((place) => basename(place.folder)));
  if (names.includes(logs)) {
    const others = await harnessPlaces(join(dir, logs), problems);
    for (const place of others) if (!known.has(basename(place.folder))) places.push(place);
  }
  if (places.length > 0 || names.includes(judgedFolderName)) return places;
  return publishedPlaces(dir, asked, names, problems);
}

/** The folder itself if it is of a published run, or else those of the folders in it that are. */
async function publishedPlaces(
  dir: string,
  asked: string,
  names: readonly string[],
  problems: string[],
): Promise<Place[]> {
  const found: Place[] = [];
  let ungraded: string | undefined;
  const look = async (folder: string): Promise<void> => {
    const published = await publishedFolder(folder);
    if (await hasGrades(published)) found.push({ kind: 'published', folder, results: folder });
    else ungraded ??= published.predictions;
  };
  await look(dir);
  if (found.length === 0) for (const name of names) await look(join(dir, name));
  if (found.length > 0) return found;
  problems.push(
    ungraded === undefined
      ? `${asked} has no run: ${readableFolders}`
      : `${ungraded} has predictions without grades: run \`swt-bench evaluate --predictions\` on it`,
  );
  return [];
}

/** What a folder may be, for the message about one that is none of it. */
const readableFolders =
  'it is neither a folder of `evaluate --out` (runs/*/run.json) ' +
  `nor of the SWT-Bench harness (${logs}, or the reports ID/report.json of one model) ` +
  'nor a published run (metadata.yaml, all_preds.jsonl or preds.json, logs/ID/report.json, ' +
  'summaries with resolved_ids, trajs)';

/** Folders in which the harness keeps the logs of golden and base runs, for all of its runs. */
const keptLogs = /^(?:gold|base)_(?:pre|post)$/;

async function harnessPlaces(folder: string, problems: string[]): Promise<Place[]> {
  const names = await foldersIn(folder);
  if (typeof names === 'string') {
    problems.push(`${folder}: ${names}`);
    return [];
  }
  const isOnly = names.filter((name) => !keptLogs.test(name)).length === 1;
  return names.map((name) => ({
    kind: 'harness' as const,
    folder: join(folder, name),
    results: dirname(folder),
    isOnly,
  }));
}

/** Names of the folders in a folder, sorted, or why they cannot be listed. */
async function foldersIn(dir: string): Promise<readonly string[] | string> {
  try {
    return (await listReadable(dir)).folders;
  } catch (error) {
    const code = systemCode(error);
    if (code === 'ENOENT') return 'there is no such folder';
    if (code === 'ENOTDIR') return 'this is a file, not a folder';
    return `cannot be listed (${messageOf(error)})`;
  }
}

const isFile = async (path: string): Promise<boolean> =>
  (await stat(path).catch(() => undefined))?.isFile() === true;

async function ourRun({ folder, results }: Place): Promise<RunsRead> {
  try {
    const manifest = await readManifest(folder);
    if (manifest === undefined) return { runs: [], problems: [`${folder} has no run.json`] };
    const { lines, problems } = await readJournal(folder);
    const selected = new Set(manifest.instances.map((instance) => instance.id));
    const { candidates, models } = manifest;
    const nodeSeconds = await readNodeSeconds(nodesOfRun(folder));
    const entries = lines.map(({ key: _key, finished: _finished, ...entry }): RunEntry => entry);
    const foreign = lines.filter((line) => !selected.has(line.instance)).length;
    const run: RunData = {
      label: labelOf(manifest),
      place: folder,
      instances: manifest.instances,
      ...(manifest.denominator === undefined ? {} : { denominator: manifest.denominator }),
      entries,
      models,
      ...(lines.length < candidates ? { unfinished: true } : {}),
      folder: results,
      created: manifest.created,
      dataset: manifest.dataset,
      ...(nodeSeconds === undefined ? {} : { nodeSeconds }),
      ...(await readMadeOnNodes(manifest.predictions)),
    };
    return {
      runs: [run],
      problems: [
        ...problems,
        ...(foreign === 0
          ? []
          : [`${folder}: ${foreign} entries belong to instances that the run did not select`]),
      ],
    };
  } catch (error) {
    return { runs: [], problems: [messageOf(error)] };
  }
}

/** The name of a run, with its place where it is one shard. */
const labelOf = ({ run, shard }: RunManifest): string =>
  shard === undefined ? run : `${run}, shard ${shardText(shard)}`;

async function harnessRun(
  { folder, results, isOnly }: Place,
  { instances, signal }: ReadRunsOptions,
): Promise<RunsRead> {
  const prefix = `${logs}/${basename(folder)}`;
  const { entries: graded, strict, problems } = await readReports(folder, prefix, signal);
  if (graded.length === 0) {
    if (keptLogs.test(basename(folder))) return { runs: [], problems };
    const none = [`${folder} has no report.json`];
    return { runs: [], problems: problems.length > 0 ? problems : none };
  }
  const beside =
    isOnly === true
      ? await withFilesBeside(results, graded, signal)
      : { entries: graded, problems: [] };
  const { problems: more, ...found } = beside;
  const ids = [...new Set(found.entries.map((entry) => entry.instance))];
  const run: RunData = {
    label: basename(folder),
    instances: instances ?? ids.map(factsFromId),
    ...found,
    ...(strict ? {} : { grading: 'harness' as const }),
    folder: results,
  };
  return { runs: [run], problems: [...problems, ...more] };
}

async function publishedRun(
  { folder }: Place,
  { instances, signal }: ReadRunsOptions,
): Promise<RunsRead> {
  const { runs, problems } = await readPublished(await publishedFolder(folder), signal);
  return {
    runs: runs.map(({ ids, ...run }) => ({
      ...run,
      instances: instances ?? ids.map(factsFromId),
    })),
    problems,
  };
}

const readers: Readonly<
  Record<Place['kind'], (place: Place, options: ReadRunsOptions) => Promise<RunsRead>>
> = { ours: ourRun, harness: harnessRun, published: publishedRun };

/** Facts from the id of an instance, `owner__name-number`. */
function factsFromId(id: string): InstanceFacts {
  const parts = /^([^_].*?)__(.+)-[^-]+$/.exec(id);
  return {
    id,
    repo: parts === null ? '' : `${parts[1]}/${parts[2]}`,
    created: '',
    issueLength: 0,
  };
}

/**
 * Gives runs with the same name different labels, by their results folders, or by number where
 * these are the same.
 */
function labelled(runs: readonly RunData[]): RunData[] {
  const taken = new Set<string>();
  const numbers = new Map<string, number>();
  const times = new Map<string, number>();
  for (const { label } of runs) times.set(label, (times.get(label) ?? 0) + 1);
  return runs.map((run) => {
    const folder = basename(run.folder ?? '');
    const base = times.get(run.label) === 1 ? run.label : `${folder}/${run.label}`;
    let label = base;
    for (let number = numbers.get(base) ?? 2; taken.has(label); number++) {
      label = `${base} #${number}`;
      numbers.set(base, number + 1);
    }
    taken.add(label);
    return { ...run, label };
  });
}
