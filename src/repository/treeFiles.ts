import { throwIfAborted } from '../domain/work';
import { bytesOf } from '../patch/bytes';
import { parseUnified } from '../patch/parseUnified';
import { unsafePath } from '../patch/unsafePath';
import { git, GitError } from './git';
import { applyToTree } from './trees/golden';
import { removeForce } from './lock';
import { plainEdits, type PlainEdit } from './trees/plainEdits';
import { createHash } from 'node:crypto';
import { lstatSync, type BigIntStats } from 'node:fs';
import {
  chmod,
  lstat,
  mkdir,
  mkdtemp,
  readFile,
  readlink,
  symlink,
  writeFile,
  readdir,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

/** A file or link of a tree. */
export interface TreeFile {
  /** Mode as in git: `100644`, `100755`, or `120000` for a link, whose content is its target. */
  readonly mode: '100644' | '100755' | '120000';
  readonly content: Buffer;
}

/** A file or link of a tree, without its content. */
export interface TreeEntry {
  readonly mode: string;
  /** Object id of the content: equal ids mean equal bytes. */
  readonly id: string;
}

/**
 * Files and links of a pristine tree by path, from its commit. Submodules are left out.
 * Format: https://git-scm.com/docs/git-ls-tree
 */
export async function treeEntries(
  tree: string,
  signal?: AbortSignal,
): Promise<ReadonlyMap<string, TreeEntry>> {
  const listed = await git(['ls-tree', '-r', '-z', 'HEAD'], { cwd: tree, signal });
  const entries = new Map<string, TreeEntry>();
  for (const line of listed.split('\0')) {
    const match = /^(\d{6}) blob ([0-9a-f]+)\t/.exec(line);
    if (match === null) continue;
    const [head, mode = '', id = ''] = match;
    entries.set(line.slice(head.length), { mode, id });
  }
  return entries;
}

/** The object id that git gives to content (gitformat-pack(5), "blob"). */
export const blobId = (content: Buffer): string =>
  createHash('sha1').update(`blob ${content.length}\0`).update(content).digest('hex');

/** Reads a file or link below a folder; undefined when there is none. */
export async function readTreeFile(tree: string, path: string): Promise<TreeFile | undefined> {
  const place = placeOf(tree, path);
  const info = await lstat(place).catch(() => undefined);
  if (info?.isSymbolicLink() === true) {
    return { mode: '120000', content: await readlink(place, { encoding: 'buffer' }) };
  }
  if (info?.isFile() !== true) return undefined;
  const content = await readFile(place);
  return { mode: (info.mode & 0o100) === 0 ? '100644' : '100755', content };
}

/**
 * The files that a patch changes, by path, as the patch leaves them; undefined for a removed file.
 * The tree itself stays unchanged.
 *
 * @throws GitError when the patch does not apply or leaves the tree, Cancelled
 */
export async function patchedFiles(
  tree: string,
  patch: string,
  signal?: AbortSignal,
): Promise<ReadonlyMap<string, TreeFile | undefined>> {
  if (patch.trim() === '') return new Map();
  throwIfAborted(signal);
  const plain = await plainEdits(tree, patch);
  if (plain !== undefined) return changedFiles(tree, plain);
  const paths = new Set(
    parseUnified(patch).files.flatMap(({ oldPath, newPath }) =>
      [oldPath, newPath].filter((path) => path !== null),
    ),
  );
  for (const path of paths) {
    const why = unsafePath(path) ?? (await beyondLink(tree, path));
    if (why !== undefined)
      throw new GitError('apply', `${JSON.stringify(path)}: ${why}`, undefined);
  }
  const folder = await mkdtemp(join(tmpdir(), 'swt-bench-patch-'));
  try {
    const before = new Map<string, TreeFile | undefined>();
    for (const path of paths) {
      const file = await readTreeFile(tree, path);
      before.set(path, file);
      if (file !== undefined) await writeTreeFile(folder, path, file);
    }
    await applyToTree(folder, patch, signal);
    const after = new Map<string, TreeFile | undefined>();
    for (const path of paths) {
      const file = await readTreeFile(folder, path);
      if (!isSame(before.get(path), file)) after.set(path, file);
    }
    return after;
  } finally {
    await removeForce(folder);
  }
}

async function changedFiles(
  tree: string,
  edits: readonly PlainEdit[],
): Promise<ReadonlyMap<string, TreeFile | undefined>> {
  const changed = new Map<string, TreeFile | undefined>();
  for (const { path, content, isExecutable } of edits) {
    const file: TreeFile = { mode: isExecutable ? '100755' : '100644', content };
    if (!isSame(await readTreeFile(tree, path), file)) changed.set(path, file);
  }
  return changed;
}

/**
 * Git refuses to write through a link, but a copy of only the touched files would not show this.
 */
async function beyondLink(tree: string, path: string): Promise<string | undefined> {
  for (let up = dirname(path); up !== '.' && up !== '/'; up = dirname(up)) {
    const info = await lstat(placeOf(tree, up)).catch(() => undefined);
    if (info?.isSymbolicLink() === true) return 'it is inside a symbolic link';
  }
  return undefined;
}

const isSame = (one: TreeFile | undefined, other: TreeFile | undefined): boolean =>
  one === other ||
  (one !== undefined &&
    other !== undefined &&
    one.mode === other.mode &&
    one.content.equals(other.content));

async function writeTreeFile(folder: string, path: string, file: TreeFile): Promise<void> {
  const place = placeOf(folder, path);
  await mkdir(Buffer.from(dirname(place.toString('latin1')), 'latin1'), { recursive: true });
  if (file.mode === '120000') {
    await symlink(file.content, place);
    return;
  }
  await writeFile(place, file.content);
  if (file.mode === '100755') await chmod(place, 0o755);
}

/** Keeps the exact bytes of the path. */
const placeOf = (folder: string, path: string): Buffer => bytesOf(join(folder, path));

/**
 * Identifies the state of a file without reading it. The stamp changes with the content or
 * attributes, because no program can set the time of the last change (`ctime`, inode(7)).
 */
export type FileStamp = string;

export const stampOf = (info: BigIntStats): FileStamp =>
  [info.ino, info.size, info.mtimeNs, info.ctimeNs, info.mode].join(' ');

/** The stamp of what is at a path, without following links; undefined when there is nothing. */
export function stampAt(path: string | Buffer): FileStamp | undefined {
  try {
    const info = lstatSync(path, { bigint: true, throwIfNoEntry: false });
    return info === undefined ? undefined : stampOf(info);
  } catch {
    return undefined;
  }
}

/** The stamp of everything below a folder, folders included, by path. */
export async function stampsBelow(folder: string): Promise<ReadonlyMap<string, FileStamp>> {
  const found = new Map<string, FileStamp>();
  const look = async (path: string): Promise<void> => {
    found.set(path, stampAt(path) ?? 'gone');
    for (const entry of await readdir(path, { withFileTypes: true }).catch(() => [])) {
      const inner = `${path}/${entry.name}`;
      if (entry.isDirectory()) await look(inner);
      else found.set(inner, stampAt(inner) ?? 'gone');
    }
  };
  await look(folder);
  return found;
}
