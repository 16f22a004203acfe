import { createHash, randomUUID } from 'node:crypto';
import {
  copyFile,
  lstat,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rename,
  rm,
  rmdir,
  stat,
  utimes,
  writeFile,
} from 'node:fs/promises';
import { constants } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { z } from 'zod';
import type { Instance } from '../domain/instance';
import type { Reporter } from '../domain/reporter';
import { removeAbandonedBeside, removeForce } from './abandoned';
import { git, GitError } from './git';
import { applyGolden, applyToTree, plainApply, type Applied } from './golden';
import { withLock } from './lock';
import { makeFolder } from './makeFolder';
import { withCommit } from './mirrors';
import { holdFolder } from './owner';
import { writeSnapshot, type TreeSource } from './source';
import { fullDisk, noSpace } from './space';
import { withoutPassword } from './unreachable';
import { defaultStorage, instanceFolder, lockPath, treesFolder } from './storage';
import {
  checkOut,
  copyTree,
  keepLineEnds,
  packCommit,
  packFiles,
  quoted,
  refOfR,
  treeId,
  twinTree,
} from './writeTree';

export { applyToTree, copyTree };

/** The trees of one instance: git repositories without remote or history. R∘X* is one commit on R's. */
export interface Trees extends Applied {
  /** R. */
  readonly base: string;
  /** R∘X*. */
  readonly fixed: string;
  readonly source: TreeSource;
  /** Object ids of the two git trees: equal ids, equal content. */
  readonly digest: { readonly base: string; readonly fixed: string };
}

interface Work {
  readonly signal?: AbortSignal | undefined;
  readonly reporter: Reporter;
}

/** What is kept beside the trees: enough to use them again. */
const madeSchema = z.object({
  digest: z.object({ base: z.string(), fixed: z.string() }),
  appliedWith: z.string(),
  golden: z.string().optional(),
});

type Made = Pick<Trees, 'digest' | 'appliedWith' | 'golden'>;

/** Raised when the layout or content of kept trees changes, so that older ones are made again. */
const layout = 4;

/**
 * The trees of an instance below `storage`, made once and kept. They are pristine: nothing runs in
 * them, work is done on copies. Processes that ask at once wait for the one that makes them.
 *
 * @throws HumanError when R cannot be had, the golden patch does not apply to it, or the disk is full
 */
export async function prepareTrees(
  instance: Instance,
  source: TreeSource,
  storage: string,
  work: Work,
): Promise<Trees> {
  // Equal commits are equal wherever they come from; a snapshot is only what lies there now.
  const content =
    source.kind === 'snapshot'
      ? [source.from, await snapshotStamp(source.from)]
      : [instance.repo, instance.baseCommit];
  const key = createHash('sha256')
    .update(JSON.stringify([layout, source.kind, content, instance.goldenPatch]))
    .digest('hex')
    .slice(0, 16);
  const parent = treesFolder(storage, instance.id);
  const folder = join(parent, key);
  const trees = {
    base: join(folder, 'base'),
    fixed: join(folder, 'fixed'),
    // This goes into reports, where a token has no place.
    source: { ...source, from: withoutPassword(source.from) },
  };
  const known = await readMade(folder);
  if (known !== undefined) return { ...trees, ...known };

  const options = { ...work, what: `prepares ${instance.id}` };
  try {
    return await withLock(lockPath(storage, 'instance', instance.id), options, async (signal) => {
      const made =
        (await readMade(folder)) ??
        (await makeInPlace(folder, storage, (beside) =>
          makeTrees(instance, source, beside, { ...work, signal, storage }),
        ));
      return { ...trees, ...made };
    });
  } catch (error) {
    // Only folders that are empty go: what failed leaves no trace in the list of what uses the disk.
    await rmdir(parent).catch(() => undefined);
    await rmdir(instanceFolder(storage, instance.id)).catch(() => undefined);
    throw noSpace(error, storage) ?? error;
  }
}

/** Makes a folder beside and renames it, so that it is there whole or not at all. Under its lock. */
async function makeInPlace(
  folder: string,
  storage: string,
  make: (beside: string) => Promise<Made>,
): Promise<Made> {
  const beside = `${folder}.${randomUUID()}`;
  try {
    await makeFolder(dirname(folder));
    await removeHalfMade(dirname(folder));
    const made = await make(beside);
    await writeFile(join(beside, 'trees.json'), JSON.stringify(made));
    // What stands there is damaged: it could not be read.
    await removeForce(folder);
    await rename(beside, folder);
    return made;
  } catch (error) {
    throw (await fullDisk(error, storage)) ?? error;
  } finally {
    await removeForce(beside);
  }
}

/** Trees of any key that a killed process did not finish. */
async function removeHalfMade(parent: string): Promise<void> {
  const keys = new Set((await readdir(parent)).map((name) => name.split('.')[0] ?? ''));
  for (const key of keys) await removeAbandonedBeside(join(parent, key));
}

/** The description of finished trees; undefined when they are not there, or not whole. */
async function readMade(folder: string): Promise<Made | undefined> {
  try {
    const { golden, ...rest } = madeSchema.parse(
      JSON.parse(await readFile(join(folder, 'trees.json'), 'utf8')),
    );
    for (const side of ['base', 'fixed']) await stat(join(folder, side, '.git', 'HEAD'));
    return golden === undefined ? rest : { ...rest, golden };
  } catch {
    return undefined;
  }
}

