import { constants, lstatSync, type BigIntStats } from 'node:fs';
import {
  chmod,
  copyFile,
  lutimes,
  mkdir,
  readdir,
  readFile,
  readlink,
  rename,
  rm,
  symlink,
  utimes,
  writeFile,
} from 'node:fs/promises';
import { dirname, join, sep } from 'node:path';
import { bytesOf, textOf } from '../patch/bytes';
import { parseUnified } from '../patch/parseUnified';
import { GitIndex } from './git/gitIndex';
import { applyToTree } from './trees/golden';
import { stampAt, stampOf, stampsBelow, type FileStamp } from './treeFiles';
import { copyTree } from './trees/copyTree';
import { branchOfR } from './git/repositoryOfR';
import { plainEdits, writePlainEdits } from './trees/plainEdits';

/** A copy of a tree in which unreviewed code runs. */
export interface WorkingCopy {
  /** Python files of the pristine tree, by name. */
  readonly modules: ReadonlyMap<string, PristineModule>;
  /**
   * Restores the tree, whatever was done to it: contents, permissions and times of all files,
   * ignored ones included. All other files are removed. Compiled Python files are those that
   * `compiled` has.
   *
   * It cannot be cancelled: it takes only a moment, and half of it would leave an undefined tree.
   *
   * @throws when something cannot be restored; the copy is then unusable
   */
  reset(): Promise<void>;
  /** Applies a patch to the tree after a reset. @throws GitError when it does not apply */
  apply(patch: string): Promise<void>;
  /**
   * Modules of the pristine tree that a run has compiled and that `compiled` does not have yet.
   * Only their names are taken from the run.
   */
  compiledByRun(): Promise<readonly PristineModule[]>;
}

/** A Python file of a pristine tree. */
export interface PristineModule {
  /** Equal ids mean equal content. */
  readonly id: string;
  /** Path in the tree, in Latin-1: the same in R and R∘X*. */
  readonly name: string;
  /** Absolute path in the pristine tree. */
  readonly path: string;
}

/** Compiled files that are made only from pristine modules, by a program that does not run them. */
export interface CompiledFiles {
  /** The ending of compiled files after the name of the module: `.cpython-311.pyc`. */
  readonly suffix: string;
  /** The file to put into `__pycache__` for a module with {@link treeTime}; undefined for none. */
  find(module: PristineModule): string | undefined;
  /** Resolves when all requested files are made. */
  ready(): Promise<void>;
}

/**
 * The modification time of every file of a tree, in seconds since 1970: that of its commit. As it
 * is the same for all, times do not reveal which files X* changed, and compiled files are valid in
 * every copy.
 */
export const treeTime = Date.UTC(2000, 0, 1) / 1000;

/**
 * The time of files that a candidate writes, so that no compiled file of the tree itself is used
 * for them.
 */
const patchTime = treeTime + 2;

/** What a working copy has beside the files of its tree. */
interface AddedFiles {
  readonly compiled?: CompiledFiles | undefined;
  /** Files that installing in place writes into the tree: their origins by path in the tree. */
  readonly installed?: ReadonlyMap<string, string> | undefined;
  /** Name of a tag of the one commit in the repository that tests see. */
  readonly tag?: string | undefined;
}

/** What belongs at a path of the tree. Paths are in Latin-1, with one character for each byte. */
type Entry =
  | { readonly kind: 'folder'; readonly mode: number; readonly names: Set<string> }
  | {
      readonly kind: 'file';
      readonly mode: number;
      /** Stamp of the file in the pristine tree. */
      readonly pristine: FileStamp | undefined;
      stamp: FileStamp | undefined;
    }
  | { readonly kind: 'link'; readonly target: Buffer; stamp: FileStamp | undefined }
  | {
      /** A file that the pristine tree does not have: compiled, or written by an installation. */
      readonly kind: 'added';
      readonly from: string;
      stamp: FileStamp | undefined;
    };

const cacheFolder = '__pycache__';

/**
 * Copies a pristine tree. The repository for applying candidates is in `gitFolder`, out of reach of
 * tests that commit, leave locks or set up hooks. The tree has another `.git`, for the many
 * projects that ask git for their version. It is made again with every reset, and never read here.
 *
 * The state of the tree is kept in memory, where tests cannot change it. Neither an index nor a
 * modification time is trusted.
 *
 * @param gitFolder outside `tree`, on the same disk, not existing yet
 * @param added files to have in the tree beside its own; a file of the tree is never replaced
 */
