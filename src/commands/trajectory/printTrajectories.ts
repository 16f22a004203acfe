import { stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { jsonText } from '../../domain/text';
import { HumanError } from '../../domain/work';
import type { RunData } from '../../study/entry';
import { readRuns } from '../../results/readRuns';
import { writeAtif } from '../../trajectory/atifDocument';
import { finalVerdict } from '../../trajectory/finalVerdict';
import { readTrajectories, type FoundTrajectory } from '../../trajectory/readTrajectories';
import { scanTrajectory } from '../../trajectory/scanTrajectory';
import { totalsOf } from '../../trajectory/trajectory';
import {
  trajectoryHtml,
  indexText,
  trajectoryText,
  wholeStepText,
} from '../../trajectory/trajectoryText';
import { trajectoryRow, type ShownTrajectory } from '../../trajectory/trajectoryPages';
import { EXIT, type CommandContext } from '../context';
import { writeOut } from '../options/sharedOptions';
import { writeAtifFolder } from './atifFolder';

export interface TrajectoryOptions {
  instance?: string;
  step?: number;
  format: 'text' | 'html' | 'json' | 'atif';
  report: string[];
  out?: string;
  json?: boolean;
}

/** Raised when a key of the JSON document changes its meaning. */
const trajectoryVersion = 1;

/**
 * `swt-bench trajectory`: trajectories as text, JSON or one page.
 *
 * @returns 1 when some lines or files could not be read
 * @throws HumanError when there is no trajectory, Cancelled
 */
export async function printTrajectories(
  path: string,
  options: TrajectoryOptions,
  context: CommandContext,
): Promise<number> {
  const problems: string[] = [];
  const runs = await runsFor(path, options, context, problems);
  const shown: (ShownTrajectory & Pick<FoundTrajectory, 'source'>)[] = [];
  const read = readTrajectories(path, {
    instance: options.instance,
    signal: context.signal,
    told: (problem) => problems.push(problem),
  });
  for await (const { trajectory, source } of read) {
    const verdict = await finalVerdict(trajectory, runs);
    const findings = scanTrajectory(trajectory);
    shown.push({ source, trajectory, ...(verdict !== undefined && { verdict }), findings });
  }
  if (shown.length === 0) throw nothingFound(path, options, problems);
  warn(problems, context);
  const isAtif = options.json !== true && options.format === 'atif';
  if (isAtif && options.step === undefined && isFolderAsked(shown, options)) {
    await writeAtifFolder(shown, options.out ?? '', context);
    return problems.length > 0 ? EXIT.negative : EXIT.done;
  }
  const text = await rendered(shown, options, context.assets);
  const isData = options.json === true || options.format !== 'text';
  if (options.out === undefined) (isData ? context.data : context.stdout)(text);
  else {
    await writeOut('The trajectory', options.out, text);
    context.stderr(`written: ${options.out}\n`);
  }
  return problems.length > 0 ? EXIT.negative : EXIT.done;
}

/** @throws HumanError when several documents have no folder */
function isFolderAsked(shown: readonly unknown[], { out }: TrajectoryOptions): boolean {
  if (shown.length === 1) return false;
  if (out !== undefined) return true;
  throw new HumanError(
    `An ATIF document holds one trajectory, but there are ${shown.length}`,
    'Specify one with --instance, or a folder with --out',
  );
}

function nothingFound(
  path: string,
  { instance }: TrajectoryOptions,
  [problem]: readonly string[],
): HumanError {
  return instance === undefined
    ? new HumanError(
        problem ?? `No trajectory found in ${path}`,
        'Specify a file written by an agent',
      )
    : new HumanError(
        `No trajectory of ${JSON.stringify(instance.slice(0, 80))} found in ${path}`,
        'Omit --instance to list all trajectories',
      );
}

/** Lines that are named on stderr; a damaged file may have many. */
const mostNamed = 20;

function warn(problems: readonly string[], context: CommandContext): void {
  for (const problem of problems.slice(0, mostNamed)) context.stderr(`swt-bench: ${problem}\n`);
  if (problems.length > mostNamed) {
    context.stderr(`swt-bench: ${problems.length - mostNamed} more lines or files were skipped\n`);
  }
}

/** The saved runs that may have graded it: those of `--report`, else those beside the file. */
async function runsFor(
  path: string,
  { report }: TrajectoryOptions,
  { signal }: CommandContext,
  problems: string[],
): Promise<readonly RunData[]> {
  if (report.length > 0) {
    const read = await readRuns(report, { signal });
    problems.push(...read.problems);
    return read.runs;
  }
  const isFolder = (await stat(path).catch(() => undefined))?.isDirectory() === true;
  // Nobody has named these folders, so it is no problem that most hold no run.
  return (await readRuns([isFolder ? path : dirname(path)], { signal })).runs;
}

async function rendered(
  shown: readonly (ShownTrajectory & Pick<FoundTrajectory, 'source'>)[],
  { format, json, step, instance }: TrajectoryOptions,
  assets: string,
): Promise<string> {
  const [only] = shown;
  if (step !== undefined && only !== undefined) {
    const found = only.trajectory.steps[step - 1];
    if (shown.length === 1 && found !== undefined) return wholeStepText(found, step);
    throw new HumanError(
      shown.length > 1
        ? `--step needs a single trajectory, but there are ${shown.length}`
        : `There is no step ${step}: the trajectory has ${only.trajectory.steps.length} steps`,
      shown.length > 1 ? 'Select one with --instance' : 'Use another step number',
    );
  }
  switch (json === true ? 'json' : format) {
    case 'json': {
      const trajectories = shown.map((each) => ({ ...each, totals: totalsOf(each.trajectory) }));
      return jsonText({ version: trajectoryVersion, trajectories });
    }
    case 'atif':
      return shown.map(({ trajectory }) => jsonText(writeAtif(trajectory))).join('');
    case 'html':
      // Readers of the file must not see paths of the machine that made it.
      return trajectoryHtml(
        shown.map(({ source: _, ...rest }) => rest),
        assets,
      );
    case 'text':
      return only !== undefined && (shown.length === 1 || instance !== undefined)
        ? shown.map(trajectoryText).join('\n')
        : indexText(shown.map(trajectoryRow));
  }
}
