import { throwIfAborted } from '../domain/work';
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { lstat, readdir, readlink } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';

/**
 * The SHA-256 digest as 64 hexadecimal digits.
 *
 * @param parts digested as one sequence of bytes; text as UTF-8
 */
export function sha256(...parts: readonly (string | Uint8Array)[]): string {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(part);
  return hash.digest('hex');
}

/**
 * The {@link sha256} of a value as JSON. Values with different JSON have different digests, also
 * when only the order of keys differs.
 */
export const sha256OfJson = (value: unknown): string => sha256(JSON.stringify(value));

/**
 * The {@link sha256} of a file, which is never in memory as a whole.
 *
 * @throws what the system says, such as ENOENT
 */
export async function sha256OfFile(path: string): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(path, { highWaterMark: 1 << 20 }), hash);
  return hash.digest('hex');
}

/**
 * The SHA-256 digest of a folder: its paths, what its files hold, which of them run, and where links
 * point. Times and owners do not count, so a copy has the same digest. Links are not followed.
 *
 * @throws what the system says, such as ENOENT; Cancelled
 */
export async function folderDigest(folder: string, signal?: AbortSignal): Promise<string> {
  const entries: (readonly string[])[] = [];
  const read = async (path: string): Promise<void> => {
    const names = await readdir(join(folder, path));
    for (const name of names.sort()) {
      throwIfAborted(signal);
      const below = path === '' ? name : `${path}/${name}`;
      const whole = join(folder, below);
      const about = await lstat(whole);
      if (about.isSymbolicLink()) entries.push([below, 'link', await readlink(whole)]);
      else if (about.isDirectory()) await read(below);
      else if (about.isFile()) {
        const kind = (about.mode & 0o111) === 0 ? 'file' : 'program';
        entries.push([below, kind, await sha256OfFile(whole)]);
      }
    }
  };
  await read('');
  return sha256OfJson(entries);
}
