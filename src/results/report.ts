import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { name as productName, version as productVersion } from '../../package.json';
import { type ChangeCoverage, lineStates } from '../domain/changeCoverage';
import { harnessUnapplied } from '../domain/harness';
import { killedByReproducing, killedOf } from '../mutation/mutant';
import { mutantStatuses, type MutantResults } from '../mutation/mutantSchema';
import type { TestResult } from '../domain/outcome';
import { type Rates, rates } from '../study/rates';
import { type EntryReason, entryReasons } from '../domain/verdict';
import { type RunEntry, sampleName, nothingKnown } from '../study/entry';
import type { Environment } from '../engine/engine';
import { type BatchEntry, entryOf } from './entry';
import type { CandidateResult } from '../evaluation/candidateResult';
import type { TestRun } from '../evaluation/testRun';
import { type Report, reportFileSchema, reportVersion } from './reportSchema';
import { modelFolderName, modelFolder, reportPath, writeResult } from './runFolder';
import { writeLogs } from './writing/writeLogs';

type StrictBlock = NonNullable<Report['strict']>;
type OutcomeBlock = StrictBlock['tests'][number]['base'];
type CoverageBlock = NonNullable<StrictBlock['change_coverage']>;
type MutantsBlock = NonNullable<Report['mutants']>;
type RunBlock = NonNullable<Report['runs']>['base'];

/**
 * A result as JSON. The keys of the reference harness are at the top; `strict` has the paper's
 * definitions.
 */
export function toReport(entry: BatchEntry): Report {
  const { instanceId, model, patch, sample = 1, oracle, trajectoryFindings } = entry.prediction;
  const { reason, explanation, seconds } = entryOf(entry);
  const names = {
    instance_id: instanceId,
    model_name_or_path: model,
    ...(sample === 1 ? {} : { sample }),
    ...(oracle === true && { oracle }),
  };
  const why = {
    reason,
    explanation,
    program: { name: productName, version: productVersion },
    ...(entry.seconds === undefined ? {} : { seconds }),
    ...(trajectoryFindings !== undefined && {
      trajectory_findings: trajectoryFindings.map((each) => ({ ...each })),
    }),
  };
  if (!('result' in entry)) {
    return {
      ...names,
      ...harnessUnapplied(patch.trim() !== ''),
      ...why,
      error: entry.failure,
      strict: null,
    };
  }
  const { result } = entry;
  return {
    ...names,
    ...result.harness,
    ...why,
    source: { ...result.source },
    environment: environmentReport(entry.environment),
    strict: strictBlock(result),
    ...(entry.mutants === undefined
      ? {}
      : { mutants: mutantsBlock(entry.mutants, result.strict.failToPass) }),
    gradings_differ: result.difference ?? null,
    diagnostics: result.diagnostics.map((each) => ({ ...each })),
    notes: [...result.notes],
    runs: {
      base: runBlock(result.runs.base),
      fixed: runBlock(result.runs.fixed),
    },
  };
}

function strictBlock(result: CandidateResult): StrictBlock {
  const { strict } = result;
  return {
    version: reportVersion,
    success: strict.success,
    reason: strict.reason,
    explanation: strict.explanation,
    well_formed: strict.wellFormed,
    FAIL_TO_PASS: [...strict.failToPass],
    FAIL_TO_FAIL: [...strict.failToFail],
    PASS_TO_PASS: [...strict.passToPass],
    PASS_TO_FAIL: [...strict.passToFail],
    fail_to_any: [...strict.failToAny],
    any_to_fail: [...strict.anyToFail],
    candidate_tests: [...result.ownTests],
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
    findings: result.findings.map(({ kind, evidence }) => ({ kind, evidence: [...evidence] })),
  };
}

function outcomeBlock(result: TestResult): OutcomeBlock {
  return {
    outcome: result.outcome,
    ...(result.seconds === undefined ? {} : { seconds: result.seconds }),
    ...(result.exception === undefined ? {} : { exception: result.exception }),
    ...(result.message === undefined ? {} : { message: result.message }),
  };
}

