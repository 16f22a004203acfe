import type { Prediction } from '../domain/instance';
import { functionOf, standing, type Side, type TestResult } from '../domain/outcome';
import type { Reporter } from '../domain/reporter';
import { turnsOf } from '../domain/turns';
import type { Standings, TestedRepair } from '../domain/study/filterRepairs';
import type { RunRecord } from '../engine/engine';
import { applyPatch } from '../patch/unified/applyPatch';
import { toUnified, type AskedFormat } from '../patch/toUnified';
import { checkPatchPaths } from '../patch/unsafePath';
import { splitTestEdits } from '../patch/testFiles';
import { parseUnified } from '../patch/unified/parseUnified';
import { formatFilePatch, makeUnified } from '../patch/unified/makeUnified';
import { GitError } from '../repository/git/git';
import { prepareCandidate, type OwnTests } from '../evaluation/prepareCandidate';
import { resultsOf, transitionsBetween, whyBrokenOff, whyNotRunnable } from '../evaluation/results';
import type { InstanceSession, RunOptions } from '../evaluation/session';

/** Settings for running the tests of a candidate on code patches. */
export interface RepairSettings {
  readonly timeoutSeconds: number;
  readonly format: AskedFormat;
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
  const record = await recordOn(session, 'base', read.patch, read.files, settings);
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
  const onR = { base: tests.base };
  const code = await codeOf(session, repair.patch, settings);
  // A patch that does not apply repairs nothing.
  if (typeof code !== 'string') {
    return { resolved: false, ...told, ...onR, failure: code.failure };
  }
  const together = await onTopOf(session, code, tests.patch, settings);
  if (typeof together !== 'string') {
    return { ...told, ...onR, failure: `with the tests: ${together.failure}` };
  }
  settings.reporter.progress(`${id}: tests on R with the patch of ${repair.model}`);
  const record = await recordOn(session, 'base', together, tests.files, settings);
  const resolved =
    settings.resolved === undefined ? await isResolved(session, code, settings) : told.resolved;
  const known = resolved === undefined ? {} : { resolved };
  if (typeof record === 'string') return { ...known, ...onR, failure: record };
  const own = new Set(tests.own.functions);
  const pairs = transitionsBetween(tests.record, record, tests.own.all).filter(({ test }) =>
    own.has(functionOf(test)),
  );
  return {
    ...known,
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

/** The code patch as a unified diff on R, without edits of tests. */
async function codeOf(
  session: InstanceSession,
  text: string,
  { format, signal }: RepairSettings,
): Promise<string | { readonly failure: string }> {
  if (text.trim() === '') return { failure: 'the patch is empty' };
  const { patch, diagnostics } = await toUnified(text, {
    format,
    tree: { read: (path) => session.readFileOfR(path) },
    python: session.python,
    signal,
  });
  const error = diagnostics.find((each) => each.severity === 'error');
  if (error !== undefined) return { failure: error.message };
  const parsed = parseUnified(patch);
  const unsafe = checkPatchPaths(parsed)[0];
  if (unsafe !== undefined) return { failure: unsafe.message };
  const { others } = splitTestEdits(parsed);
  if (others.length === 0) return { failure: 'the patch edits nothing but tests' };
  return others.map(formatFilePatch).join('');
}

/** One diff on R with the effect of the first and then the second. */
async function onTopOf(
  session: InstanceSession,
  first: string,
  second: string,
  { signal }: RepairSettings,
): Promise<string | { readonly failure: string }> {
  const turns = turnsOf(signal);
  const contents = new Map<string, string | undefined>();
  const read = async (path: string): Promise<string | undefined> =>
    contents.has(path) ? contents.get(path) : session.readFileOfR(path);
  for (const patch of [first, second]) {
    const applied = await applyPatch(parseUnified(patch), read, turns);
    if (!applied.ok) return { failure: applied.problems[0]?.message ?? 'it does not apply' };
    for (const [path, content] of applied.files) contents.set(path, content);
  }
  const edits = [...contents].map(async ([path, after]) => ({
    path,
    before: await session.readFileOfR(path),
    after,
  }));
  return makeUnified(await Promise.all(edits));
}

/**
 * Whether everything that T* passes on R∘X* passes on R with the patch; undefined where that is
 * unknown.
 */
async function isResolved(
  session: InstanceSession,
  code: string,
  request: RepairSettings,
): Promise<boolean | undefined> {
  const { goldenFiles } = session;
  const { goldenTests } = session.instance;
  const golden = await recordOn(session, 'fixed', goldenTests, goldenFiles, request);
  if (typeof golden === 'string') return undefined;
  const passing = ({ outcome }: TestResult): boolean => standing(outcome) === 'passes';
  const wanted = resultsOf(golden, []).filter(passing);
  if (wanted.length === 0) return undefined;
  const together = await onTopOf(session, code, goldenTests, request);
  if (typeof together !== 'string') return undefined;
  const record = await recordOn(session, 'base', together, goldenFiles, request);
  if (typeof record === 'string') return false;
  const found = new Set(
    resultsOf(record, [])
      .filter(passing)
      .map(({ test }) => test),
  );
  return wanted.every(({ test }) => found.has(test));
}

/** A run of some test files on one side with a patch that came to its end, or why it did not. */
async function recordOn(
  session: InstanceSession,
  side: Side,
  patch: string,
  files: readonly string[],
  { timeoutSeconds, signal, reporter }: RepairSettings,
): Promise<RunRecord | string> {
  const options: RunOptions = { timeoutSeconds, signal, reporter, reuse: true, sides: [side] };
  try {
    const run = await session.run({ patch, files }, options);
    const record = run.records[side];
    if (record === undefined) {
      return run.plan.notRun.map(({ path, reason }) => `${path}: ${reason}`).join('; ');
    }
    return whyNotRunnable(record) ?? whyBrokenOff(record) ?? record;
  } catch (error) {
    if (error instanceof GitError) return error.message;
    throw error;
  }
}
