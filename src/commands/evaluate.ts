import { join } from 'node:path';
import { plainJson, markdownLine, plural } from '../domain/text';
import {
  findingSentences,
  trajectoryFindingSentences,
  type Finding,
  type TrajectoryFinding,
} from '../domain/finding';
import { HumanError, type Reporter } from '../domain/work';
import type { Engine } from '../engine/engine';
import { redactKeys } from '../engine/keysInUse';
import { withEngine } from '../engine/sandbox';
import type { BatchRequest, ShardOfRun } from '../batch/batchRequest';
import { runBatch, type BatchOutcome } from '../batch/runBatch';
import { sameness } from '../batch/entryKeys';
import { defaultRunId } from '../batch/runResults';
import { workersFor } from '../batch/workersFor';
import { environmentReport, ratesByModel, readReport, reasonsOf } from '../results/report';
import type { Report } from '../results/reportSchema';
import { keepingNodeSeconds, nodesOfRun } from '../results/nodeSeconds';
import { reportPath, runFolder } from '../results/runFolder';
import { runStore } from '../evaluation/testRun';
import { ratesText, resultLine, resultTable, type ResultLine } from '../results/resultTable';
import { batchProgressHooks } from './evaluating/batchProgress';
import { EXIT, terminalReporter, type CommandContext } from './context';
import {
  readEvaluationInput,
  type EvaluateOptions,
  type EvaluationInput,
} from './evaluating/evaluationInput';
import { partToEvaluate } from './evaluating/partToEvaluate';
import { rare } from './options/configuredOptions';
import { engineRequest, withEngineOptions } from './options/engineOptions';
import {
  mutantsOption,
  defaultMutantLimit,
  datasetOption,
  formatOption,
  jsonOption,
  kindOption,
  modeOption,
  sourceOption,
  needsStorage,
  storageOption,
  timeoutOption,
  workersOption,
} from './options/sharedOptions';
import { withSelectingOptions } from './options/selectingOptions';
import { shardOption } from './options/shardOption';
import type { ProgramContext, RegisterCommand } from './registerCommand';

/** Registers the command `evaluate`. */
export const registerEvaluate: RegisterCommand<ProgramContext> = (command, context, finish) => {
  withEngineOptions(withSelectingOptions(command), context)
    .addOption(datasetOption())
    .addOption(kindOption())
    .requiredOption(
      '--predictions <file...>',
      'JSON or JSONL files (also gzipped), folders of Harbor jobs or submissions, `gold`, `none` or `bundled`; a model in several files has several samples',
    )
    .addOption(sourceOption())
    .addOption(
      workersOption(
        'candidates at once, each on both sides in parallel (default: by memory and cores)',
      ),
    )
    .addOption(timeoutOption('test timeout per side, in seconds'))
    .option(
      '--run-id <id>',
      'name of the run in reports (default: run, or run-2, … if --out already has that name)',
    )
    .option('--out <dir>', "folder for reports, in the reference harness's layout")
    .addOption(formatOption(context))
    .option('--tests-only', 'ignore and list changes to files that are not tests')
    .addOption(modeOption())
    .addOption(mutantsOption())
    .addOption(rare(shardOption()))
    .option('--fresh', 'ignore cached runs and restart the run in --out')
    .addOption(storageOption())
    .hook('preAction', needsStorage)
    .addOption(jsonOption())
    .addHelpText(
      'after',
      '\nExit status: 0 all candidates were graded, 1 some could not be graded, 2 invalid usage or input, or results could not be written, 130 interrupted. With --out, repeat the command to resume an interrupted run.',
    )
    .action(async (options: EvaluateOptions) => finish(await evaluateCommand(options, context)));
};

/**
 * `swt-bench evaluate`: runs and grades predictions, and writes reports with `--out`.
 *
 * @returns the exit status
 * @throws HumanError when input or options cannot be used; Cancelled
 */
