import type { Prediction } from '../domain/instance';
import { standing, type TestResult } from '../domain/outcome';
import { functionOf } from '../domain/testId';
import type { Reporter } from '../domain/work';
import type { Standings, TestedRepair } from '../study/resolution';
import type { RunRecord } from '../engine/engine';
import {
  prepareCandidate,
  type OwnTests,
  isResolved,
  readCodePatch,
  recordOfSide,
  stackPatches,
} from '../evaluation/prepareCandidate';
import { resultsOf, transitionsBetween } from '../evaluation/results';
import type { InstanceSession } from '../evaluation/session';

/** Settings for running the tests of a candidate on code patches. */
export interface RepairSettings {
  readonly timeoutSeconds: number;
  readonly format: string;
  /**
   * Ids that the code patches resolved, from a report. Without it the golden tests run on each
   * patch.
   */
  readonly resolved?: ReadonlySet<string> | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly reporter: Reporter;
}

/** The candidate's tests, and what they did on R. */
interface Tested {
  readonly patch: string;
  readonly files: readonly string[];
  readonly own: OwnTests;
  readonly record: RunRecord;
  readonly base: Standings;
}

/** The result of the tests of a candidate on R, or the reason why they did not run. */
export type TestsOnR = Tested | { readonly failure: string };

/** The findings on one code patch. */
type RepairFindings = Omit<TestedRepair, 'instance' | 'name' | 'hindrance'>;

/**
 * Runs on R the tests that a candidate adds or changes. Runs are kept.
 *
 * @throws Cancelled; what the engine throws
 */
export async function testsOnR(
  session: InstanceSession,
  tests: Prediction,
  settings: RepairSettings,
): Promise<TestsOnR> {
  const read = await prepareCandidate(
    session,
    {
      model: tests.model,
      text: tests.patch,
      format: settings.format,
      mode: 'unit-test',
      testsOnly: true,
    },
    settings.signal,
  );
  if ('verdict' in read) {
    const { reason, explanation } = read.verdict;
    return { failure: `${reason}: ${explanation}` };
  }
  settings.reporter.progress(`${session.instance.id}: tests on R`);
  const record = await recordOfSide(session, 'base', read.patch, read.files, settings);
  if (typeof record === 'string') return { failure: record };
  const functions = new Set(read.own.functions);
  const base = standingsOf(
    resultsOf(record, read.own.all).filter(({ test }) => functions.has(functionOf(test))),
  );
  return { patch: read.patch, files: read.files, own: read.own, record, base };
}

/**
 * Runs the same tests on R with a code patch, and determines whether the patch resolves the issue.
 * Edits of tests in the code patch are left out. Runs are kept.
 *
 * @throws Cancelled; what the engine throws
 */
export async function testRepair(
  session: InstanceSession,
  repair: Prediction,
  tests: TestsOnR,
  settings: RepairSettings,
): Promise<RepairFindings> {
  const { id } = session.instance;
  const told = settings.resolved === undefined ? {} : { resolved: settings.resolved.has(id) };
  if ('failure' in tests) return { ...told, failure: tests.failure };
  const code = await readCodePatch(session, repair.patch, settings);
  // A patch that does not apply repairs nothing.
  if (typeof code !== 'string') {
    return { resolved: false, ...told, base: tests.base, failure: code.failure };
  }
  settings.reporter.progress(`${id}: tests on R with the patch of ${repair.model}`);
  const found = await testsOnRepair(session, code, tests, settings);
  const resolved =
    settings.resolved === undefined ? await isResolved(session, code, settings) : told.resolved;
  return { ...(resolved === undefined ? {} : { resolved }), ...found };
}

/**
 * Runs the tests of a candidate on R with a code patch. Runs are kept. Nothing of X* or T* takes
 * part.
 *
 * @param code unified diff on R without edits of tests, as `readCodePatch` gives it
 * @throws Cancelled; what the engine throws
 */
export async function testsOnRepair(
  session: InstanceSession,
  code: string,
  tests: Tested,
  settings: Omit<RepairSettings, 'resolved' | 'format'>,
): Promise<Pick<RepairFindings, 'base' | 'standings' | 'failure'>> {
  const { base } = tests;
  const together = await stackPatches(session, code, tests.patch, settings);
  if (typeof together !== 'string') return { base, failure: `with the tests: ${together.failure}` };
  const record = await recordOfSide(session, 'base', together, tests.files, settings);
  if (typeof record === 'string') return { base, failure: record };
  const own = new Set(tests.own.functions);
  const pairs = transitionsBetween(tests.record, record, tests.own.all).filter(({ test }) =>
    own.has(functionOf(test)),
  );
  return {
    standings: standingsOf(pairs.map((pair) => pair.fixed)),
    base: standingsOf(pairs.map((pair) => pair.base)),
  };
}

const standingsOf = (results: readonly TestResult[]): Standings =>
  Object.fromEntries(
    results
      .filter(({ outcome }) => outcome !== 'missing')
      .map(({ test, outcome }) => [test, standing(outcome)]),
  );
