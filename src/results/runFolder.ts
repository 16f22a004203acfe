import { join } from 'node:path';
import { sha256 } from '../files/sha256';

/**
 * `a/b` to `a__b`, as the harness names folders; nothing that could leave the folder remains, and at
 * most 100 bytes.
 */
export function modelFolderName(model: string): string {
  const name =
    model
      .replaceAll('/', '__')
      .replace(/[^\p{L}\p{N}_.+@=, -]/gu, '_')
      .replace(/^\.+/, '_') || 'unnamed';
  const kept = name === model.replaceAll('/', '__') || model === '';
  // Further samples of a model have names of this shape.
  const isSample = /@\d+$/.test(name);
  if (kept && !isSample && Buffer.byteLength(name) <= 100) return name;
  // A file name holds 255 bytes, and a model may be named by a long path or with signs that no file
  // name holds: such names are told apart by a digest.
  const start = Buffer.from(name)
    .subarray(0, 80)
    .toString('utf8')
    .replace(/\uFFFD$/, '');
  return `${start}-${sha256(model).slice(0, 12)}`;
}

/** Folder of a model's reports; a further sample of it has one of its own, as if it were a model. */
export const modelFolder = (model: string, sample: number): string =>
  sample > 1 ? `${modelFolderName(model)}@${sample}` : modelFolderName(model);

/** Where a run leaves what studies are made of: `runs/<run>` below its results folder. */
export const runFolder = (out: string, runId: string): string =>
  join(out, 'runs', modelFolderName(runId));

/** Reports of a run in the layout of the reference harness. */
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
