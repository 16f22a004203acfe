import { cp, mkdir, readdir, rename, rm, stat } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import * as tar from 'tar';
import type { Instance } from '../domain/instance';
import { HumanError, messageOf } from '../domain/problem';
import type { Reporter } from '../domain/reporter';
import { git, GitError } from './git';

/**
 * Where R comes from. A snapshot is not the base commit itself, only what somebody says is close to
 * it (a release, for example), so reports name it.
 */
export interface TreeSource {
  readonly kind: 'commit' | 'snapshot';
  /** Path or address. */
  readonly from: string;
}

/** `--source` arguments: `owner/name=WHERE` for one repository, or `WHERE` for every one. */
export type Sources = ReadonlyMap<string, string>;

/** @throws HumanError on an empty part */
export function parseSources(values: readonly string[]): Sources {
  const sources = new Map<string, string>();
  for (const value of values) {
    const match = /^([A-Za-z0-9_.-]+\/[A-Za-z0-9_.-]+)=(.*)$/.exec(value);
    const [repo, where] = [match?.[1] ?? '*', match?.[2] ?? value];
    if (where.trim() === '') {
      throw new HumanError(
        repo === '*' ? '--source is empty' : `--source ${value} names no place`,
        'Write --source owner/name=PATH_OR_URL or --source PATH',
      );
    }
    sources.set(repo, where);
  }
  return sources;
}

/** Where the tree of an instance is to be had: what `--source` says, else GitHub. */
export async function sourceOf(instance: Instance, sources: Sources): Promise<TreeSource> {
  const where = sources.get(instance.repo) ?? sources.get('*');
  if (where === undefined)
    return { kind: 'commit', from: `https://github.com/${instance.repo}.git` };
  if (isUrl(where)) return { kind: 'commit', from: where };
  const path = resolve(where);
  const found = await stat(path).catch(() => undefined);
  if (found === undefined) {
    throw new HumanError(
      `The source ${where} of ${instance.repo} does not exist`,
      'Give a git repository, a folder, a .tar.gz archive, or an address',
    );
  }
  if (found.isFile()) {
    if (!/\.(tar|tgz|tar\.gz)$/.test(path)) {
      throw new HumanError(
        `The source ${where} is a file but not a .tar or .tar.gz archive`,
        'Unpack it and name the folder',
      );
    }
    return { kind: 'snapshot', from: path };
  }
  const repository = (await isRepository(path)) !== undefined;
  return { kind: repository ? 'commit' : 'snapshot', from: path };
}

const isUrl = (where: string): boolean =>
  /^(https?|ssh|git|file):\/\/|^[\w.-]+@[\w.-]+:/.test(where);

/** The git directory of a repository with or without a work tree; undefined for a plain folder. */
async function isRepository(path: string): Promise<string | undefined> {
  const exists = async (name: string): Promise<boolean> =>
    (await stat(join(path, name)).catch(() => undefined)) !== undefined;
  if (await exists('.git')) return join(path, '.git');
  return (await exists('HEAD')) && (await exists('objects')) ? path : undefined;
}

/**
 * Writes the files of R into the empty folder `out`, without any history.
 *
 * @throws HumanError naming the repository, the commit and where it was looked for
 */
export async function writeFilesOfR(
  instance: Instance,
  source: TreeSource,
  out: string,
  options: { readonly signal?: AbortSignal | undefined; readonly reporter: Reporter },
): Promise<void> {
  const { reporter, signal } = options;
  if (source.kind === 'snapshot') {
    reporter.progress(`copying ${basename(source.from)}`);
    if ((await stat(source.from)).isFile()) await unpack(source.from, out);
    else await copySnapshot(source.from, out);
    return;
  }
  const local = isUrl(source.from) ? undefined : await isRepository(source.from);
  try {
    if (local !== undefined) {
      reporter.progress(`checking out ${instance.baseCommit.slice(0, 12)}`);
      await checkOut(local, instance.baseCommit, out, signal);
    } else {
      reporter.progress(`fetching ${instance.repo} at ${instance.baseCommit.slice(0, 12)}`);
      await fetchCommit(source.from, instance.baseCommit, out, signal);
    }
  } catch (error) {
    if (!(error instanceof GitError)) throw error;
    throw new HumanError(
      `Commit ${instance.baseCommit} of ${instance.repo} cannot be had from ${source.from} (${firstLine(error.stderr)})`,
      `Give --source ${instance.repo}=PATH_OR_URL of a repository that has it, or a folder or archive with a release that the patch fits`,
    );
  }
}

/** Checks out one commit of a local repository through an index of our own; the source is only read. */
async function checkOut(
  gitDir: string,
  commit: string,
  out: string,
  signal: AbortSignal | undefined,
): Promise<void> {
  const index = `${out}.index`;
  const options = { env: { GIT_INDEX_FILE: index }, signal, cwd: out, userConfig: true };
  try {
    await git(['--git-dir', gitDir, 'read-tree', `${commit}^{tree}`], options);
    await git(
      ['--git-dir', gitDir, '--work-tree', out, 'checkout-index', '--all', '--force'],
      options,
    );
  } finally {
    await rm(index, { force: true });
  }
}

/** Fetches the one commit, so that nothing later than R is on this machine. */
async function fetchCommit(
  url: string,
  commit: string,
  out: string,
  signal: AbortSignal | undefined,
): Promise<void> {
  const gitDir = `${out}.fetch`;
  try {
    await git(['init', '--quiet', '--bare', '--template=', gitDir], { signal });
    await git(
      ['--git-dir', gitDir, 'fetch', '--quiet', '--depth', '1', '--no-tags', '--', url, commit],
      {
        signal,
        userConfig: true,
      },
    );
    await checkOut(gitDir, commit, out, signal);
  } finally {
    await rm(gitDir, { recursive: true, force: true });
  }
}

async function copySnapshot(from: string, out: string): Promise<void> {
  await cp(from, out, {
    recursive: true,
    verbatimSymlinks: true,
    filter: (path) => !/^(\.git|__pycache__|\.hg|\.tox|\.venv|node_modules)$/.test(basename(path)),
  });
}

/** Unpacks an archive; a single folder at its top (`sympy-1.11.1/`) is taken as the root. */
async function unpack(archive: string, out: string): Promise<void> {
  const beside = `${out}.unpacked`;
  await mkdir(beside, { recursive: true });
  try {
    await tar.extract({
      file: archive,
      cwd: beside,
      preservePaths: false,
      strict: true,
      // A repository inside would bring its history, and settings that run programs.
      filter: (path) => !/(^|\/)\.git(\/|$)/i.test(path),
    });
    const entries = await readdir(beside, { withFileTypes: true });
    const only = entries.length === 1 ? entries[0] : undefined;
    await rm(out, { recursive: true, force: true });
    await rename(only?.isDirectory() === true ? join(beside, only.name) : beside, out);
  } catch (error) {
    throw new HumanError(
      `The archive ${archive} cannot be unpacked (${messageOf(error)})`,
      'Download it again, or unpack it and name the folder',
    );
  } finally {
    await rm(beside, { recursive: true, force: true });
  }
}

const firstLine = (text: string): string =>
  text
    .trim()
    .split('\n')
    .at(-1)
    ?.replace(/^fatal: /, '') ?? '';
