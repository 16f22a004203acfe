import { createHash, randomUUID } from 'node:crypto';
import { cp, lstat, mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { constants } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { z } from 'zod';
import type { Instance } from '../domain/instance';
import { HumanError } from '../domain/problem';
import type { Reporter } from '../domain/reporter';
import { git, GitError } from './git';
import { writeFilesOfR, type TreeSource } from './source';

/** The trees of one instance: git repositories without remote or history. R∘X* is one commit on R's. */
export interface Trees {
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

const digestSchema = z.object({ base: z.string(), fixed: z.string() });

/** Raised when the layout or content of kept trees changes, so that older ones are made again. */
const layout = 3;

/**
 * The trees of an instance below `storage`, made once and kept. They are pristine: nothing runs in
 * them, work is done on copies.
 *
 * @throws HumanError when R cannot be had or the golden patch does not apply to it
 */
export async function prepareTrees(
  instance: Instance,
  source: TreeSource,
  storage: string,
  work: Work,
): Promise<Trees> {
  const changed = source.kind === 'snapshot' ? await snapshotStamp(source.from) : '';
  const key = createHash('sha256')
    .update(JSON.stringify([layout, instance.baseCommit, instance.goldenPatch, source, changed]))
    .digest('hex')
    .slice(0, 16);
  const folder = join(storage, 'trees', instance.id, key);
  const described = join(folder, 'trees.json');
  const known = await readDigest(described);
  const trees = { base: join(folder, 'base'), fixed: join(folder, 'fixed'), source };
  if (known !== undefined) return { ...trees, digest: known };

  // Made beside and renamed: a killed process leaves a folder that nothing looks at.
  const beside = `${folder}.${randomUUID()}`;
  try {
    const made = await makeTrees(instance, source, beside, work);
    await writeFile(join(beside, 'trees.json'), JSON.stringify(made));
    await rename(beside, folder).catch(async () => {
      // Another process finished the same work first: theirs is as good.
      if ((await readDigest(described)) !== undefined) return;
      // What stands there is damaged.
      await rm(folder, { recursive: true, force: true });
      await rename(beside, folder);
    });
    return { ...trees, digest: made };
  } finally {
    await rm(beside, { recursive: true, force: true });
  }
}

/** The description of finished trees; undefined when there is none that can be read. */
async function readDigest(path: string): Promise<Trees['digest'] | undefined> {
  try {
    return digestSchema.parse(JSON.parse(await readFile(path, 'utf8')));
  } catch {
    return undefined;
  }
}

async function makeTrees(
  instance: Instance,
  source: TreeSource,
  folder: string,
  work: Work,
): Promise<Trees['digest']> {
  const base = join(folder, 'base');
  const fixed = join(folder, 'fixed');
  await writeTreeOfR(instance, source, base, work);
  await copyTree(base, fixed);
  await applyGolden(instance, source, fixed, work.signal);
  return { base: await treeId(base), fixed: await treeId(fixed) };
}

/** Makes R in the empty folder `out`: its files, committed as the only commit. */
export async function writeTreeOfR(
  instance: Instance,
  source: TreeSource,
  out: string,
  work: Work,
): Promise<void> {
  await mkdir(out, { recursive: true });
  await writeFilesOfR(instance, source, out, work);
  await git(['init', '--quiet', '--template=', '--initial-branch=R', '.'], {
    cwd: out,
    signal: work.signal,
  });
  await mkdir(join(out, '.git', 'info'), { recursive: true });
  await writeFile(join(out, '.git', 'info', 'exclude'), leftovers.join('\n') + '\n');
  await commitAll(out, `R of ${instance.id}`, work.signal);
  await git(['update-ref', refOfR, 'HEAD'], { cwd: out, signal: work.signal });
}

/** What running and editing leaves in a tree and is never part of a candidate. */
const leftovers = [
  '__pycache__/',
  '*.py[co]',
  '.pytest_cache/',
  '.vscode/',
  '.swt-bench/',
  '.devcontainer/',
  '*.swp',
];

/** Turns a copy of R into R∘X*. */
async function applyGolden(
  instance: Instance,
  source: TreeSource,
  tree: string,
  signal: AbortSignal | undefined,
): Promise<void> {
  try {
    await applyToTree(tree, instance.goldenPatch, signal);
  } catch (error) {
    if (!(error instanceof GitError)) throw error;
    throw new HumanError(
      `The golden patch of ${instance.id} does not apply to its repository from ${source.from} (${error.stderr.trim().split('\n')[0]})`,
      source.kind === 'snapshot'
        ? 'Name a snapshot closer to the base commit with --source'
        : 'Check that base_commit and patch of the row belong together',
    );
  }
  await commitAll(tree, `R with the golden patch of ${instance.id}`, signal);
}

/**
 * Applies a unified diff to the files of a tree with `git apply`, which refuses paths outside it and
 * changes nothing when any part does not fit.
 *
 * @throws GitError with git's words when it does not apply
 */
export async function applyToTree(
  tree: string,
  patch: string,
  signal?: AbortSignal,
  options: readonly string[] = [],
): Promise<void> {
  await git(['apply', '--whitespace=nowarn', ...options, '-'], {
    cwd: tree,
    input: patch.endsWith('\n') ? patch : `${patch}\n`,
    signal,
    // A tree below another repository must not be taken for a part of it.
    env: { GIT_CEILING_DIRECTORIES: dirname(resolve(tree)) },
  });
}

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

/** Copies a tree with its repository; cheap where the file system can clone. */
export async function copyTree(from: string, to: string): Promise<void> {
  await mkdir(dirname(to), { recursive: true });
  await cp(from, to, {
    recursive: true,
    verbatimSymlinks: true,
    preserveTimestamps: true,
    mode: constants.COPYFILE_FICLONE,
  });
}

/**
 * Puts a working copy back to its commit: edits, new files and ignored files go. Compiled Python files
 * stay, since compiling a large package again for each candidate takes longer than most of its tests.
 */
export async function resetTree(tree: string, signal?: AbortSignal): Promise<void> {
  await git(['reset', '--quiet', '--hard', 'HEAD'], { cwd: tree, signal });
  await git(['clean', '-ffdxq', '--exclude=__pycache__'], { cwd: tree, signal });
}

/** Where every tree remembers R, so that an author who commits still has a candidate against R. */
const refOfR = 'refs/swt-bench/R';

/** The commit that is R in a tree: HEAD where nothing else is said. */
export function rOf(tree: string, signal?: AbortSignal): Promise<string> {
  return git(['rev-parse', '--verify', '--quiet', refOfR], { cwd: tree, signal }).then(
    (id) => id.trim(),
    () => 'HEAD',
  );
}

/** The edits of a working copy against R, committed or not, new files included, as a patch. */
export async function editsOf(tree: string, signal?: AbortSignal): Promise<string> {
  const index = join(
    tree,
    '.git',
    `swt-bench-index-${process.pid}-${Math.random().toString(36).slice(2)}`,
  );
  const options = { cwd: tree, signal, env: { GIT_INDEX_FILE: index } };
  try {
    // An index of our own, so that what the author has staged stays as it is.
    const r = await rOf(tree, signal);
    await git(['read-tree', r], options);
    await git(['add', '--all', '.'], options);
    return await git(['diff', '--cached', '--binary', '--no-color', '--no-ext-diff', r], options);
  } finally {
    await rm(index, { force: true });
  }
}

async function commitAll(
  tree: string,
  message: string,
  signal: AbortSignal | undefined,
): Promise<void> {
  // Forced: files that .gitignore names can be part of the published tree.
  await git(['add', '--all', '--force', '.'], { cwd: tree, signal });
  await git(['commit', '--quiet', '--allow-empty', '--no-verify', '-m', message], {
    cwd: tree,
    signal,
  });
}

const treeId = async (tree: string): Promise<string> =>
  (await git(['rev-parse', 'HEAD^{tree}'], { cwd: tree })).trim();

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
