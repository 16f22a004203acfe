import { lstatSync, type BigIntStats } from 'node:fs';
import { readdir } from 'node:fs/promises';

/**
 * Identifies the state of a file without reading it. The stamp changes with the content or
 * attributes, because no program can set the time of the last change (`ctime`, inode(7)).
 */
export type FileStamp = string;

export const stampOf = (info: BigIntStats): FileStamp =>
  [info.ino, info.size, info.mtimeNs, info.ctimeNs, info.mode].join(' ');

/** The stamp of what is at a path, without following links; undefined when there is nothing. */
export function stampAt(path: string | Buffer): FileStamp | undefined {
  try {
    const info = lstatSync(path, { bigint: true, throwIfNoEntry: false });
    return info === undefined ? undefined : stampOf(info);
  } catch {
    return undefined;
  }
}

/** The stamp of everything below a folder, folders included, by path. */
export async function stampsBelow(folder: string): Promise<ReadonlyMap<string, FileStamp>> {
  const found = new Map<string, FileStamp>();
  const look = async (path: string): Promise<void> => {
    found.set(path, stampAt(path) ?? 'gone');
    for (const entry of await readdir(path, { withFileTypes: true }).catch(() => [])) {
      const inner = `${path}/${entry.name}`;
      if (entry.isDirectory()) await look(inner);
      else found.set(inner, stampAt(inner) ?? 'gone');
    }
  };
  await look(folder);
  return found;
}
