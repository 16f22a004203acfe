import { createHash, randomUUID } from 'node:crypto';
import { lstat, readdir, readFile, rename, rmdir, stat, writeFile } from 'node:fs/promises';
import { constants } from 'node:fs';
import { dirname, join } from 'node:path';
import { z } from 'zod';
import { sha256OfJson } from '../files/digest';
import type { Instance } from '../domain/instance';
import { sideName, sides, type Side } from '../domain/outcome';
import { throwIfAborted, type Reporter } from '../domain/work';
import type { FilePatch } from '../patch/parsedPatch';
import { parseUnified } from '../patch/parseUnified';
import { checkPatchPaths } from '../patch/unsafePath';
import { removeAbandonedBeside, removeForce, withLock, holdFolder } from './lock';
import { GitError, SourceUnusable, withoutPassword } from './git';
import {
  applyOnCopies,
  applyGolden,
  applyPatchOfRow,
  applyToTree,
  plainApply,
  type Applied,
} from './trees/golden';
import { makeFolder } from '../files/wholeFile';
import { withCommit } from './git/withCommit';
import { plainEdits } from './trees/plainEdits';
import { isUrl, writeSnapshot, type TreeSource } from './source';
import {
  fullDisk,
  noSpace,
  defaultStorage,
  instanceFolder,
  lockPath,
  treesFolder,
} from './storage';
import { checkOut, twinTree } from './trees/copyTree';
import {
  keepLineEnds,
  repositoryFromCommit,
  repositoryFromFiles,
  verifyObjects,
} from './git/repositoryOfR';

export { copyTree } from './trees/copyTree';
export {
  applyFuzzily,
  applyOnCopies,
  applyToTree,
  GoldenPatchUnfit,
  plainApply,
} from './trees/golden';

/**
 * The trees of one instance: git repositories without remote or history. Each is one commit without
 * a parent, with the same message, author and date, so that a tree does not reveal its side.
 */
export interface Trees extends Applied {
  /** R. */
  readonly base: string;
  /** R∘X*. */
  readonly fixed: string;
  readonly source: TreeSource;
  /** Object ids of the two git trees: equal ids mean equal content. */
  readonly digest: { readonly base: string; readonly fixed: string };
}

interface Work {
  readonly signal?: AbortSignal | undefined;
  readonly reporter: Reporter;
}

/** The record beside kept trees, with all that is needed to use them again. */
const madeSchema = z.object({
  digest: z.object({ base: z.string(), fixed: z.string() }),
  appliedWith: z.string(),
  golden: z.string().optional(),
});

type Made = Pick<Trees, 'digest' | 'appliedWith' | 'golden'>;

/** Version of the layout and content of kept trees; raised so that older ones are made again. */
const layout = 5;

/**
 * The trees of an instance below `storage`, made once and kept. They are pristine: nothing runs in
 * them, and all work uses copies. Processes that ask at the same time wait for the one that makes
 * them.
 *
 * @throws HumanError when R is not available, the golden patch does not apply to it, or the disk is
 * full
 */
export async function prepareTrees(
  instance: Instance,
  source: TreeSource,
  storage: string,
  work: Work,
): Promise<Trees> {
  // A commit has the same content from any source, but a snapshot has only its present content.
  const content =
    source.kind === 'snapshot'
      ? [source.from, await snapshotStamp(source.from)]
      : [instance.repo, instance.baseCommit];
  const key = sha256OfJson([layout, source.kind, content, instance.goldenPatch]).slice(0, 16);
  const parent = treesFolder(storage, instance.id);
  const folder = join(parent, key);
  const trees = {
    base: join(folder, 'base'),
    fixed: join(folder, 'fixed'),
    // Reports include this, so it must not contain a token.
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
    // Only empty folders are removed, so that a failure leaves no trace in the list of disk use.
    await rmdir(parent).catch(() => undefined);
    await rmdir(instanceFolder(storage, instance.id)).catch(() => undefined);
    throw noSpace(error, storage) ?? error;
  }
}

/**
 * Makes a folder beside and renames it, so that it appears whole or not at all. Call it under its
 * lock.
 */
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
    // The existing folder is damaged, since it could not be read.
    await removeForce(folder);
    await rename(beside, folder);
    return made;
  } catch (error) {
    throw (await fullDisk(error, storage)) ?? error;
  } finally {
    await removeForce(beside);
  }
}

/** Removes trees of any key that a killed process did not finish. */
async function removeHalfMade(parent: string): Promise<void> {
  const keys = new Set((await readdir(parent)).map((name) => name.split('.')[0] ?? ''));
  for (const key of keys) await removeAbandonedBeside(join(parent, key));
}