function coverageBlock(coverage: ChangeCoverage): CoverageBlock {
  return {
    covered: coverage.covered,
    executable: coverage.executable,
    delta: coverage.delta ?? null,
    states: Object.fromEntries(
      lineStates.map((state) => [
        state,
        coverage.lines.filter((line) => line.state === state).length,
      ]),
    ) as CoverageBlock['states'],
    lines: coverage.lines.map((line) => ({
      path: line.path,
      line: line.line,
      change: line.change,
      state: line.state,
      counts: line.counts,
      covered_by: [...line.coveredBy],
      ...(line.lost === true && { lost: true as const }),
    })),
  };
}

function mutantsBlock(
  { made, tested }: MutantResults,
  failToPass: readonly string[],
): MutantsBlock {
  const { killed, all } = killedOf(tested);
  return {
    made,
    all,
    killed,
    killed_by_FAIL_TO_PASS: killedByReproducing(tested, new Set(failToPass)),
    score: all === 0 ? null : killed / all,
    statuses: Object.fromEntries(
      mutantStatuses.map((status) => [
        status,
        tested.filter((each) => each.status === status).length,
      ]),
    ) as MutantsBlock['statuses'],
    list: tested.map(({ killedBy, ...mutant }) => ({ ...mutant, killed_by: [...killedBy] })),
  };
}

function runBlock(run: TestRun | undefined): RunBlock {
  if (run === undefined) return null;
  const { log: _log, techniques, problems, ...rest } = run;
  return { ...rest, techniques: [...techniques], problems: [...problems] };
}

/**
 * The report at a path, if it belongs to the candidate; undefined where none exists, or where it is
 * damaged.
 */
export async function readReport(
  path: string,
  of: Pick<RunEntry, 'instance' | 'model' | 'reason'>,
): Promise<Report | undefined> {
  const text = await readFile(path, 'utf8').catch(() => undefined);
  if (text === undefined) return undefined;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  const report = reportFileSchema.safeParse(value).data?.[of.instance];
  return report?.model_name_or_path === of.model && report.reason === of.reason
    ? report
    : undefined;
}

/**
 * The paper's rates of one model's results, with the count of each reason.
 *
 * @param selected ids of all selected instances: one without a prediction counts as not evaluated
 */
export function ratesOf(
  entries: readonly RunEntry[],
  selected: readonly string[] = [],
): Rates & { readonly reasons: Readonly<Record<string, number>> } {
  const predicted = new Set(entries.map((entry) => entry.instance));
  const without = selected.filter((id) => !predicted.has(id));
  return {
    ...rates([
      ...entries,
      ...without.map((instance) => ({
        ...nothingKnown,
        instance,
        explanation: 'no prediction',
      })),
    ]),
    reasons: reasonsOf([
      ...entries.map((entry) => entry.reason),
      ...without.map(() => 'no prediction' as const),
    ]),
  };
}

/** The count of each reason, in the order of the list of reasons. */
export function reasonsOf(reasons: readonly EntryReason[]): Record<string, number> {
  const counts = new Map<EntryReason, number>();
  for (const reason of reasons) counts.set(reason, (counts.get(reason) ?? 0) + 1);
  return Object.fromEntries(
    entryReasons.flatMap((reason) => {
      const count = counts.get(reason);
      return count === undefined ? [] : [[reason, count]];
    }),
  );
}

/** Entries grouped by the name of their model and sample, in the order of their first entries. */
function byMethod(entries: readonly RunEntry[]): Map<string, RunEntry[]> {
  const methods = new Map<string, RunEntry[]>();
  for (const entry of entries) {
    const name = sampleName(entry);
    const same = methods.get(name);
    if (same === undefined) methods.set(name, [entry]);
    else same.push(entry);
  }
  return methods;
}

/** Rates by the name of the model and sample. */
export const ratesByModel = (
  entries: readonly RunEntry[],
  selected: readonly string[],
): Map<string, ReturnType<typeof ratesOf>> =>
  new Map([...byMethod(entries)].map(([name, mine]) => [name, ratesOf(mine, selected)]));

/**
 * Writes one result in the harness's layout, `run_instance_swt_logs/<run>/<model>/<instance>/`:
 * `report.json`, the candidate as a patch, and the output of its runs.
 */
