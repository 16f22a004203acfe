import { HumanError } from '../domain/work';
import type { Prediction } from '../domain/instance';
import { modelFolder } from '../results/runFolder';

/**
 * Refuses two models with the same folder name in the harness's layout: the reports of one would
 * overwrite those of the other.
 *
 * @throws HumanError naming both
 */
export function checkModelFolders(predictions: readonly Prediction[]): void {
  const owners = new Map<string, string>();
  for (const { model, sample = 1 } of predictions) {
    const folder = modelFolder(model, sample);
    const owner = owners.get(folder);
    if (owner !== undefined && owner !== model) {
      throw new HumanError(
        `The models ${owner} and ${model} would share the report folder ${folder}`,
        'Rename one of them in its predictions, or evaluate them with different --out',
      );
    }
    owners.set(folder, model);
  }
}