async function makeTrees(
  instance: Instance,
  source: TreeSource,
  folder: string,
  work: Work & { readonly storage: string },
): Promise<Made> {
  const base = join(folder, 'base');
  const fixed = join(folder, 'fixed');
  const { signal } = work;
  await writeTreeOfR(instance, source, base, work);
  await twinTree(base, fixed, signal);
  const applied = await applyGolden(instance, source, fixed, signal);
  const [baseId, fixedId] = await Promise.all([treeId(base), treeId(fixed)]);
  return { digest: { base: baseId, fixed: fixedId }, ...applied };
}

/**
 * Makes R in the empty folder `out`: its files, committed as the only commit.
 *
 * @param work its `storage` has the mirrors, for a source that is an address
 */
export async function writeTreeOfR(
  instance: Instance,
  source: TreeSource,
  out: string,
  work: Work & { readonly storage?: string },
): Promise<void> {
  if (source.kind === 'snapshot') {
    await makeFolder(out);
    await writeSnapshot(source, out, work);
    await packFiles(out, `R of ${instance.id}`, work.signal);
  } else {
    await packR(instance, source, out, work);
    await checkOut(out, work.signal);
    await keepLineEnds(out, work.signal);
  }
}

async function packR(
  instance: Instance,
  source: TreeSource,
  out: string,
  work: Work & { readonly storage?: string },
): Promise<void> {
  const { repo, baseCommit: commit, id } = instance;
  const storage = work.storage ?? defaultStorage();
  await withCommit({ repo, commit, from: source.from, ...work, storage }, (found) => {
    work.reporter.progress(`${id}: writing R and R∘X*`);
    return packCommit(found, `R of ${id}`, out, work.signal);
  });
}

/**
 * What a reader of results on these trees should know; undefined when there is nothing to say.
 */
export function remarkOn(trees: Pick<Trees, 'appliedWith'>): string | undefined {
  return trees.appliedWith === plainApply
    ? undefined
    : `the golden patch does not apply with \`git apply\`; R∘X* was made with \`${trees.appliedWith}\`, and changed lines are those that it changed`;
}

/** Keeps the trees from being freed until the returned function is called. */
export const holdTrees = (trees: Pick<Trees, 'base'>): Promise<() => Promise<void>> =>
  holdFolder(dirname(trees.base));

/**
 * Why a patch does not apply to a tree, in git's words, or undefined when it does. Changes nothing.
 */
export async function whyNotApply(
  tree: string,
  patch: string,
  signal?: AbortSignal,
): Promise<string | undefined> {
  try {
    await applyToTree(tree, patch, signal, ['--check']);
    return undefined;
  } catch (error) {
    if (!(error instanceof GitError)) throw error;
    return error.stderr
      .trim()
      .split('\n')
      .map((line) => line.replace(/^error: /, ''))
      .join('; ');
  }
}

/** The commit that is R in a tree: HEAD where nothing else is said. */
export function rOf(tree: string, signal?: AbortSignal): Promise<string> {
  return git(['rev-parse', '--verify', '--quiet', refOfR], { cwd: tree, signal }).then(
    (id) => id.trim(),
    (error: unknown) => {
      if (error instanceof GitError) return 'HEAD';
      throw error;
    },
  );
}

/** The edits of a working copy against R, committed or not, new files included, as a patch. */
export async function editsOf(tree: string, signal?: AbortSignal): Promise<string> {
  // An index of our own, so that what the author has staged stays as it is, and a place of our own for
  // the contents of files, so that the repository does not grow with every look. Git leaves locks and
  // half-written objects behind when it is cancelled; here they go with the folder.
  const own = await mkdtemp(join(tmpdir(), 'swt-bench-edits-'));
  const index = join(own, 'index');
  const env = {
    GIT_INDEX_FILE: index,
    GIT_OBJECT_DIRECTORY: join(own, 'objects'),
    GIT_ALTERNATE_OBJECT_DIRECTORIES: quoted(resolve(tree, '.git', 'objects')),
  };
  const options = { cwd: tree, signal, env };
  try {
    await mkdir(env.GIT_OBJECT_DIRECTORY);
    const r = await rOf(tree, signal);
    await copyIndex(join(tree, '.git', 'index'), index);
    await git(['read-tree', '--reset', r], options).catch(async (error: unknown) => {
      if (!(error instanceof GitError)) throw error;
      await rm(index, { force: true });
      await git(['read-tree', r], options);
    });
    await git(['add', '--all', '.'], options);
    return await git(['diff', '--cached', '--binary', '--no-color', '--no-ext-diff', r], options);
  } finally {
    await removeForce(own);
  }
}

/**
 * Copies an index, so that files whose times it knows need not be read again. With its own time, which
 * is how git knows the files that were written too shortly before it to be sure of them.
 */
async function copyIndex(from: string, to: string): Promise<void> {
  try {
    const { mtimeMs } = await stat(from);
    await copyFile(from, to);
    const seconds = Math.floor(mtimeMs) / 1000;
    await utimes(to, seconds, seconds);
  } catch {
    await rm(to, { force: true });
  }
}

/** Changes when a snapshot does: the listing of a folder's files, or an archive's size and time. */
async function snapshotStamp(path: string): Promise<string> {
  const info = await stat(path);
  if (info.isFile()) return `${info.size}:${info.mtimeMs}`;
  const hash = createHash('sha256');
  const names = (await readdir(path, { recursive: true }))
    .filter((name) => !/(^|[\\/])(__pycache__|\.git)([\\/]|$)/.test(name))
    .sort();
  for (const name of names) {
    const { size, mtimeMs, mode } = await lstat(join(path, name));
    // The time of a folder changes with files that are left out here.
    if ((mode & constants.S_IFMT) === constants.S_IFDIR) continue;
    hash.update(`${name}\0${size}\0${mtimeMs}\n`);
  }
  return hash.digest('hex');
}
