import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { parseForeignJson } from '../../files/json';
import { shortFindings, shortTrajectoryFindings } from '../../domain/finding';
import { messageOf, throwIfAborted, systemCode } from '../../domain/work';
import type { EntryReason } from '../../domain/verdict';
import { type RunEntry, nothingKnown } from '../../study/entry';
import { mutantFigures } from '../entry';
import { type ReadableReport, readableReportSchema } from '../reportSchema';
import { readPlainText } from '../../files/plainFile';

/** Entries of a folder of reports, and the problems of unreadable files. */
interface ReportEntries {
  readonly entries: readonly RunEntry[];
  /** Whether at least one report has strict figures. */
  readonly strict: boolean;
  readonly problems: readonly string[];
}

/** Number of reports read at once, which keeps the disk busy. */
const atOnce = 32;

/**
 * Entries from the reports of one run without a journal, in the layout of the reference harness
 * (`<folder>/<model>/<instance>/report.json`). These are reports of the harness itself, or of this
 * program without their `runs/` folder.
 *
 * @param folder folder of the run, `DIR/run_instance_swt_logs/<run>`
 * @param prefix of the paths of reports from the results folder
 * @throws Cancelled; an unreadable file becomes a problem instead
 */
export async function readReports(
  folder: string,
  prefix: string,
  signal?: AbortSignal,
): Promise<ReportEntries> {
  const problems: string[] = [];
  const places: ReportPlace[] = [];
  for (const model of await folders(folder, problems)) {
    // The logs of the six runs are in folders beside those of the models, and contain the models'
    // names.
    if (/^(pred|gold|base)_(pre|post)(__|$)/.test(model)) continue;
    for (const instance of await folders(join(folder, model), problems)) {
      places.push({ model, instance, path: `${model}/${instance}/report.json` });
    }
  }
  const read = await readPlaces(places, { folder, prefix, signal });
  return { ...read, problems: [...problems, ...read.problems] };
}

/**
 * Entries from the reports of one model, `<folder>/<instance>/report.json`: a folder of the harness
 * as others publish it.
 *
 * @param model name of the model where the reports have none
 * @param prefix of the paths of reports from the published folder
 * @throws Cancelled; an unreadable file becomes a problem instead
 */
export async function readModelReports(
  folder: string,
  model: string,
  prefix: string,
  signal?: AbortSignal,
): Promise<ReportEntries> {
  const problems: string[] = [];
  const places = (await folders(folder, problems)).map((instance): ReportPlace => ({
    model,
    instance,
    path: `${instance}/report.json`,
  }));
  const read = await readPlaces(places, { folder, prefix, signal });
  return { ...read, problems: [...problems, ...read.problems] };
}

/** Where a report is. */
interface ReportPlace {
  readonly model: string;
  readonly instance: string;
  /** From the folder that is read. */
  readonly path: string;
}

async function readPlaces(
  places: readonly ReportPlace[],
  of: {
    readonly folder: string;
    readonly prefix: string;
    readonly signal?: AbortSignal | undefined;
  },
): Promise<ReportEntries> {
  const { folder, prefix, signal } = of;
  const problems: string[] = [];
  const own: RunEntry[] = [];
  const foreign: RunEntry[] = [];
  let strict = false;
  for (let start = 0; start < places.length; start += atOnce) {
    throwIfAborted(signal);
    const batch = places.slice(start, start + atOnce);
    const read = await Promise.all(
      batch.map(({ path, instance }) => readOne(join(folder, path), instance)),
    );
    for (const [index, found] of read.entries()) {
      const place = batch[index];
      if (found === undefined || place === undefined) continue;
      if (typeof found === 'string') {
        problems.push(found);
        continue;
      }
      const { model, instance, path } = place;
      strict ||= found.strict !== undefined && found.strict !== null;
      // Only this program writes the model's name into a report.
      (found.model_name_or_path === undefined ? foreign : own).push({
        ...entryOfReport(instance, model, found),
        report: prefix === '' ? path : `${prefix}/${path}`,
      });
    }
  }
  return { entries: [...own, ...foreign], strict, problems };
}

async function folders(path: string, problems: string[]): Promise<string[]> {
  try {
    const found = await readdir(path, { withFileTypes: true });
    return found
      .filter((each) => each.isDirectory())
      .map((each) => each.name)
      .sort();
  } catch (error) {
    problems.push(`${path} cannot be listed (${messageOf(error)})`);
    return [];
  }
}

/** Undefined where no report was written (yet): an interrupted harness leaves such folders. */
async function readOne(
  path: string,
  instance: string,
): Promise<ReadableReport | string | undefined> {
  let text: string;
  try {
    text = await readPlainText(path);
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return undefined;
    return `${path} cannot be read (${messageOf(error)})`;
  }
  let value: unknown;
  try {
    value = parseForeignJson(text);
  } catch (error) {
    return `${path} is damaged (${messageOf(error)})`;
  }
  const parsed = z.record(z.string(), z.unknown()).safeParse(value);
  const own = parsed.success ? parsed.data[instance] : undefined;
  if (own === undefined) return `${path} has no report of ${instance}`;
  if (isOfCodePatch(own)) {
    return `${path} judges a code patch, like SWE-bench; specify its summary with --repairs`;
  }
  const checked = readableReportSchema.safeParse(own);
  if (checked.success) return checked.data;
  const [issue] = checked.error.issues;
  return `${path} is not a report (${issue?.path.join('.') ?? ''}: ${issue?.message ?? ''})`;
}