export async function openWorkingCopy(
  from: string,
  tree: string,
  gitFolder: string,
  signal?: AbortSignal,
  { compiled, installed = new Map<string, string>(), tag }: AddedFiles = {},
): Promise<WorkingCopy> {
  await copyTree(from, tree, signal);
  await mkdir(dirname(gitFolder), { recursive: true });
  await rename(join(tree, '.git'), gitFolder);
  const entries = await readEntries(tree, from);
  const index = new GitIndex(await readFile(join(gitFolder, 'index')));
  const modules = pythonModules(tree, from, index, entries);
  for (const [path, origin] of installed) addFile(entries, path, origin);
  const published = await repositoryFiles(gitFolder, tag);
  const repository = await stampsBelow(gitFolder);
  const parts = { from, tree, gitFolder, entries, index, published, compiled };
  for (const [path, { kind }] of entries) if (kind !== 'folder') stampIndex(parts, path);
  return new TrackedCopy(parts, modules, repository);
}

/** Records the present times of a file in the index, so that tests find a clean work tree. */
function stampIndex({ tree, index }: Pick<CopyParts, 'tree' | 'index'>, path: string): void {
  const info = infoAt(place(tree, path));
  if (info !== undefined) index.stamp(path.split(sep).join('/'), info);
}

interface CopyParts {
  readonly from: string;
  readonly tree: string;
  readonly gitFolder: string;
  readonly entries: Map<string, Entry>;
  /** The index of the `.git` that tests see. */
  readonly index: GitIndex;
  /** Files of the `.git` that tests see. */
  readonly published: ReadonlyMap<string, Buffer>;
  readonly compiled: CompiledFiles | undefined;
}

class TrackedCopy implements WorkingCopy {
  /** @param repository stamps of the files below `gitFolder`, as they were last written here */
  constructor(
    private readonly parts: CopyParts,
    readonly modules: ReadonlyMap<string, PristineModule>,
    private repository: ReadonlyMap<string, FileStamp>,
  ) {
    this.addCompiled();
  }

  async reset(): Promise<void> {
    const { from, tree, gitFolder, entries, index, published, compiled } = this.parts;
    await removeWhole(place(tree, '.git'));
    await this.mustBeUntouched();
    await compiled?.ready();
    this.addCompiled();
    const written = await restore(tree, from, entries, '');
    for (const path of written) stampIndex(this.parts, path);
    await writePublished(tree, gitFolder, new Map([...published, ['index', index.bytes()]]));
  }

  async apply(patch: string): Promise<void> {
    const { tree, gitFolder } = this.parts;
    const plain = await plainEdits(tree, patch, gitFolder);
    if (plain !== undefined) {
      await writePlainEdits(tree, plain);
    } else {
      await this.mustBeUntouched();
      const env = { GIT_DIR: gitFolder, GIT_WORK_TREE: tree };
      await applyToTree(tree, patch, undefined, [], env);
      this.repository = await stampsBelow(gitFolder);
    }
    for (const { newPath } of parseUnified(patch).files) {
      const path = newPath === null ? undefined : bytesOf(join(tree, newPath));
      if (path === undefined) continue;
      if (lstatSync(path, { throwIfNoEntry: false })?.isFile() !== true) continue;
      await utimes(path, patchTime, patchTime);
    }
  }

  async compiledByRun(): Promise<readonly PristineModule[]> {
    const { tree, entries, compiled } = this.parts;
    if (compiled === undefined) return [];
    const { suffix } = compiled;
    const found: PristineModule[] = [];
    for (const folder of new Set([...this.modules.keys()].map(parentOf))) {
      const cache = inner(folder, cacheFolder);
      for (const name of await namesIn(place(tree, cache))) {
        if (!name.endsWith(suffix) || entries.has(inner(cache, name))) continue;
        const module = this.modules.get(inner(folder, `${name.slice(0, -suffix.length)}.py`));
        if (module !== undefined) found.push(module);
      }
    }
    return found;
  }

  /** Adds the available compiled files to the tree's entries. */
  private addCompiled(): void {
    const { entries, compiled } = this.parts;
    if (compiled === undefined) return;
    for (const [path, module] of this.modules) {
      const made = compiled.find(module);
      if (made === undefined) continue;
      const name = nameOf(path).replace(/\.py$/, compiled.suffix);
      addFile(entries, inner(inner(parentOf(path), cacheFolder), name), made);
    }
  }

  private async mustBeUntouched(): Promise<void> {
    const { gitFolder } = this.parts;
    const now = await stampsBelow(gitFolder);
    if (
      now.size !== this.repository.size ||
      [...now].some(([path, stamp]) => this.repository.get(path) !== stamp)
    ) {
      throw new Error(`another program changed ${gitFolder}, which only SWT-Bench may write to`);
    }
  }
}

