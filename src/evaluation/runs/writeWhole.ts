import { randomUUID } from 'node:crypto';
import { mkdir, open, readdir, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';

/**
 * Writes beside and renames, so that a reader never sees a half-written file, nor finds one after the
 * machine went down. What a killed process has left beside is removed: of a path in the results folder of
 * a run there is one writer at a time.
 */
export async function writeWhole(path: string, content: string): Promise<void> {
  const folder = dirname(path);
  await mkdir(folder, { recursive: true });
  await removeBeside(folder, basename(path));
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

/** Removes what killed processes have left of a file. */
export async function removeBeside(folder: string, name: string): Promise<void> {
  const left = (await readdir(folder)).filter(
    (each) => each.startsWith(`${name}.`) && /^[0-9a-f-]{36}$/.test(each.slice(name.length + 1)),
  );
  for (const each of left) await rm(join(folder, each), { force: true });
}
