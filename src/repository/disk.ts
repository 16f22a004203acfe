import { lstat, readdir, readFile, rename, rm, rmdir, writeFile } from 'node:fs/promises';
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import {
  HumanError,
  messageOf,
  systemCode,
  throwIfAborted,
  silent,
  type Reporter,
} from '../domain/work';
import { removeAbandonedBeside, removeForce, withLock, holdersOf } from './lock';
import { repositoryAt } from './source';
import {
  dataFolder,
  environmentsFolder,
  instanceFolder,
  instancesFolder,
  lockPath,
  mirrorFolder,
  mirrorsFolder,
  pairsFolder,
  repoOfMirror,
  treesFolder,
  vectorsFolder,
} from './storage';

/**
 * The disk space that the storage folder takes, in allocated bytes, as `du` counts them and as
 * freeing returns them. A tree of two thousand small files takes a third more than their contents.
 */
export interface DiskUse {
  /** Bytes of trees, kept runs and state, by instance. */
  readonly instances: readonly { readonly id: string; readonly bytes: number }[];
  readonly mirrors: readonly { readonly repo: string; readonly bytes: number }[];
  readonly datasets: number;
  /** Bytes of vectors that an embedding model was paid for. */
  readonly vectors: number;
  /** Bytes of virtual environments that were made for instances, and of uv. */
  readonly environments: number;
  /** Bytes of working copies of R and R∘X* in which tests run now. */
  readonly sandboxes: number;
  /** Bytes of locks, and of what earlier versions and killed processes left. */
  readonly other: number;
  readonly total: number;
}

interface Work {
  readonly signal?: AbortSignal | undefined;
  readonly reporter?: Reporter;
}

/** @throws HumanError when the folder cannot be read, Cancelled */
export async function diskUse(storage: string, work: Work = {}): Promise<DiskUse> {
  const { signal } = work;
  await readdir(storage).catch((error: unknown) => {
    if (systemCode(error) === 'ENOENT') return;
    throw new HumanError(
      `The storage folder ${storage} cannot be read (${messageOf(error)})`,
      'Choose another folder with --storage or the setting `swt-bench.storageFolder`',
    );
  });
  const instances: { id: string; bytes: number }[] = [];
  let other = 0;
  for (const id of await namesIn(instancesFolder(storage))) {
    const names = await namesIn(join(instancesFolder(storage), id));
    const bytes = await instanceBytes(storage, id, signal);
    if (names.length > 0 && names.every(isOurs)) instances.push({ id, bytes });
    else other += bytes;
  }
  const mirrors: { repo: string; bytes: number }[] = [];
  for (const name of await namesIn(mirrorsFolder(storage))) {
    const bytes = await bytesIn(join(mirrorsFolder(storage), name), signal);
    const repo = repoOfMirror(name);
    // Marks of use and unfinished clones have further endings.
    const isWhole =
      !/\.(in-use|[0-9a-f]{8}-[0-9a-f-]{27})$/.test(name) &&
      (await repositoryAt(join(mirrorsFolder(storage), name))) !== undefined;
    if (repo === undefined || !isWhole) other += bytes;
    else mirrors.push({ repo, bytes });
  }
  const datasets = await bytesIn(dataFolder(storage), signal);
  const sandboxes = await bytesIn(pairsFolder(storage), signal);
  const vectors = await bytesIn(vectorsFolder(storage), signal);
  const environments = await bytesIn(environmentsFolder(storage), signal);
  const known = new Set(['instances', 'mirrors', 'pairs', 'vectors', 'virtualenvs']);
  for (const name of await namesIn(storage)) {
    if (!known.has(name)) other += await bytesIn(join(storage, name), signal);
  }
  other -= datasets;
  const sum = [...instances, ...mirrors].reduce((total, { bytes }) => total + bytes, 0);
  return {
    instances,
    mirrors,
    ...{ datasets, vectors, environments, sandboxes, other },
    total: sum + datasets + vectors + environments + sandboxes + other,
  };
}

/**
 * Removes the trees, kept runs and state of an instance. Workspaces are elsewhere and stay.
 *
 * @throws HumanError when a window or a command uses the instance, Cancelled
 */
export async function freeInstance(storage: string, id: string, work: Work = {}): Promise<void> {
  const folder = instanceFolder(storage, id);
  await underLock(storage, 'instance', id, work, async () => {
    const trees = treesFolder(storage, id);
    for (const name of await namesIn(trees)) {
      const holders = await holdersOf(join(trees, name));
      if (holders.length > 0) throw inUse(`The instance ${id}`, holders);
    }
    for (const name of await namesIn(folder)) {
      if (isOurs(name)) await removeWhole(join(folder, name));
    }
    await rmdir(folder).catch(() => undefined);
  });
}

