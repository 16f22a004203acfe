import { constants } from 'node:fs';
import { lstat, open } from 'node:fs/promises';
import { join } from 'node:path';

/** Bytes of the longest file that is read; those that are needed are much smaller. */
const longest = 1024 * 1024;

/**
 * The text of a small file below a folder with foreign content. No link is followed, and only a
 * plain file is opened: a pipe would keep the reader waiting, and a device is endless.
 *
 * @param path relative, with `/` between its parts
 * @returns undefined when there is no such file, or it is longer than 1 MiB
 */
export async function readForeign(folder: string, path: string): Promise<string | undefined> {
  const parts = path.split('/');
  for (let depth = 1; depth < parts.length; depth += 1) {
    const info = await lstat(join(folder, ...parts.slice(0, depth))).catch(() => undefined);
    if (info?.isDirectory() !== true) return undefined;
  }
  const place = join(folder, ...parts);
  if ((await lstat(place).catch(() => undefined))?.isFile() !== true) return undefined;
  // These flags are for a link or a pipe that replaces the file meanwhile. Windows has neither.
  const flags = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);
  const file = await open(place, flags).catch(() => undefined);
  if (file === undefined) return undefined;
  try {
    const info = await file.stat();
    if (!info.isFile() || info.size > longest) return undefined;
    return await file.readFile('utf8');
  } catch {
    return undefined;
  } finally {
    await file.close();
  }
}
