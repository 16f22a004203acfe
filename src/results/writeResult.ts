import { readdir, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { makeFolder, writeWholeFile } from '../files/wholeFile';

/** The end of the last write to each path that is being written. */
const underWay = new Map<string, Promise<void>>();

/**
 * Writes a file of a results folder as a whole, and removes what a killed process has left beside
 * it. Only one process writes such a path; in this process, writers of a path take turns.
 */
export async function writeResult(path: string, content: string): Promise<void> {
  const before = underWay.get(path) ?? Promise.resolve();
  const turn = before.catch(() => undefined).then(() => writeAlone(path, content));
  underWay.set(path, turn);
  try {
    await turn;
  } finally {
    if (underWay.get(path) === turn) underWay.delete(path);
  }
}

async function writeAlone(path: string, content: string): Promise<void> {
  const folder = dirname(path);
  await makeFolder(folder);
  await removeBeside(folder, basename(path));
  await writeWholeFile(path, content);
}

/** Removes temporary files of a file that killed processes have left. */
export async function removeBeside(folder: string, name: string): Promise<void> {
  const left = (await readdir(folder)).filter(
    (each) => each.startsWith(`${name}.`) && /^[0-9a-f-]{36}$/.test(each.slice(name.length + 1)),
  );
  for (const each of left) await rm(join(folder, each), { force: true });
}