const place = (tree: string, path: string): Buffer =>
  path === ''
    ? Buffer.from(tree)
    : Buffer.concat([Buffer.from(tree + sep), Buffer.from(path, 'latin1')]);

const inner = (folder: string, name: string): string =>
  folder === '' ? name : `${folder}${sep}${name}`;

const parentOf = (path: string): string => path.slice(0, Math.max(0, path.lastIndexOf(sep)));

const nameOf = (path: string): string => path.slice(path.lastIndexOf(sep) + 1);

const namesIn = (folder: Buffer): Promise<string[]> =>
  readdir(folder, { encoding: 'buffer' }).then(
    (names) => names.map((name) => name.toString('latin1')),
    () => [],
  );

const namesOf = (entries: ReadonlyMap<string, Entry>, folder: string): Set<string> => {
  const entry = entries.get(folder);
  if (entry?.kind !== 'folder') throw new Error(`${folder} is not a folder of the working tree`);
  return entry.names;
};

/** Adds a file, and the folders around it, where the tree has nothing at its path. */
function addFile(entries: Map<string, Entry>, path: string, from: string): void {
  if (entries.has(path) || !makeFolderEntry(entries, parentOf(path))) return;
  namesOf(entries, parentOf(path)).add(nameOf(path));
  entries.set(path, { kind: 'added', from, stamp: undefined });
}

/** Whether a path is a folder, after adding it where there was nothing. */
function makeFolderEntry(entries: Map<string, Entry>, path: string): boolean {
  const there = entries.get(path);
  if (there !== undefined) return there.kind === 'folder';
  if (!makeFolderEntry(entries, parentOf(path))) return false;
  namesOf(entries, parentOf(path)).add(nameOf(path));
  entries.set(path, { kind: 'folder', mode: 0o755, names: new Set() });
  return true;
}

const infoAt = (path: Buffer): BigIntStats | undefined =>
  lstatSync(path, { bigint: true, throwIfNoEntry: false });

const modeOf = (info: BigIntStats): number => Number(info.mode & 0o7777n);

/** Records the content of a new copy, after setting all times to {@link treeTime}. */
async function readEntries(tree: string, from: string): Promise<Map<string, Entry>> {
  const entries = new Map<string, Entry>();
  const read = async (path: string, info: BigIntStats): Promise<void> => {
    const at = place(tree, path);
    if (info.isDirectory()) {
      const names = new Set(await namesIn(at));
      entries.set(path, { kind: 'folder', mode: modeOf(info), names });
      for (const name of names) {
        const below = infoAt(place(tree, inner(path, name)));
        if (below !== undefined) await read(inner(path, name), below);
      }
      await utimes(at, treeTime, treeTime);
    } else if (info.isSymbolicLink()) {
      await lutimes(at, treeTime, treeTime);
      const target = await readlink(at, { encoding: 'buffer' });
      entries.set(path, { kind: 'link', target, stamp: stampAt(at) });
    } else {
      await utimes(at, treeTime, treeTime);
      entries.set(path, {
        kind: 'file',
        mode: modeOf(info),
        pristine: stampAt(place(from, path)),
        stamp: stampAt(at),
      });
    }
  };
  const top = infoAt(place(tree, ''));
  if (top !== undefined) await read('', top);
  return entries;
}

/** Python files of a tree by path, with the ids that git gives to their contents. */
function pythonModules(
  tree: string,
  from: string,
  index: GitIndex,
  entries: ReadonlyMap<string, Entry>,
): ReadonlyMap<string, PristineModule> {
  const modules = new Map<string, PristineModule>();
  for (const { path: listed, mode, id } of index.entries) {
    if (!mode.startsWith('100') || !listed.endsWith('.py')) continue;
    const path = listed.split('/').join(sep);
    const info = infoAt(place(tree, path));
    if (info === undefined || entries.get(path)?.kind !== 'file') continue;
    const name = textOf(Buffer.from(listed, 'latin1'));
    // The size is part of the id, because attributes may write the same content with other line
    // ends.
    modules.set(path, { id: `${id}-${info.size}`, name: path, path: join(from, name) });
  }
  return modules;
}

/**
 * Restores a folder of the tree.
 *
 * @returns the files of the tree that were written again, without compiled ones
 * @throws when something cannot be restored
 */
