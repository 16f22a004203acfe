import { selectEntries, type Dataset } from '../../dataset/dataset';
import { matches, parseQuery, type Query } from '../../dataset/query';
import { parseSortOrder, sortEntries } from '../../dataset/sortOrder';
import { readTriage, type TriageFile } from '../../dataset/triage';
import type { InstanceEntry } from '../../domain/instance';
import { HumanError } from '../../domain/work';
import type { InstanceStatus, TriageEntry } from '../../domain/soundness';
import { readStates, statusOf } from '../../repository/instanceState';

/** What the user asks for. An instance must satisfy every given field. */
export interface Selection {
  /** Ids in the order of the result, unless `sort` is given. */
  readonly ids?: readonly string[] | undefined;
  /** `owner/name`, exactly. */
  readonly repo?: string | undefined;
  /** A filter in the syntax of the editor's list of instances. */
  readonly query?: string | undefined;
  /** Path of the triage file; required by a filter on tags, notes or the classification. */
  readonly triage?: string | undefined;
  /** `id`, `size`, `issue` or `date`; a leading `-` reverses the order. */
  readonly sort?: string | undefined;
}

/** An instance that was selected. */
export interface Selected {
  readonly entry: InstanceEntry;
  /** Undefined unless a filter looks at statuses: only then are they read. */
  readonly status: InstanceStatus | undefined;
  /** Undefined when the triage file has no entry for it, or no file was named. */
  readonly triage: TriageEntry | undefined;
}

/**
 * Entries of a dataset by ids, repository and filter, sorted. The result may be empty.
 *
 * @param storage folder that holds the states of instances
 * @throws HumanError naming unknown ids, a filter or an order that cannot be read, or a triage
 *   file that is missing or cannot be used
 */
export async function select(
  dataset: Dataset,
  selection: Selection,
  storage: string,
): Promise<Selected[]> {
  const { ids, repo, sort } = selection;
  const query = parseQuery(selection.query ?? '');
  const order = sort === undefined ? undefined : parseSortOrder(sort);
  const triaged = await triageOf(selection, query);
  const states = query.needsStatus ? await readStates(storage) : undefined;

  const entries = selectEntries(dataset, {
    ...(ids === undefined ? {} : { ids }),
    ...(repo === undefined ? {} : { repo }),
  });
  const kept = new Map<string, Selected>();
  for (const entry of entries) {
    const triage = triaged?.instances.get(entry.id);
    const status = states === undefined ? undefined : statusOf(states.get(entry.id));
    const item = {
      entry,
      status: status ?? { kind: 'not opened' as const },
      ...(triage === undefined ? {} : { triage }),
    };
    if (matches(query, item)) kept.set(entry.id, { entry, status, triage });
  }
  const chosen = [...kept.values()].map(({ entry }) => entry);
  const sorted = order === undefined ? chosen : sortEntries(chosen, order);
  return sorted.flatMap((entry) => kept.get(entry.id) ?? []);
}

async function triageOf(selection: Selection, query: Query): Promise<TriageFile | undefined> {
  if (selection.triage !== undefined) return readTriage(selection.triage);
  if (!query.needsTriage) return undefined;
  throw new HumanError(
    `The filter ${selection.query ?? ''} uses tags, notes or the classification`,
    'Specify the triage file with --triage',
  );
}
