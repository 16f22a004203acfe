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
 * The sentence below a table that names the denominator of a run, such as `trial: shares of all 100
 * instances of the dataset; 98 have no prediction`.
 */
export function denominatorText(
  run: CountedRun & { readonly label: string; readonly denominator?: Denominator },
): string {
  const { label, denominator, instances } = run;
  const count = instances.length;
  const without = countWithoutPrediction(run);
  const missing =
    without === 0 ? '' : `; ${without} ${without === 1 ? 'has' : 'have'} no prediction`;
  return `${label}: shares of ${selectedText(count, denominator)}${missing}`;
}

/** The instances that shares are of, such as `the 2 instances with a prediction, of 100 in the dataset`. */
export function selectedText(count: number, denominator: Denominator | undefined): string {
  const some = count === 1 ? '1 instance' : `${count} instances`;
  if (denominator === undefined) return `the ${some} of the run`;
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
