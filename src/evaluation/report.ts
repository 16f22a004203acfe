import { createHash, randomUUID } from 'node:crypto';
import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { lineStates, type ChangeCoverage } from '../domain/changeCoverage';
import { harnessUnapplied } from '../domain/harness';
import type { TestResult } from '../domain/outcome';
import { rates, type Rates } from '../domain/rates';
import type { Environment } from '../engine/engine';
import type { BatchEntry } from './batch';
import type { CandidateResult, RunSummary } from './candidate';

/** Raised when a key of the `strict` block changes its meaning. */
export const reportVersion = 1;

/** One instance as reports have it: the harness' own keys, and ours in `strict` and beside it. */
export type InstanceReport = Record<string, unknown>;

/**
 * A result as JSON. The keys of the reference harness stand at the top; `strict` holds the paper's
 * definitions.
 */
export function toReport(entry: BatchEntry): InstanceReport {
  const { instanceId, model, patch } = entry.prediction;
  const names = { instance_id: instanceId, model_name_or_path: model };
  if (!('result' in entry)) {
    return {
      ...names,
      ...harnessUnapplied(patch.trim() !== ''),
      error: entry.failure,
      strict: null,
    };
  }
  const { result } = entry;
  return {
    ...names,
    ...result.harness,
    source: result.source,
    environment: environmentReport(entry.environment),
    strict: strictBlock(result),
    gradings_differ: result.difference ?? null,
    diagnostics: result.diagnostics,
    notes: result.notes,
    runs: {
      base: withoutLog(result.runs.base),
      fixed: withoutLog(result.runs.fixed),
    },
  };
}

function strictBlock(result: CandidateResult): unknown {
  const { strict } = result;
  return {
    version: reportVersion,
    success: strict.success,
    reason: strict.reason,
    explanation: strict.explanation,
    well_formed: strict.wellFormed,
    FAIL_TO_PASS: strict.failToPass,
    FAIL_TO_FAIL: strict.failToFail,
    PASS_TO_PASS: strict.passToPass,
    PASS_TO_FAIL: strict.passToFail,
    fail_to_any: strict.failToAny,
    any_to_fail: strict.anyToFail,
    candidate_tests: result.ownTests,
    tests: result.tests.map((each) => ({
      test: each.test,
      transition: each.transition,
      base: outcomeBlock(each.base),
      fixed: outcomeBlock(each.fixed),
    })),
    change_coverage:
      result.changeCoverage === undefined ? null : coverageBlock(result.changeCoverage),
    golden_change_coverage:
      result.goldenCoverage === undefined
        ? null
        : {
            covered: result.goldenCoverage.covered,
            executable: result.goldenCoverage.executable,
            delta: result.goldenCoverage.delta ?? null,
          },
  };
}

function outcomeBlock(result: TestResult): unknown {
  return {
    outcome: result.outcome,
    ...(result.seconds === undefined ? {} : { seconds: result.seconds }),
    ...(result.exception === undefined ? {} : { exception: result.exception }),
    ...(result.message === undefined ? {} : { message: result.message }),
  };
}

function coverageBlock(coverage: ChangeCoverage): unknown {
  return {
    covered: coverage.covered,
    executable: coverage.executable,
    delta: coverage.delta ?? null,
    states: Object.fromEntries(
      lineStates.map((state) => [
        state,
        coverage.lines.filter((line) => line.state === state).length,
      ]),
    ),
    lines: coverage.lines.map((line) => ({
      path: line.path,
      line: line.line,
      change: line.change,
      state: line.state,
      counts: line.counts,
      covered_by: line.coveredBy,
    })),
  };
}

function withoutLog(run: RunSummary | undefined): unknown {
  if (run === undefined) return null;
  return { ...run, log: undefined };
}

/**
 * The paper's rates of one model's results.
 *
 * @param selected ids of all selected instances: one without a prediction counts as not evaluated
 */
export function ratesOf(entries: readonly BatchEntry[], selected: readonly string[] = []): Rates {
  const predicted = new Set(entries.map((entry) => entry.prediction.instanceId));
  const none = { verdict: undefined, changeCoverage: undefined };
  return rates([
    ...entries.map((entry) => {
      const instance = entry.prediction.instanceId;
      if (!('result' in entry)) return { instance, ...none, failure: entry.failure };
      const { strict: verdict, changeCoverage } = entry.result;
      return { instance, verdict, changeCoverage };
    }),
    ...selected
      .filter((id) => !predicted.has(id))
      .map((instance) => ({ instance, ...none, failure: 'no prediction' })),
  ]);
}

/** Rates of each model of a set of results, by name. */
export function ratesByModel(
  entries: readonly BatchEntry[],
  selected: readonly string[],
): Map<string, Rates> {
  const models = new Set(entries.map((entry) => entry.prediction.model));
  return new Map(
    [...models].map((model) => [
      model,
      ratesOf(
        entries.filter((entry) => entry.prediction.model === model),
        selected,
      ),
    ]),
  );
}

