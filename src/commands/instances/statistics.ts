import { jsonText } from '../../domain/text';
import { statisticsNotes } from '../../dataset/statistics';
import { tagCounts, tagCountsText } from '../../dataset/triage';
import { gatherStatistics, statisticsText } from '../../validation/statistics';
import { EXIT, terminalReporter, type CommandContext } from '../context';
import { openDatasetOption } from '../options/openDatasetOption';
import {
  selectedInstances,
  withSelectingOptions,
  type SelectingOptions,
} from '../options/selectingOptions';
import { datasetOption, jsonOption, storageOption } from '../options/sharedOptions';
import type { RegisterCommand } from '../registerCommand';

interface StatisticsOptions extends SelectingOptions {
  dataset: string;
  storage: string;
  json?: boolean;
}

/** Registers the command `statistics`. */
export const registerStatistics: RegisterCommand = (command, context, finish) => {
  withSelectingOptions(command)
    .addOption(datasetOption())
    .addOption(storageOption())
    .addOption(jsonOption())
    .action(async (options: StatisticsOptions) =>
      finish(await statisticsCommand(options, context)),
    );
};

/** `swt-bench statistics`: the paper's Table 1 for a selection, with the denominator of every figure. */
export async function statisticsCommand(
  options: StatisticsOptions,
  context: CommandContext,
): Promise<number> {
  const dataset = await openDatasetOption(options, context);
  const selected = await selectedInstances(dataset, options, context);
  const reporter = terminalReporter(context);
  const table = await gatherStatistics(
    selected.map(({ entry }) => entry),
    options.storage,
    { reporter, signal: context.signal },
  );
  reporter.clear();
  const tags =
    options.triage === undefined ? undefined : tagCounts(selected.map(({ triage }) => triage));
  if (options.json === true) {
    // Keys are those of the table; unknown values are null, not absent.
    const rows = table.rows.map(({ mean = null, max = null, ...row }) => ({ ...row, mean, max }));
    const document = {
      ...{ selected: table.selected, statistics: rows, notes: statisticsNotes },
      ...(tags === undefined ? {} : { tags: tags.tags, untagged: tags.untagged }),
    };
    context.data(jsonText(document));
  } else {
    const ofTags = tags === undefined ? '' : tagCountsText(tags);
    context.stdout(statisticsText(table) + (ofTags === '' ? '' : `\n${ofTags}`));
  }
  return dataset.problems.length > 0 ? EXIT.negative : EXIT.done;
}