export async function evaluateCommand(
  options: EvaluateOptions,
  context: ProgramContext,
): Promise<number> {
  refuseContradictions(options);
  if (options.kind === 'repair') {
    return context.satellites.evaluateRepairs(options, context, () =>
      readEvaluationInput(options, context, context.satellites.predictionFolders),
    );
  }
  const asked = engineRequest(options, context);
  const reporter = terminalReporter(context);
  const read = await readEvaluationInput(options, context, context.satellites.predictionFolders);
  const found = await context.satellites.withTrajectoryFindings(read.predictions, read.origins, {
    redact: redactKeys,
    signal: context.signal,
    reporter,
  });
  const { shard, ...part } = partToEvaluate(read.instances, found, options.shard, reporter);
  const input = { ...read, ...part };
  const gathered = new Gathered(options);
  const batch = await withEngine(asked, async (engine) => {
    const workers = options.workers ?? workersFor(engine);
    const means = `${plural(workers, 'worker')}, ${engine.description}`;
    const hooks = batchProgressHooks(context, reporter, means);
    const request = batchRequest(options, context, {
      ...{ input, engine, workers, shard },
      reporter: hooks.reporter,
    });
    const { out, dataset } = options;
    const runId = options.runId ?? (await defaultRunId(out, sameness(request)));
    const place = { runId, dataset, predictions: input.predictionFiles };
    const { done } = runBatch(
      { ...request, ...(out === undefined ? {} : { results: { out, ...place } }) },
      { ...hooks, onEntry: (_entry, report, place) => gathered.add(report, place) },
    );
    const used = out === undefined ? undefined : nodesOfRun(runFolder(out, runId));
    const outcome = await keepingNodeSeconds(engine, used, { reporter, work: () => done });
    return { outcome, engine, runId };
  });
  reporter.clear();

  const { entries } = batch.outcome;
  const ids = input.instances.map((instance) => instance.id);
  const rates = ratesByModel(entries, ids);
  if (options.json === true) {
    await printJson(options.out, context, {
      ...{ ...batch, rates, problems: read.problems },
      reports: gathered.reports,
    });
  } else {
    printTable(context, { ...batch, gathered, rates: ids.length > 1 ? rates : undefined });
  }
  const failed = entries.filter((entry) => !entry.evaluated);
  for (const entry of failed) {
    context.stderr(`swt-bench: ${entry.instance}: ${entry.explanation}\n`);
  }
  return failed.length > 0 || read.problems.length > 0 ? EXIT.negative : EXIT.done;
}

/** @throws HumanError when options exclude each other */
function refuseContradictions({ kind, mutants, testsOnly, mode }: EvaluateOptions): void {
  if (kind === 'repair') {
    if (mutants === undefined) return;
    throw new HumanError(
      '--mutants applies to tests, but --kind repair judges code patches',
      'Use only one of them',
    );
  }
  if (testsOnly !== true || mode !== 'reproduction-script') return;
  throw new HumanError(
    '--tests-only would ignore the script of --mode reproduction-script',
    'Use only one of them',
  );
}

const batchRequest = (
  options: EvaluateOptions,
  context: ProgramContext,
  of: {
    readonly input: EvaluationInput;
    readonly engine: Engine;
    readonly workers: number;
    readonly shard: ShardOfRun | undefined;
    readonly reporter: Reporter;
  },
): BatchRequest => ({
  instances: of.input.instances,
  predictions: of.input.predictions,
  engine: of.engine,
  python: of.input.python,
  store: runStore(options.storage, { fresh: options.fresh === true }),
  sources: of.input.sources,
  storage: options.storage,
  workers: of.workers,
  shard: of.shard,
  timeoutSeconds: options.timeout,
  format: options.format,
  formats: context.formats,
  mode: options.mode,
  ...(options.mutants === undefined
    ? {}
    : {
        mutants: {
          limit: options.mutants === true ? defaultMutantLimit : options.mutants,
          // The workers of the batch share the candidates.
          workers: 1,
          test: context.satellites.testOnMutants,
        },
      }),
  testsOnly: options.testsOnly === true,
  fresh: options.fresh === true,
  signal: context.signal,
  reporter: of.reporter,
});

/**
 * What is printed of a batch, by the index of each candidate, since candidates finish in any order.
 */
class Gathered {
  readonly lines = new Map<number, ResultLine>();
  readonly remarks = new Map<number, readonly string[]>();
  readonly environments = new Set<string>();
  readonly reports = new Map<number, Report>();

  constructor(private readonly options: Pick<EvaluateOptions, 'json' | 'out'>) {}

  add(report: Report, place: number): void {
    this.lines.set(place, resultLine(report));
    this.remarks.set(place, remarksOf(report));
    if (report.environment) {
      this.environments.add(`${report.instance_id}: ${report.environment.description}`);
    }
    // Reports on the disk can be read again, and many of them are large.
    const { json, out } = this.options;
    if (json === true && out === undefined) this.reports.set(place, report);
  }
}

