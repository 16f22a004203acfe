import { join } from 'node:path';
import { jsonText, layOut, plural } from '../../domain/text';
import { loadPredictions } from '../../dataset/predictions';
import { HumanError } from '../../domain/work';
import { withEngine } from '../../engine/sandbox';
import { createPythonParser } from '../../python/parser';
import { parseSources } from '../../repository/source';
import { workersFor } from '../../batch/workersFor';
import { runStore } from '../../evaluation/testRun';
import { filterRepairBatch } from '../../repair/filterRepairs';
import type { FilteredBatch, FilterRequest } from '../../repair/filterRequest';
import { filteredDocument, type FilteredDocument } from '../../repair/filteredRepairsSchema';
import { defaultRepairRun } from '../../repair/repairFolder';
import { readRepairResults } from '../../study/repairResults';
import { batchProgressHooks } from '../evaluating/batchProgress';
import { EXIT, terminalReporter, type CommandContext } from '../context';
import { openDatasetOption, sourcesFor } from '../options/openDatasetOption';
import { keepingNodeSeconds } from '../../results/nodeSeconds';
import { engineRequest, withEngineOptions, type EngineOptions } from '../options/engineOptions';
import {
  selectedInstances,
  withSelectingOptions,
  type SelectingOptions,
} from '../options/selectingOptions';
import {
  datasetOption,
  formatOption,
  jsonOption,
  sourceOption,
  needsStorage,
  storageOption,
  timeoutOption,
  workersOption,
} from '../options/sharedOptions';
import type { ProgramContext, RegisterCommand } from '../registerCommand';

interface FilterRepairsOptions extends SelectingOptions, EngineOptions {
  dataset: string;
  predictions: string;
  repairs: string[];
  resolved?: string;
  source: string[];
  /** By default derived from memory and cores. */
  workers?: number;
  timeout: number;
  /** Chosen when absent. */
  runId?: string;
  out?: string;
  format: string;
  fresh?: boolean;
  storage: string;
  json?: boolean;
}

/** Registers the command `filter-repairs`. */
export const registerFilterRepairs: RegisterCommand<ProgramContext> = (
  command,
  context,
  finish,
) => {
  withEngineOptions(withSelectingOptions(command), context)
    .addOption(datasetOption())
    .requiredOption('--predictions <file>', "one method's generated tests, as for `evaluate`")
    .requiredOption('--repairs <file...>', 'code patches as SWE-bench predictions, or `gold`')
    .option(
      '--resolved <file>',
      'instances that the patches resolve (default: run the golden tests on each patch)',
    )
    .addOption(sourceOption())
    .addOption(workersOption('code patches tested at once (default: by memory and cores)'))
    .addOption(timeoutOption('test timeout in seconds'))
    .option('--run-id <id>', 'name of the run below --out (default: run, or run-2, …)')
    .option('--out <dir>', 'folder for finished patches and the result')
    .addOption(formatOption(context))
    .option('--fresh', 'ignore cached runs and restart the run in --out')
    .addOption(storageOption())
    .hook('preAction', needsStorage)
    .addOption(jsonOption())
    .addHelpText(
      'after',
      '\nExit status: 0 every patch was filtered, 1 tests could not run on some, 2 invalid usage or input, 130 interrupted. With --out, repeat the command to resume an interrupted run.',
    )
    .action(async (options: FilterRepairsOptions) =>
      finish(await filterRepairsCommand(options, context)),
    );
};

/**
 * `swt-bench filter-repairs`: the code patches that generated tests keep, with precision and
 * recall.
 */
