import { describeProblem, openDataset as open, type Dataset } from '../../dataset/dataset';
import { parseSources, withBundledSource } from '../../repository/source';
import { terminalReporter, type CommandContext } from '../context';

/** Loads the dataset that `--dataset` names, and warns of unusable rows. */
export async function openDatasetOption(
  options: {
    readonly dataset: string;
    readonly storage: string;
    readonly refresh?: boolean | undefined;
  },
  context: CommandContext,
): Promise<Dataset> {
  const { dataset: name, storage, refresh } = options;
  const reporter = terminalReporter(context);
  const dataset = await open(name === 'bundled' ? context.bundled.dataset : name, {
    storage,
    reporter,
    signal: context.signal,
    refresh,
  });
  reporter.clear();
  warnOfRows(dataset, context);
  return dataset;
}

/**
 * `--source` as given, and that of the bundled project where none is given for it or for every one.
 *
 * @throws HumanError when a part is empty
 */
export const sourcesFor = (
  { source }: { readonly source: readonly string[] },
  context: CommandContext,
): readonly string[] =>
  parseSources(source).has('*') ? source : withBundledSource(source, context.bundled.source);

/** Warns of rows that were left out; names the first few. */
function warnOfRows(dataset: Dataset, context: CommandContext): void {
  const { problems } = dataset;
  for (const problem of problems.slice(0, 5)) {
    context.stderr(`swt-bench: ${dataset.path}: ${describeProblem(problem)}\n`);
  }
  if (problems.length > 5) {
    context.stderr(`swt-bench: ${dataset.path}: ${problems.length - 5} more invalid rows\n`);
  }
}