/** Whether a report is one of SWE-bench, whose keys those of SWT-Bench resemble. */
const isOfCodePatch = (report: unknown): boolean =>
  typeof report === 'object' &&
  report !== null &&
  'tests_status' in report &&
  !('tests_pred' in report);

/** An entry from a report. Without a `strict` block its figures come from harness grading. */
function entryOfReport(instance: string, folder: string, of: ReadableReport): RunEntry {
  // Further samples of a model have folders of their own, `<model>@<n>`.
  const named = /^(.*)@([2-9]|[1-9]\d+)$/.exec(folder);
  const common = {
    instance,
    model: of.model_name_or_path ?? named?.[1] ?? folder,
    sample: of.sample ?? (named?.[2] === undefined ? 1 : Number(named[2])),
    seconds: of.seconds ?? 0,
    ...(of.oracle === true && { oracle: of.oracle }),
    ...(of.trajectory_findings !== undefined && {
      trajectoryFindings: shortTrajectoryFindings(of.trajectory_findings),
    }),
  };
  const { strict } = of;
  if (strict === undefined || strict === null) {
    if (of.error !== undefined) {
      return {
        ...common,
        reason: of.reason ?? 'internal error',
        explanation: of.error.slice(0, 500),
        ...nothingKnown,
      };
    }
    return { ...common, ...harnessEntry(of) };
  }
  const harness = harnessFigures(of);
  return {
    ...common,
    reason: of.reason ?? strict.reason,
    explanation: (of.explanation ?? strict.explanation).slice(0, 500),
    evaluated: true,
    wellFormed: strict.well_formed,
    success: strict.success,
    failToPass: strict.FAIL_TO_PASS.length,
    failToFail: strict.FAIL_TO_FAIL.length,
    passToPass: strict.PASS_TO_PASS.length,
    passToFail: strict.PASS_TO_FAIL.length,
    failToAny: strict.fail_to_any.length,
    anyToFail: strict.any_to_fail.length,
    ...(strict.change_coverage ? { delta: strict.change_coverage } : {}),
    ...(strict.golden_change_coverage ? { goldenDelta: strict.golden_change_coverage } : {}),
    ...(of.mutants && mutantFigures(of.mutants.list)),
    ...(harness === undefined ? {} : { harness }),
    ...(of.gradings_differ ? { difference: of.gradings_differ } : {}),
    findings: shortFindings(strict.findings),
  };
}

/** Undefined where harness grading is not available, since its keys cannot express that. */
function harnessFigures(of: ReadableReport): RunEntry['harness'] {
  if (of.patch_successfully_applied && !of.tests_pred) return undefined;
  return {
    resolved: of.resolved,
    addedFailToPass: of.added_f2p ?? 0,
    coverage: of.coverage_pred ?? null,
    coverageDelta: of.coverage_delta_pred ?? null,
  };
}

/** What the harness's report itself shows, beyond what the base tests do. */
function harnessEntry(
  of: ReadableReport,
): Omit<RunEntry, 'instance' | 'model' | 'sample' | 'seconds'> {
  const added = (key: keyof NonNullable<ReadableReport['tests_pred']>): number => {
    const before = new Set(of.tests_base?.[key] ?? []);
    return (of.tests_pred?.[key] ?? []).filter((test) => !before.has(test)).length;
  };
  const failToPass = of.added_f2p ?? added('FAIL_TO_PASS');
  const failToFail = added('FAIL_TO_FAIL');
  const passToPass = added('PASS_TO_PASS');
  const passToFail = added('PASS_TO_FAIL');
  const [reason, explanation] = ((): readonly [EntryReason, string] => {
    if (!of.patch_exists || of.patch_is_None) return ['no candidate', 'there is no patch'];
    if (!of.patch_successfully_applied) return ['does not apply', 'the patch does not apply to R'];
    if (of.resolved) return ['success', 'resolved under harness grading'];
    if (passToFail > 0) return ['breaks a test', 'a test goes from passing to failing'];
    if (failToFail > 0) return ['fails on both sides', 'a test fails on both sides'];
    if (failToPass > 0)
      return ['breaks a test', 'a test goes F→P without the candidate but not with it'];
    if (passToPass > 0) return ['passes on R', 'no new test fails on R'];
    return ['no test ran', 'no test has a pass or fail result on both sides'];
  })();
  return {
    reason,
    explanation: `${explanation} (according to the harness's report)`,
    evaluated: true,
    wellFormed: of.patch_successfully_applied,
    success: of.resolved,
    failToPass,
    failToFail,
    passToPass,
    passToFail,
    failToAny: failToPass + failToFail,
    anyToFail: passToFail + failToFail,
    harness: {
      resolved: of.resolved,
      addedFailToPass: failToPass,
      coverage: of.coverage_pred ?? null,
      coverageDelta: of.coverage_delta_pred ?? null,
    },
  };
}
