import { sha256 } from '../files/digest';
import { makeFolder, writeWholeFile } from '../files/wholeFile';
import { readdir, rm } from 'node:fs/promises';
import { join, basename, dirname } from 'node:path';

/**
 * `a/b` becomes `a__b`, as in the harness's folder names. The name has at most 100 bytes and cannot
 * lead out of the folder.
 */
export function modelFolderName(model: string): string {
  const name =
    model
      .replaceAll('/', '__')
      .replace(/[^\p{L}\p{N}_.+@=, -]/gu, '_')
      .replace(/^\.+/, '_') || 'unnamed';
  const kept = name === model.replaceAll('/', '__') || model === '';
  // Names of this shape belong to further samples of a model.
  const isSample = /@\d+$/.test(name);
  if (kept && !isSample && Buffer.byteLength(name) <= 100) return name;
  // A file name has at most 255 bytes. A model's name may be a long path, or have characters that
  // are not allowed in file names: a digest keeps such names apart.
  const start = Buffer.from(name)
    .subarray(0, 80)
    .toString('utf8')
    .replace(/\uFFFD$/, '');
  return `${start}-${sha256(model).slice(0, 12)}`;
}

/** Folder of a model's reports; each further sample has a folder of its own, like a model. */
export const modelFolder = (model: string, sample: number): string =>
  sample > 1 ? `${modelFolderName(model)}@${sample}` : modelFolderName(model);

/** Folder of the data from which studies are made: `runs/<run>` in the results folder. */
export const runFolder = (out: string, runId: string): string =>
  join(out, 'runs', modelFolderName(runId));

/** Folder of a run's reports in the layout of the reference harness. */
export const reportsFolder = (out: string, runId: string): string =>
  join(out, 'run_instance_swt_logs', modelFolderName(runId));

/** Path of one report below the results folder, with slashes on every system. */
export const reportPath = (
  runId: string,
  of: { readonly instance: string; readonly model: string; readonly sample: number },
): string =>
  [
    'run_instance_swt_logs',
    modelFolderName(runId),
    modelFolder(of.model, of.sample),
    of.instance,
    'report.json',
  ].join('/');

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
