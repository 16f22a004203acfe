import { randomUUID } from 'node:crypto';
import { mkdir, readFile, rename, stat, writeFile } from 'node:fs/promises';
import { dirname, isAbsolute, join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { removeForce } from '../lock';
import { git, GitError, quoted } from '../git';
import { isUrl } from '../source';

/** The hash of object ids (extensions.objectFormat of git-config(1)). */
type ObjectFormat = 'sha1' | 'sha256';

/**
 * Makes a repository of our own that borrows the objects of another one. Objects are named by their
 * content and run nothing. Git looks for configuration, hooks, attributes, refs and submodules in
 * our repository, and never reads those of the other one.
 *
 * @param own folder that does not exist yet, or that an earlier call made
 * @param objects folder with the objects, `objects` of the other repository
 */
export async function borrowObjects(
  own: string,
  objects: string,
  format: ObjectFormat,
  signal?: AbortSignal,
): Promise<void> {
  const lent = `${quoted(resolve(objects))}\n`;
  const isMade = async (): Promise<boolean> => {
    const read = (path: string): Promise<string> => readFile(join(own, path), 'utf8');
    return read(alternates).then(
      async (text) => text === lent && (await read(formatFile)) === format,
      () => false,
    );
  };
  if (await isMade()) return;
  const beside = `${own}.${randomUUID()}`;
  try {
    await mkdir(dirname(own), { recursive: true });
    const init = ['init', '--quiet', '--bare', '--template=', '--initial-branch=R'];
    await git(['--git-dir', beside, ...init, `--object-format=${format}`], { signal });
    for (const folder of ['info', join('objects', 'info')])
      await mkdir(join(beside, folder), { recursive: true });
    await writeFile(join(beside, alternates), lent);
    await writeFile(join(beside, formatFile), format);
    await rename(beside, own).catch(async (error: unknown) => {
      if (await isMade()) throw error;
      // The existing folder was made for other objects, or is damaged.
      await removeForce(own);
      await rename(beside, own);
    });
  } catch (error) {
    // Another window made the same repository meanwhile.
    if (!(await isMade())) throw error;
  } finally {
    await removeForce(beside);
  }
}

const alternates = join('objects', 'info', 'alternates');
/** File with the object format of the repository, to be read without git. */
const formatFile = 'swt-bench-format';

/** A repository of someone else. We read its files ourselves, never through git. */
interface ForeignRepository {
  /** Folder of its objects. */
  readonly objects: string;
  readonly format: ObjectFormat;
  /** Addresses from which a partial clone fetches its missing objects. */
  readonly promisors: readonly string[];
}

/**
 * Reads the facts that borrowing from a repository needs. Linked work trees and partial clones are
 * followed to the folder of their objects.
 *
 * @param gitDir `.git` of a work tree, also as a file, or a bare repository
 * @throws GitError when there is no repository
 */
export async function foreignRepository(
  gitDir: string,
  signal?: AbortSignal,
): Promise<ForeignRepository> {
  const text = (path: string): Promise<string | undefined> =>
    readFile(path, 'utf8').then(
      (content) => content.replace(/\r?\n$/, ''),
      () => undefined,
    );
  let folder = gitDir;
  if ((await stat(folder).catch(() => undefined))?.isFile() === true) {
    const to = /^gitdir: (.+)$/s.exec((await text(folder)) ?? '')?.[1];
    if (to !== undefined) folder = resolve(dirname(folder), to);
  }
  // gitrepository-layout(5): a linked work tree names the folder with the rest of its repository.
  const common = await text(join(folder, 'commondir'));
  if (common !== undefined) folder = resolve(folder, common);
  const objects = join(folder, 'objects');
  if ((await stat(objects).catch(() => undefined))?.isDirectory() !== true) {
    throw new GitError('rev-parse', `${gitDir} is not a git repository`, 128);
  }
  const config = await configOf(join(folder, 'config'), signal);
  const format =
    config.get('extensions.objectformat')?.toLowerCase() === 'sha256' ? 'sha256' : 'sha1';
  return { objects, format, promisors: promisorsOf(config, dirname(gitDir)) };
}

/** The last value of each name in a configuration file, without the files that it includes. */
async function configOf(
  file: string,
  signal: AbortSignal | undefined,
): Promise<ReadonlyMap<string, string>> {
  // A repository without this file has no settings, but is still valid.
  if ((await stat(file).catch(() => undefined))?.isFile() !== true) return new Map();
  const listed = await git(['config', '--file', file, '--no-includes', '--list', '-z'], { signal });
  return new Map(
    listed.split('\0').flatMap((entry) => {
      const [name = '', ...value] = entry.split('\n');
      // A name without a value means `true`.
      return name === '' ? [] : [[name, value.length === 0 ? 'true' : value.join('\n')] as const];
    }),
  );
}

function promisorsOf(config: ReadonlyMap<string, string>, beside: string): string[] {
  const named = config.get('extensions.partialclone');
  const remotes = [...config].flatMap(([name, value]) => {
    const remote = /^remote\.(.+)\.promisor$/s.exec(name)?.[1];
    return remote !== undefined && /^(true|yes|on|1)$/i.test(value) ? [remote] : [];
  });
  return [...new Set([...remotes, ...(named === undefined ? [] : [named])])].flatMap((remote) => {
    const url = config.get(`remote.${remote}.url`);
    if (url === undefined) return [];
    if (isUrl(url)) return [url];
    // Any other address with a colon in front names a remote helper or a host.
    if (/^[^/\\]*:/.test(url) && !isAbsolute(url)) return [];
    return [pathToFileURL(resolve(beside, url)).href];
  });
}
