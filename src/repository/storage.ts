import { checkedId } from '../domain/instance';
import { HumanError, messageOf, systemCode } from '../domain/work';
import { GitError } from './git';
import { statfs } from 'node:fs/promises';
import { homedir } from 'node:os';
import { isAbsolute, join, resolve } from 'node:path';

/**
 * The layout of the storage folder, which the command line and all windows of the editor share. It
 * contains only files that can be made again:
 *
 * - `data/swt-bench/` datasets
 * - `mirrors/<owner>__<name>/` bare clones
 * - `instances/<id>/trees/<key>/` R and R∘X*
 * - `instances/<id>/runs/` finished runs
 * - `instances/<id>/state.json` validation and last verdict
 * - `instances/<id>/compiled/<build>/` files that an interpreter has compiled from the trees
 * - `vectors/` vectors of texts, which an embedding model was paid for
 * - `pairs/` running sandboxes
 * - `environments/` names of the files of an environment that tests have changed
 * - `virtualenvs/` virtual environments that were made for instances, and the program uv
 * - `images/` times when images of the docker engine were last used, and logs of their builds
 * - `locks/` names of the processes that work on something
 */

/** `$SWT_BENCH_STORAGE`, else `swt-bench` in `$XDG_CACHE_HOME` or `~/.cache`. */
export function defaultStorage(env: NodeJS.ProcessEnv = process.env): string {
  const own = env['SWT_BENCH_STORAGE'] ?? '';
  if (own !== '') return resolve(own);
  const cache = env['XDG_CACHE_HOME'] ?? '';
  // The XDG specification requires that a relative path is ignored.
  return join(isAbsolute(cache) ? cache : join(homedir(), '.cache'), 'swt-bench');
}

/** @throws HumanError when `repo` is not `owner/name` */
export function checkedRepo(repo: string): string {
  if (/^[A-Za-z0-9_-][A-Za-z0-9_.-]*\/(?!\.+$)[A-Za-z0-9_.-]+$/.test(repo)) return repo;
  throw new HumanError(
    `${JSON.stringify(repo.slice(0, 80))} is not a valid repository name`,
    'Write it as owner/name',
  );
}

export const instancesFolder = (storage: string): string => join(storage, 'instances');

export const instanceFolder = (storage: string, id: string): string =>
  join(instancesFolder(storage), checkedId(id));

export const treesFolder = (storage: string, id: string): string =>
  join(instanceFolder(storage, id), 'trees');

export const runsFolder = (storage: string, id: string): string =>
  join(instanceFolder(storage, id), 'runs');

export const compiledFolder = (storage: string, id: string): string =>
  join(instanceFolder(storage, id), 'compiled');

export const mirrorsFolder = (storage: string): string => join(storage, 'mirrors');

export const mirrorFolder = (storage: string, repo: string): string =>
  join(mirrorsFolder(storage), checkedRepo(repo).replace('/', '__'));

/** `owner/name` of a folder in `mirrors/`; undefined when it is not the name of a mirror. */
export function repoOfMirror(name: string): string | undefined {
  // An owner's name on GitHub never has two underscores in a row, so the first pair ends it.
  const match = /^([A-Za-z0-9_-][A-Za-z0-9_.-]*?)__([A-Za-z0-9_.-]+)$/.exec(name);
  return match === null ? undefined : `${match[1]}/${match[2]}`;
}

export const dataFolder = (storage: string): string => join(storage, 'data', 'swt-bench');

export const vectorsFolder = (storage: string): string => join(storage, 'vectors');

export const environmentsFolder = (storage: string): string => join(storage, 'virtualenvs');

export const pairsFolder = (storage: string): string => join(storage, 'pairs');

/**
 * Path of the lock for a name. It is outside of all folders that can be freed, so no freeing
 * removes it.
 */
export const lockPath = (
  storage: string,
  kind: 'instance' | 'mirror' | 'image' | 'environment',
  name: string,
): string =>
  join(
    storage,
    'locks',
    `${kind}-${kind === 'mirror' ? checkedRepo(name).replace('/', '__') : checkedId(name)}`,
  );

/**
 * The error for the user when `error` says that a disk or quota is full, from Node or in the words
 * of git. Undefined for any other error.
 *
 * @param folder the folder that was written to
 */
export function noSpace(error: unknown, folder: string): HumanError | undefined {
  const code = systemCode(error);
  const text = error instanceof GitError ? error.stderr : messageOf(error);
  const full =
    code === 'ENOSPC' ||
    code === 'EDQUOT' ||
    /No space left on device|out of disk ?space|Disk quota exceeded|not enough space|\bENOSPC\b/i.test(
      text,
    );
  return full
    ? new HumanError(
        `No space left on the disk of ${folder}`,
        'Free some space (`swt-bench storage` shows what this program uses), or choose another folder with --storage or the setting `swt-bench.storageFolder`',
      )
    : undefined;
}

/**
 * Like {@link noSpace}, but also checks the disk itself, because git does not always give the
 * cause. Call it before anything is removed.
 */
export async function fullDisk(error: unknown, folder: string): Promise<HumanError | undefined> {
  const known = noSpace(error, folder);
  if (known !== undefined || !(error instanceof GitError)) return known;
  const disk = await statfs(folder).catch(() => undefined);
  // Some file systems do not count inodes and report 0 of 0.
  const full =
    disk !== undefined &&
    (disk.bavail * disk.bsize < 32 * 1024 || (disk.files > 0 && disk.ffree === 0));
  return full ? noSpace(Object.assign(new Error(), { code: 'ENOSPC' }), folder) : undefined;
}
