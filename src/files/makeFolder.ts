import { mkdir, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { systemCode } from '../domain/humanError';

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