async function filterRepairsCommand(
  options: FilterRepairsOptions,
  context: ProgramContext,
): Promise<number> {
  const asked = engineRequest(options, context);
  const input = await readFilterInput(options, context);
  const reporter = terminalReporter(context);
  const { document, written } = await withEngine(asked, async (engine) => {
    const workers = options.workers ?? workersFor(engine);
    const means = `${plural(workers, 'worker')}, ${engine.description}`;
    const hooks = batchProgressHooks(context, reporter, means);
    const request = {
      ...settingsOf(options, context),
      ...{ ...input.asked, engine, workers, reporter: hooks.reporter },
    };
    const { out } = options;
    const run = options.runId ?? (await defaultRepairRun(out, request));
    const { model: tests, problems } = input;
    const documentOf = (filtered: FilteredBatch): FilteredDocument =>
      filteredDocument(filtered, { run, tests, engine, problems });
    const results = {
      runId: run,
      text: (filtered: FilteredBatch) => jsonText(documentOf(filtered)),
    };
    const work = (): Promise<FilteredBatch> =>
      filterRepairBatch(
        { ...request, ...(out === undefined ? {} : { results: { out, ...results } }) },
        {
          onProgress: hooks.onProgress,
          onPlan: (counts) => reporter.log(planned(counts, means)),
        },
      );
    const filtered = await keepingNodeSeconds(engine, undefined, { reporter, work });
    return { document: documentOf(filtered), written: filtered.written };
  });
  reporter.clear();
  if (options.json === true) context.data(jsonText(document));
  else {
    context.stdout(filteredText(document));
    if (written !== undefined) context.stdout(`written: ${written}\n`);
  }
  const hindered = document.repairs.some(
    ({ reason }) => reason === 'tests could not run on the patch' || reason === 'not evaluated',
  );
  return input.problems.length > 0 || hindered ? EXIT.negative : EXIT.done;
}

/** The input of the filter from files and options. */
interface FilterInput {
  readonly asked: Pick<
    FilterRequest,
    'instances' | 'tests' | 'repairs' | 'resolved' | 'sources' | 'python' | 'formats'
  >;
  /** The method that wrote the tests; empty where there are none. */
  readonly model: string;
  readonly problems: readonly string[];
}

/** @throws HumanError when input cannot be read, or the tests are of several methods; Cancelled */
async function readFilterInput(
  options: FilterRepairsOptions,
  context: ProgramContext,
): Promise<FilterInput> {
  const dataset = await openDatasetOption(options, context);
  const selected = await selectedInstances(dataset, options, context);
  const instances = await dataset.read(selected.map(({ entry }) => entry.id));
  const tests = await loadPredictions(
    options.predictions === 'bundled' ? context.bundled.predictions : options.predictions,
    instances,
    dataset,
  );
  const models = [...new Set(tests.predictions.map(({ model }) => model))];
  if (models.length > 1) {
    throw new HumanError(
      `${options.predictions} contains tests of several methods (${models.join(', ')})`,
      'Specify a file with the tests of one method',
    );
  }
  const repairs = await loadPredictions(options.repairs, instances, dataset, 'repair');
  const problems = [...tests.problems, ...repairs.problems];
  for (const problem of problems) context.stderr(`swt-bench: ${problem}\n`);
  const resolved =
    options.resolved === undefined
      ? undefined
      : new Set((await readRepairResults(options.resolved)).resolved);
  const sources = parseSources(sourcesFor(options, context));
  const python = await createPythonParser((file) => join(context.assets, file));
  return {
    asked: {
      ...{ instances, resolved, sources, python, formats: context.formats },
      tests: tests.predictions,
      repairs: repairs.predictions,
    },
    model: models[0] ?? '',
    problems,
  };
}

const settingsOf = (options: FilterRepairsOptions, context: CommandContext) => ({
  store: runStore(options.storage, { fresh: options.fresh === true }),
  storage: options.storage,
  timeoutSeconds: options.timeout,
  format: options.format,
  fresh: options.fresh === true,
  signal: context.signal,
});

const planned = (
  { candidates, instances }: { readonly candidates: number; readonly instances: number },
  means: string,
): string =>
  `${candidates} code patch${candidates === 1 ? '' : 'es'} on ` +
  `${plural(instances, 'instance')}; ${means}`;

function filteredText({ repairs, quality }: FilteredDocument): string {
  const percent = (share: number | undefined): string =>
    share === undefined ? '–' : `${(100 * share).toFixed(1)} %`;
  const rows = repairs.map(({ instance, name, reason, detail, resolved }) => [
    instance,
    name,
    resolved === undefined ? '?' : resolved ? 'yes' : 'no',
    reason === 'kept' ? '✓ kept' : `✗ ${reason}${detail === undefined ? '' : `: ${detail}`}`,
  ]);
  const { known, right, kept, keptRight } = quality;
  return [
    layOut([['Instance', 'Patch', 'Resolves', 'Filter'], ...rows]),
    '',
    `Precision ${percent(quality.precision)} (${keptRight} of ${kept} kept), without the filter ${percent(quality.precisionBefore)} (${right} of ${known})`,
    `Recall ${percent(quality.recall)} (${keptRight} of ${right} that resolve)`,
    '',
  ].join('\n');
}
