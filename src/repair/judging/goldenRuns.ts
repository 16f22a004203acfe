import { RetryingMemo } from '../../domain/work';
import {
  type EditedPlaces,
  type JudgedRepair,
  sweBenchPassed,
  type ExpectedTests,
  statusesInLog,
  sweBenchLog,
} from '../../study/resolution';
import type { StatusMap } from '../../domain/harness';
import type { TestResult } from '../../domain/outcome';
import type { RunRecord } from '../../engine/engine';
import { parseLog, sweBenchParserOf, unittest } from '../../engine/runners';
import { contradictionsOf, type BothSides, whyNotToTheEnd } from '../../evaluation/testRun';
import { goldenSetOf } from '../../evaluation/goldenTests';
import { ownTestsOf } from '../../evaluation/prepareCandidate';
import { transitionsBetween } from '../../evaluation/results';
import type { InstanceSession, SessionRun, TestSet } from '../../evaluation/session';
import { applyPatch } from '../../patch/applyPatch';
import { parseUnified } from '../../patch/parseUnified';
import type { JudgeSettings } from '../judgeRequest';
import { editedPlaces } from './editedPlaces';

/** What the golden tests and X* show, with which all code patches of an instance are compared. */
export interface GoldenRuns {
  /** T*. */
  readonly set: Pick<TestSet, 'patch' | 'files'>;
  readonly expected:
    | { readonly tests: ExpectedTests; readonly origin: NonNullable<JudgedRepair['lists']> }
    | string;
  /** The outcomes on both sides, or why they do not show what a right patch would do. */
  readonly outcomes: GoldenOutcomes | string;
  /** Test functions of the golden tests' files, with T*. */
  readonly functions: readonly string[];
  /** Every path that T* touches. */
  readonly paths: ReadonlySet<string>;
  readonly places: readonly EditedPlaces[];
}

/** What the golden tests do on both sides. */
interface GoldenOutcomes {
  readonly onBase: readonly TestResult[];
  readonly records: BothSides;
}

/**
 * Runs the golden tests on both sides, once for all code patches of an instance. Runs are kept.
 *
 * @returns a function that does so with the session that is open
 */
export function goldenRunsOnce(
  settings: JudgeSettings,
): (session: InstanceSession) => Promise<GoldenRuns> {
  const memo = new RetryingMemo((session: InstanceSession) => goldenRuns(session, settings));
  return (session) => memo.get(session);
}

async function goldenRuns(session: InstanceSession, settings: JudgeSettings): Promise<GoldenRuns> {
  const { instance, trees, python } = session;
  const read = (path: string): Promise<string | undefined> => session.readFileOfR(path);
  const { timeoutSeconds, signal, reporter } = settings;
  reporter.progress(`${instance.id}: golden tests`);
  const set = await goldenSetOf(session, signal);
  const run = await session.run(set, { timeoutSeconds, signal, reporter, reuse: true });
  const own = await ownTestsOf(session, set.patch, set.files, signal);
  const outcomes = goldenOutcomes(run, own.all);
  const tests = parseUnified(instance.goldenTests).files;
  const golden = parseUnified(trees.golden ?? instance.goldenPatch);
  const placed = await applyPatch(golden, read);
  return {
    set,
    expected: expectedOf(session, run, outcomes),
    outcomes,
    functions: own.all,
    paths: new Set(tests.flatMap(({ oldPath, newPath }) => [oldPath ?? [], newPath ?? []].flat())),
    places: await editedPlaces(placed.ok ? placed.placed : golden, read, python),
  };
}

/** The outcomes of the golden tests on both sides, or why they are not known. */
function goldenOutcomes(run: SessionRun, functions: readonly string[]): GoldenOutcomes | string {
  const { base, fixed } = run.records;
  const [notRun] = run.plan.notRun;
  if (base === undefined || fixed === undefined) {
    return `the golden tests cannot run here (${notRun?.reason ?? 'T* changes no Python test file'})`;
  }
  if (notRun !== undefined) return `the golden tests cannot all run here (${notRun.reason})`;
  // On R they may break off because of the issue itself.
  const why =
    whyNotToTheEnd(fixed) ?? run.faults.fixed?.says ?? contradictionsOf(fixed, run.plan.runner)[0];
  if (why !== undefined) return `the golden tests do not finish on R∘X* (${why})`;
  const onBase = transitionsBetween(base, fixed, functions).map((pair) => pair.base);
  return { onBase, records: { base, fixed } };
}

