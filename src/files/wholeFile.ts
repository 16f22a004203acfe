import { systemCode } from '../domain/work';
import { randomUUID } from 'node:crypto';
import { open, rename, rm, writeFile, mkdir, stat } from 'node:fs/promises';
import { dirname } from 'node:path';

/** What a file can be made of; the pieces of an iterable are written one after the other. */
export type FileContent = string | Uint8Array | Iterable<string> | AsyncIterable<string>;

/**
 * Writes a file and the folders above it. The content goes into a file beside it, which is then
 * renamed. So no reader ever sees half of it, not even after a crash of the machine. A link in its
 * place is replaced, not followed. For a path below a folder with foreign content, use
 * `writeWholeFileBelow` of `repository/`.
 *
 * @throws what the system says, such as EACCES or ENOSPC; nothing is left beside
 */
export async function writeWholeFile(path: string, content: FileContent): Promise<void> {
  await makeFolder(dirname(path));
  await writeBesideAndRename(path, content);
}

/**
 * Works like {@link writeWholeFile}, for a folder that exists.
 *
 * @param check receives the path of the new file before it replaces the old one
 * @throws what the system says, and what `check` throws
 */
export async function writeBesideAndRename(
  path: string,
  content: FileContent,
  check?: (beside: string) => Promise<void>,
): Promise<void> {
  const beside = besideOf(path);
  try {
    // Fails rather than write through a link that someone has put there.
    const file = await open(beside, 'wx');
    try {
      await writeFile(file, content);
      await file.sync();
    } finally {
      await file.close();
    }
    await check?.(beside);
    await rename(beside, path);
  } finally {
    await rm(beside, { force: true });
  }
}

/** A new name for the temporary file that exists until it is complete. */
export const besideOf = (path: string): string => `${path}.${randomUUID()}`;

const uuidAtEnd = /\.[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/**
 * Whether {@link besideOf} made the name: the file is being written, or was left by a killed
 * process.
 */
export const isNameBeside = (name: string): boolean => uuidAtEnd.test(name);

/**
 * Makes a folder and the missing ones above it. Node's own `recursive` never finishes where a
 * folder exists but accepts no entries: below /proc, the system reports that its parent is missing.
 *
 * @throws what the system says, such as EACCES, EROFS, ENOTDIR
 */
export async function makeFolder(path: string): Promise<void> {
  try {
    await mkdir(path);
  } catch (error) {
    if (await isFolder(path)) return;
    const parent = dirname(path);
    if (systemCode(error) !== 'ENOENT' || parent === path) throw error;
    await makeFolder(parent);
    // Tried only once: another process may have made the folder, or the parent accepts no entries.
    await mkdir(path).catch(async (again: unknown) => {
      if (!(await isFolder(path))) throw again;
    });
  }
}

const isFolder = async (path: string): Promise<boolean> =>
  (await stat(path).catch(() => undefined))?.isDirectory() === true;
