import {
  copyFile,
  lstat,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  utimes,
} from 'node:fs/promises';
import { randomUUID } from 'node:crypto';
import { tmpdir } from 'node:os';
import { join, sep } from 'node:path';
import { RetryingMemo, HumanError } from '../domain/work';
import { bytesOf, textOf } from '../patch/bytes';
import { removeForce } from './lock';
import { borrowObjects } from './git/foreignRepository';
import { readForeign } from './git/readForeign';
import { git, quoted } from './git';
import { markerPath } from './workspace';
import { writeWholeFile } from '../files/wholeFile';
import { leftovers, refOfR } from './git/repositoryOfR';

export { isLeftover } from './git/repositoryOfR';

/**
 * R as in the repository of a workspace, and the changes since. The author of the workspace may
 * be anybody, so little of its repository is used. These are its objects and, as text, the ref of R
 * and the exclude patterns. Git works with a repository of our own. So it uses no setting, hook,
 * filter, monitor or helper of the workspace, and enters no repository nested in it.
 */
export class WorkspaceRepository {
  private readonly opening = new RetryingMemo(() => this.open());

  /**
   * @param folder of the workspace
   * @param own folder of our repository, outside of the workspace; made when it is needed
   */
  constructor(
    private readonly folder: string,
    private readonly own: string,
  ) {}

  /** The commit of R. @throws HumanError when the workspace has no repository with one */
  r(): Promise<string> {
    return this.opening.get();
  }

  private async open(): Promise<string> {
    const r = await commitOfR(this.folder);
    if (r === undefined) {
      throw new HumanError(
        `The workspace ${this.folder} has no git repository with R's commit`,
        'Open the instance again. Your edits in this folder are kept',
      );
    }
    const objects = join(this.folder, '.git', 'objects');
    const isHere = (await lstat(objects).catch(() => undefined))?.isDirectory() === true;
    if (
      !isHere ||
      (await isThere(join(objects, 'info', 'alternates'))) ||
      !(await holdsPlainFiles(objects))
    ) {
      throw new HumanError(
        `The git repository of ${this.folder} borrows objects from another repository`,
        'Open the instance again, or make the repository self-contained: run `git repack -a -d`, then remove .git/objects/info/alternates and links in .git/objects',
      );
    }
    const format = r.length === 64 ? 'sha256' : 'sha1';
    await borrowObjects(this.own, objects, format);
    return r;
  }

  /**
   * Folder of our repository, for callers that make trees of R. The one in the workspace is not a
   * safe source, because git would follow its configuration to other places.
   *
   * @throws HumanError as `r`
   */
  async repository(): Promise<string> {
    await this.r();
    return this.own;
  }

  /** Paths of the files of R, relative to the workspace. */
  async paths(signal?: AbortSignal): Promise<string[]> {
    const listed = await this.ask(['ls-tree', '-r', '-z', '--name-only', await this.r()], signal);
    return listed.split('\0').filter((path) => path !== '');
  }

  /** A file of R with its exact bytes (see patch/bytes.ts); undefined when R does not have it. */
  async read(path: string): Promise<string | undefined> {
    const r = await this.r();
    return this.ask(['cat-file', 'blob', `${r}:${path}`]).catch(() => undefined);
  }

  /**
   * Files of R by path, as from `read`, without those that R does not have. Calls git only once.
   */
  async readMany(paths: readonly string[]): Promise<ReadonlyMap<string, string>> {
    const r = await this.r();
    // The input has one name a line.
    const names = paths.filter((path) => !path.includes('\n'));
    if (names.length === 0) return new Map();
    const input = names.map((path) => `${r}:${path}\n`).join('');
    const output = bytesOf(await this.ask(['cat-file', '--batch'], undefined, input));
    const found = new Map<string, string>();
    let at = 0;
    for (const path of names) {
      const end = output.indexOf(0x0a, at);
      const head = output.subarray(at, end < 0 ? output.length : end).toString('latin1');
      at = end + 1;
      const size = Number(/^[0-9a-f]+ [a-z]+ (\d+)$/.exec(head)?.[1]);
      if (Number.isNaN(size)) continue;
      if (head.includes(' blob ')) found.set(path, textOf(output.subarray(at, at + size)));
      at += size + 1;
    }
    return found;
  }

