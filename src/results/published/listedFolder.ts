import { access, readdir } from 'node:fs/promises';

/**
 * Names of the files and folders in a folder of a stranger, sorted. Links are left out: one may lead
 * to the whole disk.
 */
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
    if (entry.isFile()) files.push(entry.name);
    if (entry.isDirectory()) folders.push(entry.name);
  }
  return { files: files.sort(), folders: folders.sort() };
}

export const isThere = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false,
  );
