import { changeCoverage, type ChangeCoverage, type LineCounts } from '../domain/changeCoverage';
import {
  gradeHarness,
  harnessUnapplied,
  type HarnessReport,
  type HarnessRuns,
} from '../domain/harness';
import { functionOf, type TestResult } from '../domain/outcome';
import { pairResults, type TestTransition } from '../domain/transition';
import { gradeStrict, ungraded, type Verdict } from '../domain/verdict';
import type { RunRecord } from '../engine/engine';
import type { TestPlan } from '../engine/testCommand';
import { toUnified, type PatchFormat } from '../patch/convert';
import type { Diagnostic } from '../patch/diagnostic';
import { checkPatchPaths } from '../patch/safety';
import { splitTestEdits, testFilesOf } from '../patch/testFiles';
import { parseUnified } from '../patch/unified';
import { changedTests } from '../python/changedTests';
import { findTests } from '../python/tests';
import type { TreeSource } from '../repository/source';
import { whyNotApply } from '../repository/trees';
import { explainDifference } from './difference';
import { lineCountsOf, resultsOf, statusesOf, whyNotRunnable, wholeCountsOf } from './results';
import {
  contentsWith,
  existingIn,
  type BothSides,
  type InstanceSession,
  type RunOptions,
  type TestSet,
} from './session';

