import type { ChangeCoverage } from '../domain/changeCoverage';
import { gradeHarness, harnessUnapplied, type HarnessReport } from '../domain/harness';
import { functionOf, sideName, sides, type TestResult } from '../domain/outcome';
import type { TestTransition } from '../domain/transition';
import { gradeStrict, ungraded, type StrictEvidence, type Verdict } from '../domain/verdict';
import type { RunRecord } from '../engine/engine';
import type { TestPlan } from '../engine/testCommand';
import type { Diagnostic } from '../patch/diagnostic';
import type { TreeSource } from '../repository/source';
import { explainDifference } from './difference';
import {
  coverageOf,
  goldenEvidence,
  harnessBase,
  harnessRuns,
  runBase,
  runSet,
  transitionsOf,
  type GoldenEvidence,
  type SetRun,
} from './evidence';
import { readCandidate, type CandidateRequest, type RefusedCandidate } from './reading';
import { endingOf, whyNotRunnable } from './results';
import { existingIn, type BothSides, type InstanceSession, type RunOptions } from './session';

/** One candidate on one instance, graded both ways. */
export interface CandidateResult {
  readonly instance: string;
  readonly model: string;
  readonly source: TreeSource;
  /** What was said while the candidate was turned into a unified diff. */
  readonly diagnostics: readonly Diagnostic[];
  /** What a reader of the verdict should know besides. */
  readonly notes: readonly string[];
  /** The candidate as a unified diff on R; empty when there is none. */
  readonly patch: string;
  /** Ids of the functions that the candidate adds or changes, without parameters. */
  readonly ownTests: readonly string[];
  /** Tests of the touched files, those of the candidate first. */
  readonly tests: readonly TestTransition[];
  readonly strict: Verdict;
  readonly harness: HarnessReport;
  /** Why the two gradings differ; undefined when they agree. */
  readonly difference: string | undefined;
  /** Undefined when the golden runs could not be made. */
  readonly changeCoverage: ChangeCoverage | undefined;
  /** ΔC of T* itself, for comparison. */
  readonly goldenCoverage: ChangeCoverage | undefined;
  readonly runs: { readonly base?: RunSummary; readonly fixed?: RunSummary };
}

/** What a report keeps of a run. */
export interface RunSummary {
  readonly ending: string;
  readonly exit_code: number | null;
  readonly seconds: number;
  readonly runner: string;
  /** How the changed lines were counted: monitoring, bytecode or settrace. */
  readonly techniques: readonly string[];
  readonly problems: readonly string[];
  /** Bounded output. */
  readonly log: string;
}

/** Grades a candidate: converts it, applies it, runs it beside base and golden on both sides. */
export async function evaluateCandidate(
  session: InstanceSession,
  request: CandidateRequest,
  options: RunOptions,
): Promise<CandidateResult> {
  const { reporter } = options;
  reporter.progress(`${request.model}: reading the patch`);
  const read = await readCandidate(session, request, options.signal);
  const golden = await goldenEvidence(session, options);
  if ('verdict' in read) return withoutRun(session, request, read, golden);

  reporter.progress(`${request.model}: base tests`);
  const script = request.mode === 'reproduction-script';
  // A script is not a test of R: without the candidate there is nothing to run.
  const base = await runBase(session, script ? [] : read.files, options);
  reporter.progress(`${request.model}: candidate tests`);
  const candidate = await runSet(
    session,
    { patch: read.patch, files: read.files, script },
    options,
  );
  const notes = [...read.notes, ...candidate.notes, ...remarks(candidate)];
  const { records } = candidate;
  const unrunnable =
    records === undefined
      ? candidate.notes.join('; ')
      : (whyNotRunnable(records.base) ?? whyNotRunnable(records.fixed));
  if (records === undefined || unrunnable !== undefined) {
    const verdict = ungraded('could not run', unrunnable ?? '', true);
    const refused = withoutRun(session, request, { ...read, verdict }, golden);
    return { ...refused, ownTests: read.own.functions, notes };
  }

  const tests = transitionsOf(candidate, read.own.all);
  const before = transitionsOf(base, read.own.before);
  // Tests that only appear when running (made by a loop, say) are the candidate's when base has none.
  const known = new Set([...before.map((each) => functionOf(each.test)), ...read.own.before]);
  const appeared = tests.map((each) => functionOf(each.test)).filter((name) => !known.has(name));
  const own = new Set([...read.own.functions, ...appeared]);

  const strict = gradeStrict({
    candidate: withMissing(tests, own),
    base: before,
    ownFunctions: own,
    ...stoppedBy(records),
  });
  const existing = await existingIn(session.trees, read.files);
  const harness =
    golden === undefined
      ? harnessUnapplied(true)
      : gradeHarness({
          removed: session.changed.removed,
          added: session.changed.added,
          candidate: harnessRuns(session, candidate),
          golden: harnessRuns(session, golden.golden),
          base: harnessBase(session, base, read.files.length > existing.length),
        });
  const isOwn = (each: TestTransition): boolean => own.has(functionOf(each.test));
  return {
    ...header(session, request),
    diagnostics: read.diagnostics,
    notes,
    patch: read.patch,
    ownTests: [...own],
    tests: [...tests.filter(isOwn), ...tests.filter((each) => !isOwn(each))],
    strict,
    harness,
    difference: explainDifference(strict, harness, tests),
    changeCoverage:
      golden &&
      coverageOf(session, records, base.records, golden, {
        own,
        removed: new Set(read.own.removed),
      }),
    goldenCoverage: golden?.coverage,
    runs: {
      base: summarise(candidate.plan, records.base),
      fixed: summarise(candidate.plan, records.fixed),
    },
  };
}

