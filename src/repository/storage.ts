import { homedir } from 'node:os';
import { isAbsolute, join, resolve } from 'node:path';
import { checkedId } from '../domain/instanceId';
import { HumanError } from '../domain/humanError';

/**
 * The layout of the storage folder, shared by the command line and every window of the editor. It
 * holds only what can be made again:
 *
 * - `data/swt-bench/` datasets
 * - `mirrors/<owner>__<name>/` bare clones
 * - `instances/<id>/trees/<key>/` R and R∘X*, `instances/<id>/runs/` finished runs,
 *   `instances/<id>/state.json` validation and last verdict,
 *   `instances/<id>/compiled/<build>/` what an interpreter has compiled of the trees
 * - `pairs/` running sandboxes
 * - `environments/` which files of an environment tests have changed
 * - `images/` when images of the docker engine were used last, logs of how they were made
 * - `locks/` who is at work on what
 */

/** `$SWT_BENCH_STORAGE`, else `swt-bench` in `$XDG_CACHE_HOME` or `~/.cache`. */
export function defaultStorage(env: NodeJS.ProcessEnv = process.env): string {
  const own = env['SWT_BENCH_STORAGE'] ?? '';
  if (own !== '') return resolve(own);
  const cache = env['XDG_CACHE_HOME'] ?? '';
  // The XDG specification says that a relative path is to be ignored.
  return join(isAbsolute(cache) ? cache : join(homedir(), '.cache'), 'swt-bench');
}

/** @throws HumanError when `repo` is not `owner/name` */
export function checkedRepo(repo: string): string {
  if (/^[A-Za-z0-9_-][A-Za-z0-9_.-]*\/(?!\.+$)[A-Za-z0-9_.-]+$/.test(repo)) return repo;
  throw new HumanError(
    `${JSON.stringify(repo.slice(0, 80))} is not a repository`,
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
  // An owner's name on GitHub has no underscores in a row; the first pair is where it ends.
  const match = /^([A-Za-z0-9_-][A-Za-z0-9_.-]*?)__([A-Za-z0-9_.-]+)$/.exec(name);
  return match === null ? undefined : `${match[1]}/${match[2]}`;
}

export const dataFolder = (storage: string): string => join(storage, 'data', 'swt-bench');

export const pairsFolder = (storage: string): string => join(storage, 'pairs');

/** Where the lock of a name lies; nothing else lies beside it, so that no freeing takes it away. */
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
