import type { MakingCost } from '../../domain/instance';

/**
 * Names of costs in predictions files, by preference. They are our own, those of the OpenAI and
 * Anthropic interfaces (`usage`), and those of SWE-agent (`model_stats`).
 */
const names = {
  dollars: ['dollars', 'usd', 'cost_usd', 'total_cost', 'instance_cost', 'cost'],
  inputTokens: ['inputTokens', 'input_tokens', 'prompt_tokens', 'tokens_sent', 'input'],
  outputTokens: ['outputTokens', 'output_tokens', 'completion_tokens', 'tokens_received', 'output'],
  seconds: ['seconds', 'duration_seconds', 'elapsed_seconds', 'duration', 'elapsed', 'time'],
} as const satisfies Record<keyof MakingCost, readonly string[]>;

/** Keys of a row whose value may be an object with these names. */
const blocks = ['cost', 'usage', 'tokens', 'model_stats', 'stats'];

/**
 * The costs of a candidate that a row of a predictions file states. They are numbers of the row
 * itself, or in its `cost`, `usage`, `tokens`, `model_stats` or `stats`. Undefined if there are
 * none. Anything but numbers from 0 on is ignored.
 */
export function makingCostOf(row: Readonly<Record<string, unknown>>): MakingCost | undefined {
  const places = [
    row,
    ...blocks.flatMap((key) => {
      const value = row[key];
      return isObject(value) ? [value] : [];
    }),
  ];
  const find = (keys: readonly string[]): number | undefined => {
    for (const place of places) {
      for (const key of keys) {
        // In the row itself, `input` and `output` are prompts and answers.
        if (place === row && (key === 'input' || key === 'output')) continue;
        const value = place[key];
        if (typeof value === 'number' && Number.isFinite(value) && value >= 0) return value;
      }
    }
    return undefined;
  };
  const cost: { -readonly [Key in keyof MakingCost]: MakingCost[Key] } = {};
  for (const key of Object.keys(names) as (keyof MakingCost)[]) {
    const value = find(names[key]);
    if (value !== undefined) cost[key] = value;
  }
  return Object.keys(cost).length === 0 ? undefined : cost;
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
