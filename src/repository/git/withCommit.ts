import { randomUUID } from 'node:crypto';
import { mkdtemp, readdir, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { plural } from '../../domain/text';
import { Cancelled, type Reporter } from '../../domain/work';
import { removeAbandonedBeside, removeForce, withLock, holdFolder } from '../lock';
import type { CommitTree } from './commitTree';
import { borrowObjects, foreignRepository } from './foreignRepository';
import { git, GitError, fetchFailure, withoutPassword } from '../git';
import { makeFolder } from '../../files/wholeFile';
import { isUrl, repositoryAt } from '../source';
import { fullDisk, lockPath, mirrorFolder } from '../storage';

interface CommitRequest {
  /** `owner/name` */
  readonly repo: string;
  /** Object id, 7 to 64 hexadecimal digits. */
  readonly commit: string;
  /** Path of a local repository, which is only read, or an address, which is mirrored. */
  readonly from: string;
  readonly storage: string;
  readonly signal?: AbortSignal | undefined;
  readonly reporter: Reporter;
}

/**
 * Finds the tree of a commit in the local repository or in the mirror, and passes it to `use`. A
 * missing mirror is cloned, and missing commits are fetched into it. The mirror cannot be freed
 * while `use` runs.
 *
 * @throws HumanError naming the repository, the commit and where it was looked for
 */
export async function withCommit<T>(
  request: CommitRequest,
  use: (found: CommitTree) => Promise<T>,
): Promise<T> {
  const { found, release } = await find(request);
  try {
    return await use(found);
  } finally {
    await release();
  }
}

type Found = { readonly found: CommitTree; readonly release: () => Promise<void> };

async function find(request: CommitRequest): Promise<Found> {
  try {
    if (isUrl(request.from)) return await mirroredCommit(request);
    return await localCommit(request);
  } catch (error) {
    const full = await fullDisk(error, request.storage);
    if (full !== undefined) throw full;
    throw error instanceof GitError ? fetchFailure(error, request) : error;
  }
}

/**
 * Finds a commit in a repository on this machine. Its configuration may name programs, and may be
 * written by anybody. So git sees only its objects, through a temporary repository of our own.
 */
async function localCommit(request: CommitRequest): Promise<Found> {
  const { from, repo, signal } = request;
  const gitDir = await repositoryAt(from);
  if (gitDir === undefined) {
    throw new GitError('rev-parse', `${from} is no longer a git repository (of ${repo})`, 128);
  }
  const { objects, format, promisors } = await foreignRepository(gitDir, signal);
  const scratch = await mkdtemp(join(tmpdir(), 'swt-bench-source-'));
  const release = (): Promise<void> => removeForce(scratch);
  try {
    const own = join(scratch, 'repository');
    await borrowObjects(own, objects, format, signal);
    return { found: await completeLocal(own, promisors, { ...request, signal }), release };
  } catch (error) {
    await release();
    throw error;
  }
}

/** Fetches the files that a user's partial clone lacks, from the address that it uses itself. */
async function completeLocal(
  own: string,
  promisors: readonly string[],
  request: CommitRequest,
): Promise<CommitTree> {
  const [from] = promisors;
  if (from !== undefined) return complete(own, { ...request, from });
  const found = await treeOf(own, request.commit, request.signal);
  if (found.missing.length === 0) return found;
  throw new GitError('rev-list', `missing blob ${found.missing[0]}`, undefined);
}

async function mirroredCommit(request: CommitRequest): Promise<Found> {
  const { repo, from, storage, reporter } = request;
  const folder = mirrorFolder(storage, repo);
  return withLock(
    lockPath(storage, 'mirror', repo),
    { signal: request.signal, reporter, what: `fetches ${repo}` },
    async (signal) => {
      const work = { ...request, signal };
      if ((await repositoryAt(folder)) === undefined) await clone(folder, from, work);
      const release = await holdFolder(folder);
      try {
        return { found: await complete(folder, work), release };
      } catch (error) {
        await release();
        throw error;
      }
    },
  );
}

/**
 * Fetches what the mirror lacks of the commit: first the commit itself, then all its files at once.
 */
async function complete(gitDir: string, request: CommitRequest): Promise<CommitTree> {
  const { commit, repo, from, signal } = request;
  let state = await treeOf(gitDir, commit, signal).catch((error: unknown) => {
    if (error instanceof GitError) return undefined;
    throw error;
  });
  if (state === undefined) {
    await removeLeftovers(gitDir);
    await fetchCommit(gitDir, request);
    state = await treeOf(gitDir, commit, signal);
  }
  // A further round is needed only where a mirror lacks trees, because their files are unknown
  // before.
  for (let round = 0; state.missing.length > 0 && round < 20; round++) {
    await removeLeftovers(gitDir);
    await fetchInto(
      gitDir,
      from,
      ['-c', 'fetch.negotiationAlgorithm=noop'],
      ['--stdin'],
      `${repo}: ${plural(state.missing.length, 'file')} of ${commit.slice(0, 12)}`,
      { ...request, input: `${state.missing.join('\n')}\n` },
    );
    state = await treeOf(gitDir, commit, signal);
  }
  if (state.missing.length > 0) {
    throw new GitError('fetch', `${state.missing.length} objects are missing`, undefined);
  }
  return state;
}

/**
 * The objects of a commit's tree, without fetching any.
 *
 * @throws GitError when the commit or its tree is not there
 */
async function treeOf(
  gitDir: string,
  commit: string,
  signal: AbortSignal | undefined,
): Promise<CommitTree & { readonly missing: readonly string[] }> {
  const listed = await git(
    ['--git-dir', gitDir, 'rev-list', '--objects', '--missing=print', `${commit}^{tree}`, '--'],
    { signal },
  );
  const objects: string[] = [];
  const missing: string[] = [];
  for (const line of listed.split('\n')) {
    if (line.startsWith('?')) missing.push(line.slice(1));
    else if (line !== '') objects.push(line.split(' ', 1)[0] ?? '');
  }
  const [tree] = objects;
  if (tree === undefined) throw new GitError('rev-list', `commit ${commit} has no tree`, undefined);
  return { gitDir, tree, objects, missing };
}

/** Gives up on a server that sends nothing for a minute. */
const silenceLimits = ['-c', 'http.lowSpeedLimit=1000', '-c', 'http.lowSpeedTime=60'];

/**
 * Makes the mirror with every commit but no file contents. Servers that cannot leave those out send
 * everything.
 */
async function clone(folder: string, url: string, request: CommitRequest): Promise<void> {
  const { signal, repo } = request;
  await makeFolder(dirname(folder));
  await removeAbandonedBeside(folder);
  await removeForce(folder);
  const beside = `${folder}.${randomUUID()}`;
  try {
    const options = ['--bare', '--filter=blob:none', '--template=', '--progress'];
    await git([...silenceLimits, 'clone', ...options, '--', url, beside], {
      signal,
      fetches: true,
      onProgress: progressOf(request, `cloning ${repo}`),
    });
    // A token in the address is not stored; each fetch names the requested address.
    const shown = withoutPassword(url);
    if (shown !== url) {
      await git(['--git-dir', beside, 'config', 'remote.origin.url', shown], { signal });
    }
    await rename(beside, folder);
  } finally {
    await removeForce(beside);
  }
}

/**
 * Fetches one commit. From a server that serves no commit by its id, fetches all branches and tags.
 */
async function fetchCommit(gitDir: string, request: CommitRequest): Promise<void> {
  const { commit, repo, from, signal } = request;
  const what = `${repo}: fetching ${commit.slice(0, 12)}`;
  let first: unknown;
  if (/^([0-9a-f]{40}|[0-9a-f]{64})$/i.test(commit)) {
    try {
      // Stored under a ref, so that the next fetch does not transfer this history again.
      const named = `+${commit}:refs/swt-bench/${commit}`;
      return await fetchInto(gitDir, from, [], [named], what, request);
    } catch (error) {
      if (!(error instanceof GitError)) throw error;
      first = error;
    }
  }
  const all = ['+refs/heads/*:refs/heads/*', '+refs/tags/*:refs/tags/*'];
  await fetchInto(gitDir, from, [], all, what, request);
  await treeOf(gitDir, commit, signal).catch((error: unknown) => {
    throw error instanceof Cancelled ? error : (first ?? error);
  });
}

async function fetchInto(
  gitDir: string,
  url: string,
  settings: readonly string[],
  wanted: readonly string[],
  what: string,
  request: CommitRequest & { readonly input?: string },
): Promise<void> {
  // The requested address may differ from that of the mirror. It is set only for this command, so
  // that neither the address nor a password in it is stored.
  const remote = [
    ...['-c', `remote.asked.url=${url}`],
    ...['-c', 'remote.asked.promisor=true', '-c', 'remote.asked.partialclonefilter=blob:none'],
  ];
  await git(
    [
      ...['--git-dir', gitDir, ...silenceLimits, ...settings, ...remote],
      ...['fetch', '--progress', '--no-tags', '--no-write-fetch-head', '--recurse-submodules=no'],
      ...['asked', ...wanted],
    ],
    {
      signal: request.signal,
      fetches: true,
      onProgress: progressOf(request, what),
      ...(request.input === undefined ? {} : { input: request.input }),
    },
  );
}

/** Reports git's progress, at most four times a second. */
function progressOf({ reporter }: CommitRequest, what: string): (line: string) => void {
  reporter.progress(what);
  let last = -Infinity;
  return (line) => {
    const match =
      /^(?:remote: )?([A-Z][a-z ]+): +(\d+)% \(\d+\/\d+\)(?:, ([\d.]+ [KMG]?i?B))?/.exec(line);
    if (match === null || performance.now() - last < 250) return;
    last = performance.now();
    const [, step = '', percent = '', size] = match;
    reporter.progress(
      `${what}: ${step.toLowerCase()} ${percent} %${size === undefined ? '' : `, ${size}`}`,
    );
  };
}

/**
 * Removes what a killed git leaves in a mirror: locks and incomplete packs. Call it only under the
 * lock of the mirror, when nobody else writes to it.
 */
async function removeLeftovers(gitDir: string): Promise<void> {
  const drop = async (folder: string, isLeft: (name: string) => boolean): Promise<void> => {
    for (const name of await readdir(folder).catch(() => [])) {
      if (isLeft(basename(name))) await rm(join(folder, name), { recursive: true, force: true });
    }
  };
  await drop(gitDir, (name) => name.endsWith('.lock'));
  await drop(join(gitDir, 'objects', 'pack'), (name) => /^(\.?tmp_|tmp-)/.test(name));
  await drop(join(gitDir, 'objects'), (name) => /^(tmp_|incoming-)/.test(name));
  const refs = join(gitDir, 'refs');
  for (const name of await readdir(refs, { recursive: true }).catch(() => [])) {
    if (name.endsWith('.lock')) await rm(join(refs, name), { force: true });
  }
}
