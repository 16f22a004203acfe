import { readdir, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/;

/**
 * Removes the unfinished `path.UUID…` that killed processes left beside `path`. Call it only under
 * the lock of `path`; without the lock, processes may still be writing to these.
 */
export async function removeAbandonedBeside(path: string): Promise<void> {
  const start = `${basename(path)}.`;
  for (const name of await readdir(dirname(path)).catch(() => [])) {
    if (name.startsWith(start) && uuid.test(name.slice(start.length))) {
      await removeForce(join(dirname(path), name));
    }
  }
}

/** Removes a folder that a dying process may still be writing to. */
export const removeForce = (path: string): Promise<void> =>
  rm(path, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
