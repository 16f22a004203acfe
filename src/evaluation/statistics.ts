import {
  statistics,
  statisticsNotes,
  type Statistic,
  type StatisticsItem,
  type StatisticsTable,
} from '../dataset/statistics';
import type { InstanceEntry } from '../domain/instance';
import { throwIfAborted } from '../domain/humanError';
import type { Reporter } from '../domain/reporter';
import { codebaseSize, preparedBase } from '../repository/codebaseSize';
import { readStates } from '../repository/instanceState';
import { layOut } from '../domain/layOut';

/**
 * The paper's Table 1 for these entries, from available data: code bases from the prepared trees,
 * tests from the kept validations. Runs nothing and fetches nothing.
 *
 * @throws Cancelled
 */
export async function gatherStatistics(
  entries: readonly InstanceEntry[],
  storage: string,
  { reporter, signal }: { readonly reporter: Reporter; readonly signal?: AbortSignal | undefined },
): Promise<StatisticsTable> {
  const states = await readStates(storage);
  const items: StatisticsItem[] = [];
  for (const [index, entry] of entries.entries()) {
    throwIfAborted(signal);
    const tree = await preparedBase(storage, entry.id);
    if (tree !== undefined) {
      reporter.progress(`counting lines of ${entry.id} (${index + 1} of ${entries.length})`);
    }
    items.push({
      entry,
      validation: states.get(entry.id)?.validation,
      codebase: tree === undefined ? undefined : await codebaseSize(tree, signal),
    });
  }
  return statistics(items);
}

/** The table as text, with n of every row, and how the figures are counted. */
export function statisticsText({ rows, selected }: StatisticsTable): string {
  let group = '';
  const cells = rows.map((row) => {
    const first = row.group === group ? '' : row.group;
    group = row.group;
    return [
      first,
      row.name,
      cell(row, row.mean, 1),
      cell(row, row.max, 0),
      `${row.n} of ${selected}`,
    ];
  });
  const unknown = rows.some((row) => row.n < selected)
    ? [
        'Figures of the code base are known once an instance is opened or validated, those of tests once it is validated.',
      ]
    : [];
  // Each sentence in its own line, since an editor does not wrap them.
  const notes = [...statisticsNotes, ...unknown].map(
    (note) => `- ${note.replace(/([.;]) /g, '$1\n  ')}`,
  );
  return `${[layOut([['', '', 'Mean', 'Max', 'n'], ...cells]), '', ...notes].join('\n')}\n`;
}

function cell({ unit }: Statistic, value: number | undefined, digits: number): string {
  if (value === undefined) return '–';
  return unit === 'share' ? `${(100 * value).toFixed(digits)} %` : value.toFixed(digits);
}