/** The description of finished trees; undefined when they are missing or incomplete. */
async function readMade(folder: string): Promise<Made | undefined> {
  try {
    const { golden, ...rest } = madeSchema.parse(
      JSON.parse(await readFile(join(folder, 'trees.json'), 'utf8')),
    );
    for (const side of sides) await stat(join(folder, side, '.git', 'HEAD'));
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
  const idOfR = await writeTreeOfR(instance, source, base, work);
  await twinTree(base, fixed, signal);
  const { applied, tree } = await applyGolden(instance, source, fixed, signal);
  return { digest: { base: idOfR, fixed: tree }, ...applied };
}

/**
 * Makes R in the empty folder `out`, with its files as the only commit.
 *
 * @param work its `storage` has the mirrors, for a source that is an address
 * @returns object id of the commit's tree
 */
export async function writeTreeOfR(
  instance: Instance,
  source: TreeSource,
  out: string,
  work: Work & { readonly storage?: string },
): Promise<string> {
  const packed = source.kind === 'snapshot' ? undefined : await packR(instance, source, out, work);
  if (source.kind === 'snapshot') {
    await makeFolder(out);
    await writeSnapshot(source, out, work);
  }
  try {
    if (packed === undefined) return await repositoryFromFiles(out, work.signal);
    await checkOut(out, work.signal);
    await keepLineEnds(out, work.signal);
    return packed;
  } catch (error) {
    if (!(error instanceof GitError) || (await fullDisk(error, out)) !== undefined) throw error;
    // One possible cause: attributes of R that its files do not satisfy.
    throw new SourceUnusable(
      `Git cannot check out ${instance.id} from ${withoutPassword(source.from)} (${error.stderr.trim().split('\n').at(-1)})`,
      'Specify another source with --source',
    );
  }
}

/** @returns object id of the commit's tree */
async function packR(
  instance: Instance,
  source: TreeSource,
  out: string,
  work: Work & { readonly storage?: string },
): Promise<string> {
  const { repo, baseCommit: commit, id } = instance;
  const storage = work.storage ?? defaultStorage();
  const request = { repo, commit, from: source.from, ...work, storage };
  const tree = await withCommit(request, async (found) => {
    work.reporter.progress(`${id}: writing R and R∘X*`);
    await repositoryFromCommit(found, out, work.signal);
    return found.tree;
  });
  // Objects of a mirror were verified when they were fetched.
  if (isUrl(source.from)) return tree;
  await verifyObjects(out, work.signal).catch((error: unknown) => {
    if (!(error instanceof GitError)) throw error;
    throw new SourceUnusable(
      `In the repository ${source.from}, an object of commit ${commit.slice(0, 12)} does not match its ID`,
      'The repository is damaged or forged; run `git fsck` in it for details. Specify another one with --source',
    );
  });
  return tree;
}

/** A remark for readers of results on these trees; undefined when there is none. */
export function remarkOn(trees: Pick<Trees, 'appliedWith'>): string | undefined {
  return trees.appliedWith === plainApply
    ? undefined
    : `\`git apply\` rejects the golden patch; R∘X* was created with \`${trees.appliedWith}\`, and changed lines are the lines that this changed`;
}

/** Prevents the trees from being freed until the returned function is called. */
export const holdTrees = (trees: Pick<Trees, 'base'>): Promise<() => Promise<void>> =>
  holdFolder(dirname(trees.base));

/**
 * The reason in git's words why a patch does not apply to a tree; undefined when it does. Changes
 * nothing.
 */
export async function whyNotApply(
  tree: string,
  patch: string,
  signal?: AbortSignal,
): Promise<string | undefined> {
  throwIfAborted(signal);
  if ((await plainEdits(tree, patch)) !== undefined) return undefined;
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

/** T* as a patch that applies to both sides, or why there is none. */
type GoldenTestsOfTrees =
  | { readonly patch: string; readonly appliedWith: string }
  | { readonly problem: string };

/**
 * Makes T* apply to both sides, in the ways in which X* is applied to R.
 *
 * @param read a file of R
 */
export async function goldenTestsFor(
  trees: Pick<Trees, Side>,
  tests: string,
  read: (path: string) => Promise<string | undefined>,
  signal: AbortSignal | undefined,
): Promise<GoldenTestsOfTrees> {
  const plain = await whyNotOnBoth(trees, tests, signal);
  if (plain === undefined) return { patch: tests, appliedWith: plainApply };
  const parsed = parseUnified(tests);
  const isWithout = ({ binary, binaryPatch }: FilePatch): boolean =>
    binary && binaryPatch === undefined;
  // GNU patch leaves out binary files, and tests that read them would fail.
  const isRefused = checkPatchPaths(parsed).length > 0 || parsed.files.some(isWithout);
  if (isRefused) return { problem: plain };
  const found = await applyOnCopies(read, tests, (tree) =>
    applyPatchOfRow(tree, tests, signal).catch((error: unknown) => {
      if (!(error instanceof GitError)) throw error;
      return undefined;
    }),
  );
  const isFit =
    found !== undefined && (await whyNotOnBoth(trees, found.patch, signal)) === undefined;
  return isFit ? found : { problem: plain };
}

/** Why a patch does not apply to a side, with its name; undefined when it applies to both. */
async function whyNotOnBoth(
  trees: Pick<Trees, Side>,
  patch: string,
  signal: AbortSignal | undefined,
): Promise<string | undefined> {
  for (const side of sides) {
    const why = await whyNotApply(trees[side], patch, signal);
    if (why !== undefined) return `to ${sideName[side]} (${why})`;
  }
  return undefined;
}

/**
 * Changes when a snapshot does: built from the listing of a folder's files, or from an archive's
 * size and time.
 */
async function snapshotStamp(path: string): Promise<string> {
  const info = await stat(path);
  if (info.isFile()) return `${info.size}:${info.mtimeMs}`;
  const hash = createHash('sha256');
  const names = (await readdir(path, { recursive: true }))
    .filter((name) => !/(^|[\\/])(__pycache__|\.git)([\\/]|$)/.test(name))
    .sort();
  for (const name of names) {
    const { size, mtimeMs, mode } = await lstat(join(path, name));
    // The time of a folder also changes with files that are left out here.
    if ((mode & constants.S_IFMT) === constants.S_IFDIR) continue;
    hash.update(`${name}\0${size}\0${mtimeMs}\n`);
  }
  return hash.digest('hex');
}
