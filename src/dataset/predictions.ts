import { z } from 'zod';
import type { Instance, Prediction } from '../domain/instance';
import { HumanError } from '../domain/problem';
import type { Dataset } from './dataset';
import { readRecords } from './records';

const predictionSchema = z.looseObject({
  instance_id: z.string(),
  model_name_or_path: z.string().nullish(),
  model_patch: z.string().nullish(),
});

/** Predictions, and what was wrong with rows that are left out. */
export interface Predictions {
  readonly predictions: readonly Prediction[];
  readonly problems: readonly string[];
}

/**
 * Predictions of a JSON or JSONL file, `gold` (T* as the candidate), or `none` (base runs only: an
 * empty candidate). A file may hold several candidates for one instance under different names.
 *
 * @param dataset what the predictions are for; one for an id it does not have is a problem, not an error
 */
export async function loadPredictions(
  from: string,
  selected: readonly Instance[],
  dataset: Pick<Dataset, 'problems'> & { readonly entries: readonly { readonly id: string }[] },
): Promise<Predictions> {
  if (from === 'gold' || from === 'none') {
    return {
      predictions: selected.map((instance) => ({
        instanceId: instance.id,
        model: from,
        patch: from === 'gold' ? instance.goldenTests : '',
      })),
      problems: [],
    };
  }
  const known = new Set(dataset.entries.map((entry) => entry.id));
  const wanted = new Set(selected.map((instance) => instance.id));
  const predictions = new Map<string, Prediction>();
  const problems: string[] = [];
  for (const record of await readRecords(from, 'predictions file')) {
    if ('error' in record) {
      problems.push(record.error);
      continue;
    }
    const parsed = predictionSchema.safeParse(record.value);
    if (!parsed.success) {
      const field = parsed.error.issues[0]?.path.join('.') ?? '';
      problems.push(
        field === ''
          ? `row ${record.row}: the row is not an object with an instance_id`
          : `row ${record.row}: ${field} is missing or not a text`,
      );
      continue;
    }
    const { instance_id: instanceId, model_name_or_path: model, model_patch: patch } = parsed.data;
    if (!known.has(instanceId)) {
      const broken = dataset.problems.find((problem) => problem.id === instanceId);
      problems.push(
        `row ${record.row}: ${instanceId} ` +
          (broken === undefined
            ? 'is not in the dataset'
            : `cannot be used, since its row in the dataset is broken (${broken.message})`),
      );
      continue;
    }
    if (!wanted.has(instanceId)) continue;
    const name = model ?? 'unnamed';
    const key = JSON.stringify([instanceId, name]);
    if (predictions.has(key)) {
      problems.push(
        `row ${record.row}: a second prediction of ${name} for ${instanceId} is left out`,
      );
      continue;
    }
    predictions.set(key, { instanceId, model: name, patch: patch ?? '' });
  }
  if (predictions.size === 0) {
    throw new HumanError(
      `No prediction of ${from} is for a selected instance` +
        (problems.length > 0 ? ` (${problems[0]})` : ''),
      'A row needs instance_id, model_name_or_path and model_patch, and an id of the dataset',
    );
  }
  return { predictions: [...predictions.values()], problems };
}