async function restore(
  tree: string,
  from: string,
  entries: ReadonlyMap<string, Entry>,
  path: string,
): Promise<readonly string[]> {
  const entry = entries.get(path);
  if (entry?.kind !== 'folder') throw new Error(`${path} is not a folder of the working tree`);
  const at = place(tree, path);
  let info = infoAt(at);
  if (info?.isDirectory() !== true) {
    await removeWhole(at);
    await mkdir(at);
    info = infoAt(at);
  }
  if (info === undefined || modeOf(info) !== entry.mode) await chmod(at, entry.mode);
  const written: string[] = [];
  for (const name of await namesIn(at)) {
    if (!entry.names.has(name)) await removeWhole(place(tree, inner(path, name)));
  }
  for (const name of entry.names) {
    const below = inner(path, name);
    const child = entries.get(below);
    if (child === undefined) continue;
    if (child.kind === 'folder') {
      written.push(...(await restore(tree, from, entries, below)));
      continue;
    }
    const now = infoAt(place(tree, below));
    if (now !== undefined && child.stamp === stampOf(now)) continue;
    await writeEntry(tree, from, below, child);
    if (child.kind !== 'added') written.push(below);
  }
  const after = infoAt(at);
  if (after === undefined || after.mtimeNs !== BigInt(treeTime) * 1_000_000_000n) {
    await utimes(at, treeTime, treeTime);
  }
  return written;
}

async function writeEntry(
  tree: string,
  from: string,
  path: string,
  entry: Exclude<Entry, { kind: 'folder' }>,
): Promise<void> {
  const at = place(tree, path);
  await removeWhole(at);
  if (entry.kind === 'link') {
    await symlink(entry.target, at);
    await lutimes(at, treeTime, treeTime);
  } else {
    const source = entry.kind === 'added' ? entry.from : place(from, path);
    if (entry.kind === 'file' && stampAt(source) !== entry.pristine) {
      throw new Error(
        `another program changed ${source.toString()}, which only SWT-Bench may write to`,
      );
    }
    // A copy and never a link, so that writes to it reach neither the pristine tree nor the other
    // side.
    await copyFile(source, at, constants.COPYFILE_FICLONE);
    await chmod(at, entry.kind === 'added' ? 0o644 : entry.mode);
    await utimes(at, treeTime, treeTime);
  }
  entry.stamp = stampAt(at);
}

/** Removes everything at a path, even below folders whose permissions were removed. */
async function removeWhole(path: Buffer): Promise<void> {
  const options = { recursive: true, force: true };
  await rm(path, options).catch(async () => {
    const permit = async (at: Buffer): Promise<void> => {
      if (infoAt(at)?.isDirectory() !== true) return;
      await chmod(at, 0o700);
      for (const name of await readdir(at, { encoding: 'buffer' })) {
        await permit(Buffer.concat([at, Buffer.from(sep), name]));
      }
    };
    await permit(path);
    await rm(path, options);
  });
}

/**
 * Contents of a repository's files by path, without its objects and its index.
 *
 * @param tag name of a tag to add
 */
async function repositoryFiles(
  gitFolder: string,
  tag: string | undefined,
): Promise<ReadonlyMap<string, Buffer>> {
  const files = new Map<string, Buffer>();
  const read = async (path: string): Promise<void> => {
    for (const entry of await readdir(join(gitFolder, path), { withFileTypes: true })) {
      const below = join(path, entry.name);
      if (below === 'objects' || below === 'index') continue;
      if (entry.isDirectory()) await read(below);
      else files.set(below, await readFile(join(gitFolder, below)));
    }
  };
  await read('');
  const commit = files.get(join(...branchOfR.split('/')));
  if (tag !== undefined && commit !== undefined) files.set(join('refs', 'tags', tag), commit);
  return files;
}

/**
 * Gives the tree a repository of its own, which borrows the objects of `gitFolder`.
 *
 * @param files contents by path, the index included
 */
async function writePublished(
  tree: string,
  gitFolder: string,
  files: ReadonlyMap<string, Buffer>,
): Promise<void> {
  const own = join(tree, '.git');
  const lent = join(gitFolder, 'objects').split(sep).join('/');
  for (const folder of ['objects/pack', 'refs'])
    await mkdir(join(own, folder), { recursive: true });
  for (const [path, content] of [
    ...files,
    [join('objects', 'info', 'alternates'), `${lent}\n`],
  ] as const) {
    await mkdir(dirname(join(own, path)), { recursive: true });
    await writeFile(join(own, path), content);
  }
  // The tree's folder was restored before this wrote into it.
  await utimes(tree, treeTime, treeTime);
}
