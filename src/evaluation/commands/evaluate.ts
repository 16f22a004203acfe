import { join } from 'node:path';
import { loadPredictions } from '../../dataset/predictions';
import { HumanError } from '../../domain/problem';
import { environmentReport } from '../report';
import { withEngine } from '../../engine/openEngine';
import type { AskedFormat } from '../../patch/convert';
import { createPythonParser } from '../../python/parser';
import { parseSources } from '../../repository/source';
import { evaluateBatch, type BatchEntry } from '../batch';
import type { Mode } from '../reading';
import { ratesByModel, toReport, writeInstanceReport, writeSummaries } from '../report';
import { runStore } from '../runStore';
import { select } from '../selection';
import { ratesText, resultTable } from '../table';
import {
  chosenIds,
  EXIT,
  openDataset,
  sourcesFor,
  terminalReporter,
  type CommandContext,
} from './context';
import { engineRequest, type EngineOptions } from './engineOptions';

export interface EvaluateOptions extends EngineOptions {
  dataset: string;
  predictions: string;
  ids?: string[];
  repo?: string;
  filter?: string;
  exclude?: string;
  query?: string;
  triage?: string;
  source: string[];
  workers: number;
  timeout: number;
  runId: string;
  out?: string;
  format: AskedFormat;
  testsOnly?: boolean;
  mode: Mode;
  fresh?: boolean;
  storage: string;
  json?: boolean;
}

/** `swt-bench evaluate`: runs and grades predictions, and writes reports when asked to. */
export async function evaluateCommand(
  options: EvaluateOptions,
  context: CommandContext,
): Promise<number> {
  const asked = engineRequest(options, context);
  if (options.testsOnly === true && options.mode === 'reproduction-script') {
    throw new HumanError(
      '--tests-only would leave out the script of --mode reproduction-script',
      'Leave one of them out',
    );
  }
  const dataset = await openDataset(options, context);
  const { repo, query, triage, storage } = options;
  const chosen = await chosenIds(dataset, options, context);
  const selected = await select(dataset, { ...chosen, repo, query, triage }, storage);
  const entries = selected.map(({ entry }) => entry);
  if (entries.length === 0) {
    throw new HumanError(
      `No instance of ${options.dataset} is selected`,
      'Run `swt-bench instances` to see what there is, and loosen --repo, --filter or --query',
    );
  }
  const instances = await dataset.read(entries.map((entry) => entry.id));
  const { predictions, problems } = await loadPredictions(
    options.predictions === 'bundled' ? context.bundled.predictions : options.predictions,
    instances,
    dataset,
  );
  for (const problem of problems) {
    context.stderr(`swt-bench: ${options.predictions}: ${problem}\n`);
  }
  const sources = parseSources(sourcesFor(options, context));
  const python = await createPythonParser((file) => join(context.assets, file));
  const reporter = terminalReporter(context);
  const { results, engine } = await withEngine(asked, async (engine) => {
    reporter.log(
      `${predictions.length} candidate${predictions.length === 1 ? '' : 's'}, ${engine.description}`,
    );
    const results = await evaluateBatch(
      {
        instances,
        predictions,
        engine,
        python,
        store: runStore(options.storage, { fresh: options.fresh === true }),
        sources,
        storage: options.storage,
        workers: options.workers,
        timeoutSeconds: options.timeout,
        format: options.format,
        mode: options.mode,
        testsOnly: options.testsOnly === true,
        fresh: options.fresh === true,
        signal: context.signal,
        reporter,
      },
      async (entry) => {
        if (options.out !== undefined) await writeInstanceReport(options.out, options.runId, entry);
      },
    );
    return { results, engine };
  });
  reporter.clear();
  const written =
    options.out === undefined ? [] : await writeSummaries(options.out, options.runId, results);

  const rates = ratesByModel(
    results,
    instances.map((instance) => instance.id),
  );
  if (options.json === true) {
    const document = {
      run_id: options.runId,
      engine: engine.name,
      environment: environmentReport(engine.environment),
      results: results.map(toReport),
      rates: Object.fromEntries(rates),
      problems,
    };
    context.stdout(`${JSON.stringify(document, null, 2)}\n`);
  } else {
    context.stdout(`${resultTable(results)}\n`);
    for (const entry of results) {
      if ('result' in entry) {
        const { notes, difference, model, instance } = entry.result;
        for (const note of [...notes, ...(difference === undefined ? [] : [difference])]) {
          context.stdout(`\n${instance}, ${model}: ${note}`);
        }
      }
    }
    context.stdout('\n');
    if (engine.environment === undefined) {
      for (const line of environmentsOf(results)) context.stdout(`${line}\n`);
    }
    // Rates of a single instance would only say the verdict again.
    if (instances.length > 1) {
      for (const [model, of] of rates) context.stdout(`\n${model}: ${ratesText(of)}\n`);
    }
    for (const path of written) context.stdout(`written: ${path}\n`);
  }
  const failed = results.filter((entry) => !('result' in entry));
  for (const entry of failed) {
    if ('failure' in entry) {
      context.stderr(`swt-bench: ${entry.prediction.instanceId}: ${entry.failure}\n`);
    }
  }
  return failed.length > 0 || problems.length > 0 ? EXIT.negative : EXIT.done;
}

/** What each instance ran with, where they differ. */
function environmentsOf(results: readonly BatchEntry[]): string[] {
  const lines = results.flatMap((entry) =>
    'result' in entry && entry.environment !== undefined
      ? [`${entry.result.instance}: ${entry.environment.description}`]
      : [],
  );
  return [...new Set(lines)];
}
