import { lstat, readdir, readlink } from 'node:fs/promises';
import { join } from 'node:path';
import { throwIfAborted } from '../domain/humanError';
import { sha256OfFile, sha256OfJson } from './sha256';

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
