import type { InstanceEntry } from '../domain/instance';
import { HumanError } from '../domain/work';
import { createdTime } from './rows/dates';

/** The keys by which entries can be sorted, each with its words for ascending and descending. */
export const sortKeys = {
  id: ['id', 'ID (descending)'],
  size: ['smallest golden patch first', 'largest golden patch first'],
  issue: ['shortest issue first', 'longest issue first'],
  date: ['oldest first', 'newest first'],
} as const;

export interface SortOrder {
  readonly by: keyof typeof sortKeys;
  readonly descending: boolean;
}

/**
 * Sorts entries by id, by lines that X* adds and removes, by characters of the issue, or by date.
 * Equal entries keep their order. Unknown dates come last in both directions.
 */
export function sortEntries<Entry extends InstanceEntry>(
  entries: readonly Entry[],
  order: SortOrder,
): Entry[] {
  const sign = order.descending ? -1 : 1;
  if (order.by === 'id') {
    // Compares numbers in ids by value: `django-9296` before `django-10087`. Made here, since making
    // it takes longer than loading all of this file.
    const { compare } = new Intl.Collator('en', { numeric: true });
    return [...entries].sort((a, b) => sign * compare(a.id, b.id));
  }
  const measure = measures[order.by];
  return entries
    .map((entry) => ({ entry, value: measure(entry) }))
    .sort((a, b) => {
      if (a.value === undefined || b.value === undefined) {
        return Number(a.value === undefined) - Number(b.value === undefined);
      }
      return sign * (a.value - b.value);
    })
    .map(({ entry }) => entry);
}

const measures: Readonly<
  Record<Exclude<SortOrder['by'], 'id'>, (entry: InstanceEntry) => number | undefined>
> = {
  size: (entry) => entry.patch.lines,
  issue: (entry) => entry.issue.length,
  date: (entry) => createdTime(entry.createdAt),
};

/**
 * Parses `id`, `size`, `issue` or `date`; a leading `-` reverses the order.
 *
 * @throws HumanError naming the word
 */
export function parseSortOrder(text: string): SortOrder {
  const descending = text.startsWith('-');
  const word = descending ? text.slice(1) : text;
  const by = (Object.keys(sortKeys) as SortOrder['by'][]).find((key) => key === word);
  if (by === undefined) {
    throw new HumanError(
      `Instances cannot be sorted by "${text}"`,
      `Sort by ${Object.keys(sortKeys).join(', ')}, with a leading - for the reverse order`,
    );
  }
  return { by, descending };
}
