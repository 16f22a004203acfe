import { changeCoverage, type ChangeCoverage, type LineCounts } from '../domain/changeCoverage';
import type { HarnessRuns } from '../domain/harness';
import { fileOf, functionOf, sideName, sides, type Side, type TestResult } from '../domain/outcome';
import { pairResults, type TestTransition } from '../domain/transition';
import { isLimit, type StrictEvidence } from '../domain/verdict';
import type { TestPlan } from '../engine/testCommand';
import { ownTestsOf, type OwnTests } from './reading';
import type { CandidateLines } from './candidateLines';
import { withNewPaths } from './renamed';
import {
  endingOf,
  lineCountsOf,
  scriptResult,
  statusesOf,
  transitionsBetween,
  whyBrokenOff,
  whyNotRunnable,
  wholeCountsOf,
} from './results';
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
  /** Where the changed lines stood while it ran. */
  readonly lines: Readonly<Record<Side, CandidateLines>>;
  /** Files that could not be run, with the reason. */
  readonly notes: readonly string[];
}

export async function runSet(
  session: InstanceSession,
  set: TestSet,
  options: RunOptions,
): Promise<SetRun> {
  const { plan, records, lines } = await session.run(set, options);
  const { base, fixed } = records;
  return {
    plan,
    lines,
    records: base !== undefined && fixed !== undefined ? { base, fixed } : undefined,
    notes: plan.notRun.map(({ path, reason }) => `${path}: ${reason}`),
  };
}

/** How golden and base runs are done, which are kept. */
export interface EvidenceOptions extends RunOptions {
  /** Also those that broke off twice in this session are run again. */
  readonly fresh?: boolean | undefined;
}

/** What a session has found out that is not, or not yet, among the kept runs. */
interface Memory {
  golden?: { readonly timeoutSeconds: number; readonly evidence: GoldenEvidence };
  /** The last base runs, by their files. */
  readonly bases: Map<string, SetRun>;
  /** Runs that broke off, which nobody keeps: the last one, and how many there were. */
  readonly brokenOff: Map<string, { readonly times: number; readonly run: SetRun }>;
}

const memories = new WeakMap<InstanceSession, Memory>();

function memoryOf(session: InstanceSession): Memory {
  const memory = memories.get(session) ?? { bases: new Map(), brokenOff: new Map() };
  memories.set(session, memory);
  return memory;
}

/**
 * A run of T* or T^R, which no candidate changes: done once and kept. One that broke off is not kept; it
 * is tried once more in a session, and then the next candidates do not wait for the same again.
 */
async function runKept(
  session: InstanceSession,
  set: TestSet,
  options: EvidenceOptions,
): Promise<SetRun> {
  const { brokenOff } = memoryOf(session);
  const key = JSON.stringify([set, options.timeoutSeconds, options.hashSeed ?? 0]);
  const before = brokenOff.get(key);
  if (before !== undefined && before.times > 1 && options.fresh !== true) return before.run;
  const run = await runSet(session, set, {
    ...options,
    reuse: true,
    // What golden tests do is not to be seen.
    onOutput: undefined,
    onOutcome: undefined,
  });
  if (brokeOff(run)) {
    brokenOff.set(key, { times: (before?.times ?? 0) + 1, run });
  } else {
    brokenOff.delete(key);
  }
  return run;
}

/**
 * The tests that R has where a test set changes, moves or removes some, on both sides; kept, since no
 * candidate changes it. Tests of a file that the set renames have its new path.
 */
export async function runBase(
  session: InstanceSession,
  tests: Pick<OwnTests, 'filesOfR' | 'renamed'>,
  options: EvidenceOptions,
): Promise<SetRun> {
  const run = withNewPaths(
    await runKept(session, { patch: '', files: tests.filesOfR }, options),
    tests.renamed,
  );
  const { bases } = memoryOf(session);
  bases.delete(baseKey(tests, options));
  bases.set(baseKey(tests, options), run);
  // Those of the golden tests, of the candidate, and of harness grading; runs hold logs.
  for (const key of [...bases.keys()].slice(0, -3)) bases.delete(key);
  return run;
}

