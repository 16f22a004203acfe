import type { StudyReport } from '../study/studyReportSchema';
import { HumanError } from '../domain/work';
import type { Grading, InstanceFacts, RunData } from '../study/entry';
import { publishedRows } from '../study/measures';
import {
  studyReport,
  reportCsv,
  reportJson,
  reportMarkdown,
  reportText,
} from '../study/reportText';
import { type RepairRun, repairResultsOf } from '../study/resolution';
import { readJudgedRuns } from '../results/judged';
import { readRuns } from '../results/readRuns';
import { withTrajectoryCosts } from '../trajectory/withTrajectoryCosts';
import { dashboardHtml } from '../study/pageHtml';
import { studyDocument, studyRequest } from '../study/document';
import { readRepairResults } from '../study/repairResults';
import { type CommandContext, EXIT } from './context';
import { openDatasetOption } from './options/openDatasetOption';
import { list } from './options/optionValues';
import {
  type SelectingOptions,
  selectedInstances,
  withSelectingOptions,
} from './options/selectingOptions';
import { storageOption, writeOut } from './options/sharedOptions';
import type { RegisterCommand } from './registerCommand';
import { Option } from 'commander';

const reportFormats = ['table', 'json', 'markdown', 'csv', 'html', 'submission'] as const;
type ReportFormat = (typeof reportFormats)[number];

export interface ReportOptions extends SelectingOptions {
  dataset?: string;
  format: ReportFormat;
  grading: Grading;
  published?: boolean;
  compare?: string[];
  splitDate?: string;
  repairs: string[];
  trajectories?: string[];
  out?: string;
  storage: string;
  json?: boolean;
}

/** Registers the command `report`. */
export const registerReport: RegisterCommand = (command, context, finish) => {
  withSelectingOptions(command)
    .argument(
      '<dir...>',
      'folders written by `evaluate --out` or the SWT-Bench harness, single runs in them, published runs, or runs on code patches',
    )
    .addOption(
      new Option(
        '--dataset <file>',
        'only instances of this dataset; also the denominator for runs of the SWT-Bench harness',
      ),
    )
    .addOption(
      new Option(
        '--format <format>',
        'html is one self-contained page; submission is a folder for leaderboards, with one method of one run',
      )
        .choices(reportFormats)
        .default('table'),
    )
    .addOption(
      new Option('--grading <grading>', 'definitions of the paper, or of the harness')
        .choices(['strict', 'harness'])
        .default('strict'),
    )
    .option('--published', 'also include published results, marked as such')
    .option('--compare <a,b>', 'only these methods, each compared with the first', list)
    .option('--split-date <day>', 'also print rates before and since this date (YYYY-MM-DD)')
    .addOption(
      new Option(
        '--repairs <file...>',
        'SWE-bench harness summaries, or lists of resolved instances, to compare with',
      )
        .argParser((value: string, all: string[]) => [...all, value])
        .default([], 'none'),
    )
    .addOption(
      new Option('--trajectories <path...>', 'trajectories for --format submission')
        .argParser((value: string, all: string[]) => [...all, value])
        .default([], 'next to the predictions of the run'),
    )
    .option(
      '--out <file>',
      'write to this file instead of stdout; for a submission, to this new folder',
    )
    .addOption(storageOption())
    .addOption(new Option('--json', 'the same as --format json'))
    .addHelpText(
      'after',
      '\nExit status: 0 everything was read, 1 some files could not be read (they are listed) or a submission is incomplete, 2 invalid usage or no run.',
    )
    .action(async (dirs: string[], options: ReportOptions) =>
      finish(await reportCommand(dirs, options, context)),
    );
};

