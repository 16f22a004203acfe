import { mkdir, readdir, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { writeWhole } from '../../repository/wholeFile';

/**
 * Writes a file of a results folder whole, and removes what a killed process has left beside it: of such
 * a path there is one writer at a time.
 */
export async function writeResult(path: string, content: string): Promise<void> {
  const folder = dirname(path);
  await mkdir(folder, { recursive: true });
  await removeBeside(folder, basename(path));
  await writeWhole(path, content);
}

/** Removes what killed processes have left of a file. */
export async function removeBeside(folder: string, name: string): Promise<void> {
  const left = (await readdir(folder)).filter(
    (each) => each.startsWith(`${name}.`) && /^[0-9a-f-]{36}$/.test(each.slice(name.length + 1)),
  );
  for (const each of left) await rm(join(folder, each), { force: true });
}
