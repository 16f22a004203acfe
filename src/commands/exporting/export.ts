import { resolve } from 'node:path';
import { Option } from 'commander';
import { version } from '../../../package.json';
import type { Instance } from '../../domain/instance';
import { plural } from '../../domain/text';
import type { Reporter } from '../../domain/work';
import { dockerSettings } from '../../engine/docker';
import { environmentDockerfile } from '../../environments/environmentDockerfile';
import { environmentPlan } from '../../environments/environmentPlan';
import { parseSources, sourceOf } from '../../repository/source';
import { prepareTrees } from '../../repository/trees';
import { makeBeside } from '../../repository/workspace';
import { EXIT, terminalReporter } from '../context';
import { optionOf, valuesOf } from '../options/engineOptions';
import { openDatasetOption, sourcesFor } from '../options/openDatasetOption';
import {
  selectedInstances,
  withSelectingOptions,
  type SelectingOptions,
} from '../options/selectingOptions';
import {
  checkEmpty,
  datasetOption,
  needsStorage,
  sourceOption,
  storageOption,
} from '../options/sharedOptions';
import type { ProgramContext, RegisterCommand } from '../registerCommand';
import { archiveOfR, folderOfR, programsOfTasks, type ExportedTask } from './exportedTask';
import { exportFormats } from './exportFormats';

interface ExportOptions extends SelectingOptions {
  dataset: string;
  format: string;
  out: string;
  source: string[];
  storage: string;
}

/** Registers the command `export`. */
export const registerExport: RegisterCommand<ProgramContext> = (command, context, finish) => {
  withSelectingOptions(command.addOption(datasetOption()))
    .addOption(
      new Option(
        '--format <name>',
        exportFormats.map(({ name, description }) => `${name}: ${description}`).join('; '),
      )
        .choices(exportFormats.map(({ name }) => name))
        .makeOptionMandatory(),
    )
    .requiredOption('--out <dir>', 'new folder')
    .addOption(optionOf(dockerSettings, dockerSettings.named('baseImage')))
    .addOption(sourceOption())
    .addOption(storageOption())
    .hook('preAction', needsStorage)
    .addHelpText(
      'after',
      '\nNothing is built or run. The folder is written whole or not at all.' +
        '\nExit status: 0 all were exported, 1 none was selected or some were left out, 2 invalid usage or input, 130 interrupted.',
    )
    .action(async (options: ExportOptions) => finish(await exportCommand(options, context)));
};

/** `swt-bench export`: writes the selected instances as tasks for another program. */
async function exportCommand(options: ExportOptions, context: ProgramContext): Promise<number> {
  const format = exportFormats.find(({ name }) => name === options.format);
  if (format === undefined) throw new Error(`there is no format named ${options.format}`);
  const out = resolve(options.out);
  await checkEmpty(out);
  const dataset = await openDatasetOption(options, context);
  const selected = await selectedInstances(dataset, options, context);
  const instances = await dataset.read(selected.map(({ entry }) => entry.id));
  const reporter = terminalReporter(context);
  const found: ExportedTask[] = [];
  for (const instance of instances) {
    const task = await taskOf(instance, options, { ...context, reporter });
    if (typeof task !== 'string') found.push(task);
    else reporter.log(`swt-bench: ${instance.id} is left out: ${task}`);
  }
  if (found.length === 0) {
    reporter.clear();
    context.stderr('swt-bench: no instance to export\n');
    return EXIT.negative;
  }
  const { assets, signal } = context;
  await makeBeside(out, async (folder) => {
    reporter.progress(`writing ${plural(found.length, 'task')}`);
    await format.write(folder, found, { assets, version, signal });
  });
  reporter.clear();
  context.stdout(`${plural(found.length, 'task')}: ${out}\n`);
  context.stderr(`next: ${format.next(out)}\n`);
  return found.length === instances.length ? EXIT.done : EXIT.negative;
}

/** The parts of a task, or why the instance cannot be one. */
async function taskOf(
  instance: Instance,
  options: ExportOptions,
  context: ProgramContext & { readonly reporter: Reporter },
): Promise<ExportedTask | string> {
  const { signal, reporter, environments } = context;
  const source = await sourceOf(instance, parseSources(sourcesFor(options, context)));
  const trees = await prepareTrees(instance, source, options.storage, { signal, reporter });
  const plan = await environmentPlan(instance, trees.base);
  if (plan.system.packages.includes('build-essential')) {
    return "R has code to compile, which a task's container does not build for grading";
  }
  const { baseImage } = valuesOf(dockerSettings, options);
  const files = await environmentDockerfile(plan, {
    baseImage: baseImage.replaceAll('{python}', plan.python),
    ...{ folder: folderOfR, archive: archiveOfR, programs: programsOfTasks },
    tag: environments.surroundings(instance).tag,
    today: new Date().toISOString().slice(0, 10),
  });
  return { instance, trees, context: files };
}
