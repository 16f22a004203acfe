import { readdir, readFile } from 'node:fs/promises';
import { join, posix } from 'node:path';
import { Readable } from 'node:stream';
import { throwIfAborted } from '../../domain/work';
import { readTreeFile, treeEntries } from '../../repository/treeFiles';
import { contentTime, earliestTime, tarEnd, tarEntry } from './archive';

/**
 * R with its repository of one commit, as a tar that is produced while it is read. Modification
 * times are derived from contents (see {@link contentTime}).
 *
 * @param tree a pristine tree
 * @param folder name of R below the folder that the tar is unpacked in: `testbed`
 */
export async function treeArchive(
  tree: string,
  folder: string,
  signal?: AbortSignal,
  { hasIndex = true, hasObjects = true, paths }: Archived = {},
): Promise<Readable> {
  const files = paths ?? (await treeEntries(tree, signal)).keys();
  const archiving = { tree, folder, files, signal, hasIndex, hasObjects };
  return Readable.from(archiveOf(archiving), { objectMode: false });
}

/** What of R an archive has. */
interface Archived {
  /**
   * Whether git's index is there. It has times of this machine, so that only without it the bytes are
   * the same wherever the tree is. `git reset` makes one.
   */
  readonly hasIndex?: boolean;
  /** Whether git's objects are there. Without them, git still knows what R ignores. */
  readonly hasObjects?: boolean;
  /** Files of R, relative to the tree; all by default. */
  readonly paths?: Iterable<string>;
}

interface Archiving {
  readonly tree: string;
  readonly folder: string;
  /** Files of R, relative to the tree. */
  readonly files: Iterable<string>;
  readonly signal: AbortSignal | undefined;
  readonly hasIndex: boolean;
  readonly hasObjects: boolean;
}

/** The bytes of the archive, an entry at a time: the reader asks for the next when it has room. */
async function* archiveOf(archiving: Archiving): AsyncGenerator<Buffer> {
  const { tree, folder, files, signal } = archiving;
  const file = { type: 'File', mode: 0o644, time: earliestTime, owner: 0 } as const;
  const directory = { ...file, type: 'Directory', mode: 0o755 } as const;
  yield await tarEntry({ ...directory, path: `${folder}/` });
  for (const path of files) {
    throwIfAborted(signal);
    // A tar names files in UTF-8. The agent writes the few files with other names.
    if (/[\ud800-\udfff]/u.test(path)) continue;
    const found = await readTreeFile(tree, path);
    if (found === undefined) continue;
    const { content } = found;
    const named = { ...file, path: posix.join(folder, path), time: contentTime(content) };
    if (found.mode === '120000') {
      yield await tarEntry({ ...named, type: 'SymbolicLink', linkpath: content.toString('utf8') });
    } else {
      yield await tarEntry({ ...named, mode: found.mode === '100755' ? 0o755 : 0o644 }, content);
    }
  }
  yield* repositoryEntries({ ...archiving, owner: 0 });
  yield tarEnd;
}

/**
 * The repository of one commit of R, `.git`, as a tar that is produced while it is read.
 *
 * @param folder name of R below the folder that the tar is unpacked in
 * @param owner number of the user and of the group that own the files
 */
export function repositoryArchive(
  tree: string,
  folder: string,
  owner: number,
  signal?: AbortSignal,
): Readable {
  return Readable.from(wholeRepository({ tree, folder, owner, signal }), { objectMode: false });
}

async function* wholeRepository(archiving: ArchivingRepository): AsyncGenerator<Buffer> {
  yield* repositoryEntries(archiving);
  yield tarEnd;
}

interface ArchivingRepository extends Pick<Archiving, 'tree' | 'folder' | 'signal'> {
  readonly owner: number;
  readonly hasIndex?: boolean;
  readonly hasObjects?: boolean;
}

async function* repositoryEntries(archiving: ArchivingRepository): AsyncGenerator<Buffer> {
  const { tree, folder, owner, signal, hasIndex = true, hasObjects = true } = archiving;
  const file = { type: 'File', mode: 0o644, time: earliestTime, owner } as const;
  const directory = { ...file, type: 'Directory', mode: 0o755 } as const;
  for (const below of ['/', ...(await repositoryFiles(join(tree, '.git')))]) {
    throwIfAborted(signal);
    if (below === 'index' && !hasIndex) continue;
    if (!hasObjects && /^objects\/.*[^/]$/.test(below)) continue;
    const path = posix.join(folder, '.git', below);
    if (below.endsWith('/')) yield await tarEntry({ ...directory, path });
    else yield await tarEntry({ ...file, path }, await readFile(join(tree, '.git', below)));
  }
}

/**
 * Paths of the files and folders below `.git`, folders first; those of folders end with a slash.
 */
async function repositoryFiles(root: string, below = ''): Promise<string[]> {
  const found: string[] = [];
  for (const entry of await readdir(join(root, below), { withFileTypes: true })) {
    const path = posix.join(below, entry.name);
    if (entry.isDirectory()) found.push(`${path}/`, ...(await repositoryFiles(root, path)));
    else if (entry.isFile()) found.push(path);
  }
  return found;
}
