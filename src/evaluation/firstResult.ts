import type { ChangeCoverage } from '../domain/changeCoverage';
import { sides, type TestTransition } from '../domain/outcome';
import { fileOf, functionOf } from '../domain/testId';
import { Cancelled, messageOf } from '../domain/work';
import { gradeStrict, type Verdict } from '../domain/verdict';
import {
  coverageOf,
  hindrancesOf,
  knownEvidence,
  runSet,
  stoppedBy,
  transitionsOf,
  type SetRun,
} from './testSetRuns';
import type { CandidateResult } from './candidateResult';
import { contradictionsOfBoth } from './findings/inconsistentRecords';
import type { CandidateRequest, OwnTests, ReadCandidate } from './prepareCandidate';
import { endingOf, whyNeitherRuns } from './results';
import { testRun } from './testRun';
import type { InstanceSession, RunOptions, TestSet } from './session';

/**
 * What the tests that a candidate adds or changes did, before the rest of the touched files has
 * run. It gives a verdict in seconds, which the grade replaces.
 */
export interface FirstResult extends Pick<
  CandidateResult,
  // `tests` are the candidate's tests that left an outcome on some side. `changeCoverage` is that
  // of these tests. It is undefined until this session knows the golden and base runs.
  'instance' | 'model' | 'patch' | 'ownTests' | 'tests' | 'changeCoverage' | 'runs'
> {
  readonly preliminary: true;
  /** The candidate's tests that left no trace on either side. */
  readonly notSeen: readonly string[];
  /** Strict grade of `tests` alone; undefined when there are none. */
  readonly strict: Verdict | undefined;
  /** One sentence: why there is no verdict, or why it covers only some tests. */
  readonly problem: string | undefined;
  /**
   * Whether all tests of the touched files are the candidate's own, so that they do not run again.
   */
  readonly whole: boolean;
}

export interface FirstOptions extends RunOptions {
  readonly onFirst: (first: FirstResult) => void;
}

/**
 * Seconds up to which the base tests of the touched files are quick: what precedes the first test
 * then takes most of a run, and the candidate's tests alone hardly less than the whole files.
 */
const quick = 1;

/** The run behind a first result, where it began with R loaded. */
export interface WarmRun {
  readonly warm?: SetRun | undefined;
}

/**
 * Runs the tests that a candidate adds or changes on both sides and reports their results, unless
 * the whole files are known to be quick. The result names tests that a runner does not know by
 * their names, and any other problem. The run of the whole files then finds the cause. Where the
 * session expects it, the run begins with R loaded, and another one follows in any case.
 *
 * @returns `whole`, when the run is that of the whole files as well; `warm`, when R was loaded
 * @throws Cancelled; and, where it is the run of the whole files, what `runSet` throws
 */
export async function runFirst(
  session: InstanceSession,
  request: CandidateRequest,
  read: ReadCandidate,
  options: FirstOptions,
): Promise<WarmRun & { readonly whole?: SetRun | undefined }> {
  const { own, patch } = read;
  if (request.mode === 'reproduction-script' || own.functions.length === 0) return {};
  options.reporter.progress(`${request.model}: running new and changed tests`);
  const whole = isWhole(own);
  const isPreliminary = session.isExpecting();
  if (whole && !isPreliminary) {
    const run = await runSet(session, { patch, files: read.files }, options);
    tell(session, request, read, options, judge(session, run, read, options));
    return { whole: run };
  }
  const known = knownEvidence(session, own, options)?.base.records;
  const isQuick =
    known !== undefined && sides.every((side) => known[side].seconds <= quick) && !isPreliminary;
  if (isQuick) return {};
  try {
    const run = await runOwn(session, read, { ...options, isPreliminary });
    tell(session, request, read, options, judge(session, run, read, options));
    return { warm: isPreliminary ? run : undefined };
  } catch (error) {
    if (error instanceof Cancelled) throw error;
    const problem = messageOf(error);
    tell(session, request, read, options, { ...nothingSeen(own), problem });
  }
  return {};
}

/** Reports the results of a run of few tests that began with R loaded, which another one replaces. */
export function reportFirstResult(
  session: InstanceSession,
  request: CandidateRequest,
  read: ReadCandidate,
  run: SetRun,
  options: FirstOptions,
): void {
  tell(session, request, read, options, judge(session, run, read, options));
}

/** The tests that a preliminary run of a candidate has. */
export const ownSet = (
  { own, patch, files }: ReadCandidate,
  select: readonly string[] = own.functions,
): TestSet => ({
  patch,
  files: files.filter((path) => select.some((test) => fileOf(test) === path)),
  select,
});

function isWhole({ functions, all }: OwnTests): boolean {
  const own = new Set(functions);
  return all.every((test) => own.has(test));
}

type Judged = Omit<
  FirstResult,
  'preliminary' | 'instance' | 'model' | 'patch' | 'ownTests' | 'whole'
>;

function tell(
  session: InstanceSession,
  { model }: CandidateRequest,
  { own, patch }: ReadCandidate,
  options: FirstOptions,
  found: Judged,
): void {
  const header = { preliminary: true, instance: session.instance.id, model, patch } as const;
  try {
    options.onFirst({ ...header, ownTests: own.functions, whole: isWhole(own), ...found });
  } catch (error) {
    // A listener that throws does not change the grade.
    options.reporter.log(`the first verdict could not be shown: ${messageOf(error)}`);
  }
}

