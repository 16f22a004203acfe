import { openPlain } from '../../files/plainFile';
import { join } from 'node:path';
import { predictionNames } from '../../dataset/predictionFolders';
import { isThere, listedFolder, type ListedFolder } from './listedFolder';

/** What a folder has of a run that someone published. Paths are absolute. */
export interface PublishedFolder {
  readonly folder: string;
  /** What its `metadata.yaml` calls it. */
  readonly name?: string;
  /** Predictions, or `output.jsonl` of OpenHands. */
  readonly predictions?: string;
  /** The folder with `ID/report.json` of the reference harness. */
  readonly reports?: string;
  /** Files that may be summaries of the reference harness, or `results.json` of a leaderboard. */
  readonly summaries: readonly string[];
  /** Files and folders with trajectories. */
  readonly trajectories: readonly string[];
}

const trajectoryNames = ['trajs', 'trajectories', 'traces', 'agent_traces', 'output.jsonl'];
/** Folders that are looked into for a first report. */
const mostTried = 50;

/** Lists what a folder has of a published run; all of it may be absent. */
export async function publishedFolder(folder: string): Promise<PublishedFolder> {
  const names = await listedFolder(folder);
  const files = new Set(names.files);
  const folders = new Set(names.folders);
  const predictions = predictionNames.find((name) => files.has(name));
  const reports = await reportsIn(folder, names);
  const name = files.has('metadata.yaml') ? await nameIn(join(folder, 'metadata.yaml')) : undefined;
  return {
    folder,
    ...(name !== undefined && { name }),
    ...(predictions !== undefined && { predictions: join(folder, predictions) }),
    ...(reports !== undefined && { reports }),
    summaries: await summariesIn(folder, names),
    trajectories: [
      ...trajectoryNames
        .filter((each) => files.has(each) || folders.has(each))
        .map((each) => join(folder, each)),
      ...((await hasTrajectories(folder, names)) ? [folder] : []),
    ],
  };
}

/** The folder itself or its `logs`, if a folder in it has a report. */
async function reportsIn(folder: string, names: ListedFolder): Promise<string | undefined> {
  if (await hasReports(folder, names.folders)) return folder;
  if (!names.folders.includes('logs')) return undefined;
  const logs = join(folder, 'logs');
  return (await hasReports(logs, (await listedFolder(logs)).folders)) ? logs : undefined;
}

async function hasReports(folder: string, names: readonly string[]): Promise<boolean> {
  for (const name of names.slice(0, mostTried)) {
    if (await isThere(join(folder, name, 'report.json'))) return true;
  }
  return false;
}

async function summariesIn(folder: string, { files, folders }: ListedFolder): Promise<string[]> {
  const jsonIn = (place: string, among: readonly string[]): string[] =>
    among.filter((name) => name.endsWith('.json')).map((name) => join(place, name));
  const found = jsonIn(folder, files);
  for (const name of ['evaluation_results', 'results'].filter((each) => folders.includes(each))) {
    const place = join(folder, name);
    found.push(...jsonIn(place, (await listedFolder(place)).files));
  }
  return found;
}

/** Whether SWE-agent or mini-SWE-agent put trajectories here, in folders of the instances or not. */
async function hasTrajectories(folder: string, { files, folders }: ListedFolder): Promise<boolean> {
  if (files.some((name) => /\.(?:traj|traj\.json|atif\.json)$/.test(name))) return true;
  for (const name of folders.slice(0, mostTried)) {
    for (const ending of ['.traj', '.traj.json']) {
      if (await isThere(join(folder, name, `${name}${ending}`))) return true;
    }
  }
  return false;
}

/** Bytes of a `metadata.yaml` that are read. */
const mostMetadata = 1 << 16;

/** The `name` in a `metadata.yaml`, at its top or in a block below, as SWE-bench asks for it. */
async function nameIn(path: string): Promise<string | undefined> {
  const text = await beginningOf(path);
  // Imported here, since most folders have no such file.
  const { parse } = await import('yaml');
  let top: unknown;
  try {
    top = parse(text, { logLevel: 'silent' });
  } catch {
    return undefined;
  }
  const blocks = [top, ...(isObject(top) ? Object.values(top) : [])].filter(isObject);
  const name = blocks.map((block) => block['name']).find((each) => typeof each === 'string');
  return name === undefined || name.trim() === '' ? undefined : name.trim().slice(0, 200);
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

async function beginningOf(path: string): Promise<string> {
  const file = await openPlain(path).catch(() => undefined);
  if (file === undefined) return '';
  try {
    const { bytesRead, buffer } = await file.read(Buffer.alloc(mostMetadata), 0, mostMetadata, 0);
    return buffer.toString('utf8', 0, bytesRead);
  } finally {
    await file.close();
  }
}
