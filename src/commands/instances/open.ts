import { stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { type Reporter, HumanError } from '../../domain/work';
import type { Instance } from '../../domain/instance';
import { dockerSettings, devContainerFile } from '../../engine/docker';
import { runsInContainers } from '../../engine/engines';
import { devContainerImage } from '../../environments/environments';
import { isUrl, sourceOf, parseSources } from '../../repository/source';
import { prepareTrees, remarkOn, type Trees } from '../../repository/trees';
import {
  copyTreeTo,
  makeWorkspace,
  writeDevContainer,
  writeWindowTitle,
} from '../../repository/workspace';
import { EXIT, terminalReporter, type CommandContext } from '../context';
import { openDatasetOption, sourcesFor } from '../options/openDatasetOption';
import { engineRequest, withEngineOptions, type EngineOptions } from '../options/engineOptions';
import {
  checkEmpty,
  datasetOption,
  needsStorage,
  sourceOption,
  storageOption,
} from '../options/sharedOptions';
import type { ProgramContext, RegisterCommand } from '../registerCommand';

interface OpenOptions extends EngineOptions {
  dataset: string;
  out: string;
  withFixed?: boolean;
  devcontainer?: boolean;
  source: string[];
  storage: string;
}

/** Registers the command `open`. */
export const registerOpen: RegisterCommand<ProgramContext> = (command, context, finish) => {
  withEngineOptions(command, context)
    .argument('<id>')
    .addOption(datasetOption())
    .requiredOption('--out <dir>', 'new folder')
    .option('--with-fixed', 'also check out R∘X* in <dir>-fixed')
    .option(
      '--devcontainer',
      "also write .devcontainer/devcontainer.json (not tracked by git); with --engine docker it uses the engine's image",
    )
    .addOption(sourceOption())
    .addOption(storageOption())
    .hook('preAction', needsStorage)
    .action(async (id: string, options: OpenOptions) =>
      finish(await openCommand(id, options, context)),
    );
};

/** `swt-bench open`: writes R, and with `--with-fixed` R∘X*, to folders that are new or empty. */
async function openCommand(
  id: string,
  options: OpenOptions,
  context: ProgramContext,
): Promise<number> {
  const { name, values } = engineRequest(options, context);
  const dataset = await openDatasetOption(options, context);
  const [instance] = await dataset.read([id]);
  if (instance === undefined) return EXIT.negative;
  const { storage, withFixed } = options;
  const out = resolve(options.out);
  const fixed = withFixed === true ? `${out}-fixed` : undefined;
  await checkEmpty(out);
  if (fixed !== undefined) await checkEmpty(fixed);
  const reporter = terminalReporter(context);
  const work = { signal: context.signal, reporter };
  const source = await sourceOf(instance, parseSources(sourcesFor(options, context)));
  const trees = await prepareTrees(instance, source, storage, work);
  // This comes before the folder is made, since it may fail.
  const image =
    options.devcontainer === true && runsInContainers(name)
      ? await devContainerImage(
          { instance, trees, settings: dockerSettings.in(values), storage },
          work,
        )
      : undefined;
  const from = {
    dataset: await lastingName(options.dataset),
    sources: lastingSource(instance.repo, options.source),
  };
  await makeWorkspace(instance, trees, from, out, context.signal);
  await writeWindowTitle(out, trees.base, instance.id);
  const complete =
    options.devcontainer !== true ||
    (await devContainerWritten({ out, instance, trees, image }, reporter, context));
  if (fixed !== undefined) await copyTreeTo(trees.fixed, fixed, context.signal);
  reporter.clear();
  context.stdout(`R: ${out}\n`);
  if (fixed !== undefined) context.stdout(`R∘X*: ${fixed}\n`);
  if (trees.source.kind === 'snapshot') {
    const { from } = trees.source;
    context.stderr(`created from the snapshot ${from}, not from ${instance.baseCommit}\n`);
  }
  const remark = remarkOn(trees);
  if (remark !== undefined) context.stderr(`${remark}\n`);
  return complete ? EXIT.done : EXIT.negative;
}

/**
 * The source that was given for a repository, as `--source` takes it, with an absolute path. It names
 * its repository, since in the editor a source for every repository does not count for the bundled
 * project.
 */
function lastingSource(repo: string, given: readonly string[]): string[] {
  const sources = parseSources(given);
  const where = sources.get(repo) ?? sources.get('*');
  return where === undefined ? [] : [`${repo}=${isUrl(where) ? where : resolve(where)}`];
}

/** Writes the dev container of R. R is made also where there is no dev container. */
async function devContainerWritten(
  of: {
    readonly out: string;
    readonly instance: Instance;
    readonly trees: Trees;
    readonly image: Awaited<ReturnType<typeof devContainerImage>> | undefined;
  },
  reporter: Reporter & { clear(): void },
  context: CommandContext,
): Promise<boolean> {
  const { out, instance, trees, image } = of;
  try {
    await writeDevContainer(out, trees.base, devContainerFile(instance, image));
    return true;
  } catch (error) {
    if (!(error instanceof HumanError)) throw error;
    reporter.clear();
    context.stderr(`swt-bench: no dev container: ${error.message}\n`);
    return false;
  }
}

/**
 * The name of a dataset that is valid in any folder: the full path of a file; addresses and names
 * stay unchanged.
 */
async function lastingName(dataset: string): Promise<string> {
  if (dataset === 'bundled') return dataset;
  const path = resolve(dataset);
  return (await stat(path).catch(() => undefined)) === undefined ? dataset : path;
}