const baseKey = (
  { filesOfR, renamed }: Pick<OwnTests, 'filesOfR' | 'renamed'>,
  { timeoutSeconds, hashSeed = 0 }: RunOptions,
): string => JSON.stringify([filesOfR, [...renamed], timeoutSeconds, hashSeed]);

/**
 * What the golden runs of this session and the base run of these tests have shown, without running
 * anything; undefined unless both have been done lately.
 */
export function knownEvidence(
  session: InstanceSession,
  tests: Pick<OwnTests, 'filesOfR' | 'renamed'>,
  options: RunOptions,
): { readonly golden: GoldenEvidence; readonly base: SetRun } | undefined {
  const { golden, bases } = memoryOf(session);
  const base = bases.get(baseKey(tests, options));
  return golden?.timeoutSeconds === options.timeoutSeconds && base !== undefined
    ? { golden: golden.evidence, base }
    : undefined;
}

/**
 * Why a run does not tell all that its tests would do, for each side; empty when it does. Notes are
 * read by people who are not to know T* yet: only the base tests of a candidate are named.
 */
export function hindrancesOf(run: SetRun, of: 'golden' | 'golden base' | 'base'): string[] {
  const tests = of === 'golden base' ? 'the base tests beside the golden tests' : `the ${of} tests`;
  const notes = of === 'base' ? run.notes : run.plan.notRun.map(({ reason }) => reason);
  const why = [...new Set(notes)].map((note) => `${tests} cannot all be run here (${note})`);
  for (const side of run.records === undefined ? [] : sides) {
    const record = run.records?.[side];
    if (record === undefined) continue;
    const unrunnable = whyNotRunnable(record);
    const broken = whyBrokenOff(record);
    if (unrunnable !== undefined) {
      why.push(`${tests} cannot be run on ${sideName[side]} (${unrunnable})`);
    } else if (broken !== undefined) {
      const how = of === 'base' ? broken : endingOf(record);
      why.push(`${tests} broke off on ${sideName[side]} (${how})`);
    }
  }
  return why;
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
  return transitionsBetween(run.records.base, run.records.fixed, ran);
}

/**
 * What strict grading looks at: a test set beside the tests that R has in its files.
 *
 * @returns with it `tests`, the transitions of the tests that left a trace
 */
export function strictEvidence(
  candidate: SetRun,
  base: SetRun,
  known: OwnTests,
): StrictEvidence & { readonly tests: readonly TestTransition[] } {
  const tests = transitionsOf(candidate, known.all);
  const before = transitionsOf(base, known.before);
  // Tests that only appear when running (made by a loop, say) are the candidate's when base has none.
  const inBase = new Set([...before.map((each) => functionOf(each.test)), ...known.before]);
  const filesOfR = new Set(known.filesOfR.map((file) => known.renamed.get(file) ?? file));
  const isHidden = (test: string): boolean => brokeOff(base) && filesOfR.has(fileOf(test));
  const appeared = tests
    .map((each) => functionOf(each.test))
    .filter((name) => !inBase.has(name) && !isHidden(name));
  const ownFunctions = new Set([...known.functions, ...appeared]);
  const shown = new Set(before.map((each) => each.test));
  // What a test of R that did not come up in a broken-off run does without the candidate, nobody knows:
  // it is taken to do the same, so that the candidate does not answer for it.
  const unknown = tests.filter(
    ({ test }) => isHidden(test) && !shown.has(test) && !ownFunctions.has(functionOf(test)),
  );
  return {
    tests,
    candidate: withMissing(tests, ownFunctions),
    base: [...before, ...unknown],
    ownFunctions,
    ...stoppedBy(candidate.records),
  };
}

const brokeOff = ({ records }: SetRun): boolean =>
  records !== undefined && sides.some((side) => whyBrokenOff(records[side]) !== undefined);

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

/** The limit that a run was stopped by, if it was. */
export function stoppedBy(records: BothSides | undefined): Pick<StrictEvidence, 'stopped'> {
  if (records === undefined) return {};
  for (const side of sides) {
    const { ending } = records[side];
    if (isLimit(ending)) {
      return {
        stopped: { reason: ending, explanation: `on ${sideName[side]} ${endingOf(records[side])}` },
      };
    }
  }
  return {};
}