const header = (session: InstanceSession, request: CandidateRequest) => ({
  instance: session.instance.id,
  model: request.model,
  source: session.trees.source,
});

/**
 * The result of a candidate that did not run. Its lines have states all the same: what T^R leaves to
 * cover.
 */
function withoutRun(
  session: InstanceSession,
  request: CandidateRequest,
  { verdict, patch, diagnostics }: RefusedCandidate,
  golden: GoldenEvidence | undefined,
): CandidateResult {
  const nothing = { own: new Set<string>(), removed: new Set<string>() };
  const exists = verdict.reason !== 'no candidate';
  return {
    ...header(session, request),
    diagnostics,
    notes: [],
    patch,
    ownTests: [],
    tests: [],
    strict: verdict,
    harness: {
      ...harnessUnapplied(exists),
      ...(verdict.wellFormed ? { patch_successfully_applied: true } : {}),
    },
    difference: undefined,
    changeCoverage: golden && coverageOf(session, undefined, undefined, golden, nothing),
    goldenCoverage: golden?.coverage,
    runs: {},
  };
}

/** Adds the candidate's tests that left no trace on either side. */
function withMissing(
  tests: readonly TestTransition[],
  functions: ReadonlySet<string>,
): TestTransition[] {
  const seen = new Set(tests.map((each) => functionOf(each.test)));
  const missing = [...functions].filter((name) => !seen.has(name));
  const result = (test: string): TestResult => ({ test, outcome: 'missing' });
  return [
    ...tests,
    ...missing.map((test) => ({
      test,
      transition: '-→-' as const,
      base: result(test),
      fixed: result(test),
    })),
  ];
}

function stoppedBy(records: BothSides): Pick<StrictEvidence, 'stopped'> {
  for (const side of sides) {
    const { ending } = records[side];
    if (ending === 'timed out' || ending === 'too much output') {
      return {
        stopped: { reason: ending, explanation: `on ${sideName[side]} ${endingOf(records[side])}` },
      };
    }
  }
  return {};
}

function summarise(plan: TestPlan, record: RunRecord): RunSummary {
  return {
    ending: record.ending,
    exit_code: record.exitCode ?? null,
    seconds: Math.round(record.seconds * 1000) / 1000,
    runner: plan.runner,
    techniques: record.trace.techniques,
    problems: record.trace.problems,
    log: record.log,
  };
}

/** What may make the counts of a run wrong, for the person who reads ΔC. */
function remarks(run: SetRun): string[] {
  const found = new Set<string>();
  for (const record of run.records === undefined ? [] : [run.records.base, run.records.fixed]) {
    for (const { path, loaded } of record.trace.elsewhere) {
      found.add(
        `${path} was imported from ${loaded}, not from the tree: its lines are not counted`,
      );
    }
    for (const { path, how, why } of record.trace.files) {
      const because = why === undefined ? '' : ` (${why})`;
      if (how === 'not instrumented') found.add(`${path} could not be counted${because}`);
      if (how === 'settrace') found.add(`${path} was counted with sys.settrace${because}`);
    }
    for (const problem of record.trace.problems) found.add(problem);
  }
  return [...found];
}
