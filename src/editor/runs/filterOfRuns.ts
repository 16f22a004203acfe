import { localFilter } from '../../dashboard/localFilter';
import type { InstanceEntry } from '../../domain/instance';
import type { RunData } from '../../domain/study/entry';
import type { SharedFilter } from './dashboardPanel';

/** What of the Instances view its filter is known from. */
export interface FilteredInstances {
  readonly isFiltered: boolean;
  /** Text of the filter; empty where only a list filters. */
  readonly filter: string;
  /** What the filter leaves, in the order of the view. */
  entries(): readonly Pick<InstanceEntry, 'id'>[];
  /** An instance of the dataset, filtered out or not. */
  entry(id: string): unknown;
}

/** Whether the instances of some runs are those of the dataset of the Instances view: at least half are. */
export function coversRuns(
  instances: Pick<FilteredInstances, 'entry'>,
  runs: readonly RunData[],
): boolean {
  const ids = new Set(runs.flatMap((run) => run.instances.map(({ id }) => id)));
  const known = [...ids].filter((id) => instances.entry(id) !== undefined);
  return known.length > 0 && 2 * known.length >= ids.size;
}

/** The filter of the Instances view, where the runs are of its dataset. */
export function filterOfRuns(instances: FilteredInstances, runs: readonly RunData[]): SharedFilter {
  if (!instances.isFiltered || !coversRuns(instances, runs)) return { text: '', ids: null };
  return { text: instances.filter, ids: instances.entries().map(({ id }) => id) };
}

/**
 * A filter of runs whose instances the view knows nothing of: what the runs say of them is all there is.
 */
export function ownFilterOfRuns(text: string, runs: readonly RunData[]): SharedFilter {
  const filter = localFilter(text);
  if ('problem' in filter) return { text, ids: null, problem: filter.problem };
  const all = runs.flatMap(({ instances }) => instances);
  return {
    text,
    ids: text.trim() === '' ? null : [...new Set(all.filter(filter.keeps).map(({ id }) => id))],
  };
}