  private ask(args: readonly string[], signal?: AbortSignal, input?: string): Promise<string> {
    const env = { GIT_DIR: this.own, GIT_WORK_TREE: this.folder };
    return git(args, { cwd: this.own, env, signal, ...(input === undefined ? {} : { input }) });
  }

  /**
   * The edits of the workspace against R as a patch, committed or not, new files included. A custom
   * diff that R does not have is a note of the author about edits, and none itself.
   * Submodules of R and repositories inside the workspace are left out, with all their content.
   *
   * @throws HumanError when the workspace has no repository with R, Cancelled
   */
  async edits(signal?: AbortSignal): Promise<string> {
    const r = await this.r();
    // Index and contents of files are in a temporary folder, so that the repository does not grow
    // with every call. A cancelled git leaves locks and incomplete objects behind, which are
    // removed with the folder.
    const look = await mkdtemp(join(tmpdir(), 'swt-bench-edits-'));
    const index = join(look, 'index');
    const objects = join(look, 'objects');
    const env = {
      GIT_DIR: this.own,
      GIT_WORK_TREE: this.folder,
      GIT_INDEX_FILE: index,
      GIT_OBJECT_DIRECTORY: objects,
      GIT_ALTERNATE_OBJECT_DIRECTORIES: quoted(join(this.own, 'objects')),
    };
    const ask = (args: readonly string[], input?: string): Promise<string> =>
      git(args, { cwd: this.own, env, signal, ...(input === undefined ? {} : { input }) });
    try {
      await mkdir(objects);
      await this.takeExcludes();
      await this.indexOfR(r, index, ask);
      const [changed, added] = await Promise.all([
        ask([...['diff-files', '-z', '--name-only', '--no-renames'], ...contentOnly]),
        ask(['ls-files', '-z', '--others', '--exclude-standard']),
      ]);
      const paths = [
        ...changed.split('\0'),
        ...added.split('\0').filter((path) => !isCustomDiff(path)),
      ].filter(
        // A folder in the list is a repository in the workspace. Our marker is never an edit, even
        // if R tracks a file of that name.
        (path) => path !== '' && !path.endsWith('/') && path !== markerPath,
      );
      if (paths.length === 0) return '';
      const [files, others] = await this.parted(paths);
      if (others.length > 0) {
        await ask(['update-index', '--force-remove', '-z', '--stdin'], nulEnded(others));
      }
      if (files.length > 0) {
        const update = ['update-index', '--add', '--replace', '--remove', '-z', '--stdin'];
        await ask(update, nulEnded(files));
      }
      return await ask(['diff', '--cached', '--binary', '--no-color', ...contentOnly, r]);
    } finally {
      await removeForce(look);
    }
  }

  /**
   * Combines the patterns of the workspace's repository, read as text, with ours. Each file is
   * replaced as a whole, since another call may be reading it.
   */
  private async takeExcludes(): Promise<void> {
    for (const [name, ours] of [
      ['exclude', leftovers],
      // The attributes of the checkout. Drivers that they name exist in no configuration here.
      ['attributes', []],
    ] as const) {
      const theirs = (await readForeign(this.folder, `.git/info/${name}`)) ?? '';
      const text = [...ours, theirs, ''].join('\n');
      const place = join(this.own, 'info', name);
      if ((await readFile(place, 'utf8').catch(() => undefined)) === text) continue;
      await writeWholeFile(place, text);
    }
  }

