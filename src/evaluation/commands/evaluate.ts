import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { isMadeUp, loadPredictions } from '../../dataset/predictions';
import { HumanError } from '../../domain/problem';
import type { Engine } from '../../engine/engine';
import { withEngine } from '../../engine/openEngine';
import type { AskedFormat } from '../../patch/convert';
import { createPythonParser } from '../../python/parser';
import { parseSources } from '../../repository/source';
import { runBatch, type BatchOutcome } from '../batches/run';
import { sameness } from '../batches/keys';
import { usualRunId } from '../batches/results';
import { workersFor } from '../batches/workers';
import type { Mode } from '../reading';
import {
  environmentReport,
  ratesByModel,
  readReport,
  reasonsOf,
  type InstanceReport,
} from '../report';
import { reportPath } from '../runs/runFolder';
import { runStore } from '../runStore';
import { select } from '../selection';
import { ratesText, resultLine, resultTable, type ResultLine } from '../table';
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

export interface EvaluateOptions extends SelectingOptions, EngineOptions {
  dataset: string;
  /** Files, `gold`, `none` or `bundled`. */
  predictions: string[];
  source: string[];
  /** By memory and cores when absent. */
  workers?: number;
  timeout: number;
  /** Chosen where nobody says. */
  runId?: string;
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
  const from = options.predictions.map((name) =>
    name === 'bundled' ? context.bundled.predictions : name,
  );
  const { predictions, problems } = await loadPredictions(from, instances, dataset);
  for (const problem of problems) {
    const file = from.length > 1 ? '' : `${options.predictions.join(' ')}: `;
    context.stderr(`swt-bench: ${file}${problem}\n`);
  }
  const sources = parseSources(sourcesFor(options, context));
  const python = await createPythonParser((file) => join(context.assets, file));
  const reporter = terminalReporter(context);
  const predictionFiles = await Promise.all(
    options.predictions.map((name, index) => digested(name, from[index] ?? name)),
  );
  const lines = new Map<number, ResultLine>();
  const remarks = new Map<number, readonly string[]>();
  const environments = new Set<string>();
  const reports = new Map<number, InstanceReport>();
  const { outcome, engine, runId } = await withEngine(asked, async (engine) => {
    const { memoryMb } = asked.docker;
    const workers = options.workers ?? workersFor({ name: engine.name, memoryMb }, engine.machine);
    const hooks = progressHooks(
      context,
      reporter,
      `${workersText(workers)}, ${engine.description}`,
    );
    const request = {
      instances,
      predictions,
      engine,
      python,
      store: runStore(options.storage, { fresh: options.fresh === true }),
      sources,
      storage: options.storage,
      workers,
      timeoutSeconds: options.timeout,
      format: options.format,
      mode: options.mode,
      testsOnly: options.testsOnly === true,
      fresh: options.fresh === true,
      signal: context.signal,
      reporter: hooks.reporter,
    };
    const { out, dataset } = options;
    const runId = options.runId ?? (await usualRunId(out, sameness(request)));
    const place = { runId, dataset, predictions: predictionFiles };
    const batch = runBatch(
      { ...request, ...(out === undefined ? {} : { results: { out, ...place } }) },
      {
        ...hooks,
        onEntry: (_entry, report, place) => {
          lines.set(place, resultLine(report));
          remarks.set(place, remarksOf(report));
          if (report.environment) {
            environments.add(`${report.instance_id}: ${report.environment.description}`);
          }
          // Reports that are on the disk can be read again, and many of them are large.
          if (options.json === true && options.out === undefined) reports.set(place, report);
        },
      },
    );
    return { outcome: await batch.done, engine, runId };
  });
  reporter.clear();

  const results = [...lines].sort(([left], [right]) => left - right);
  const ids = instances.map((instance) => instance.id);
  const rates = ratesByModel(outcome.entries, ids);
  if (options.json === true) {
    await printJson(options.out, context, { runId, outcome, engine, reports, rates, problems });
  } else {
    context.stdout(`${resultTable(results.map(([, line]) => line))}\n`);
    for (const [place, { instance, name }] of results) {
      for (const remark of remarks.get(place) ?? []) {
        context.stdout(`\n${instance}, ${name}: ${remark}`);
      }
    }
    context.stdout('\n');
    if (engine.environment === undefined) {
      for (const line of environments) context.stdout(`${line}\n`);
    }
    // Rates of a single instance would only say the verdict again.
    if (instances.length > 1) {
      for (const [name, of] of rates) {
        context.stdout(`\n${name}: ${ratesText(of)}\n${reasonsText(of.reasons)}\n`);
      }
    }
    for (const path of outcome.written) context.stdout(`written: ${path}\n`);
  }
  const failed = outcome.entries.filter((entry) => !entry.evaluated);
  for (const entry of failed) {
    context.stderr(`swt-bench: ${entry.instance}: ${entry.explanation}\n`);
  }
  return failed.length > 0 || problems.length > 0 ? EXIT.negative : EXIT.done;
}

/** What a reader of the table should know besides. */
const remarksOf = (report: InstanceReport): string[] => [
  ...(report.notes ?? []),
  ...(report.gradings_differ ? [report.gradings_differ] : []),
  ...(report.reason === 'edits outside tests' ? [report.explanation] : []),
];

const reasonsText = (reasons: Readonly<Record<string, number>>): string =>
  Object.entries(reasons)
    .map(([reason, count]) => `${count} ${reason}`)
    .join(', ');

/** A predictions file with its digest, for the record of the run. */
async function digested(name: string, path: string): Promise<{ from: string; sha256?: string }> {
  if (isMadeUp(path)) return { from: name };
  const hash = createHash('sha256');
  await pipeline(createReadStream(path), hash);
  return { from: name, sha256: hash.digest('hex') };
}

/** One JSON document; its results are written one by one, since thousands are more than a text may hold. */
async function printJson(
  out: string | undefined,
  context: CommandContext,
  of: {
    readonly runId: string;
    readonly outcome: BatchOutcome;
    readonly engine: Engine;
    readonly reports: ReadonlyMap<number, InstanceReport>;
    readonly rates: ReturnType<typeof ratesByModel>;
    readonly problems: readonly string[];
  },
): Promise<void> {
  const { runId, outcome, engine, rates, problems } = of;
  const field = (name: string, value: unknown): string =>
    `  ${JSON.stringify(name)}: ${indented(value)}`;
  const before = [
    field('run_id', runId),
    field('engine', engine.name),
    field('environment', environmentReport(engine.environment)),
  ];
  context.stdout(`{\n${before.join(',\n')},\n  "results": [`);
  let printed = 0;
  const kept = [...of.reports].sort(([left], [right]) => left - right);
  for (const [index, entry] of outcome.entries.entries()) {
    const report =
      out === undefined
        ? kept[index]?.[1]
        : await readReport(join(out, reportPath(runId, entry)), entry);
    if (report === undefined) continue;
    context.stdout(`${printed === 0 ? '' : ','}\n    ${indented(report).replaceAll('\n', '\n  ')}`);
    printed += 1;
  }
  const after = [
    field('rates', Object.fromEntries(rates)),
    field('reasons', reasonsOf(outcome.entries.map((entry) => entry.reason))),
    field('reused', outcome.reused),
    field('problems', problems),
  ];
  context.stdout(`\n  ],\n${after.join(',\n')}\n}\n`);
}

const indented = (value: unknown): string =>
  JSON.stringify(value, null, 2).replaceAll('\n', '\n  ');
