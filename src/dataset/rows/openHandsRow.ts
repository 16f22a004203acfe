import { z } from 'zod';

const metadata = z
  .looseObject({
    llm_config: z.looseObject({ model: z.string() }).nullish().catch(undefined),
    llm: z.looseObject({ model: z.string() }).nullish().catch(undefined),
  })
  .nullish()
  .catch(undefined);

const metrics = z
  .looseObject({
    accumulated_cost: z.number().optional().catch(undefined),
    accumulated_token_usage: z.looseObject({}).nullish().catch(undefined),
  })
  .nullish()
  .catch(undefined);

const rowSchema = z.looseObject({
  instance_id: z.string(),
  test_result: z.looseObject({ git_patch: z.string().nullish() }).nullish().catch(undefined),
  /** The patch in the oldest files. */
  git_patch: z.string().nullish().catch(undefined),
  metadata,
  metrics,
});

/**
 * A row of OpenHands' `output.jsonl` as a row of predictions, without its history: the patch, the
 * name `OpenHands/MODEL`, and what it cost. The format is `EvalOutput` in OpenHands'
 * `evaluation/utils/shared.py`, and in `benchmarks/utils/models.py` since 1.0.
 *
 * @returns undefined for a row of any other program
 */
export function predictionRowOfOpenHands(
  row: unknown,
): Readonly<Record<string, unknown>> | undefined {
  if (typeof row !== 'object' || row === null || 'model_patch' in row) return undefined;
  if (!('test_result' in row) && !('git_patch' in row)) return undefined;
  const { data } = rowSchema.safeParse(row);
  if (data === undefined) return undefined;
  const model = data.metadata?.llm_config?.model ?? data.metadata?.llm?.model;
  return {
    instance_id: data.instance_id,
    // The proxy says nothing about the model behind it.
    model_name_or_path: ['OpenHands', ...(model === undefined ? [] : [withoutProxy(model)])].join(
      '/',
    ),
    model_patch: data.test_result?.git_patch ?? data.git_patch ?? '',
    cost: {
      ...data.metrics?.accumulated_token_usage,
      dollars: data.metrics?.accumulated_cost,
    },
  };
}

const withoutProxy = (model: string): string => model.replace(/^litellm_proxy\//, '');
