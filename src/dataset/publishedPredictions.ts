import { z } from 'zod';
import { makingCostOf } from './makingCost';
import { predictionRowOfOpenHands } from './openHandsRow';
import { recordBatches } from './rows/records';
import { messageOf, throwIfAborted } from '../domain/humanError';
import type { MakingCost } from '../domain/study/entry';

/** What a published file of predictions says of one instance, besides its patch. */
interface PublishedPrediction {
  readonly model: string | undefined;
  readonly isEmpty: boolean;
  readonly cost?: MakingCost;
}

const rowSchema = z.looseObject({
  instance_id: z.string(),
  model_name_or_path: z.string().nullish(),
  model_patch: z.string().nullish(),
});

/**
 * The first prediction of each instance in a file. Rows that cannot be read are left out, as the
 * harness does.
 *
 * @param problems gets a sentence where the file cannot be read
 * @throws Cancelled
 */
export async function publishedPredictions(
  path: string,
  problems: string[],
  signal?: AbortSignal,
): Promise<ReadonlyMap<string, PublishedPrediction>> {
  const found = new Map<string, PublishedPrediction>();
  try {
    for await (const batch of recordBatches(path, 'predictions file', { signal })) {
      for (const record of batch) {
        if ('error' in record) continue;
        const row = predictionRowOfOpenHands(record.value) ?? record.value;
        const { data } = rowSchema.safeParse(row);
        if (data === undefined || found.has(data.instance_id)) continue;
        const cost = makingCostOf(data);
        found.set(data.instance_id, {
          model: data.model_name_or_path ?? undefined,
          isEmpty: (data.model_patch ?? '').trim() === '',
          ...(cost !== undefined && { cost }),
        });
      }
    }
  } catch (error) {
    throwIfAborted(signal);
    problems.push(messageOf(error));
  }
  return found;
}