/**
 * `a/b` to `a__b`, as the harness names folders; nothing that could leave the folder remains, and at
 * most 100 bytes.
 */
export function folderName(model: string): string {
  const name =
    model
      .replaceAll('/', '__')
      .replace(/[^\p{L}\p{N}_.+@=, -]/gu, '_')
      .replace(/^\.+/, '_') || 'unnamed';
  const kept = name === model.replaceAll('/', '__') || model === '';
  if (kept && Buffer.byteLength(name) <= 100) return name;
  // A file name holds 255 bytes, and a model may be named by a long path or with signs that no file
  // name holds: such names are told apart by a digest.
  const start = Buffer.from(name)
    .subarray(0, 80)
    .toString('utf8')
    .replace(/\uFFFD$/, '');
  return `${start}-${createHash('sha256').update(model).digest('hex').slice(0, 12)}`;
}

/**
 * Writes one result in the harness' layout: `run_instance_swt_logs/<run>/<model>/<instance>/` with
 * `report.json`, the candidate as a patch, and the output of both sides.
 */
export async function writeInstanceReport(
  out: string,
  runId: string,
  entry: BatchEntry,
): Promise<void> {
  const { instanceId, model } = entry.prediction;
  const logs = join(out, 'run_instance_swt_logs', folderName(runId));
  const folder = join(logs, folderName(model), instanceId);
  const report = toReport(entry);
  await writeWhole(join(folder, 'report.json'), JSON.stringify({ [instanceId]: report }, null, 2));
  await writeWhole(join(folder, 'model_patch.diff'), entry.prediction.patch);
  if (!('result' in entry)) return;
  for (const [side, prefix] of [
    ['base', 'pred_pre__'],
    ['fixed', 'pred_post__'],
  ] as const) {
    const run = entry.result.runs[side];
    if (run === undefined) continue;
    await writeWhole(
      join(logs, `${prefix}${folderName(model)}`, instanceId, 'test_output.txt'),
      run.log,
    );
  }
}

/** Writes `evaluation_results/<model>.<run>.json` for each model, with the harness' summary keys. */
export async function writeSummaries(
  out: string,
  runId: string,
  entries: readonly BatchEntry[],
): Promise<string[]> {
  const written: string[] = [];
  for (const model of new Set(entries.map((entry) => entry.prediction.model))) {
    const mine = entries.filter((entry) => entry.prediction.model === model);
    const path = join(out, 'evaluation_results', `${folderName(model)}.${folderName(runId)}.json`);
    await writeWhole(path, JSON.stringify(summary(mine), null, 2));
    written.push(path);
  }
  return written;
}

function summary(entries: readonly BatchEntry[]): unknown {
  const ids = (keep: (entry: BatchEntry) => boolean): string[] =>
    entries
      .filter(keep)
      .map((entry) => entry.prediction.instanceId)
      .sort();
  const graded = entries.flatMap((entry) => ('result' in entry ? [entry.result] : []));
  // 0 where nothing is known is what the harness writes; `strict` below tells the two apart.
  const mean = (values: readonly (number | null)[]): number => {
    const known = values.filter((value) => value !== null);
    return known.length === 0 ? 0 : known.reduce((sum, value) => sum + value, 0) / known.length;
  };
  const resolved = ids((entry) => 'result' in entry && entry.result.harness.resolved);
  const unresolved = ids((entry) => 'result' in entry && !entry.result.harness.resolved);
  const errors = ids((entry) => !('result' in entry));
  return {
    total_instances: entries.length,
    completed_instances: graded.length,
    resolved_instances: resolved.length,
    unresolved_instances: unresolved.length,
    error_instances: errors.length,
    unstopped_instances: 0,
    'Mean coverage': mean(graded.map((result) => result.harness.coverage_pred)),
    'Mean coverage delta': mean(graded.map((result) => result.harness.coverage_delta_pred)),
    completed_ids: [...resolved, ...unresolved].sort(),
    resolved_ids: resolved,
    unresolved_ids: unresolved,
    error_ids: errors,
    unstopped_containers: [],
    unremoved_images: [],
    strict: ratesOf(entries),
  };
}

/** Writes beside and renames, so that a reader never sees a half-written file. */
async function writeWhole(path: string, content: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  const beside = `${path}.${randomUUID()}`;
  try {
    await writeFile(beside, content);
    await rename(beside, path);
  } finally {
    await rm(beside, { force: true });
  }
}

/** An environment as reports show it; null when each instance has its own. */
export function environmentReport(environment: Environment | undefined): object | null {
  if (environment === undefined) return null;
  const { description, interpreter, pythonVersion, pytest, image, digest } = environment;
  return {
    description,
    interpreter,
    python: pythonVersion,
    pytest: pytest ?? null,
    ...(image === undefined ? {} : { image }),
    digest,
  };
}
