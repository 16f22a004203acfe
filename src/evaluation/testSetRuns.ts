import { isBelow, fileOf, functionOf } from '../domain/testId';
import { changeCoverage, type ChangeCoverage, type LineCounts } from '../domain/changeCoverage';
import type { HarnessRuns } from '../domain/harness';
import {
  sideName,
  sides,
  type Side,
  type TestResult,
  pairResults,
  type TestTransition,
} from '../domain/outcome';
import { plural } from '../domain/text';
import { isLimit, gradeStrict, type StrictEvidence } from '../domain/verdict';
import type { EngineWork, Environment, RunRecord } from '../engine/engine';
import { script } from '../engine/runners';
import { parseUnified } from '../patch/parseUnified';
import type { SideCounts } from './findings/noChangedLineRan';
import { contradictionsOf, contradictionsOfBoth } from './findings/inconsistentRecords';
import { ownTestsOf, type OwnTests } from './prepareCandidate';
import {
  type Hindrance,
  endingOf,
  lineCountsOf,
  scriptResult,
  statusesOf,
  transitionsBetween,
  whyIncomplete,
  whyNotRunnable,
  wholeCountsOf,
  withoutOutcome,
  namesOfOtherRuns,
  withTestNames,
} from './results';
import type { EnvironmentFault } from './runs/environmentFault';
import { goldenFailuresNote } from './runs/goldenFailures';
import type { InstanceSession, RunOptions, SessionRun, TestSet } from './session';
import type { BothSides } from './testRun';

/** A test set run on both sides. */
export interface SetRun extends Omit<SessionRun, 'records'> {
  /** Undefined when no file of the set could be run here. */
  readonly records: BothSides | undefined;
  /** The files that could not be run, each with the reason. */
  readonly notes: readonly string[];
}

export async function runSet(
  session: InstanceSession,
  set: TestSet,
  options: RunOptions,
): Promise<SetRun> {
  const { records, ...run } = await session.run(set, options);
  const { plan } = run;
  const { base, fixed } = records;
  return {
    ...run,
    records: base !== undefined && fixed !== undefined ? { base, fixed } : undefined,
    notes: plan.notRun.map(({ path, reason }) => `${path}: ${reason}`),
  };
}

/** How to do golden and base runs, which are kept. */
export interface EvidenceOptions extends RunOptions {
  /** Reruns tests even if their run was cut short twice in this session. */
  readonly fresh?: boolean | undefined;
}

/** What a session knows that the run store does not, or not yet. */
interface Memory {
  golden?: { readonly timeoutSeconds: number; readonly evidence: GoldenEvidence };
  /** The last base runs, by the joined paths of their files. */
  readonly bases: Map<string, SetRun>;
  /**
   * Runs that the store does not keep, since they did not finish: the last one, and how many there were.
   */
  readonly brokenOff: Map<string, { readonly times: number; readonly run: SetRun }>;
}

const memories = new WeakMap<InstanceSession, Memory>();

function memoryOf(session: InstanceSession): Memory {
  const memory = memories.get(session) ?? { bases: new Map(), brokenOff: new Map() };
  memories.set(session, memory);
  return memory;
}

/**
 * A run of T* or T^R, done once and kept, since no candidate changes it. A run is not kept if it
 * did not finish, fails because of the environment, or has records that contradict each other. The
 * session tries such a run once more; further candidates in the same environment then reuse its
 * result instead of waiting again.
 */
async function runKept(
  session: InstanceSession,
  set: TestSet,
  options: EvidenceOptions,
): Promise<SetRun> {
  const { brokenOff } = memoryOf(session);
  const key = JSON.stringify([set, options.timeoutSeconds, options.hashSeed ?? 0]);
  const before = brokenOff.get(key);
  if (before !== undefined && before.times > 1 && options.fresh !== true) {
    // In another environment it may come to its end.
    const { digest } = await session.environment(options);
    if (digest === before.run.environment) return before.run;
  }
  const run = await runSet(session, set, {
    ...options,
    reuse: true,
    // The output of golden tests stays hidden.
    onOutput: undefined,
    onOutcome: undefined,
  });
  if (
    brokeOff(run) ||
    Object.keys(run.faults).length > 0 ||
    contradictionsOfBoth(run.records, run.plan.runner).length > 0
  ) {
    brokenOff.set(key, { times: (before?.times ?? 0) + 1, run });
  } else {
    brokenOff.delete(key);
  }
  return run;
}

