import { statisticsNotes } from '../../dataset/statistics';
import { select } from '../selection';
import { gatherStatistics, statisticsText } from '../statistics';
import { chosenIds, EXIT, openDataset, terminalReporter, type CommandContext } from './context';

export interface StatisticsOptions {
  dataset: string;
  repo?: string;
  ids?: string[];
  filter?: string;
  query?: string;
  triage?: string;
  storage: string;
  json?: boolean;
}

/** `swt-bench statistics`: the paper's Table 1 for a selection, with the denominator of every figure. */
export async function statisticsCommand(
  options: StatisticsOptions,
  context: CommandContext,
): Promise<number> {
  const { repo, query, triage, storage } = options;
  const dataset = await openDataset(options, context);
  const chosen = await chosenIds(dataset, options, context);
  const selected = await select(dataset, { ...chosen, repo, query, triage }, storage);
  const reporter = terminalReporter(context);
  const table = await gatherStatistics(
    selected.map(({ entry }) => entry),
    storage,
    { reporter, signal: context.signal },
  );
  reporter.clear();
  if (options.json === true) {
    // Keys are those of the table; what is not known is null, not absent.
    const rows = table.rows.map(({ mean = null, max = null, ...row }) => ({ ...row, mean, max }));
    const document = { selected: table.selected, statistics: rows, notes: statisticsNotes };
    context.stdout(`${JSON.stringify(document, null, 2)}\n`);
  } else {
    context.stdout(statisticsText(table));
  }
  return dataset.problems.length > 0 ? EXIT.negative : EXIT.done;
}