export async function writeReport(
  out: string,
  runId: string,
  entry: BatchEntry,
  report: Report = toReport(entry),
): Promise<void> {
  const { instanceId, model, patch, sample = 1 } = entry.prediction;
  const path = join(out, reportPath(runId, { instance: instanceId, model, sample }));
  await writeResult(join(dirname(path), 'model_patch.diff'), patch);
  if ('result' in entry) await writeLogs(out, runId, entry.prediction, entry.result);
  // The report comes last: where it exists, all that it describes exists too.
  await writeResult(path, JSON.stringify({ [instanceId]: report }, null, 2));
}

/**
 * Writes `evaluation_results/<model>.<run>.json` for each model, with the harness's summary keys.
 * `strict` has the paper's rates and the counts of the reasons.
 *
 * @param selected ids of all selected instances, which are the denominator of the rates in
 *   `strict`
 */
export async function writeSummaries(
  out: string,
  runId: string,
  entries: readonly RunEntry[],
  selected: readonly string[] = [],
): Promise<string[]> {
  const written: string[] = [];
  for (const mine of byMethod(entries).values()) {
    const [first] = mine;
    if (first === undefined) continue;
    const path = summaryPath(out, runId, first);
    await writeResult(path, JSON.stringify(summary(mine, selected), null, 2));
    written.push(path);
  }
  return written;
}

/** Path of the summary of a model, or of a further sample of it. */
const summaryPath = (
  out: string,
  runId: string,
  { model, sample }: Pick<RunEntry, 'model' | 'sample'>,
): string =>
  join(out, 'evaluation_results', `${modelFolder(model, sample)}.${modelFolderName(runId)}.json`);

function summary(found: readonly RunEntry[], selected: readonly string[]): unknown {
  // A mean depends on the order in its last digits, and merged shards come in another one.
  const entries = [...found].sort((one, other) => (one.instance < other.instance ? -1 : 1));
  const ids = (keep: (entry: RunEntry) => boolean): string[] =>
    entries
      .filter(keep)
      .map((entry) => entry.instance)
      .sort();
  // The harness writes 0 where nothing is known; `strict` below distinguishes the two.
  const mean = (values: readonly (number | null | undefined)[]): number => {
    const known = values.filter((value) => value !== null && value !== undefined);
    return known.length === 0 ? 0 : known.reduce((sum, value) => sum + value, 0) / known.length;
  };
  // Where the harness would have no log, as after a timeout, it counts an error.
  const graded = entries.filter((entry) => entry.evaluated && entry.harness !== undefined);
  const resolved = ids((entry) => entry.evaluated && entry.harness?.resolved === true);
  const unresolved = ids((entry) => entry.evaluated && entry.harness?.resolved === false);
  const errors = ids((entry) => !entry.evaluated || entry.harness === undefined);
  return {
    total_instances: entries.length,
    completed_instances: graded.length,
    resolved_instances: resolved.length,
    unresolved_instances: unresolved.length,
    error_instances: errors.length,
    unstopped_instances: 0,
    'Mean coverage': mean(graded.map((entry) => entry.harness?.coverage)),
    'Mean coverage delta': mean(graded.map((entry) => entry.harness?.coverageDelta)),
    completed_ids: [...resolved, ...unresolved].sort(),
    resolved_ids: resolved,
    unresolved_ids: unresolved,
    error_ids: errors,
    unstopped_containers: [],
    unremoved_images: [],
    ...(entries.some(({ oracle }) => oracle === true) && { oracle: true }),
    strict: { version: reportVersion, ...ratesOf(entries, selected) },
  };
}

/** An environment in the form of reports; null when each instance has its own. */
export function environmentReport(
  environment: Environment | undefined,
): NonNullable<Report['environment']> | null {
  if (environment === undefined) return null;
  const { description, interpreter, pythonVersion, packages, image, digest, movedDay } =
    environment;
  return {
    description,
    interpreter,
    python: pythonVersion,
    pytest: packages['pytest'] ?? null,
    ...(image === undefined ? {} : { image }),
    ...(movedDay === undefined ? {} : { package_day: movedDay }),
    digest,
  };
}