/**
 * Runs R's own tests on both sides, in the files where a test set changes, moves or removes some.
 * The run is kept, since no candidate changes it. Tests of a file that the set renames have its new
 * path.
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
  // Keep three: those of the golden tests, of the candidate and of harness grading. Runs hold logs.
  for (const key of [...bases.keys()].slice(0, -3)) bases.delete(key);
  return run;
}

const baseKey = (
  { filesOfR, renamed }: Pick<OwnTests, 'filesOfR' | 'renamed'>,
  { timeoutSeconds, hashSeed = 0 }: RunOptions,
): string => JSON.stringify([filesOfR, [...renamed], timeoutSeconds, hashSeed]);

/**
 * What the golden runs of this session and the base run of these tests have shown, without running
 * anything; undefined unless both were done recently.
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
 * Why a run does not show all that its tests would do, for each side; empty when it does. People
 * who may not know T* yet read these notes: only the base tests of a candidate are named.
 */
export function hindrancesOf(run: SetRun, of: 'golden' | 'golden base' | 'base'): Hindrance[] {
  const subject =
    of === 'golden base' ? 'the base tests of the golden test files' : `the ${of} tests`;
  const notes = of === 'base' ? run.notes : run.plan.notRun.map(({ reason }) => reason);
  const found: Hindrance[] = [...new Set(notes)].map((cause) => ({
    ...{ subject, what: 'cannot all run here', cause },
  }));
  for (const side of run.records === undefined ? [] : sides) {
    const record = run.records?.[side];
    if (record === undefined) continue;
    const unrunnable = whyNotRunnable(record);
    const broken = whyIncomplete(record);
    const fault = run.faults[side];
    if (unrunnable !== undefined) {
      found.push({ subject, what: 'cannot be run', side, cause: unrunnable });
    } else if (fault !== undefined) {
      // What T* imports stays hidden; for R's own tests the same reason may be shown.
      const cause = of === 'golden' ? {} : { cause: fault.says.slice(0, 300) };
      found.push({ subject, what: 'cannot be run', side, how: 'in this environment', ...cause });
    } else if (broken !== undefined) {
      const cause = of === 'base' ? broken : endingOf(record);
      found.push({ subject, what: 'did not finish', side, cause });
    }
    const [contradiction] = contradictionsOf(record, run.plan.runner);
    if (contradiction !== undefined) {
      // A contradiction may name tests, and what the golden tests do stays hidden.
      const cause = of === 'base' ? { cause: contradiction } : {};
      const records = `the records of ${subject}`;
      found.push({ subject: records, what: 'contradict each other', side, ...cause });
    }
  }
  return found;
}

/** Transitions of a run's tests. `expected` names the test functions of its files. */
export function transitionsOf(run: SetRun, expected: readonly string[]): TestTransition[] {
  if (run.records === undefined) return [];
  const [path] = run.plan.runner === script.name ? run.plan.files : [];
  if (path !== undefined) {
    const { base, fixed } = run.records;
    return pairResults([scriptResult(base, path)], [scriptResult(fixed, path)]);
  }
  // Tests in files that this machine cannot run are missing, not failing.
  const ran = expected.filter((test) => run.plan.files.some((file) => isBelow(test, file)));
  return transitionsBetween(run.records.base, run.records.fixed, ran);
}

/**
 * The evidence of strict grading: a test set beside the tests that R has in its files.
 *
 * @returns with it `tests`, the transitions of the tests that left a trace
 */