/** What may make the counts of a run wrong, for the person who reads ΔC. */
export function remarksOf(run: SetRun): string[] {
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
  for (const side of run.records === undefined ? [] : sides) {
    for (const remark of run.records?.[side].remarks ?? []) {
      found.add(`on ${sideName[side]} ${remark}`);
    }
  }
  return [...found];
}

/** The golden tests' files with and without T*, and what T* covers. */
export interface GoldenEvidence {
  /** Undefined when T* has no file to run. */
  readonly golden: SetRun | undefined;
  readonly goldenBase: SetRun | undefined;
  /** Undefined when there are hindrances. */
  readonly coverage: ChangeCoverage | undefined;
  /** Why these runs do not tell which lines are executable, so that nobody's ΔC is known. */
  readonly hindrances: readonly string[];
}

/** Golden runs, done once per instance. */
export async function goldenEvidence(
  session: InstanceSession,
  options: EvidenceOptions,
): Promise<GoldenEvidence> {
  const files = session.goldenFiles;
  if (files.length === 0) {
    return {
      golden: undefined,
      goldenBase: undefined,
      coverage: undefined,
      hindrances: ['T* touches no Python test file'],
    };
  }
  options.reporter.progress('golden tests');
  const { goldenTests } = session.instance;
  const golden = await runKept(session, { patch: goldenTests, files }, options);
  const own = await ownTestsOf(session, goldenTests, files);
  const goldenBase = await runBase(session, own, options);
  const tests = { own: new Set(own.functions), removed: new Set(own.removed) };
  const runs = { golden, goldenBase };
  const hindrances = [
    ...hindrancesOf(golden, 'golden'),
    ...hindrancesOf(goldenBase, 'golden base'),
  ];
  const evidence: GoldenEvidence = {
    ...runs,
    hindrances,
    coverage:
      hindrances.length > 0 ? undefined : coverageOf(session, golden, goldenBase, runs, tests),
  };
  memoryOf(session).golden = { timeoutSeconds: options.timeoutSeconds, evidence };
  return evidence;
}

/** Functions that a candidate adds or changes, and those that it removes. */
export interface CandidateFunctions {
  readonly own: ReadonlySet<string>;
  readonly removed: ReadonlySet<string>;
}

/** ΔC of a candidate's runs; without runs, the states of the lines when nothing is added to T^R. */
export function coverageOf(
  session: InstanceSession,
  candidate: SetRun | undefined,
  base: SetRun | undefined,
  golden: Pick<GoldenEvidence, 'golden' | 'goldenBase'>,
  tests: CandidateFunctions,
): ChangeCoverage {
  const counts = (run: SetRun | undefined, side: Side): LineCounts =>
    run?.records === undefined
      ? new Map()
      : lineCountsOf(run.records[side], (at) => run.lines[side].without(at));
  const evidence = (side: Side) => ({
    candidate: counts(candidate, side),
    base: counts(base, side),
    goldenBase: counts(golden.goldenBase, side),
    golden: counts(golden.golden, side),
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
 *
 * @param files those of the candidate
 * @param base the base run of strict grading, over `own.filesOfR`
 */
export async function harnessBase(
  session: InstanceSession,
  files: readonly string[],
  { base, own }: { readonly base: SetRun; readonly own: OwnTests },
  options: EvidenceOptions,
): Promise<HarnessRuns> {
  const existing = await existingIn(session.trees, files);
  const byPytest = base.plan.runner === 'pytest' || base.plan.runner === 'tox';
  if (files.length > existing.length && byPytest) {
    const nothing = { statuses: new Map<string, string>(), counts: new Map() };
    return { pre: nothing, post: nothing };
  }
  // It knows of no renamed and no deleted file.
  const isSame = own.filesOfR.join('\0') === existing.join('\0');
  const run = isSame
    ? base
    : await runBase(session, { filesOfR: existing, renamed: new Map() }, options);
  return harnessRuns(session, run);
}
