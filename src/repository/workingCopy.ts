import { createHash } from 'node:crypto';
import { lstatSync } from 'node:fs';
import { mkdir, readdir, readFile, rename, rm, utimes, writeFile } from 'node:fs/promises';
import { dirname, join, sep } from 'node:path';
import { bytesOf } from '../patch/bytes';
import { git } from './git';
import { applyToTree } from './golden';
import { copyTree } from './writeTree';

/** A copy of a tree in which code runs that nobody has read. */
export interface WorkingCopy {
  /**
   * Makes the tree what it was, whatever was done to it. Compiled Python files stay, since compiling a
   * large package again for each candidate takes longer than most of its tests.
   *
   * Not to be cut short: it takes a moment, and a git that is killed leaves its locks behind.
   *
   * @throws when something cannot be put back; the copy is then of no more use
   */
  reset(): Promise<void>;
  /** Applies a patch to the tree that was reset. @throws GitError when it does not apply */
  apply(patch: string): Promise<void>;
}

/**
 * Copies a pristine tree. The repository by which it is put back lies in `gitFolder`, out of the way of
 * tests that commit, leave locks or set up hooks. The tree holds another `.git`, for the many projects
 * that ask git for their version: made anew with every reset, and never read here.
 *
 * @param gitFolder outside `tree`, on the same disk, not there yet
 */
export async function openWorkingCopy(
  from: string,
  tree: string,
  gitFolder: string,
  signal?: AbortSignal,
): Promise<WorkingCopy> {
  await copyTree(from, tree, signal);
  await mkdir(dirname(gitFolder), { recursive: true });
  await rename(join(tree, '.git'), gitFolder);
  const env = { GIT_DIR: gitFolder, GIT_WORK_TREE: tree };
  const list = async (...args: string[]): Promise<string[]> =>
    (await git(['ls-files', '-z', ...args], { cwd: tree, env })).split('\0').filter(Boolean);
  const commit = (await git(['rev-parse', 'HEAD'], { cwd: tree, env })).trim();
  const published = await repositoryFiles(gitFolder);
  const { folders, modules } = foldersOf(await list('--stage'));

  /** Python files that are not as git last wrote them, or that are not of the tree. */
  const pythonEdits = (): Promise<string[]> => list('--modified', '--others', '--', '*.py');

  return {
    async reset() {
      await rm(join(tree, '.git'), { recursive: true, force: true });
      const edited = await pythonEdits();
      // Before the files of the tree: a link in the place of a folder hides from git that they are gone.
      for (const path of await list('--others', '--directory')) {
        if (/(^|\/)__pycache__\/$/.test(path)) continue;
        await rm(inside(tree, path), { recursive: true, force: true });
      }
      await removeSpecial(tree);
      await git(['reset', '--quiet', '--hard', commit], { cwd: tree, env });
      // Git itself passes over these.
      for (const folder of folders) {
        const path = join(tree, folder, '.git');
        if (lstatSync(path, { throwIfNoEntry: false }) !== undefined) {
          await rm(path, { recursive: true, force: true });
        }
      }
      for (const path of modules) {
        for (const name of await readdir(join(tree, path)).catch(() => [])) {
          await rm(join(tree, path, name), { recursive: true, force: true });
        }
      }
      await stamp(tree, edited);
      await writePublished(tree, gitFolder, published);
    },
    async apply(patch) {
      await applyToTree(tree, patch, undefined, [], env);
      await stamp(tree, await pythonEdits());
    },
  };
}

/** Pipes, sockets and devices, which git does not see. */
async function removeSpecial(folder: string): Promise<void> {
  for (const entry of await readdir(folder, { withFileTypes: true }).catch(() => [])) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) await removeSpecial(path);
    else if (!entry.isFile() && !entry.isSymbolicLink()) await rm(path, { force: true });
  }
}

/** A path that git has listed, with its exact bytes. */
const inside = (tree: string, path: string): Buffer =>
  Buffer.concat([Buffer.from(tree + sep), bytesOf(path.replace(/\/$/, ''))]);

/**
 * Folders with files of the tree, except the root, and folders of submodules, from lines
 * `MODE OBJECT STAGE <tab> PATH` of git-ls-files(1).
 */
function foldersOf(lines: readonly string[]): {
  readonly folders: ReadonlySet<string>;
  readonly modules: readonly string[];
} {
  const folders = new Set<string>();
  const modules: string[] = [];
  for (const line of lines) {
    const path = line.slice(line.indexOf('\t') + 1);
    if (line.startsWith('160000 ')) modules.push(path);
    for (let up = dirname(path); up !== '.' && !folders.has(up); up = dirname(up)) folders.add(up);
  }
  return { folders, modules };
}

/** Contents of a repository's files by path, without its objects and its index. */
async function repositoryFiles(gitFolder: string): Promise<ReadonlyMap<string, Buffer>> {
  const files = new Map<string, Buffer>();
  const read = async (path: string): Promise<void> => {
    for (const entry of await readdir(join(gitFolder, path), { withFileTypes: true })) {
      const inner = join(path, entry.name);
      if (inner === 'objects' || inner === 'index') continue;
      if (entry.isDirectory()) await read(inner);
      else files.set(inner, await readFile(join(gitFolder, inner)));
    }
  };
  await read('');
  return files;
}

/** Gives the tree a repository of its own, which borrows its objects. */
async function writePublished(
  tree: string,
  gitFolder: string,
  files: ReadonlyMap<string, Buffer>,
): Promise<void> {
  const own = join(tree, '.git');
  const lent = join(gitFolder, 'objects').split(sep).join('/');
  const index = await readFile(join(gitFolder, 'index'));
  for (const folder of ['objects/pack', 'refs'])
    await mkdir(join(own, folder), { recursive: true });
  for (const [path, content] of [
    ...files,
    ['index', index],
    [join('objects', 'info', 'alternates'), `${lent}\n`],
  ] as const) {
    await mkdir(dirname(join(own, path)), { recursive: true });
    await writeFile(join(own, path), content);
  }
}

/**
 * Gives Python files a modification time made from their content. Python takes a compiled file as
 * current when time (in whole seconds) and size agree, so what is written twice within a second could
 * otherwise run as compiled the first time.
 */
async function stamp(tree: string, paths: readonly string[]): Promise<void> {
  for (const path of new Set(paths)) {
    const file = inside(tree, path);
    // Deleted files are listed too, and links, which may lead anywhere.
    if (lstatSync(file, { throwIfNoEntry: false })?.isFile() !== true) continue;
    const content = await readFile(file);
    const seconds = createHash('sha256').update(content).digest().readUInt32LE(0) % 1_500_000_000;
    await utimes(file, seconds, seconds);
  }
}
