import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { HumanError } from '../domain/work';
import { sha256OfFile, sha256OfJson } from '../files/digest';
import { harborRows, isHarborFolder } from './folders/harborTrial';
import type { PredictionFolders } from './predictions';

export { trialIn } from './folders/harborTrial';

/** Names of files with predictions in a folder that someone published, the more telling ones first. */
export const predictionNames: readonly string[] = [
  ...['all_preds.jsonl', 'preds.jsonl', 'predictions.jsonl'],
  ...['all_preds.json', 'preds.json', 'predictions.json'],
  ...['output.swtbench.jsonl', 'output.jsonl'],
];

/** Folders that predictions are read from: submissions to leaderboards, and jobs of Harbor. */
export const predictionFolders: PredictionFolders = {
  async read(folder, idOf, signal) {
    const file = await fileIn(folder);
    return file === undefined ? harborRows(folder, idOf, signal) : { file };
  },

  async digest(folder) {
    const file = await fileIn(folder);
    if (file !== undefined) return sha256OfFile(file);
    const rows = await harborRows(folder, (task) => task);
    // A job is the same wherever it lies.
    return sha256OfJson(rows.map(({ value }) => value));
  },
};

/**
 * The file with the predictions of a submission; undefined for a job of Harbor.
 *
 * @throws HumanError for any other folder
 */
async function fileIn(folder: string): Promise<string | undefined> {
  for (const name of predictionNames) {
    const path = join(folder, name);
    if ((await stat(path).catch(() => undefined))?.isFile() === true) return path;
  }
  if (await isHarborFolder(folder)) return undefined;
  throw new HumanError(
    `The folder ${folder} has no predictions`,
    'Specify a file, a Harbor job, or a folder with all_preds.jsonl or preds.json',
  );
}