/** @param of.rates undefined where they would only repeat the verdict of a single instance */
function printTable(
  context: CommandContext,
  of: {
    readonly outcome: BatchOutcome;
    readonly engine: Engine;
    readonly gathered: Gathered;
    readonly rates: ReturnType<typeof ratesByModel> | undefined;
  },
): void {
  const { lines, remarks, environments } = of.gathered;
  const results = [...lines].sort(([left], [right]) => left - right);
  context.stdout(`${resultTable(results.map(([, line]) => line))}\n`);
  for (const [place, { instance, name }] of results) {
    for (const remark of remarks.get(place) ?? []) {
      context.stdout(`\n${instance}, ${name}: ${remark}`);
    }
  }
  context.stdout('\n');
  if (of.engine.environment === undefined) {
    for (const line of environments) context.stdout(`${line}\n`);
  }
  for (const [name, rates] of of.rates ?? []) {
    context.stdout(`\n${name}: ${ratesText(rates)}\n${reasonsText(rates.reasons)}\n`);
  }
  for (const path of of.outcome.written) context.stdout(`written: ${path}\n`);
}

/** What else a reader of the table should know. */
const remarksOf = (report: Report): string[] => [
  ...findingLines(report.strict?.findings ?? []),
  ...trajectoryLines(report.trajectory_findings ?? []),
  ...(report.notes ?? []),
  ...(report.gradings_differ ? [report.gradings_differ] : []),
  ...(report.reason === 'edits outside tests' ? [report.explanation] : []),
];

/** Findings come first, each with its evidence on lines of its own. */
const findingLines = (findings: readonly Finding[]): string[] =>
  findings.map(({ kind, evidence }) =>
    [`⚠ ${findingSentences[kind]}`, ...evidence.map((each) => `    ${markdownLine(each)}`)].join(
      '\n',
    ),
  );

/** Warnings of a trajectory that are printed; `trajectory` prints all. */
const mostWarnings = 5;

/** Warnings with their steps, and how much else there is. */
function trajectoryLines(findings: readonly TrajectoryFinding[]): string[] {
  const warnings = findings.filter(({ severity }) => severity === 'warning');
  const shown = warnings.slice(0, mostWarnings).map(({ kind, step, text, why }) => {
    const place = step === 0 ? 'submission' : `step ${step}`;
    const reason = why === undefined ? '' : ` (${why})`;
    return `⚠ Trajectory, ${place}: ${trajectoryFindingSentences[kind]}\n    ${markdownLine(text)}${reason}`;
  });
  const more = warnings.length - shown.length;
  const notes = findings.length - warnings.length;
  const others = [
    ...(more > 0 ? [plural(more, 'further warning')] : []),
    ...(notes > 0 ? [plural(notes, 'note')] : []),
  ];
  return others.length === 0
    ? shown
    : [
        ...shown,
        `${others.join(' and ')} in the trajectory (run \`swt-bench trajectory\` to see them)`,
      ];
}

const reasonsText = (reasons: Readonly<Record<string, number>>): string =>
  Object.entries(reasons)
    .map(([reason, count]) => `${count} ${reason}`)
    .join(', ');

/**
 * Prints one JSON document. Its results are written one by one, since thousands of them exceed the
 * longest string.
 */
async function printJson(
  out: string | undefined,
  context: CommandContext,
  of: {
    readonly runId: string;
    readonly outcome: BatchOutcome;
    readonly engine: Engine;
    readonly reports: ReadonlyMap<number, Report>;
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
  context.data(plainJson(`{\n${before.join(',\n')},\n  "results": [`));
  let printed = 0;
  const kept = [...of.reports].sort(([left], [right]) => left - right);
  for (const [index, entry] of outcome.entries.entries()) {
    const report =
      out === undefined
        ? kept[index]?.[1]
        : await readReport(join(out, entry.report ?? reportPath(runId, entry)), entry);
    if (report === undefined) continue;
    context.data(
      plainJson(`${printed === 0 ? '' : ','}\n    ${indented(report).replaceAll('\n', '\n  ')}`),
    );
    printed += 1;
  }
  const after = [
    field('rates', Object.fromEntries(rates)),
    field('reasons', reasonsOf(outcome.entries.map((entry) => entry.reason))),
    field('reused', outcome.reused),
    field('problems', problems),
  ];
  context.data(plainJson(`\n  ],\n${after.join(',\n')}\n}\n`));
}

const indented = (value: unknown): string =>
  JSON.stringify(value, null, 2).replaceAll('\n', '\n  ');
