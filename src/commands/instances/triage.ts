import { jsonText, layOut } from '../../domain/text';
import { readPlainText } from '../../files/plainFile';
import { Option } from 'commander';
import { selectEntries, type Dataset } from '../../dataset/dataset';
import { matches, parseQuery } from '../../dataset/query';
import {
  editTriage,
  mergeTriage,
  emptyTriageEntry,
  readTriage,
  type TriageConflict,
  type TriageFile,
  triageCsv,
} from '../../dataset/triage';
import { parseTriage } from '../../dataset/triageFile';
import { type InstanceEntry, checkedId } from '../../domain/instance';
import { HumanError, messageOf } from '../../domain/work';
import { isLiteS, type TriageEntry } from '../../domain/soundness';
import { readStates, statusOf, type InstanceState } from '../../repository/instanceState';
import { EXIT, type CommandContext } from '../context';
import { openDatasetOption } from '../options/openDatasetOption';
import { list } from '../options/optionValues';
import { jsonOption, storageOption } from '../options/sharedOptions';
import type { RegisterCommand } from '../registerCommand';
import { changeOf, type TriageChanges } from './triageChanges';

export interface TriageOptions extends TriageChanges {
  /** The triage file, created with the first change. */
  triage: string;
  dataset?: string;
  query?: string;
  /** Another triage file to merge into this one. */
  merge?: string;
  csv?: boolean;
  list?: boolean;
  json?: boolean;
  storage: string;
}

/** Registers the command `triage`. */
export const registerTriage: RegisterCommand = (command, context, finish) => {
  command
    .argument('[ids...]')
    .requiredOption('--triage <file>', 'triage file, created with the first change')
    .addOption(new Option('--dataset <file>', 'dataset with the columns to show and for --query'))
    .option('--tag <a,b>', 'tags to add', list)
    .option('--untag <a,b>', 'tags to remove', list)
    .option('--note <text>', 'note; empty to remove it')
    .option('--description <category>', 'how much information the description has')
    .option('--solution <category>', 'whether the description has a solution')
    .option(
      '--location <category>',
      'whether the description names the location, as CATEGORY or line=, function=, file=',
      list,
    )
    .option('--query <filter>', 'only instances that match this filter')
    .option('--merge <file>', 'merge the entries of another triage file into this one')
    .option('--csv', 'print CSV')
    .option('--list', 'print one ID per line, as a list for --filter')
    .addOption(storageOption())
    .addOption(jsonOption())
    .action(async (ids: string[], options: TriageOptions) =>
      finish(await triageCommand(ids, options, context)),
    );
};

/**
 * `swt-bench triage`: changes the entries of the named ids, then prints entries. The output is a
 * table, JSON, CSV, or a filter list of the ids.
 */
export async function triageCommand(
  ids: readonly string[],
  options: TriageOptions,
  context: CommandContext,
): Promise<number> {
  const change = changeOf(options);
  ids.forEach(checkedId);
  if (change !== undefined && ids.length === 0) {
    throw new HumanError(
      'No instance is specified for the change',
      'Write instance IDs before the options',
    );
  }
  if ([options.csv, options.list, options.json].filter((each) => each === true).length > 1) {
    throw new HumanError('--csv, --list and --json cannot be combined', 'Use only one of them');
  }
  const query = parseQuery(options.query ?? '');
  if (query.needsEntry && options.dataset === undefined) {
    throw new HumanError(
      `The filter ${options.query ?? ''} needs instance data, but the triage file has only IDs`,
      'Specify the dataset with --dataset',
    );
  }
  const dataset =
    options.dataset === undefined
      ? undefined
      : await openDatasetOption({ dataset: options.dataset, storage: options.storage }, context);
  // Refuses ids that the dataset does not have.
  if (dataset !== undefined) selectEntries(dataset, { ids });

  const { file, conflicts } = await changed(ids, options, change);
  for (const { id, field, ours, theirs } of conflicts) {
    const where = id === '' ? 'the file' : id;
    context.stderr(
      `swt-bench: ${where}: ${field} is ${ours} here and ${theirs} there; kept ${ours}\n`,
    );
  }
  const states =
    query.needsStatus || options.csv === true
      ? await readStates(options.storage)
      : new Map<string, InstanceState>();
  const items = itemsOf(file, dataset, ids, options.csv === true).filter(({ id, entry, triage }) =>
    matches(query, {
      entry: entry ?? unknownEntry(id),
      status: statusOf(states.get(id)),
      ...(triage === undefined ? {} : { triage }),
    }),
  );
  print(items, states, options, context);

  const missing = change === undefined ? ids.filter((id) => !file.instances.has(id)) : [];
  if (missing.length > 0 && options.csv !== true) {
    context.stderr(`swt-bench: ${options.triage} has no entry for ${missing.join(', ')}\n`);
  }
  const partly =
    conflicts.length > 0 ||
    (missing.length > 0 && options.csv !== true) ||
    (dataset?.problems.length ?? 0) > 0;
  return partly ? EXIT.negative : EXIT.done;
}