export function strictEvidence(
  candidate: SetRun,
  ofBase: SetRun,
  known: OwnTests,
): StrictEvidence & { readonly tests: readonly TestTransition[] } {
  const base = withNamesIn(candidate, ofBase);
  const tests = transitionsOf(candidate, known.all);
  const before = transitionsOf(base, known.before);
  // Tests that only appear in a run (made by a loop, say) are the candidate's when base has none.
  const inBase = new Set([...before.map((each) => functionOf(each.test)), ...known.before]);
  const filesOfR = new Set(known.filesOfR.map((file) => known.renamed.get(file) ?? file));
  const isHidden = (test: string): boolean => brokeOff(base) && filesOfR.has(fileOf(test));
  const appeared = tests
    .map((each) => functionOf(each.test))
    .filter((name) => !inBase.has(name) && !isHidden(name));
  const ownFunctions = new Set([...known.functions, ...appeared]);
  const shown = new Set(before.map((each) => each.test));
  // A test of R that did not appear in a broken-off run may do anything without the candidate. It
  // is assumed to do the same as with it, so that the candidate is not blamed.
  const unknown = tests.filter(
    ({ test }) => isHidden(test) && !shown.has(test) && !ownFunctions.has(functionOf(test)),
  );
  return {
    tests,
    candidate: withMissing(tests, ownFunctions),
    base: [...before, ...unknown],
    ownFunctions,
    ...stoppedBy(candidate.records),
    brokenOff: candidate.records && brokenOffIn(candidate.records.fixed),
    contradictions: contradictionsOfBoth(candidate.records, candidate.plan.runner),
  };
}

/**
 * The run of T^R with the names that its tests have in a candidate's run. A candidate may replace
 * cases as well, so only names that change between the sides of both runs count as changed.
 */
function withNamesIn(candidate: SetRun, base: SetRun): SetRun {
  const [known, { records }] = [candidate.records, base];
  const [changing, changingInBase] = [candidate, base].map(
    ({ changedNames }) => new Set(changedNames?.values()),
  );
  if (known === undefined || records === undefined) return base;
  const names = namesOfOtherRuns([known.base], [records.base]);
  const named = (record: RunRecord): RunRecord =>
    withTestNames(record, (id) => {
      const name = names.get(id);
      const isChange = name !== undefined && changing?.has(name) && changingInBase?.has(id);
      return isChange === true ? name : id;
    });
  return changing?.size === 0 || names.size === 0
    ? base
    : { ...base, records: { base: named(records.base), fixed: named(records.fixed) } };
}

const brokeOff = ({ records }: SetRun): boolean =>
  records !== undefined && sides.some((side) => whyIncomplete(records[side]) !== undefined);

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

/** The limit that stopped a run, if one did, and the test that reached it. */
export function stoppedBy(records: BothSides | undefined): Pick<StrictEvidence, 'stopped'> {
  if (records === undefined) return {};
  for (const side of sides) {
    const record = records[side];
    if (!isLimit(record.ending)) continue;
    const explanation = `on ${sideName[side]}, ${brokenOffIn(record)}`;
    return { stopped: { reason: record.ending, explanation } };
  }
  return {};
}

/** How a run was cut short, with the number of tests that it did not come to. */
function brokenOffIn(record: RunRecord): string | undefined {
  const why = whyIncomplete(record);
  const left = withoutOutcome(record).length;
  return why === undefined || left === 0 ? why : `${why}; ${plural(left, 'test')} did not run`;
}

