import { localFilter } from '../../dashboard/localFilter';
import type { InstanceEntry } from '../../domain/instance';
import type { AskedFilter } from '../../study/document';
import type { RunData } from '../../study/entry';
import type { SharedFilter } from './dashboardPanel';

/** What the shared filter needs of the Instances view. */
export interface FilteredInstances {
  readonly isFiltered: boolean;
  /** Text of the filter; empty when only a filter list applies. */
  readonly filter: string;
  /** Entries that match the filter, in the order of the view. */
  entries(): readonly Pick<InstanceEntry, 'id'>[];
  /** An instance of the dataset, whether or not it matches the filter. */
  entry(id: string): unknown;
}

/** Whether at least half the instances of some runs are in the dataset of the Instances view. */
export function coversRuns(
  instances: Pick<FilteredInstances, 'entry'>,
  runs: readonly RunData[],
): boolean {
  const ids = new Set(runs.flatMap((run) => run.instances.map(({ id }) => id)));
  const known = [...ids].filter((id) => instances.entry(id) !== undefined);
  return known.length > 0 && 2 * known.length >= ids.size;
}

/** The filter of the Instances view, for runs of its dataset. */
export function filterOfRuns(instances: FilteredInstances, runs: readonly RunData[]): SharedFilter {
  if (!instances.isFiltered || !coversRuns(instances, runs)) return { text: '', ids: null };
  return { text: instances.filter, ids: instances.entries().map(({ id }) => id) };
}

/**
 * The filter that an exported page begins with; undefined for none. It names only instances of the
 * runs, and says the filter list too, since the page has no other place for it.
 */
export function filterOfPage(
  { text, ids }: SharedFilter,
  filterList: string | undefined,
  runs: readonly RunData[],
): AskedFilter | undefined {
  if (ids === null) return undefined;
  const kept = new Set(ids);
  const all = runs.flatMap(({ instances }) => instances.map(({ id }) => id));
  const list = filterList === undefined ? [] : [`list:${filterList}`];
  return {
    text: [...list, text.trim()].filter((each) => each !== '').join(' '),
    ids: [...new Set(all.filter((id) => kept.has(id)))],
  };
}

/**
 * A filter for runs whose instances the view does not know. It uses only what the runs say of them.
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
