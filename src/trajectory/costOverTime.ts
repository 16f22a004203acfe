import type { Trajectory } from './trajectory';

/** The cost of a trajectory as it grew. */
export interface CostOverTime {
  /** What `cost` counts: US dollars, or tokens where no step says dollars. */
  readonly unit: 'dollars' | 'tokens';
  /** What `at` counts: minutes since the first step, or turns where a time is missing. */
  readonly axis: 'minutes' | 'turns';
  readonly points: readonly CostPoint[];
}

interface CostPoint {
  /** Number of the step. */
  readonly step: number;
  readonly at: number;
  /** Sum up to this step. */
  readonly cost: number;
}

/** @returns undefined where fewer than two steps say what they cost */
export function costOverTime({ steps }: Trajectory): CostOverTime | undefined {
  const unit = steps.some(({ dollars }) => dollars !== undefined) ? 'dollars' : 'tokens';
  const paid = steps.flatMap((step, index) => {
    const { dollars, inputTokens, outputTokens, turn, at } = step;
    const isCounted = inputTokens !== undefined || outputTokens !== undefined;
    const tokens = isCounted ? (inputTokens ?? 0) + (outputTokens ?? 0) : undefined;
    const cost = unit === 'dollars' ? dollars : tokens;
    const time = at === undefined ? NaN : Date.parse(at);
    return cost === undefined ? [] : [{ step: index + 1, cost, turn, time }];
  });
  const [first] = paid;
  if (first === undefined || paid.length < 2) return undefined;
  const times = paid.map(({ time }) => time);
  const isTimed = times.every((time, index) => time >= (times[index - 1] ?? 0));
  const start = Math.min(
    ...steps.map(({ at = '' }) => Date.parse(at)).filter((time) => !Number.isNaN(time)),
    first.time,
  );
  let sum = 0;
  const points = paid.map(({ step, cost, turn, time }): CostPoint => {
    sum += cost;
    return { step, at: isTimed ? (time - start) / 60_000 : turn, cost: sum };
  });
  return { unit, axis: isTimed ? 'minutes' : 'turns', points };
}
