import { access, readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';

/** Names of the files and folders in a folder, sorted; links count as what they lead to. */
export interface ListedFolder {
  readonly files: readonly string[];
  readonly folders: readonly string[];
}

/** Empty for a folder that cannot be listed. */
export const listedFolder = (folder: string): Promise<ListedFolder> =>
  listReadable(folder).catch(() => ({ files: [], folders: [] }));

/** @throws the system's error for a folder that cannot be listed */
export async function listReadable(folder: string): Promise<ListedFolder> {
  const entries = await readdir(folder, { withFileTypes: true });
  const files: string[] = [];
  const folders: string[] = [];
  for (const entry of entries) {
    const target = entry.isSymbolicLink()
      ? await stat(join(folder, entry.name)).catch(() => undefined)
      : entry;
    if (target?.isFile() === true) files.push(entry.name);
    if (target?.isDirectory() === true) folders.push(entry.name);
  }
  return { files: files.sort(), folders: folders.sort() };
}

export const isThere = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false,
  );
