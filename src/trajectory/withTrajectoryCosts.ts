import { HumanError } from '../domain/work';
import type { RunData } from '../study/entry';
import type { MakingCost } from '../domain/instance';
import { readTrajectories } from './readTrajectories';
import { totalsOf, type Trajectory } from './trajectory';

interface CostOptions {
  readonly signal?: AbortSignal | undefined;
  /** Called with a sentence for each file or line that cannot be read and is skipped. */
  readonly told: (problem: string) => void;
}

/**
 * Published runs with what their trajectories say of costs, where their predictions do not. Of
 * several trajectories of an instance the first counts. A run of several models stays as it is,
 * since a trajectory does not say whose it is.
 *
 * @throws Cancelled
 */
export async function withTrajectoryCosts(
  runs: readonly RunData[],
  options: CostOptions,
): Promise<RunData[]> {
  const done: RunData[] = [];
  for (const run of runs) done.push(await withCosts(run, options));
  return done;
}

async function withCosts(run: RunData, options: CostOptions): Promise<RunData> {
  const { trajectories = [], entries } = run;
  const unpriced = new Set(
    entries.filter(({ cost }) => cost === undefined).map(({ instance }) => instance),
  );
  const models = new Set(entries.map(({ model, sample }) => `${model}@${sample}`));
  if (trajectories.length === 0 || unpriced.size === 0 || models.size !== 1) return run;
  const costs = new Map<string, MakingCost>();
  for (const path of trajectories) await addCosts(path, unpriced, costs, options);
  if (costs.size === 0) return run;
  return {
    ...run,
    entries: entries.map((entry) => {
      const cost = entry.cost ?? costs.get(entry.instance);
      return cost === undefined ? entry : { ...entry, cost };
    }),
  };
}

async function addCosts(
  path: string,
  instances: ReadonlySet<string>,
  costs: Map<string, MakingCost>,
  { signal, told }: CostOptions,
): Promise<void> {
  try {
    for await (const { trajectory } of readTrajectories(path, {
      ...{ instance: instances, signal, told },
    })) {
      const cost = costOfTrajectory(trajectory);
      if (cost !== undefined && !costs.has(trajectory.instance)) {
        costs.set(trajectory.instance, cost);
      }
    }
  } catch (error) {
    // A folder of traces in a format of its own has no costs to read.
    if (!(error instanceof HumanError)) throw error;
    told(error.message);
  }
}

/** What the whole of a trajectory cost; undefined where it says nothing of that. */
export function costOfTrajectory(trajectory: Trajectory): MakingCost | undefined {
  const { dollars, inputTokens, outputTokens } = totalsOf(trajectory);
  const cost = {
    ...(dollars !== undefined && { dollars }),
    ...(inputTokens !== undefined && { inputTokens }),
    ...(outputTokens !== undefined && { outputTokens }),
  };
  return Object.keys(cost).length === 0 ? undefined : cost;
}