/** Names of ours in the folder of an instance; all other files may belong to someone else. */
const isOurs = (name: string): boolean => /^(trees|runs|compiled|state\.json)(\.|$)/.test(name);

/**
 * Removes the mirror of a repository, which is cloned again when it is needed.
 *
 * @throws HumanError when R is being made from it, Cancelled
 */
export async function freeMirror(storage: string, repo: string, work: Work = {}): Promise<void> {
  const folder = mirrorFolder(storage, repo);
  await underLock(storage, 'mirror', repo, work, async () => {
    const holders = await holdersOf(folder);
    if (holders.length > 0) throw inUse(`The mirror of ${repo}`, holders);
    await removeWhole(folder);
    await removeForce(`${folder}.in-use`);
  });
}

/** Removes the vectors of texts, which are paid for again when they are needed. */
export const freeVectors = (storage: string): Promise<void> => removeWhole(vectorsFolder(storage));

/**
 * Removes the virtual environments that were made for instances. They are made again when they are
 * needed.
 *
 * @throws HumanError when tests run in one of them
 */
export async function freeEnvironments(storage: string): Promise<void> {
  const folder = environmentsFolder(storage);
  const holders = await holdersOf(folder);
  if (holders.length > 0) throw inUse('The virtual environment', holders);
  await removeWhole(folder);
}

const underLock = (
  storage: string,
  kind: 'instance' | 'mirror',
  name: string,
  { signal, reporter = silent }: Work,
  free: () => Promise<void>,
): Promise<void> =>
  withLock(lockPath(storage, kind, name), { signal, reporter, what: `prepares ${name}` }, free);

const inUse = (what: string, holders: readonly number[]): HumanError =>
  new HumanError(
    `${what} is being used by process ${holders.join(', ')}`,
    'Close the window or stop the command that uses it, and try again',
  );

/** Renamed first, so that no process takes a partly removed folder for a whole one. */
async function removeWhole(folder: string): Promise<void> {
  await removeAbandonedBeside(folder);
  const going = `${folder}.${randomUUID()}`;
  const moved = await rename(folder, going).then(
    () => true,
    (error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return false;
      throw error;
    },
  );
  if (moved) await removeForce(going);
}

async function instanceBytes(
  storage: string,
  id: string,
  signal: AbortSignal | undefined,
): Promise<number> {
  const folder = join(instancesFolder(storage), id);
  let bytes = 0;
  for (const name of await namesIn(folder)) {
    if (name !== 'trees') {
      bytes += await bytesIn(join(folder, name), signal);
      continue;
    }
    for (const key of await namesIn(join(folder, name))) {
      bytes += await treesBytes(join(folder, name, key), signal);
    }
  }
  return bytes;
}

/**
 * Finished trees do not change. Their size is measured only once, since counting thousands of files
 * takes a while.
 */
async function treesBytes(folder: string, signal: AbortSignal | undefined): Promise<number> {
  const kept = join(folder, 'bytes');
  const known = await readFile(kept, 'utf8').catch(() => '');
  if (/^\d+$/.test(known)) return Number(known);
  const bytes = await bytesIn(folder, signal);
  const finished = (await namesIn(folder)).includes('trees.json');
  // Without write access to the folder, it is measured again next time.
  if (finished) await writeFile(kept, String(bytes)).catch(() => rm(kept, { force: true }));
  return bytes;
}

const namesIn = (folder: string): Promise<string[]> => readdir(folder).catch(() => []);

/** Allocated bytes of a file, or of everything below a folder; 0 when it does not exist. */
async function bytesIn(path: string, signal: AbortSignal | undefined): Promise<number> {
  throwIfAborted(signal);
  const info = await lstat(path).catch(() => undefined);
  if (info === undefined) return 0;
  // Windows does not report blocks.
  const own = info.blocks > 0 || info.size === 0 ? info.blocks * 512 : info.size;
  // R and R∘X* share each file that the golden patch does not change.
  if (!info.isDirectory()) return Math.round(own / Math.max(1, info.nlink));
  let total = own;
  const names = await namesIn(path);
  for (let start = 0; start < names.length; start += 64) {
    const some = names.slice(start, start + 64);
    const sizes = await Promise.all(some.map((name) => bytesIn(join(path, name), signal)));
    total += sizes.reduce((sum, each) => sum + each, 0);
  }
  return total;
}
