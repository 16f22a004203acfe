import { readdir, readFile } from 'node:fs/promises';
import { join, posix } from 'node:path';
import { Readable } from 'node:stream';
import { pack, type Header, type Pack } from 'tar-stream';
import { throwIfAborted } from '../../domain/humanError';
import { readTreeFile, treeEntries } from '../../repository/treeFiles';
import { contentTime, earliestTime } from './archive';

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
): Promise<Readable> {
  const paths = [...(await treeEntries(tree, signal)).keys()];
  const archive = pack();
  const write = async (): Promise<void> => {
    await add(archive, { name: `${folder}/`, type: 'directory', mode: 0o755 });
    for (const path of paths) {
      throwIfAborted(signal);
      // A tar names files in UTF-8. The agent writes the few files with other names.
      if (/[\ud800-\udfff]/u.test(path)) continue;
      const file = await readTreeFile(tree, path);
      if (file === undefined) continue;
      const name = posix.join(folder, path);
      const mtime = new Date(contentTime(file.content) * 1000);
      if (file.mode === '120000') {
        const linkname = file.content.toString('utf8');
        await add(archive, { name, type: 'symlink', linkname, mtime });
      } else {
        const mode = file.mode === '100755' ? 0o755 : 0o644;
        await add(archive, { name, mode, mtime }, file.content);
      }
    }
    for (const path of await repositoryFiles(join(tree, '.git'))) {
      throwIfAborted(signal);
      const name = posix.join(folder, '.git', path);
      if (path.endsWith('/')) await add(archive, { name, type: 'directory', mode: 0o755 });
      else await add(archive, { name, mode: 0o644 }, await readFile(join(tree, '.git', path)));
    }
    archive.finalize();
  };
  write().catch((error: unknown) => archive.destroy(error as Error));
  return Readable.from(archive, { objectMode: false });
}

/** One entry; resolves when the reader has room for the next. */
function add(archive: Pack, header: Partial<Header>, content?: Buffer): Promise<void> {
  return new Promise((resolve, reject) => {
    const done = (error?: Error | null): void => (error ? reject(error) : resolve());
    const owned = { uid: 0, gid: 0, mtime: new Date(earliestTime * 1000), ...header };
    if (content === undefined) archive.entry(owned as Header, done);
    else archive.entry(owned as Header, content, done);
  });
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