  /**
   * An index of R with the times of unchanged files, which need not be read again. It is kept for
   * the next call in our own folder, because an index in the workspace can hide edits.
   */
  private async indexOfR(
    r: string,
    index: string,
    ask: (args: readonly string[]) => Promise<string>,
  ): Promise<void> {
    const kept = join(this.own, `index-${r}`);
    const before = await copyIndex(kept, index);
    if (before === undefined) await ask(['read-tree', r]);
    await ask(['update-index', '-q', '--refresh', '--ignore-submodules']);
    if ((await stat(index)).mtimeMs === before) return;
    const beside = join(this.own, `look.${randomUUID()}`);
    try {
      await copyIndex(index, beside);
      await rename(beside, kept);
    } catch {
      await rm(beside, { force: true }); // a full disk only makes the next call slower
    }
  }

  /** Separates paths of files and links from paths without either. */
  private async parted(paths: readonly string[]): Promise<[string[], string[]]> {
    const files: string[] = [];
    const others: string[] = [];
    for (const path of paths) {
      const place = Buffer.concat([Buffer.from(this.folder + sep), bytesOf(path)]);
      const info = await lstat(place).catch(() => undefined);
      const isContent = info?.isFile() === true || info?.isSymbolicLink() === true;
      (isContent ? files : others).push(path);
    }
    return [files, others];
  }
}

/** Options that make a comparison depend only on R and the files. */
const contentOnly = ['--no-ext-diff', '--no-textconv', '--ignore-submodules=all'];

const isCustomDiff = (path: string): boolean => path.endsWith('.swtdiff');

const isThere = async (path: string): Promise<boolean> =>
  (await lstat(path).catch(() => undefined)) !== undefined;

/**
 * Whether a folder of objects contains only files and folders. A link leads elsewhere, and reading
 * a pipe can block git for ever.
 */
async function holdsPlainFiles(folder: string): Promise<boolean> {
  const entries = await readdir(folder, { withFileTypes: true });
  for (const entry of entries) {
    if (entry.isFile()) continue;
    if (!entry.isDirectory() || !(await holdsPlainFiles(join(folder, entry.name)))) return false;
  }
  return true;
}

const nulEnded = (paths: readonly string[]): string => paths.map((path) => `${path}\0`).join('');

/**
 * Copies an index and keeps its time. Git needs it to recognise files that were written too shortly
 * before the index to be trusted.
 *
 * @returns that time in milliseconds; undefined when there is none to copy
 */
async function copyIndex(from: string, to: string): Promise<number | undefined> {
  try {
    const seconds = Math.floor((await stat(from)).mtimeMs) / 1000;
    await copyFile(from, to);
    await utimes(to, seconds, seconds);
    return (await stat(to)).mtimeMs;
  } catch {
    await rm(to, { force: true });
    return undefined;
  }
}

/**
 * The commit of R in a workspace, read from the files of its repository; HEAD when no ref names it.
 */
async function commitOfR(folder: string): Promise<string | undefined> {
  const r = await commitOf(folder, refOfR);
  if (r !== undefined) return r;
  const head = (await readForeign(folder, '.git/HEAD'))?.trim() ?? '';
  const branch = /^ref: (refs\/\S+)$/.exec(head)?.[1];
  return branch === undefined ? idIn(head) : commitOf(folder, branch);
}

/** Format: gitrepository-layout(5), `refs` and `packed-refs`. */
async function commitOf(folder: string, ref: string): Promise<string | undefined> {
  if (ref.split('/').some((part) => part === '' || part.startsWith('.'))) return undefined;
  const loose = idIn((await readForeign(folder, `.git/${ref}`)) ?? '');
  if (loose !== undefined) return loose;
  const packed = (await readForeign(folder, '.git/packed-refs')) ?? '';
  const line = packed.split('\n').find((each) => each.trimEnd().endsWith(` ${ref}`));
  return line === undefined ? undefined : idIn(line.slice(0, line.indexOf(' ')));
}

const idIn = (text: string): string | undefined =>
  /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/.exec(text.trim())?.[0];
