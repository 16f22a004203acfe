import { realpath } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { sha256 } from '../files/sha256';

/**
 * The lock of a predictions file. Two commands that write the same file, by whatever path, wait for
 * each other.
 */
export async function predictionsLock(storage: string, out: string): Promise<string> {
  const folder = await realpath(dirname(out)).catch(() => dirname(out));
  const digest = sha256(join(folder, basename(out)));
  return join(storage, 'locks', `generate-${digest.slice(0, 16)}`);
}