/** `swt-bench report`: the tables of saved runs, side by side, without running anything. */
export async function reportCommand(
  dirs: readonly string[],
  options: ReportOptions,
  context: CommandContext,
): Promise<number> {
  const format = options.json === true ? 'json' : options.format;
  const facts = await factsOfDataset(options, context);
  const read = await readRuns(dirs, { instances: facts, signal: context.signal });
  const judged = await readJudgedRuns(dirs);
  const problems = [...read.problems, ...judged.problems];
  const runs = await withTrajectoryCosts(read.runs, {
    signal: context.signal,
    told: (problem) => problems.push(problem),
  });
  if (runs.length === 0 && judged.runs.length === 0) {
    throw new HumanError(
      problems[0] ?? 'No runs to report',
      'Specify a folder written by `swt-bench evaluate --out` or the SWT-Bench harness, or a published run',
    );
  }
  for (const problem of problems) context.stderr(`swt-bench: ${problem}\n`);
  if (format === 'submission') {
    const kept = keptInstances(options, facts, runs);
    const [tests] = selectedParts([runs, []], kept);
    const [method, ...others] = options.compare ?? [];
    if (others.length > 0) {
      throw new HumanError('A submission is of one method', 'Specify one with --compare');
    }
    const { trajectories = [], out, storage } = options;
    // Imported here, since no other format needs trajectories as ATIF.
    const { writeSubmission } = await import('./submission/writeSubmission');
    const lacks = await writeSubmission(tests, { method, trajectories, out, storage }, context);
    for (const each of lacks) context.stderr(`swt-bench: The submission is incomplete: ${each}\n`);
    context.stderr(`written: ${out ?? ''}\nFill in metadata.yaml before you submit.\n`);
    return problems.length + lacks.length > 0 ? EXIT.negative : EXIT.done;
  }
  const asked = studyRequest(runs, options.compare, options.splitDate);
  const kept = keptInstances(options, facts, [...runs, ...judged.runs]);
  const [tests, repairRuns] = selectedParts([runs, judged.runs], kept);
  const named = await Promise.all(options.repairs.map(readRepairResults));
  const study = studyDocument({
    runs: tests,
    published: options.published === true ? publishedRows : [],
    repairs: [...named, ...repairResultsOf(repairRuns)],
    // The page has no table of them.
    ...(format === 'html' ? {} : { repairRuns }),
    asked,
    problems,
  });
  const print = format === 'table' ? context.stdout : context.data;
  const pieces =
    format === 'html'
      ? [await dashboardHtml(study, context.assets)]
      : rendered(studyReport(study, { grading: options.grading }), format);
  if (options.out === undefined) for (const piece of pieces) print(piece);
  else {
    await writeOut('The report', options.out, pieces);
    context.stderr(`written: ${options.out}\n`);
  }
  return problems.length > 0 ? EXIT.negative : EXIT.done;
}

/**
 * Runs over tests and over code patches with the kept instances only: the page has no instance that
 * a filter leaves out.
 *
 * @param kept ids; undefined for all
 * @throws HumanError when no run has any of them
 */
function selectedParts(
  [tests, repairs]: readonly [readonly RunData[], readonly RepairRun[]],
  kept: ReadonlySet<string> | undefined,
): readonly [readonly RunData[], readonly RepairRun[]] {
  if (kept === undefined) return [tests, repairs];
  const isKept = ({ id }: InstanceFacts): boolean => kept.has(id);
  if (![...tests, ...repairs].some((run) => run.instances.some(isKept))) {
    throw new HumanError(
      'The selection has no instances of these runs',
      'Specify the dataset of the runs, or widen --ids, --repo, --filter or --query',
    );
  }
  return [
    tests.map((run) => ({ ...run, instances: run.instances.filter(isKept) })),
    repairs.map((run) => ({ ...run, instances: run.instances.filter(isKept) })),
  ];
}

/** The text of a report, in pieces. */
function rendered(
  report: StudyReport,
  format: Exclude<ReportFormat, 'html' | 'submission'>,
): Iterable<string> {
  switch (format) {
    case 'json':
      return reportJson(report);
    case 'markdown':
      return [reportMarkdown(report)];
    case 'csv':
      return [reportCsv(report)];
    case 'table':
      return [reportText(report)];
  }
}

/** The instances of `--dataset` that the options select. */
async function factsOfDataset(
  options: ReportOptions,
  context: CommandContext,
): Promise<InstanceFacts[] | undefined> {
  const { dataset: name, storage } = options;
  if (name === undefined) {
    const needy = (['filter', 'exclude', 'query'] as const).find(
      (key) => options[key] !== undefined,
    );
    if (needy !== undefined) {
      throw new HumanError(`--${needy} needs the dataset`, 'Specify it with --dataset');
    }
    return undefined;
  }
  const dataset = await openDatasetOption({ dataset: name, storage }, context);
  const selected = await selectedInstances(dataset, options, context);
  return selected.map(({ entry }) => ({
    id: entry.id,
    repo: entry.repo,
    created: entry.createdAt,
    issueLength: [...entry.issue].length,
  }));
}

/** Ids of the instances that the options select; undefined for all. */
function keptInstances(
  options: ReportOptions,
  facts: readonly InstanceFacts[] | undefined,
  runs: readonly { readonly instances: readonly InstanceFacts[] }[],
): ReadonlySet<string> | undefined {
  const { ids, repo } = options;
  if (facts !== undefined) return new Set(facts.map(({ id }) => id));
  if (ids === undefined && repo === undefined) return undefined;
  const all = runs.flatMap(({ instances }) => instances);
  const unknown = ids?.find((id) => !all.some((instance) => instance.id === id));
  if (unknown !== undefined) {
    throw new HumanError(`No run contains ${unknown}`, 'Remove it from --ids');
  }
  return new Set(
    all
      .filter((each) => ids === undefined || ids.includes(each.id))
      .filter((each) => repo === undefined || each.repo === repo)
      .map(({ id }) => id),
  );
}
