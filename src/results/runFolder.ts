import { join } from 'node:path';
import { sha256 } from '../files/digest';

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
