import { readFile, rm } from 'node:fs/promises';
import { dirname, join, posix } from 'node:path';
import type { Prediction } from '../../domain/instance';
import {
  repairName,
  type JudgedRepair,
  type SweBenchReport,
  sweBenchMarks,
} from '../../study/resolution';
import { modelFolder, modelFolderName, writeResult } from '../runFolder';

type Named = Pick<JudgedRepair, 'instance' | 'model' | 'sample'>;

/**
 * Path of the report on a code patch, as in SWE-bench:
 * `logs/run_evaluation/<run>/<model>/<instance>/report.json`.
 */
const sweBenchReportPath = (out: string, runId: string, of: Named): string =>
  join(out, sweBenchFolder(runId, of), 'report.json');

/** Whether the report on a code patch is there, whole. */
export async function hasReport(out: string, runId: string, of: Named): Promise<boolean> {
  try {
    const text = await readFile(sweBenchReportPath(out, runId, of), 'utf8');
    return of.instance in (JSON.parse(text) as object);
  } catch {
    return false;
  }
}

/** The folder of the files about a code patch, below the results folder, with slashes. */
export const sweBenchFolder = (runId: string, of: Named): string =>
  posix.join(
    ...['logs', 'run_evaluation', modelFolderName(runId)],
    ...[modelFolder(of.model, of.sample), of.instance],
  );

/** The texts that SWE-bench leaves of one code patch. */
interface SweBenchFiles {
  readonly repair: Prediction;
  readonly judged: JudgedRepair;
  readonly report?: SweBenchReport | undefined;
  /** `test_output.txt`, where tests ran. */
  readonly output?: string | undefined;
}

/**
 * Writes the files of SWE-bench about a code patch, so that its own commands can grade them again.
 * As there, an empty patch has none, and `report.json` exists only where tests were graded.
 */
export async function writeSweBenchFiles(
  out: string,
  runId: string,
  { repair, judged, report, output }: SweBenchFiles,
): Promise<void> {
  const path = sweBenchReportPath(out, runId, judged);
  // Of an earlier judgement nothing may remain: its report would count.
  await rm(dirname(path), { recursive: true, force: true });
  if (judged.status === 'empty patch') return;
  const write = (name: string, text: string): Promise<void> =>
    writeResult(join(dirname(path), name), text);
  const story = judged.failure ?? sweBenchMarks.patchApplied;
  await write('patch.diff', repair.patch);
  await write('run_instance.log', `${story}\n`);
  if (output !== undefined) await write('test_output.txt', output);
  if (report !== undefined) {
    await write('report.json', JSON.stringify({ [judged.instance]: report }, null, 4));
  }
}

/**
 * Writes `<model>.<run>.json` for each model and sample, with the keys of SWE-bench's summary
 * (schema version 2).
 *
 * @param selected ids of all selected instances
 * @returns the paths
 */
export async function writeSweBenchSummaries(
  out: string,
  runId: string,
  all: readonly JudgedRepair[],
  selected: readonly string[],
): Promise<string[]> {
  const groups = new Map<string, JudgedRepair[]>();
  for (const each of all) {
    groups.set(repairName(each), [...(groups.get(repairName(each)) ?? []), each]);
  }
  const written: string[] = [];
  for (const group of groups.values()) {
    const [first] = group;
    if (first === undefined) continue;
    const name = `${modelFolder(first.model, first.sample)}.${modelFolderName(runId)}.json`;
    const text = `${JSON.stringify(sweBenchSummary(group, selected), null, 4)}\n`;
    await writeResult(join(out, name), text);
    written.push(join(out, name));
  }
  return written;
}

/** The summary of one model (`make_run_report`). */
function sweBenchSummary(
  group: readonly JudgedRepair[],
  selected: readonly string[],
): Record<string, unknown> {
  const ids = (keep: (each: JudgedRepair) => boolean): string[] =>
    inOrder(group.filter(keep).map(({ instance }) => instance));
  const submitted = ids(() => true);
  const resolved = ids(({ status }) => status === 'resolved');
  const unresolved = ids(({ status }) => status === 'unresolved');
  const completed = inOrder([...resolved, ...unresolved]);
  const empty = ids(({ status }) => status === 'empty patch');
  const errors = ids(({ status }) => status === 'error');
  const environment = ids(({ infra }) => infra?.tier === 'environment');
  const ambiguous = ids(({ infra }) => infra?.tier === 'ambiguous');
  const reasons = group.flatMap(({ instance, infra }) =>
    infra === undefined ? [] : [[instance, infra.reason] as const],
  );
  return {
    total_instances: selected.length,
    submitted_instances: submitted.length,
    completed_instances: completed.length,
    resolved_instances: resolved.length,
    unresolved_instances: unresolved.length,
    infra_failure_instances: environment.length,
    ambiguous_failure_instances: ambiguous.length,
    empty_patch_instances: empty.length,
    error_instances: errors.length,
    completed_ids: completed,
    incomplete_ids: inOrder(selected.filter((id) => !submitted.includes(id))),
    empty_patch_ids: empty,
    submitted_ids: submitted,
    resolved_ids: resolved,
    unresolved_ids: unresolved,
    infra_failure_ids: environment,
    ambiguous_failure_ids: ambiguous,
    failure_reasons: Object.fromEntries(reasons.sort(([left], [right]) => (left < right ? -1 : 1))),
    error_ids: errors,
    schema_version: 2,
    ...(group.some(({ oracle }) => oracle === true) && { oracle: true }),
  };
}

/** By code units, as Python sorts texts of ASCII. */
const inOrder = (ids: readonly string[]): string[] => [...ids].sort();