async function changed(
  ids: readonly string[],
  { triage: path, merge }: TriageOptions,
  change: ((entry: TriageEntry) => TriageEntry) | undefined,
): Promise<{ file: TriageFile; conflicts: readonly TriageConflict[] }> {
  if (change === undefined && merge === undefined) {
    return { file: await readTriage(path), conflicts: [] };
  }
  const theirs = merge === undefined ? undefined : await readOther(merge);
  let conflicts: readonly TriageConflict[] = [];
  const file = await editTriage(path, (before) => {
    const merged = theirs === undefined ? undefined : mergeTriage(before, theirs);
    conflicts = merged?.conflicts ?? [];
    const start = merged?.file ?? before;
    const instances = new Map(start.instances);
    if (change !== undefined) {
      for (const id of ids) instances.set(id, change(instances.get(id) ?? emptyTriageEntry));
    }
    return { ...start, instances };
  });
  return { file, conflicts };
}

/** Reads a file to merge, which must exist, unlike the target. */
async function readOther(path: string): Promise<TriageFile> {
  const text = await readPlainText(path, { named: true }).catch((error: unknown) => {
    throw new HumanError(
      `The triage file ${path} cannot be read (${messageOf(error)})`,
      'Specify a triage file with --merge',
    );
  });
  return parseTriage(text, path);
}

interface Item {
  readonly id: string;
  readonly entry: InstanceEntry | undefined;
  readonly triage: TriageEntry | undefined;
}

/**
 * The entries of the file, or of the named ids. For a spreadsheet they cover every instance of the
 * dataset, so that instances without an entry have a row too.
 */
function itemsOf(
  { instances }: TriageFile,
  dataset: Dataset | undefined,
  ids: readonly string[],
  everyInstance: boolean,
): Item[] {
  const entries = new Map(dataset?.entries.map((entry) => [entry.id, entry]));
  const held = [...instances.keys()].filter((id) => dataset === undefined || entries.has(id));
  const wanted = everyInstance && dataset !== undefined ? [...entries.keys()] : held;
  const named = new Set(ids);
  return wanted
    .filter((id) => named.size === 0 || named.has(id))
    .map((id) => ({ id, entry: entries.get(id), triage: instances.get(id) }));
}

/** Replaces the dataset's entry where no dataset was named; no condition reads its fields. */
const unknownEntry = (id: string): InstanceEntry => ({
  id,
  repo: '',
  version: '',
  baseCommit: '',
  createdAt: '',
  issue: '',
  patch: { files: [], lines: 0 },
  tests: { files: [], lines: 0 },
});

function print(
  items: readonly Item[],
  states: ReadonlyMap<string, InstanceState>,
  options: TriageOptions,
  context: CommandContext,
): void {
  if (options.list === true) {
    context.stdout(items.map(({ id }) => `${id}\n`).join(''));
  } else if (options.csv === true) {
    context.data(
      triageCsv(
        items.map(({ id, entry, triage }) => ({
          entry: entry ?? { id },
          triage,
          ...states.get(id),
        })),
      ),
    );
  } else if (options.json === true) {
    const rows = items.map(({ id, triage = emptyTriageEntry }) => ({
      instance_id: id,
      ...triage,
      lite_s: isLiteS(triage),
    }));
    context.data(jsonText(rows));
  } else if (items.length === 0) {
    context.stderr('swt-bench: no entries\n');
  } else {
    context.stdout(
      `${layOut([
        ['Instance', 'Tags', 'Description', 'Solution', 'Location', 'Note'],
        ...items.map(({ id, triage = emptyTriageEntry }) => {
          const { description = '', solution = '', location = {} } = triage.classification;
          const places = (['line', 'function', 'file'] as const).flatMap((each) =>
            location[each] === undefined ? [] : [`${each} ${location[each]}`],
          );
          return [
            id,
            triage.tags.join(', '),
            description,
            solution,
            places.join(', '),
            triage.note,
          ];
        }),
      ])}\n`,
    );
  }
}
