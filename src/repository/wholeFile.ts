import { randomUUID } from 'node:crypto';
import { open, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { makeFolder } from './makeFolder';

/**
 * Writes a file, and folders above it: beside, then renamed, so that a reader never sees half of it, nor
 * finds half of it after the machine went down.
 */
export async function writeWhole(path: string, content: string | Uint8Array): Promise<void> {
  await makeFolder(dirname(path));
  const beside = besideOf(path);
  try {
    const file = await open(beside, 'w');
    try {
      await file.writeFile(content);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(beside, path);
  } finally {
    await rm(beside, { force: true });
  }
}

/** A new name for a file that is there only until it is whole. */
export const besideOf = (path: string): string => `${path}.${randomUUID()}`;