/** A test of a candidate whose outcomes differ between two runs; undefined where none do. */
export function differingTest(
  { records: one }: SetRun,
  { records: other }: SetRun,
  functions: readonly string[],
): string | undefined {
  if (one === undefined || other === undefined) return undefined;
  const own = new Set(functions);
  for (const side of sides) {
    const outcomes = new Map(other[side].trace.outcomes.map((each) => [each.test, each.outcome]));
    const found = one[side].trace.outcomes.find(
      ({ test, outcome }) => own.has(functionOf(test)) && outcomes.get(test) !== outcome,
    );
    if (found !== undefined) return found.test;
  }
  return undefined;
}

const nothingSeen = (own: OwnTests) => ({
  tests: [],
  notSeen: own.functions,
  strict: undefined,
  changeCoverage: undefined,
  runs: {},
});

/** Runs the candidate's own tests. If pytest does not find some of them, runs the others again. */
async function runOwn(
  session: InstanceSession,
  read: ReadCandidate,
  options: RunOptions,
): Promise<SetRun> {
  const { own } = read;
  const run = await runSet(session, ownSet(read), options);
  const unknown = notFoundIn(run, own.functions);
  const rest = own.functions.filter((test) => !unknown.has(test));
  // If one name is unknown to pytest, it runs none of the tests.
  return unknown.size > 0 && rest.length > 0 ? runSet(session, ownSet(read, rest), options) : run;
}

/** Tests that pytest says it does not find: `ERROR: not found: /tree/tests/test_a.py::test_x`. */
function notFoundIn({ records }: SetRun, tests: readonly string[]): ReadonlySet<string> {
  const found = new Set<string>();
  for (const side of records === undefined ? [] : sides) {
    for (const line of records?.[side].log.split('\n') ?? []) {
      const id = /^\W*(?:\[\d+m)*ERROR: not found: (.*?)\s*$/.exec(line)?.[1];
      const test = tests.find((each) => id === each || id?.endsWith(`/${each}`) === true);
      if (test !== undefined) found.add(test);
    }
  }
  return found;
}

function judge(
  session: InstanceSession,
  run: SetRun,
  { own }: ReadCandidate,
  options: RunOptions,
): Judged {
  const { records } = run;
  const unrunnable =
    records === undefined
      ? run.notes.join('; ') || 'no test runner is available for its tests'
      : whyNeitherRuns(records.base, records.fixed);
  if (records === undefined || unrunnable !== undefined) {
    return { ...nothingSeen(own), problem: unrunnable };
  }
  // The grade tells whether the environment or the candidate is at fault.
  const fault = sides.flatMap((side) => run.faults[side] ?? [])[0];
  if (fault !== undefined) {
    const problem = `no test can run in this environment (${fault.says.slice(0, 300)})`;
    return { ...nothingSeen(own), problem };
  }
  // A test that pytest does not find has not failed to be collected, although nothing ran.
  const unknown = notFoundIn(run, own.functions);
  const all = transitionsOf(
    run,
    own.functions.filter((test) => !unknown.has(test)),
  );
  // In files that R does not have, every test is the candidate's, also one that a loop creates.
  const known = own.filesOfR.length === 0 ? all.map((each) => functionOf(each.test)) : [];
  const functions = new Set([...own.functions, ...known]);
  const tests = all.filter((each) => functions.has(functionOf(each.test)));
  const seen = new Set(tests.map((each) => functionOf(each.test)));
  const notSeen = own.functions.filter((test) => !seen.has(test));
  const contradictions = contradictionsOfBoth(records, run.plan.runner);
  return {
    tests,
    notSeen,
    strict:
      tests.length === 0
        ? undefined
        : gradeStrict({
            candidate: tests,
            base: [],
            ownFunctions: functions,
            issue: session.instance.issue,
            ...stoppedBy(records),
            contradictions,
          }),
    problem: problemOf(run, tests, notSeen),
    changeCoverage:
      contradictions.length > 0 ? undefined : coverageOfOwn(session, run, own, functions, options),
    runs: {
      base: testRun(run.plan, records.base),
      fixed: testRun(run.plan, records.fixed),
    },
  };
}

function problemOf(
  { records }: SetRun,
  tests: readonly TestTransition[],
  notSeen: readonly string[],
): string | undefined {
  if (notSeen.length === 0) return undefined;
  if (tests.length > 0) return `not found when run on their own: ${notSeen.join(', ')}`;
  const ended = sides.flatMap((side) => {
    const record = records?.[side];
    return record === undefined || (record.ending === 'exited' && record.exitCode === 0)
      ? []
      : [endingOf(record)];
  });
  return ended[0] === undefined
    ? 'the runner found no tests with these names'
    : `none of the tests produced an outcome when run on their own (${ended[0]})`;
}

/** ΔC of the candidate's own tests, from golden and base runs that are already known. */
function coverageOfOwn(
  session: InstanceSession,
  run: SetRun,
  own: OwnTests,
  functions: ReadonlySet<string>,
  options: RunOptions,
): ChangeCoverage | undefined {
  const known = knownEvidence(session, own, options);
  if (known === undefined) return undefined;
  const { golden, base } = known;
  if (golden.hindrances.length > 0 || hindrancesOf(base, 'base').length > 0) return undefined;
  return coverageOf(session, run, base, golden, {
    own: functions,
    removed: new Set(own.removed),
  });
}
