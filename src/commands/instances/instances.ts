import { jsonText, layOut } from '../../domain/text';
import { figures } from '../../dataset/dataset';
import { EXIT, type CommandContext } from '../context';
import { openDatasetOption } from '../options/openDatasetOption';
import {
  selectedInstances,
  withSelectingOptions,
  type SelectingOptions,
} from '../options/selectingOptions';
import { datasetOption, jsonOption, storageOption } from '../options/sharedOptions';
import type { RegisterCommand } from '../registerCommand';

interface InstancesOptions extends SelectingOptions {
  dataset: string;
  sort?: string;
  refresh?: boolean;
  storage: string;
  json?: boolean;
}

/** Registers the command `instances`. */
export const registerInstances: RegisterCommand = (command, context, finish) => {
  withSelectingOptions(command)
    .addOption(datasetOption())
    .option('--sort <order>', 'id, size, issue or date; a leading - reverses the order')
    .option('--refresh', 'check for updates of a downloaded dataset')
    .addOption(storageOption())
    .addOption(jsonOption())
    .action(async (options: InstancesOptions) => finish(await instancesCommand(options, context)));
};

/** `swt-bench instances`: one line, or one JSON object, for each instance. */
async function instancesCommand(
  options: InstancesOptions,
  context: CommandContext,
): Promise<number> {
  const dataset = await openDatasetOption(options, context);
  const selected = await selectedInstances(dataset, options, context);
  const rows = selected.map(({ entry }) => figures(entry));
  if (options.json === true) {
    context.data(jsonText(rows));
  } else {
    context.stdout(
      `${layOut([
        ['Instance', 'Version', 'Created', 'Issue', 'X* files/lines', 'T* files/lines'],
        ...rows.map((row) => [
          row.id,
          row.version,
          row.created_at.slice(0, 10),
          `${row.issue_length} characters`,
          `${row.patch.files}/${row.patch.lines}`,
          `${row.test_patch.files}/${row.test_patch.lines}`,
        ]),
      ])}\n`,
    );
  }
  return dataset.problems.length > 0 ? EXIT.negative : EXIT.done;
}
