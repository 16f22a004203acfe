import { HumanError, messageOf } from '../domain/work';
import { bytesOf, textOf } from '../patch/bytes';
import type { PatchTree } from '../patch/toUnified';
import { unsafePath } from '../patch/unsafePath';
import { git, GitError } from './git';
import { access, constants, lstat, readdir, readFile, readlink, realpath } from 'node:fs/promises';
import { join } from 'node:path';

/** A folder as the tree of a patch, with the links that were requested and not followed. */
export interface FolderTree extends PatchTree {
  paths(): Promise<readonly string[]>;
  readonly links: ReadonlySet<string>;
  readonly beyondLinks: ReadonlyMap<string, string>;
}

/** More names are of no use for hints, and a folder that is no repository may have millions. */
const mostPaths = 200_000;

/**
 * Opens a folder as the tree of a patch. Only files inside the folder are read: paths that leave it
 * do not exist, and no link is followed. Texts and paths are those of `textOf`, so bytes are kept.
 *
 * @throws HumanError when there is no such folder; `read` does when a file cannot be read
 */
export async function folderTree(folder: string): Promise<FolderTree> {
  const unreadable = (error: unknown): never => {
    throw new HumanError(
      `The folder ${folder} cannot be read (${messageOf(error)})`,
      'Specify the folder with the tree',
    );
  };
  const root = await realpath(folder).catch(unreadable);
  if (!(await lstat(root)).isDirectory()) {
    throw new HumanError(`${folder} is not a folder`, 'Specify the folder with the tree');
  }
  // Without rights every file in it would seem to be missing.
  await access(root, constants.R_OK | constants.X_OK).catch(unreadable);
  const links = new Set<string>();
  const beyondLinks = new Map<string, string>();
  let listed: Promise<readonly string[]> | undefined;
  return {
    links,
    beyondLinks,
    async read(path) {
      if (unsafePath(path) !== undefined) return undefined;
      const parts = path.split('/');
      for (let depth = 1; depth <= parts.length; depth += 1) {
        const part = parts.slice(0, depth).join('/');
        const place = placeOf(root, part);
        const info = await lstat(place).catch(() => undefined);
        const isLast = depth === parts.length;
        if (info?.isSymbolicLink() === true) {
          if (isLast) links.add(path);
          else beyondLinks.set(path, part);
          return isLast ? textOf(await readlink(place, { encoding: 'buffer' })) : undefined;
        }
        if (isLast && info?.isFile() === true) return textOf(await contentOf(place, path));
        if (info?.isDirectory() !== true) return undefined;
      }
      return undefined;
    },
    paths: () => (listed ??= list(root)),
  };
}

async function contentOf(place: Buffer, path: string): Promise<Buffer> {
  return readFile(place).catch((error: unknown) => {
    throw new HumanError(
      `${path} of the tree cannot be read (${messageOf(error)})`,
      'Make it readable',
    );
  });
}

/**
 * Paths of the files below a folder, sorted. Excludes `.git`, targets of links, and unreadable
 * folders.
 */
async function list(root: string): Promise<string[]> {
  const found: string[] = [];
  const folders = [''];
  for (let at = 0; at < folders.length && found.length < mostPaths; at += 1) {
    const folder = folders[at] ?? '';
    const place = folder === '' ? Buffer.from(root) : placeOf(root, folder);
    const entries = await readdir(place, { withFileTypes: true, encoding: 'buffer' }).catch(
      () => [],
    );
    for (const entry of entries) {
      const name = textOf(entry.name);
      const path = folder === '' ? name : `${folder}/${name}`;
      if (entry.isFile()) found.push(path);
      else if (entry.isDirectory() && name !== '.git') folders.push(path);
    }
  }
  return found.sort();
}

/** Keeps the exact bytes of the path. */
const placeOf = (root: string, path: string): Buffer => bytesOf(join(root, path));

/**
 * Those of some paths that the `.gitignore` files of a tree name, whether or not they are in it.
 *
 * @param tree folder with a repository of ours
 * @throws GitError, Cancelled
 */
export async function ignoredPaths(
  tree: string,
  paths: readonly string[],
  signal?: AbortSignal,
): Promise<ReadonlySet<string>> {
  if (paths.length === 0) return new Set();
  const options = { cwd: tree, input: paths.map((path) => `${path}\0`).join(''), signal };
  try {
    const found = await git(['check-ignore', '--no-index', '--stdin', '-z'], options);
    return new Set(found.split('\0').filter((path) => path !== ''));
  } catch (error) {
    // Status 1 says that none of them is ignored.
    if (error instanceof GitError && error.status === 1) return new Set();
    throw error;
  }
}