/** The lists of the row, or else those that the golden runs show. */
function expectedOf(
  session: InstanceSession,
  { plan, changedNames }: SessionRun,
  outcomes: GoldenOutcomes | string,
): GoldenRuns['expected'] {
  const { failToPass, passToPass } = session.instance;
  if (failToPass !== undefined) {
    const tests = { FAIL_TO_PASS: failToPass, PASS_TO_PASS: passToPass ?? [] };
    return { tests, origin: 'dataset' };
  }
  if (typeof outcomes === 'string') return `the row lists no tests, and ${outcomes}`;
  const statuses = (record: RunRecord): StatusMap => {
    const { parse, recorded } = sweBenchParsing(session, record, plan.runner, changedNames);
    // One name for each test: a log of unittest has others than the ids.
    if (recorded !== undefined && recorded.size > 0) return recorded;
    return statusesInLog(sweBenchLogOf(record), parse) ?? new Map<string, string>();
  };
  const before = statuses(outcomes.records.base);
  const after = statuses(outcomes.records.fixed);
  const passing = [...after.keys()].filter((test) => sweBenchPassed(test, after));
  return {
    tests: {
      FAIL_TO_PASS: passing.filter((test) => !sweBenchPassed(test, before)),
      PASS_TO_PASS: passing.filter((test) => sweBenchPassed(test, before)),
    },
    origin: 'golden runs',
  };
}

/** The text of a run as SWE-bench grades it. A killed process has no exit status of its own. */
export const sweBenchLogOf = ({ log, exitCode = 137 }: RunRecord): string =>
  sweBenchLog(log, exitCode);

const words: Readonly<Record<TestResult['outcome'], string | undefined>> = {
  passed: 'PASSED',
  failed: 'FAILED',
  error: 'ERROR',
  skipped: 'SKIPPED',
  xfailed: 'XFAIL',
  xpassed: 'PASSED',
  missing: undefined,
};

/** Statuses by other names: by those of the ids, which parsers cut off at a blank. */
function renamedStatuses(statuses: StatusMap, names: ReadonlyMap<string, string>): StatusMap {
  const all = new Map(names);
  for (const [id, name] of names) all.set(id.split(' ')[0] ?? '', name.split(' ')[0] ?? '');
  return new Map([...statuses].map(([test, status]) => [all.get(test) ?? test, status]));
}

/** How the statuses of a run are read. */
interface SweBenchParsing {
  readonly parse: (output: string) => StatusMap;
  /** The outcomes that were recorded, where SWE-bench could not read the log. */
  readonly recorded?: StatusMap;
  /** Says so; set together with `recorded`. */
  readonly note?: string;
}

/**
 * The log parser of SWE-bench. It has none for some repositories, and reads pytest's log where this
 * machine has only unittest: there the recorded outcomes count too, under their ids.
 *
 * @param names those of tests whose ids change between runs, by id
 */
export function sweBenchParsing(
  { instance }: Pick<InstanceSession, 'instance'>,
  record: Pick<RunRecord, 'trace'>,
  runner: SessionRun['plan']['runner'],
  names: ReadonlyMap<string, string> = new Map(),
): SweBenchParsing {
  const parser = sweBenchParserOf(instance);
  if (parser !== undefined && runner !== unittest.name) {
    return { parse: (output) => renamedStatuses(parser(output), names) };
  }
  const recorded: StatusMap = new Map(
    record.trace.outcomes.flatMap(({ test, outcome }) => {
      const word = words[outcome];
      return word === undefined ? [] : [[names.get(test) ?? test, word] as const];
    }),
  );
  const inLog = parser ?? ((output: string) => parseLog(output, instance.repo));
  return {
    parse: (output) => new Map([...renamedStatuses(inLog(output), names), ...recorded]),
    recorded,
    note:
      parser === undefined
        ? `SWE-bench has no log parser for ${instance.repo}; recorded outcomes count under their test IDs`
        : `the tests ran with unittest, whose log uses different names; recorded outcomes count under their test IDs`,
  };
}
