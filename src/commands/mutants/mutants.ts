import { join } from 'node:path';
import { jsonText } from '../../domain/text';
import { loadPredictions } from '../../dataset/predictions';
import type { Instance } from '../../domain/instance';
import { withEngine } from '../../engine/sandbox';
import { runStore } from '../../evaluation/testRun';
import { runBatch } from '../../batch/runBatch';
import { sameness } from '../../batch/entryKeys';
import { defaultRunId } from '../../batch/runResults';
import { workersFor } from '../../batch/workersFor';
import type { BatchRequest } from '../../batch/batchRequest';
import { createPythonParser } from '../../python/parser';
import { parseSources } from '../../repository/source';
import { keepingNodeSeconds, nodesOfRun } from '../../results/nodeSeconds';
import { runFolder } from '../../results/runFolder';
import type { Report } from '../../results/reportSchema';
import { EXIT, terminalReporter, type CommandContext } from '../context';
import { openDatasetOption, sourcesFor } from '../options/openDatasetOption';
import { engineRequest, withEngineOptions, type EngineOptions } from '../options/engineOptions';
import {
  mutantLimitOption,
  datasetOption,
  formatOption,
  jsonOption,
  modeOption,
  sourceOption,
  needsStorage,
  storageOption,
  timeoutOption,
  workersOption,
} from '../options/sharedOptions';
import type { ProgramContext, RegisterCommand } from '../registerCommand';
import { testOnMutants } from '../../mutation/testMutants';
import { mutantsText } from './mutantsText';

interface MutantsCommandOptions extends EngineOptions {
  dataset: string;
  id: string;
  /** Files, `gold`, `none` or `bundled`. */
  predictions: string[];
  limit: number;
  source: string[];
  /** By default derived from memory and cores. */
  workers?: number;
  timeout: number;
  /** Chosen when absent. */
  runId?: string;
  out?: string;
  format: string;
  mode: BatchRequest['mode'];
  fresh?: boolean;
  storage: string;
  json?: boolean;
}

/** Registers the command `mutants`. */
export const registerMutants: RegisterCommand<ProgramContext> = (command, context, finish) => {
  withEngineOptions(command, context)
    .addOption(datasetOption())
    .requiredOption('--id <id>', 'the instance')
    .option(
      '--predictions <file...>',
      'candidates, as for `evaluate`; `gold` tests T*, `none` only lists the mutants',
      ['gold'],
    )
    .addOption(mutantLimitOption())
    .addOption(sourceOption())
    .addOption(workersOption('mutants at once (default: by memory and cores)'))
    .addOption(timeoutOption('test timeout in seconds; runs on mutants have a shorter one'))
    .option('--run-id <id>', 'name of the run below --out (default: run, or run-2, …)')
    .option('--out <dir>', 'folder for reports, like `evaluate --mutants`')
    .addOption(formatOption(context))
    .addOption(modeOption())
    .option('--fresh', 'ignore cached runs and restart the run in --out')
    .addOption(storageOption())
    .hook('preAction', needsStorage)
    .addOption(jsonOption())
    .addHelpText(
      'after',
      '\nThe output reveals code of the fix. Runs only new or changed tests that pass on R∘X*, and only on mutants they reach.' +
        '\nExit status: 0 all candidates were tested, 1 some could not be tested, 2 invalid usage or input, 130 interrupted.',
    )
    .action(async (options: MutantsCommandOptions) =>
      finish(await mutantsCommand(options, context)),
    );
};

/**
 * `swt-bench mutants`: the mutants of one instance, and which of them each candidate kills.
 *
 * @throws HumanError when input cannot be used; Cancelled
 */
async function mutantsCommand(
  options: MutantsCommandOptions,
  context: ProgramContext,
): Promise<number> {
  const asked = engineRequest(options, context);
  const { instance, predictions, problems, ...read } = await readMutantsInput(options, context);
  const reporter = terminalReporter(context);
  const reports = new Map<number, Report>();
  const engineName = await withEngine(asked, async (engine) => {
    const workers = options.workers ?? workersFor(engine);
    const { timeout: timeoutSeconds, limit, format, mode, storage, out, dataset } = options;
    const fresh = options.fresh === true;
    const request: BatchRequest = {
      ...{ ...read, predictions, engine, storage, timeoutSeconds, format, mode, fresh, reporter },
      instances: [instance],
      formats: context.formats,
      store: runStore(storage, { fresh }),
      // One candidate after the other, so that all workers share the mutants of one.
      workers: 1,
      mutants: { limit, workers, test: testOnMutants },
      signal: context.signal,
    };
    const runId = options.runId ?? (await defaultRunId(out, sameness(request)));
    const from = options.predictions.map((name) => ({ from: name }));
    const results =
      out === undefined ? {} : { results: { out, runId, dataset, predictions: from } };
    const { done } = runBatch(
      { ...request, ...results },
      { onEntry: (_entry, report, place) => void reports.set(place, report) },
    );
    const used = out === undefined ? undefined : nodesOfRun(runFolder(out, runId));
    await keepingNodeSeconds(engine, used, { reporter, work: () => done });
    return engine.name;
  });
  reporter.clear();
  const inOrder = [...reports].sort(([a], [b]) => a - b).map(([, report]) => report);
  const { id } = instance;
  const document = { instance_id: id, engine: engineName, limit: options.limit, results: inOrder };
  if (options.json === true) context.data(jsonText({ ...document, problems }));
  else context.stdout(mutantsText(id, inOrder));
  const isTried = inOrder.every((report) => report.mutants !== undefined);
  return isTried && problems.length === 0 ? EXIT.done : EXIT.negative;
}

/** The instance, its candidates and what runs them, from files and options. */
async function readMutantsInput(options: MutantsCommandOptions, context: CommandContext) {
  const dataset = await openDatasetOption(options, context);
  const [instance] = await dataset.read([options.id]);
  if (instance === undefined) throw new Error('a dataset reads each id or throws');
  const instances: readonly Instance[] = [instance];
  const files = options.predictions.map((name) =>
    name === 'bundled' ? context.bundled.predictions : name,
  );
  const { predictions, problems } = await loadPredictions(files, instances, dataset);
  for (const problem of problems) context.stderr(`swt-bench: ${problem}\n`);
  return {
    instance,
    predictions,
    problems,
    sources: parseSources(sourcesFor(options, context)),
    python: await createPythonParser((file) => join(context.assets, file)),
  };
}
