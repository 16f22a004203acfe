import { join } from 'node:path';
import { loadPredictions } from '../../dataset/predictions';
import type { Instance, Prediction } from '../../domain/instance';
import { HumanError } from '../../domain/problem';
import { withEngine } from '../../engine/openEngine';
import type { AskedFormat } from '../../patch/convert';
import { createPythonParser } from '../../python/parser';
import { parseSources } from '../../repository/source';
import { workersFor } from '../batches/workers';
import { runStore } from '../runStore';
import { select } from '../selection';
import { filterBatch, type FilteredBatch } from '../studies/filterRepairs';
import { filteredDocument, type FilteredDocument } from '../studies/filterRepairsSchema';
import { usualRepairRun } from '../studies/repairFolder';
import { readRepairResults } from '../studies/repairResults';
import { layOut } from '../table';
import { progressHooks, workersText } from './batchProgress';
import {
  chosenIds,
  EXIT,
  openDataset,
  sourcesFor,
  terminalReporter,
  type CommandContext,
  type SelectingOptions,
} from './context';
import { engineRequest, type EngineOptions } from './engineOptions';

export interface FilterRepairsOptions extends SelectingOptions, EngineOptions {
  dataset: string;
  predictions: string;
  repairs: string[];
  resolved?: string;
  source: string[];
  /** By memory and cores when absent. */
  workers?: number;
  timeout: number;
  /** Chosen where nobody says. */
  runId?: string;
  out?: string;
  format: AskedFormat;
  fresh?: boolean;
  storage: string;
  json?: boolean;
}

/** `swt-bench filter-repairs`: which code patches generated tests keep, with precision and recall. */
export async function filterRepairsCommand(
  options: FilterRepairsOptions,
  context: CommandContext,
): Promise<number> {
  const asked = engineRequest(options, context);
  const dataset = await openDataset(options, context);
  const { repo, query, triage, storage } = options;
  const chosen = await chosenIds(dataset, options, context);
  const selected = await select(dataset, { ...chosen, repo, query, triage }, storage);
  const instances = await dataset.read(selected.map(({ entry }) => entry.id));
  const tests = await loadPredictions(
    options.predictions === 'bundled' ? context.bundled.predictions : options.predictions,
    instances,
    dataset,
  );
  const models = [...new Set(tests.predictions.map(({ model }) => model))];
  if (models.length > 1) {
    throw new HumanError(
      `${options.predictions} holds tests of several methods (${models.join(', ')})`,
      'Name a file with the tests of one',
    );
  }
  const repairs = await repairsOf(options.repairs, instances, dataset);
  const problems = [...tests.problems, ...repairs.problems];
  for (const problem of problems) context.stderr(`swt-bench: ${problem}\n`);
  const resolved =
    options.resolved === undefined
      ? undefined
      : new Set((await readRepairResults(options.resolved)).resolved);

  const sources = parseSources(sourcesFor(options, context));
  const python = await createPythonParser((file) => join(context.assets, file));
  const reporter = terminalReporter(context);
  const { document, written } = await withEngine(asked, async (engine) => {
    const { memoryMb } = asked.docker;
    const workers = options.workers ?? workersFor({ name: engine.name, memoryMb }, engine.machine);
    const means = `${workersText(workers)}, ${engine.description}`;
    const hooks = progressHooks(context, reporter, means);
    const request = {
      instances,
      tests: tests.predictions,
      repairs: repairs.predictions,
      resolved,
      engine,
      python,
      store: runStore(storage, { fresh: options.fresh === true }),
      sources,
      storage,
      workers,
      timeoutSeconds: options.timeout,
      format: options.format,
      fresh: options.fresh === true,
      signal: context.signal,
      reporter: hooks.reporter,
    };
    const { out } = options;
    const run = options.runId ?? (await usualRepairRun(out, request));
    const documentOf = (filtered: FilteredBatch): FilteredDocument =>
      filteredDocument(filtered, { run, tests: models[0] ?? '', engine, problems });
    const results = {
      runId: run,
      text: (filtered: FilteredBatch) => jsonText(documentOf(filtered)),
    };
    const filtered = await filterBatch(
      { ...request, ...(out === undefined ? {} : { results: { out, ...results } }) },
      {
        onProgress: hooks.onProgress,
        onPlan: ({ candidates, instances }) =>
          reporter.log(
            `${candidates} code patch${candidates === 1 ? '' : 'es'} on ` +
              `${instances} instance${instances === 1 ? '' : 's'}; ${means}`,
          ),
      },
    );
    return { document: documentOf(filtered), written: filtered.written };
  });
  reporter.clear();
  if (options.json === true) context.stdout(jsonText(document));
  else {
    context.stdout(filteredText(document));
    if (written !== undefined) context.stdout(`written: ${written}\n`);
  }
  const hindered = document.repairs.some(
    ({ reason }) => reason === 'tests could not run on the patch' || reason === 'not evaluated',
  );
  return problems.length > 0 || hindered ? EXIT.negative : EXIT.done;
}

const jsonText = (document: FilteredDocument): string => `${JSON.stringify(document, null, 2)}\n`;

/** Code patches of files, or X* itself for `gold`. */
async function repairsOf(
  from: readonly string[],
  instances: readonly Instance[],
  dataset: Parameters<typeof loadPredictions>[2],
): Promise<{ readonly predictions: readonly Prediction[]; readonly problems: readonly string[] }> {
  const golden = from.includes('gold')
    ? instances.map(({ id, goldenPatch }) => ({
        instanceId: id,
        model: 'gold',
        patch: goldenPatch,
      }))
    : [];
  const files = from.filter((name) => name !== 'gold');
  if (files.length === 0) return { predictions: golden, problems: [] };
  const { predictions, problems } = await loadPredictions(files, instances, dataset);
  return { predictions: [...golden, ...predictions], problems };
}

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
