import { Option, type Command } from 'commander';
import type { Dataset } from '../../dataset/dataset';
import { loadFilter, type FilterList } from '../../dataset/filterLists';
import { HumanError } from '../../domain/work';
import { select, type Selected } from '../evaluating/selection';
import { terminalReporter, type CommandContext } from '../context';
import { rare } from './configuredOptions';
import { list } from './optionValues';

/** The options that select instances, for every command with a dataset. */
export interface SelectingOptions {
  ids?: string[];
  repo?: string;
  filter?: string;
  exclude?: string;
  query?: string;
  triage?: string;
}

/** Adds the options that select instances. */
export const withSelectingOptions = (command: Command): Command =>
  command
    .option('--ids <a,b>', 'only these instances', list)
    .option('--repo <owner/name>', 'only instances from this repository')
    .option(
      '--filter <list>',
      'only instances in this list: a file, URL, Lite, Verified, Full, or triage file',
    )
    .addOption(rare(new Option('--exclude <list>', 'omit the instances in this list')))
    .option('--query <filter>', 'only what this filter keeps, such as "status:valid changed:<20"')
    .addOption(
      rare(new Option('--triage <file>', 'file with tags and classifications that --query reads')),
    );

/**
 * The instances of a dataset that the options select.
 *
 * @returns an empty list where the dataset is empty, or `--repo` or `--query` matches none
 * @throws HumanError naming input that cannot be read, ids that are not in the dataset, or lists
 *   that leave no instance
 */
export async function selectedInstances(
  dataset: Dataset,
  options: SelectingOptions & { readonly storage: string; readonly sort?: string | undefined },
  context: CommandContext,
): Promise<Selected[]> {
  const { repo, query, triage, sort, storage } = options;
  const ids = await chosenIds(dataset, options, context);
  return select(dataset, { ids, repo, query, triage, sort }, storage);
}

/**
 * The ids that `--ids` names and the list of `--filter` keeps, without those that the list of
 * `--exclude` keeps.
 */
async function chosenIds(
  dataset: Dataset,
  options: SelectingOptions & { readonly storage: string },
  context: CommandContext,
): Promise<readonly string[] | undefined> {
  const { filter, exclude, storage } = options;
  if (filter === undefined && exclude === undefined) return options.ids;
  const reporter = terminalReporter(context);
  const load = (name: string): Promise<FilterList> =>
    loadFilter(name, { storage, reporter, signal: context.signal });
  let ids = options.ids ?? dataset.entries.map((entry) => entry.id);
  if (filter !== undefined) {
    const list = await load(filter);
    ids = ids.filter((id) => list.keeps(id));
  }
  if (exclude !== undefined) {
    const list = await load(exclude);
    ids = ids.filter((id) => !list.keeps(id));
  }
  reporter.clear();
  if (ids.length === 0) {
    const lists = [filter, exclude].filter((name) => name !== undefined).join(' and ');
    throw new HumanError(
      `No instance of ${dataset.path} is in ${lists}`,
      'Specify a text file with one instance ID per line',
    );
  }
  return ids;
}