/** What may make the counts of a run wrong, for readers of ΔC. */
export function remarksOf(run: SetRun): string[] {
  const found = new Set<string>();
  for (const record of run.records === undefined ? [] : [run.records.base, run.records.fixed]) {
    for (const { path, loaded } of record.trace.elsewhere) {
      found.add(
        `${path} was imported from ${loaded} instead of the working tree, so its lines are not counted`,
      );
    }
    for (const { path, how, why } of record.trace.files) {
      const because = why === undefined ? '' : ` (${why})`;
      if (how === 'not instrumented')
        found.add(`the lines of ${path} could not be counted${because}`);
      if (how === 'settrace')
        found.add(`the lines of ${path} were counted with sys.settrace${because}`);
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

/** The runs of the golden tests' files with and without T*, and what T* covers. */
export interface GoldenEvidence {
  /** Undefined when T* has no file to run. */
  readonly golden: SetRun | undefined;
  readonly goldenBase: SetRun | undefined;
  /** Undefined when there are hindrances. */
  readonly coverage: ChangeCoverage | undefined;
  /** Why these runs do not show which lines are executable, so that no candidate's ΔC is known. */
  readonly hindrances: readonly Hindrance[];
  /** What a reader should know of T*: how it applies, and its tests that fail on R∘X*. */
  readonly notes: readonly string[];
}

const withoutGolden = (what: string): GoldenEvidence => ({
  golden: undefined,
  goldenBase: undefined,
  coverage: undefined,
  hindrances: [{ what }],
  notes: [],
});

/** Golden runs, done once per instance. */
export async function goldenEvidence(
  session: InstanceSession,
  options: EvidenceOptions,
): Promise<GoldenEvidence> {
  const tests = await session.goldenTests(options.signal);
  // Which files of T* do not fit stays hidden.
  if ('problem' in tests) return withoutGolden('T* does not apply to R and R∘X*');
  const { patch, files } = tests;
  if (files.length === 0) return withoutGolden('T* changes no Python test file');
  options.reporter.progress('golden tests');
  const golden = await runKept(session, { patch, files }, options);
  const own = await ownTestsOf(session, patch, files);
  const goldenBase = await runBase(session, own, options);
  const functions = { own: new Set(own.functions), removed: new Set(own.removed) };
  const runs = { golden, goldenBase };
  const hindrances = [
    ...hindrancesOf(golden, 'golden'),
    ...hindrancesOf(goldenBase, 'golden base'),
  ];
  const evidence: GoldenEvidence = {
    ...runs,
    hindrances,
    coverage:
      hindrances.length > 0 ? undefined : coverageOf(session, golden, goldenBase, runs, functions),
    notes: [
      ...(tests.appliedWith === undefined
        ? []
        : [`\`git apply\` rejects T*; it was applied with \`${tests.appliedWith}\``]),
      // Where runs did not finish, the hindrances say more.
      ...(hindrances.length > 0
        ? []
        : [await noteOnGolden(session, strictEvidence(golden, goldenBase, own), options)]),
    ].flatMap((note) => note ?? []),
  };
  memoryOf(session).golden = { timeoutSeconds: options.timeoutSeconds, evidence };
  return evidence;
}

/** What a reader should know of tests of T* that fail on R∘X*; undefined where none does. */
export async function noteOnGolden(
  session: InstanceSession,
  evidence: StrictEvidence,
  work: EngineWork,
): Promise<string | undefined> {
  const isOwn = ({ test }: TestTransition): boolean => evidence.ownFunctions.has(functionOf(test));
  const own = evidence.candidate.filter(isOwn);
  const failing = new Set(gradeStrict(evidence).anyToFail);
  const failures = own.filter(({ test }) => failing.has(test)).map(({ fixed }) => fixed);
  if (failures.length === 0) return undefined;
  const { instance } = session;
  const environment = await session.environment(work);
  return goldenFailuresNote(failures, own.length, { instance, environment });
}

/** Functions that a candidate adds or changes, those that it removes, and the tests that it loses. */
interface CandidateFunctions {
  readonly own: ReadonlySet<string>;
  readonly removed: ReadonlySet<string>;
  readonly lost?: ReadonlySet<string>;
}

/** ΔC of a candidate's runs. Without runs, the states of the lines when nothing is added to T^R. */
export function coverageOf(
  session: InstanceSession,
  candidate: SetRun | undefined,
  base: SetRun | undefined,
  golden: Pick<GoldenEvidence, 'golden' | 'goldenBase'>,
  tests: CandidateFunctions,
): ChangeCoverage {
  const evidence = (side: Side) => ({
    candidate: countsOn(candidate, side),
    base: countsOn(base, side),
    goldenBase: countsOn(golden.goldenBase, side),
    golden: countsOn(golden.golden, side),
  });
  return changeCoverage({
    removed: session.changed.removed,
    added: session.changed.added,
    base: evidence('base'),
    fixed: evidence('fixed'),
    ownFunctions: tests.own,
    removedFunctions: tests.removed,
    ...(tests.lost !== undefined && { lostTests: tests.lost }),
  });
}

/** Executions of changed lines in a run, with the line numbers of the side without its patch. */
const countsOn = (run: SetRun | undefined, side: Side): LineCounts =>
  run?.records === undefined
    ? new Map()
    : lineCountsOf(run.records[side], (at) => run.lines[side].without(at));

/** The counts of the changed lines of each side: removed lines on R, added lines on R∘X*. */
export function sideCounts(
  session: InstanceSession,
  candidate: SetRun,
  base: SetRun,
  golden: Pick<GoldenEvidence, 'golden' | 'goldenBase'>,
): SideCounts[] {
  return sides.map((side) => ({
    lines: side === 'base' ? session.changed.removed : session.changed.added,
    candidate: countsOn(candidate, side),
    others: [base, golden.goldenBase, golden.golden].map((run) => countsOn(run, side)),
  }));
}

/** A run as the reference harness reads it: statuses from the log, line counts of the whole run. */
export function harnessRuns(session: InstanceSession, run: SetRun): HarnessRuns {
  const [pre, post] = sides.map((side) => {
    const record = run.records?.[side];
    return {
      statuses:
        record === undefined
          ? new Map<string, string>()
          : statusesOf(record, session.instance.repo, run.plan.runner === script.name),
      counts: record === undefined ? new Map() : wholeCountsOf(record),
    };
  });
  if (pre === undefined || post === undefined) throw new Error('two sides');
  return { pre, post };
}

/**
 * A run of T^R as if a candidate's renamed files already had their new names. A test thus has the
 * same id before and after. The log stays unchanged.
 *
 * @param renamed new path by old path
 */
export function withNewPaths(run: SetRun, renamed: ReadonlyMap<string, string>): SetRun {
  if (renamed.size === 0) return run;
  const move = (id: string): string => {
    const file = fileOf(id);
    return `${renamed.get(file) ?? file}${id.slice(file.length)}`;
  };
  const inRecord = (record: RunRecord): RunRecord => withTestNames(record, move);
  const { plan, records, changedNames } = run;
  return {
    ...run,
    ...(changedNames && {
      changedNames: new Map([...changedNames].map(([id, name]) => [move(id), move(name)])),
    }),
    plan: { ...plan, files: plan.files.map(move) },
    records: records && { base: inRecord(records.base), fixed: inRecord(records.fixed) },
  };
}

/** What the user does about an environment that lacks something. */
export const howToFix = ({ image }: Environment): string =>
  image !== undefined
    ? 'choose an image that has it'
    : "install R's requirements there, or create an environment for this instance by setting Python to auto";

/**
 * Why a candidate's tests cannot run because of the environment, for the user: which module, in
 * which interpreter, and what to do. Undefined where tests ran, or where the candidate itself asks
 * for what is not installed.
 *
 * @param others runs of R's and the golden tests; a fault that one shares is not the candidate's
 */
export async function environmentProblem(
  session: InstanceSession,
  { patch, run }: { readonly patch: string; readonly run: SetRun },
  others: readonly (SetRun | undefined)[],
  work: EngineWork,
): Promise<string | undefined> {
  const fault = sides.flatMap((side) => run.faults[side] ?? [])[0];
  if (fault === undefined) return undefined;
  const shared = others.some((other) => sides.some((side) => isSame(other?.faults[side], fault)));
  const byR = await isOfR(session, fault.importedBy, patch);
  if (!shared && !byR) return undefined;
  return describeFault(session, fault, byR, work);
}

/**
 * A fault of the environment for the user: which module, in which interpreter, and what to do.
 *
 * @param byR whether a file of R asks for the module
 */
export async function describeFault(
  session: InstanceSession,
  { module, says, importedBy }: EnvironmentFault,
  byR: boolean,
  work: EngineWork,
): Promise<string> {
  const what =
    module === undefined
      ? `the environment cannot run the tests (${says.slice(0, 300)})`
      : `the environment lacks ${module.slice(0, 100)} or has an incompatible version (${says.slice(0, 300)})`;
  const who = byR ? `, which R's ${importedBy} needs` : '';
  return `${what}${who}; ${await ranWith(session, work)}`;
}

/** Where tests ran, and what to do about an environment that does not fit. */
export async function ranWith(session: InstanceSession, work: EngineWork): Promise<string> {
  const environment = await session.environment(work);
  const { description, interpreter } = environment;
  return `tests ran with ${description}, ${interpreter}: ${howToFix(environment)}`;
}

const isSame = (one: EnvironmentFault | undefined, other: EnvironmentFault): boolean =>
  one !== undefined &&
  (one.module === undefined ? one.says === other.says : one.module === other.module);

/** Whether a file is R's, as it was before the candidate. */
async function isOfR(
  session: InstanceSession,
  path: string | undefined,
  patch: string,
): Promise<boolean> {
  if (path === undefined) return false;
  const edited = parseUnified(patch).files.some(
    ({ oldPath, newPath }) => oldPath === path || newPath === path,
  );
  return !edited && (await session.readFileOfR(path)) !== undefined;
}