/** One candidate on one instance, graded both ways. */
export interface CandidateResult {
  readonly instance: string;
  readonly model: string;
  readonly source: TreeSource;
  /** What was said while the candidate was turned into a unified diff, and other remarks. */
  readonly diagnostics: readonly Diagnostic[];
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

export interface CandidateRequest {
  readonly model: string;
  /** The candidate as it was handed in. */
  readonly text: string;
  readonly format: PatchFormat | 'auto';
}

/** Grades a candidate: converts it, applies it, runs it beside base and golden on both sides. */
export async function evaluateCandidate(
  session: InstanceSession,
  request: CandidateRequest,
  options: RunOptions,
): Promise<CandidateResult> {
  const { reporter, signal } = options;
  const rest = {
    instance: session.instance.id,
    model: request.model,
    source: session.trees.source,
  };
  const stopped = async (
    strict: Verdict,
    diagnostics: readonly Diagnostic[],
    patch: string,
    exists: boolean,
  ): Promise<CandidateResult> => {
    // Also without a run the lines have states: what a candidate of no effect leaves uncovered.
    const golden = await goldenEvidence(session, options);
    return {
      ...rest,
      diagnostics,
      notes: [],
      patch,
      ownTests: [],
      tests: [],
      strict,
      harness: strict.wellFormed
        ? { ...harnessUnapplied(exists), patch_successfully_applied: true }
        : harnessUnapplied(exists),
      difference: undefined,
      changeCoverage: golden && coverageOf(session, undefined, undefined, golden, noTests),
      goldenCoverage: golden?.coverage,
      runs: {},
    };
  };

  if (request.text.trim() === '') {
    return stopped(ungraded('no candidate', 'the prediction is empty', false), [], '', false);
  }
  reporter.progress(`${request.model}: reading the patch`);
  const converted = await toUnified(request.text, {
    format: request.format,
    read: (path) => session.readFileOfR(path),
    python: session.python,
  });
  const refuse = (why: string, diagnostics = converted.diagnostics): Promise<CandidateResult> =>
    stopped(ungraded('does not apply', why, false), diagnostics, '', true);
  const firstError = converted.diagnostics.find((each) => each.severity === 'error');
  if (firstError !== undefined) return refuse(firstError.message);

  const parsed = parseUnified(converted.patch);
  const unsafe = checkPatchPaths(parsed)[0];
  if (unsafe !== undefined) return refuse(unsafe.message);
  const unfit = await whyNotApply(session.trees.base, converted.patch, signal);
  if (unfit !== undefined) return refuse(unfit);
  const notes: string[] = [];
  const unfitAfter = await whyNotApply(session.trees.fixed, converted.patch, signal);
  if (unfitAfter !== undefined) {
    return stopped(
      ungraded('does not apply', `it applies to R but not to R∘X* (${unfitAfter})`, true),
      converted.diagnostics,
      converted.patch,
      true,
    );
  }
  const files = testFilesOf(parsed);
  if (files.length === 0) {
    return stopped(
      ungraded(
        'no test found',
        'the patch touches no Python test file, so there is nothing to run',
        true,
      ),
      converted.diagnostics,
      converted.patch,
      true,
    );
  }
  const stray = splitTestEdits(parsed).others.map((file) => file.newPath ?? file.oldPath ?? '');
  if (stray.length > 0) notes.push(`edits outside tests: ${stray.join(', ')}`);

  const golden = await goldenEvidence(session, options);
  reporter.progress(`${request.model}: base tests`);
  const baseFiles = await existingIn(session.trees, files);
  const base = await runSet(session, { patch: '', files: baseFiles }, { ...options, reuse: true });
  reporter.progress(`${request.model}: candidate tests`);
  const own = await ownTestsOf(session, converted.patch, files);
  const candidate = await runSet(session, { patch: converted.patch, files }, options);
  notes.push(...candidate.notes, ...remarks(candidate));
  const unrunnable =
    candidate.records === undefined
      ? candidate.notes.join('; ')
      : (whyNotRunnable(candidate.records.base) ?? whyNotRunnable(candidate.records.fixed));
  if (candidate.records === undefined || unrunnable !== undefined) {
    return {
      ...(await stopped(
        ungraded('could not run', unrunnable ?? '', true),
        converted.diagnostics,
        converted.patch,
        true,
      )),
      ownTests: [...own.functions],
      notes,
    };
  }

  const tests = pairResults(
    resultsOf(candidate.records.base, own.all),
    resultsOf(candidate.records.fixed, own.all),
  );
  const before =
    base.records === undefined
      ? []
      : pairResults(
          resultsOf(base.records.base, own.before),
          resultsOf(base.records.fixed, own.before),
        );
  // Tests that only appear when running (made by a loop, say) are the candidate's when base has none.
  const known = new Set([...before.map((each) => functionOf(each.test)), ...own.before]);
  const functions = new Set(own.functions);
  for (const each of tests) {
    const name = functionOf(each.test);
    if (!known.has(name)) functions.add(name);
  }

  const strict = gradeStrict({
    candidate: withMissing(tests, functions),
    base: before,
    ownFunctions: functions,
    timedOut: Object.values(candidate.records).some(
      (record: RunRecord) => record.ending === 'timed out',
    ),
  });
  const harness =
    golden === undefined
      ? harnessUnapplied(true)
      : gradeHarness({
          removed: session.changed.removed,
          added: session.changed.added,
          candidate: harnessRuns(session, candidate),
          golden: harnessRuns(session, golden.golden),
          base: harnessBase(session, base, files.length > baseFiles.length),
        });
  const isOwn = (each: TestTransition): boolean => functions.has(functionOf(each.test));
  return {
    ...rest,
    diagnostics: converted.diagnostics,
    notes,
    patch: converted.patch,
    ownTests: [...functions],
    tests: [...tests.filter(isOwn), ...tests.filter((each) => !isOwn(each))],
    strict,
    harness,
    difference: explainDifference(strict, harness, tests),
    changeCoverage:
      golden &&
      coverageOf(session, candidate.records, base.records, golden, {
        own: functions,
        removed: new Set(own.removed),
      }),
    goldenCoverage: golden?.coverage,
    runs: {
      base: summarise(candidate.plan, candidate.records.base),
      fixed: summarise(candidate.plan, candidate.records.fixed),
    },
  };
}

interface SetRun {
  readonly plan: TestPlan;
  /** Undefined when nothing could be run here. */
  readonly records: BothSides | undefined;
  readonly notes: readonly string[];
}

async function runSet(
  session: InstanceSession,
  set: TestSet,
  options: RunOptions,
): Promise<SetRun> {
  const { plan, records } = await session.run(set, options);
  const { base, fixed } = records;
  return {
    plan,
    records: base !== undefined && fixed !== undefined ? { base, fixed } : undefined,
    notes: plan.notRun.map(({ path, reason }) => `${path}: ${reason}`),
  };
}

/** Golden tests with and without T*, and what T* covers. */
interface GoldenEvidence {
  readonly golden: SetRun;
  readonly goldenBase: SetRun;
  readonly coverage: ChangeCoverage;
}

async function goldenEvidence(
  session: InstanceSession,
  options: RunOptions,
): Promise<GoldenEvidence | undefined> {
  const files = session.goldenFiles;
  if (files.length === 0) return undefined;
  options.reporter.progress('golden tests');
  // Base and golden do not change with the candidate: once per instance is enough.
  const once = { ...options, reuse: true, onOutput: undefined };
  const golden = await runSet(session, { patch: session.instance.goldenTests, files }, once);
  const existing = await existingIn(session.trees, files);
  const goldenBase = await runSet(session, { patch: '', files: existing }, once);
  if (golden.records === undefined) return undefined;
  const own = await ownTestsOf(session, session.instance.goldenTests, files);
  const evidence = { golden, goldenBase };
  return {
    ...evidence,
    coverage: coverageOf(session, golden.records, goldenBase.records, evidence, {
      own: new Set(own.functions),
      removed: new Set(own.removed),
    }),
  };
}

const noTests = { own: new Set<string>(), removed: new Set<string>() };

function coverageOf(
  session: InstanceSession,
  candidate: BothSides | undefined,
  base: BothSides | undefined,
  golden: Pick<GoldenEvidence, 'golden' | 'goldenBase'>,
  tests: { readonly own: ReadonlySet<string>; readonly removed: ReadonlySet<string> },
): ChangeCoverage {
  const counts = (records: BothSides | undefined, side: 'base' | 'fixed'): LineCounts =>
    records === undefined ? new Map() : lineCountsOf(records[side]);
  const evidence = (side: 'base' | 'fixed') => ({
    candidate: counts(candidate, side),
    base: counts(base, side),
    goldenBase: counts(golden.goldenBase.records, side),
    golden: counts(golden.golden.records, side),
  });
  return changeCoverage({
    removed: session.changed.removed,
    added: session.changed.added,
    base: evidence('base'),
    fixed: evidence('fixed'),
    ownFunctions: tests.own,
    removedFunctions: tests.removed,
  });
}

/** Test functions of the files that a patch touches, as ids without parameters. */
interface OwnTests {
  /** Added or changed by the patch. */
  readonly functions: string[];
  readonly removed: string[];
  /** All that the files hold with the patch, and without it. */
  readonly all: string[];
  readonly before: string[];
}

export async function ownTestsOf(
  session: Pick<InstanceSession, 'python' | 'readFileOfR'>,
  patch: string,
  files: readonly string[],
): Promise<OwnTests> {
  const after = await contentsWith(patch, (path) => session.readFileOfR(path));
  const functions: string[] = [];
  const all: string[] = [];
  const before: string[] = [];
  const removed: string[] = [];
  for (const path of files) {
    const old = await session.readFileOfR(path);
    const { python } = session;
    if (old !== undefined) before.push(...findTests(python, old, { path }).map((test) => test.id));
    const source = after.get(path);
    if (source === undefined) continue;
    all.push(...findTests(python, source, { path }).map((test) => test.id));
    const changes = changedTests(python, old, source, { path });
    functions.push(...[...changes.added, ...changes.changed].map((test) => test.id));
    removed.push(...changes.removed.map((test) => test.id));
  }
  return { functions, removed, all, before };
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

function harnessRuns(session: InstanceSession, run: SetRun): HarnessRuns {
  const side = (record: RunRecord | undefined) => ({
    statuses: record === undefined ? new Map() : statusesOf(record, session.instance.repo),
    counts: record === undefined ? new Map() : wholeCountsOf(record),
  });
  return { pre: side(run.records?.base), post: side(run.records?.fixed) };
}

/**
 * The harness' base run names every file of the candidate, also one that R does not have; pytest then
 * runs nothing at all.
 */
function harnessBase(session: InstanceSession, base: SetRun, namesMissing: boolean): HarnessRuns {
  if (namesMissing && base.plan.runner === 'pytest') {
    const nothing = { statuses: new Map<string, string>(), counts: new Map() };
    return { pre: nothing, post: nothing };
  }
  return harnessRuns(session, base);
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
  for (const record of Object.values(run.records ?? {}) as RunRecord[]) {
    for (const { path, loaded } of record.trace.elsewhere) {
      found.add(
        `${path} was imported from ${loaded}, not from the tree: its lines cannot be counted`,
      );
    }
    for (const { path, how, why } of record.trace.files) {
      if (how === 'not instrumented')
        found.add(`${path} could not be counted${why === undefined ? '' : `: ${why}`}`);
      if (how === 'settrace')
        found.add(`${path} was counted with sys.settrace${why === undefined ? '' : ` (${why})`}`);
    }
    for (const problem of record.trace.problems) found.add(problem);
  }
  return [...found];
}
