import { systemCode } from '../../domain/work';
import { git, quoted, identity } from '../git';
import type { CommitTree } from './commitTree';
import { GitIndex } from './gitIndex';
import { createHash } from 'node:crypto';
import { copyFile, mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join, resolve, dirname } from 'node:path';
import { deflateSync } from 'node:zlib';

/**
 * The ref that points to R in every tree, so that a candidate is compared with R even after the
 * author commits.
 */
export const refOfR = 'refs/swt-bench/R';

/** The branch that HEAD of a tree names. */
export const branchOfR = 'refs/heads/R';

const refs = [refOfR, branchOfR];

/** The file of a repository with {@link leftovers}. */
const exclude = join('info', 'exclude');

/**
 * Message of the only commit of a tree, the same for R and R∘X*. It does not contain the id of the
 * instance, because that names the pull request, and tests and models can read the message.
 */
const message = 'swt-bench';

/** Patterns of files that runs and editors leave in a tree; they are never part of a candidate. */
export const leftovers = [
  '__pycache__/',
  '*.py[co]',
  '.pytest_cache/',
  '.vscode/',
  '.swt-bench/',
  '.devcontainer/',
  '*.swp',
];

/** Whether a path of a tree is one of {@link leftovers}. */
export const isLeftover = (path: string): boolean => leftover.test(path);

/** The patterns as git reads them: each matches a name at any depth, and `/` at its end a folder. */
const leftover = new RegExp(
  `(^|/)(${leftovers
    .map((each) => each.replaceAll('.', '\\.').replaceAll('*', '[^/]*').replace(/[^/]$/, '$&$'))
    .join('|')})`,
);

/**
 * Makes the repository of R in the empty folder `tree`, without its files. It has one commit with
 * the tree of the found commit, and no other object. The objects are copied into a new pack rather
 * than borrowed, so that neither their history nor the path of their repository can be found.
 */
export async function repositoryFromCommit(
  found: CommitTree,
  tree: string,
  signal: AbortSignal | undefined,
): Promise<void> {
  await init(tree, found.tree.length === 64 ? 'sha256' : 'sha1', signal);
  const own = join(tree, '.git');
  await packObjects(found.gitDir, own, found.objects, [], signal);
  await writeLooseCommit(own, found.tree, message, refs);
}

/**
 * Copies objects into a pack of another repository.
 *
 * @param ids objects, or with `--revs` in `options` trees with all that is below them
 */
async function packObjects(
  from: string,
  to: string,
  ids: readonly string[],
  options: readonly string[],
  signal: AbortSignal | undefined,
): Promise<void> {
  const objects = join(to, 'objects');
  // Existing deltas are used; a search for further ones takes three times as long.
  const quick = ['--window=0', '--compression=1', '--quiet'];
  const pack = join(objects, 'pack', 'pack');
  await git(['--git-dir', from, 'pack-objects', ...quick, ...options, pack], {
    signal,
    input: `${ids.join('\n')}\n`,
    // Everything that git writes, unfinished packs included, goes to the new tree and not to the
    // source.
    env: {
      GIT_OBJECT_DIRECTORY: objects,
      GIT_ALTERNATE_OBJECT_DIRECTORIES: quoted(resolve(from, 'objects')),
    },
  });
}

/**
 * Verifies that the objects of a newly packed tree match their ids. Git trusts the ids in a local
 * repository, and the kept objects are then used for every other source.
 *
 * @throws GitError when one does not match
 */
export async function verifyObjects(tree: string, signal: AbortSignal | undefined): Promise<void> {
  const packs = join(tree, '.git', 'objects', 'pack');
  const names = (await readdir(packs)).filter((name) => name.endsWith('.idx'));
  for (const name of names) {
    await git(['verify-pack', join(packs, name)], { cwd: tree, signal });
  }
}

/**
 * Makes the repository of R in a folder with the files of R, which become its only commit.
 *
 * @returns object id of the commit's tree
 */
export async function repositoryFromFiles(
  tree: string,
  signal: AbortSignal | undefined,
): Promise<string> {
  await init(tree, 'sha1', signal);
  await stageAll(tree, signal);
  return commitAlone(tree, signal);
}

/**
 * Replaces the repository of a tree by one with the staged files as one commit without a parent,
 * and no other object. Nothing in it reveals what the tree was made from, or what came before.
 *
 * @returns object id of the commit's tree
 */
