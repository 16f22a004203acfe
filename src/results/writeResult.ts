import { readdir, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { makeFolder } from '../files/makeFolder';
import { writeWholeFile } from '../files/wholeFile';

/** Paths that are being written, with the end of the last of their writers. */
const underWay = new Map<string, Promise<void>>();

/**
 * Writes a file of a results folder whole, and removes what a killed process has left beside it: of such
 * a path there is one process that writes. In this one, writers of a path take turns.
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

/** Removes what killed processes have left of a file. */
export async function removeBeside(folder: string, name: string): Promise<void> {
  const left = (await readdir(folder)).filter(
    (each) => each.startsWith(`${name}.`) && /^[0-9a-f-]{36}$/.test(each.slice(name.length + 1)),
  );
  for (const each of left) await rm(join(folder, each), { force: true });
}
