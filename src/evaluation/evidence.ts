import { changeCoverage, type ChangeCoverage, type LineCounts } from '../domain/changeCoverage';
import type { HarnessRuns } from '../domain/harness';
import { sides, type Side } from '../domain/outcome';
import { pairResults, type TestTransition } from '../domain/transition';
import type { TestPlan } from '../engine/testCommand';
import { ownTestsOf } from './reading';
import { lineCountsOf, resultsOf, scriptResult, statusesOf, wholeCountsOf } from './results';
import {
  existingIn,
  type BothSides,
  type InstanceSession,
  type RunOptions,
  type TestSet,
} from './session';

/** A test set run on both sides. */
export interface SetRun {
  readonly plan: TestPlan;
  /** Undefined when nothing could be run here. */
  readonly records: BothSides | undefined;
  /** Files that could not be run, with the reason. */
  readonly notes: readonly string[];
}

export async function runSet(
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

/** The tests that R has in these files, on both sides; kept, since no candidate changes it. */
export async function runBase(
  session: InstanceSession,
  files: readonly string[],
  options: RunOptions,
): Promise<SetRun> {
  const existing = await existingIn(session.trees, files);
  return runSet(
    session,
    { patch: '', files: existing },
    { ...options, reuse: true, onOutput: undefined },
  );
}

/** Transitions of a run's tests. `expected` names the test functions of its files. */
export function transitionsOf(run: SetRun, expected: readonly string[]): TestTransition[] {
  if (run.records === undefined) return [];
  const [script] = run.plan.runner === 'script' ? run.plan.files : [];
  if (script !== undefined) {
    const { base, fixed } = run.records;
    return pairResults([scriptResult(base, script)], [scriptResult(fixed, script)]);
  }
  // Tests of files that nothing here can run are missing, not failing.
  const ran = expected.filter((test) =>
    run.plan.files.some((file) => test.startsWith(`${file}::`)),
  );
  return pairResults(resultsOf(run.records.base, ran), resultsOf(run.records.fixed, ran));
}

/** The golden tests' files with and without T*, and what T* covers. */
export interface GoldenEvidence {
  readonly golden: SetRun;
  readonly goldenBase: SetRun;
  readonly coverage: ChangeCoverage;
}

/** Golden runs, done once per instance; undefined when the golden tests cannot be run here. */
export async function goldenEvidence(
  session: InstanceSession,
  options: RunOptions,
): Promise<GoldenEvidence | undefined> {
  const files = session.goldenFiles;
  if (files.length === 0) return undefined;
  options.reporter.progress('golden tests');
  const { goldenTests } = session.instance;
  const golden = await runSet(
    session,
    { patch: goldenTests, files },
    { ...options, reuse: true, onOutput: undefined },
  );
  if (golden.records === undefined) return undefined;
  const goldenBase = await runBase(session, files, options);
  const own = await ownTestsOf(session, goldenTests, files);
  const tests = { own: new Set(own.functions), removed: new Set(own.removed) };
  const runs = { golden, goldenBase };
  return {
    ...runs,
    coverage: coverageOf(session, golden.records, goldenBase.records, runs, tests),
  };
}

/** Functions that a candidate adds or changes, and those that it removes. */
export interface CandidateFunctions {
  readonly own: ReadonlySet<string>;
  readonly removed: ReadonlySet<string>;
}

/** ΔC of a candidate's runs; without runs, the states of the lines when nothing is added to T^R. */
export function coverageOf(
  session: InstanceSession,
  candidate: BothSides | undefined,
  base: BothSides | undefined,
  golden: Pick<GoldenEvidence, 'golden' | 'goldenBase'>,
  tests: CandidateFunctions,
): ChangeCoverage {
  const counts = (records: BothSides | undefined, side: Side): LineCounts =>
    records === undefined ? new Map() : lineCountsOf(records[side]);
  const evidence = (side: Side) => ({
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

/** A run as the reference harness reads it: statuses from the log, counts of the whole run. */
export function harnessRuns(session: InstanceSession, run: SetRun): HarnessRuns {
  const [pre, post] = sides.map((side) => {
    const record = run.records?.[side];
    return {
      statuses:
        record === undefined
          ? new Map<string, string>()
          : statusesOf(record, session.instance.repo, run.plan.runner === 'script'),
      counts: record === undefined ? new Map() : wholeCountsOf(record),
    };
  });
  if (pre === undefined || post === undefined) throw new Error('two sides');
  return { pre, post };
}

/**
 * The base run as the harness does it: it names every file of the candidate, also one that R does not
 * have, and pytest then runs nothing at all.
 */
export function harnessBase(
  session: InstanceSession,
  base: SetRun,
  namesMissing: boolean,
): HarnessRuns {
  if (namesMissing && base.plan.runner === 'pytest') {
    const nothing = { statuses: new Map<string, string>(), counts: new Map() };
    return { pre: nothing, post: nothing };
  }
  return harnessRuns(session, base);
}