export async function commitAlone(tree: string, signal: AbortSignal | undefined): Promise<string> {
  const staged = (await git(['write-tree'], { cwd: tree, signal })).trim();
  const own = join(tree, '.git');
  const beside = `${tree}.repository`;
  try {
    // The folders that `git init` makes.
    for (const folder of ['objects/info', 'objects/pack', 'refs/heads', 'refs/tags', 'info']) {
      await mkdir(join(beside, folder), { recursive: true });
    }
    await packObjects(own, beside, [staged], ['--revs'], signal);
    await writeLooseCommit(beside, staged, message, refs);
    for (const kept of ['HEAD', 'config', 'index', exclude, join('info', 'attributes')]) {
      await copyFile(join(own, kept), join(beside, kept)).catch((error: unknown) => {
        if (systemCode(error) !== 'ENOENT') throw error;
      });
    }
    await rm(own, { recursive: true, force: true });
    await rename(beside, own);
    return staged;
  } finally {
    await rm(beside, { recursive: true, force: true });
  }
}

async function init(
  tree: string,
  format: 'sha1' | 'sha256',
  signal: AbortSignal | undefined,
): Promise<void> {
  await mkdir(tree, { recursive: true });
  await git(
    ['init', '--quiet', '--template=', '--initial-branch=R', `--object-format=${format}`, '.'],
    { cwd: tree, signal },
  );
  await mkdir(join(tree, '.git', 'info'), { recursive: true });
  await writeFile(join(tree, '.git', exclude), leftovers.join('\n') + '\n');
}

/** Stages all files of a tree. */
export async function stageAll(tree: string, signal: AbortSignal | undefined): Promise<void> {
  // All files count as "big", so they go into one pack: thousands of small files take time, here
  // and in copies.
  const onePack = ['-c', 'core.bigFileThreshold=1', '-c', 'core.compression=1'];
  // A further hard link changes only this time of a file, so the file need not be read again.
  const linked = ['-c', 'core.trustctime=false'];
  // Forced, because the published tree can have files that .gitignore names.
  await git([...onePack, ...linked, 'add', '--all', '--force', '.'], { cwd: tree, signal });
}

/**
 * Keeps files whose line ends differ from what the attributes of R require. Git would correct them
 * in the next commit, and a candidate would seem to change every line of them.
 */
export async function keepLineEnds(tree: string, signal: AbortSignal | undefined): Promise<void> {
  const { entries } = new GitIndex(await readFile(join(tree, '.git', 'index')));
  if (!entries.some(({ path }) => /(^|\/)\.gitattributes$/i.test(path))) return;
  const converted = [':(attr:text)', ':(attr:eol=crlf)', ':(attr:eol=lf)'];
  // `i/LINE-ENDS w/LINE-ENDS attr/ATTRIBUTES <tab> PATH`, as in git-ls-files(1).
  const listed = await git(['ls-files', '-z', '--eol', '--', ...converted], { cwd: tree, signal });
  const odd = listed
    .split('\0')
    .filter((line) => /^i\/(crlf|mixed) /.test(line))
    .map((line) => line.slice(line.indexOf('\t') + 1));
  if (odd.length === 0) return;
  const lines = odd.map((path) => `${quoted(`/${path.replace(/[\\*?[]/g, '\\$&')}`)} -text\n`);
  await writeFile(join(tree, '.git', 'info', 'attributes'), lines.join(''));
}

/**
 * Writes a commit without a parent into a repository of ours, and refs that point to it, without a
 * log. Author and date are those of every commit of ours, so equal trees have equal commits.
 * Formats: https://git-scm.com/docs/gitformat-loose, https://git-scm.com/docs/gitrepository-layout
 *
 * @param tree object id of the commit's tree
 * @param refs full names, such as `refs/heads/R`
 */
async function writeLooseCommit(
  gitDir: string,
  tree: string,
  message: string,
  refs: readonly string[],
): Promise<void> {
  const { name, email, seconds } = identity;
  const person = `${name} <${email}> ${seconds} +0000`;
  const body = `tree ${tree}\nauthor ${person}\ncommitter ${person}\n\n${message}\n`;
  const object = `commit ${Buffer.byteLength(body)}\0${body}`;
  const id = createHash(tree.length === 64 ? 'sha256' : 'sha1')
    .update(object)
    .digest('hex');
  const write = async (path: string, content: Buffer | string, mode: number): Promise<void> => {
    await mkdir(dirname(join(gitDir, path)), { recursive: true });
    await writeFile(join(gitDir, path), content, { mode });
  };
  await write(join('objects', id.slice(0, 2), id.slice(2)), deflateSync(object), 0o444);
  for (const ref of refs) await write(ref, `${id}\n`, 0o666);
}
