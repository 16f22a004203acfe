import type { Denominator } from '../entrySchema';

/** The part of `RunData` that is counted. */
interface CountedRun {
  readonly instances: readonly { readonly id: string }[];
  readonly entries: readonly { readonly instance: string }[];
  readonly unfinished?: boolean;
}

/** How many selected instances have no prediction; 0 while a run can still gain entries. */
function countWithoutPrediction({ instances, entries, unfinished }: CountedRun): number {
  if (unfinished === true) return 0;
  const there = new Set(entries.map(({ instance }) => instance));
  return instances.filter(({ id }) => !there.has(id)).length;
}

/**
 * The sentences below a table that name the denominators of its runs, such as `trial: shares of all
 * 100 instances of the dataset; 98 have no prediction`. Runs of which the same is true share one.
 */
export function denominatorTexts(
  runs: readonly (CountedRun & { readonly label: string; readonly denominator?: Denominator })[],
): string[] {
  const labels = new Map<string, string[]>();
  for (const run of runs) {
    const without = countWithoutPrediction(run);
    const missing =
      without === 0 ? '' : `; ${without} ${without === 1 ? 'has' : 'have'} no prediction`;
    const text = `shares of ${selectedText(run.instances.length, run.denominator)}${missing}`;
    labels.set(text, [...(labels.get(text) ?? []), run.label]);
  }
  return [...labels].map(
    ([text, of]) => `${of.length > 1 && labels.size === 1 ? 'All runs' : of.join(', ')}: ${text}`,
  );
}

/** The instances that shares are of, such as `the 2 instances with a prediction, of 100 in the dataset`. */
export function selectedText(count: number, denominator: Denominator | undefined): string {
  const some = count === 1 ? '1 instance' : `${count} instances`;
  if (denominator === undefined)
    return `the ${count} selected ${count === 1 ? 'instance' : 'instances'}`;
  const among = `, of ${denominator.dataset} in the dataset`;
  switch (denominator.of) {
    case 'dataset':
      return count === 1 ? 'the 1 instance of the dataset' : `all ${some} of the dataset`;
    case 'predicted':
      return `the ${some} with a prediction${among}`;
    case 'filtered':
      return `the ${some} in the filter${among}`;
    case 'predicted and filtered':
      return `the ${some} in the filter with a prediction${among}`;
  }
}
