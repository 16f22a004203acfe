import { z } from 'zod';
import type { Instance, Prediction } from '../domain/instance';
import { HumanError } from '../domain/problem';
import type { Dataset } from './dataset';
import { makingCostOf } from './makingCost';
import { readRecords } from './records';

const predictionSchema = z.looseObject({
  instance_id: z.string(),
  model_name_or_path: z.string().nullish(),
  model_patch: z.string().nullish(),
  /** Which of several candidates of one model, from 1 on. */
  sample: z.number().int().positive().nullish(),
});

/** Predictions, and what was wrong with rows that are left out. */
export interface Predictions {
  readonly predictions: readonly Prediction[];
  /** Rows by number, after the name of their file where there are several files. */
  readonly problems: readonly string[];
}

/** What predictions are for; one for an id it does not have is a problem, not an error. */
type Known = Pick<Dataset, 'problems'> & { readonly entries: readonly { readonly id: string }[] };

/** Names that stand for predictions without a file: T* as the candidate, and base runs only. */
export const isMadeUp = (from: string): from is 'gold' | 'none' =>
  from === 'gold' || from === 'none';

/**
 * Predictions of files of JSON or JSONL, also compressed with gzip, in the shapes of SWE-bench and
 * SWT-Bench (rows, a list, an object by instance id); `gold` (T* as the candidate); or `none` (base runs
 * only: an empty candidate). A file may hold several candidates for one instance under different names.
 *
 * The same model in several files makes several samples of it: those of the first file that has it are
 * sample 1, and so on. A row that says `sample` has that number.
 *
 * @throws HumanError when a file cannot be read, or no prediction is for a selected instance
 */
export async function loadPredictions(
  from: string | readonly string[],
  selected: readonly Instance[],
  dataset: Known,
): Promise<Predictions> {
  const places = typeof from === 'string' ? [from] : from;
  const collected = new Map<string, Prediction>();
  const problems: string[] = [];
  /** In how many of the files so far a model stands without a number of its own. */
  const files = new Map<string, number>();
  const known = new Set(dataset.entries.map((entry) => entry.id));
  const wanted = new Set(selected.map((instance) => instance.id));
  for (const place of places) {
    const problem = (row: number, text: string): void => {
      problems.push(`${places.length > 1 ? `${place}: ` : ''}row ${row}: ${text}`);
    };
    const here = new Set<string>();
    const add = (row: number, prediction: Prediction, said: number | undefined): void => {
      const { instanceId, model } = prediction;
      if (said === undefined) here.add(model);
      const sample = said ?? (files.get(model) ?? 0) + 1;
      const key = JSON.stringify([instanceId, model, sample]);
      if (collected.has(key)) {
        const which = sample > 1 || said !== undefined ? `, sample ${sample},` : '';
        problem(row, `a second prediction of ${model} for ${instanceId}${which} is left out`);
        return;
      }
      collected.set(key, sample === 1 ? prediction : { ...prediction, sample });
    };
    if (isMadeUp(place)) {
      for (const [index, { id, goldenTests }] of selected.entries()) {
        const patch = place === 'gold' ? goldenTests : '';
        add(index + 1, { instanceId: id, model: place, patch }, undefined);
      }
    } else {
      for (const record of await readRecords(place, 'predictions file')) {
        if ('error' in record) {
          problems.push(`${places.length > 1 ? `${place}: ` : ''}${record.error}`);
          continue;
        }
        const read = readRow(record.value, dataset, known);
        if (typeof read === 'string') problem(record.row, read);
        else if (wanted.has(read.prediction.instanceId)) {
          add(record.row, read.prediction, read.sample);
        }
      }
    }
    for (const model of here) files.set(model, (files.get(model) ?? 0) + 1);
  }
  if (collected.size === 0) {
    throw new HumanError(
      `No prediction of ${places.join(', ')} is for a selected instance` +
        (problems.length > 0 ? ` (${problems[0]})` : ''),
      'A row needs instance_id, model_name_or_path and model_patch, and an id of the dataset',
    );
  }
  return { predictions: [...collected.values()], problems };
}

/** A row of a predictions file, or what is wrong with it. */
function readRow(
  value: unknown,
  dataset: Known,
  known: ReadonlySet<string>,
): { prediction: Prediction; sample: number | undefined } | string {
  const parsed = predictionSchema.safeParse(value);
  if (!parsed.success) {
    const field = parsed.error.issues[0]?.path.join('.') ?? '';
    if (field === '') return 'the row is not an object with an instance_id';
    return field === 'sample'
      ? 'sample is not a whole number from 1 on'
      : `${field} is missing or not a text`;
  }
  const { instance_id: instanceId, model_name_or_path: model, model_patch: patch } = parsed.data;
  if (!known.has(instanceId)) {
    const broken = dataset.problems.find((problem) => problem.id === instanceId);
    return (
      `${instanceId} ` +
      (broken === undefined
        ? 'is not in the dataset'
        : `cannot be used, since its row in the dataset is broken (${broken.message})`)
    );
  }
  const cost = makingCostOf(parsed.data);
  return {
    prediction: {
      instanceId,
      model: model ?? 'unnamed',
      patch: patch ?? '',
      ...(cost === undefined ? {} : { cost }),
    },
    sample: parsed.data.sample ?? undefined,
  };
}
