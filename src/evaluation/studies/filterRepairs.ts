import type { Instance, Prediction } from '../../domain/instance';
import { functionOf, standing, type Side, type TestResult } from '../../domain/outcome';
import { Cancelled, HumanError, messageOf, throwIfAborted } from '../../domain/problem';
import type { Reporter } from '../../domain/reporter';
import type { InstanceRepairs, ProposedRepair, Standings } from '../../domain/study/filterRepairs';
import type { Engine, RunRecord } from '../../engine/engine';
import { applyPatch } from '../../patch/apply';
import { toUnified, type AskedFormat } from '../../patch/convert';
import { checkPatchPaths } from '../../patch/safety';
import { splitTestEdits } from '../../patch/testFiles';
import { parseUnified } from '../../patch/unified';
import { formatFilePatch, makeUnified } from '../../patch/write';
import type { PythonParser } from '../../python/parser';
import { GitError } from '../../repository/git';
import { sourceOf, type Sources } from '../../repository/source';
import { prepareTrees } from '../../repository/trees';
import { nameOf } from '../../domain/study/entry';
import { readCandidate, type OwnTests } from '../reading';
import { resultsOf, transitionsBetween, whyBrokenOff, whyNotRunnable } from '../results';
import type { RunStore } from '../runStore';
import { openSession, type InstanceSession, type RunOptions } from '../session';

export interface FilterRequest {
  readonly engine: Engine;
  readonly python: PythonParser;
  readonly store: RunStore;
  readonly sources: Sources;
  readonly storage: string;
  readonly timeoutSeconds: number;
  readonly format: AskedFormat;
  /** Ids resolved by the code patches as a report says; absent: the golden tests are run on each. */
  readonly resolved?: ReadonlySet<string> | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly reporter: Reporter;
}

/**
 * Runs the tests that a candidate adds or changes on R and on R with each code patch, for filtering the
 * patches with them (section 5.3 of the paper). Edits of tests in a code patch are left out. Runs are kept.
 *
 * @param repairs code patches for this instance
 * @throws Cancelled; anything else that fails is told of what it hinders
 */
export async function runRepairs(
  instance: Instance,
  tests: Prediction,
  repairs: readonly Prediction[],
  request: FilterRequest,
): Promise<InstanceRepairs> {
  const { reporter, signal } = request;
  let session: InstanceSession | undefined;
  try {
    session = await openFor(instance, request);
    const of = session;
    const read = await readCandidate(
      of,
      {
        model: tests.model,
        text: tests.patch,
        format: request.format,
        mode: 'unit-test',
        testsOnly: true,
      },
      signal,
    );
    if ('verdict' in read) {
      const { reason, explanation } = read.verdict;
      return unfiltered(instance, `${reason}: ${explanation}`, repairs);
    }
    reporter.progress(`${instance.id}: tests on R`);
    const record = await recordOn(of, 'base', read.patch, read.files, request);
    if (typeof record === 'string') return unfiltered(instance, record, repairs);
    const tested: Tested = { patch: read.patch, files: read.files, own: read.own, record };
    const own = new Set(read.own.functions);
    const base = standingsOf(
      resultsOf(record, read.own.all).filter(({ test }) => own.has(functionOf(test))),
    );

    const done: ProposedRepair[] = [];
    for (const repair of repairs) {
      throwIfAborted(signal);
      const name = nameOf({ model: repair.model, sample: repair.sample ?? 1 });
      reporter.progress(`${instance.id}: tests on R with the patch of ${name}`);
      done.push({ name, ...(await runRepair(of, repair, tested, request)) });
    }
    return { instance: instance.id, base, repairs: done };
  } catch (error) {
    if (error instanceof Cancelled || signal?.aborted === true) throw new Cancelled();
    const isKnown = error instanceof HumanError || error instanceof GitError;
    if (!isKnown && error instanceof Error) reporter.log(error.stack ?? error.message);
    return unfiltered(instance, messageOf(error), repairs);
  } finally {
    await session?.dispose().catch((error: unknown) => {
      reporter.log(`${instance.id}: its sandboxes were not removed: ${messageOf(error)}`);
    });
  }
}

const unfiltered = (
  instance: Instance,
  failure: string,
  repairs: readonly Prediction[],
): InstanceRepairs => ({
  instance: instance.id,
  failure,
  repairs: repairs.map(({ model, sample = 1 }) => ({ name: nameOf({ model, sample }) })),
});

/** The candidate's tests, and what they did on R. */
interface Tested {
  readonly patch: string;
  readonly files: readonly string[];
  readonly own: OwnTests;
  readonly record: RunRecord;
}

async function runRepair(
  session: InstanceSession,
  repair: Prediction,
  tests: Tested,
  request: FilterRequest,
): Promise<Omit<ProposedRepair, 'name'>> {
  const { instance } = session;
  const told =
    request.resolved === undefined ? {} : { resolved: request.resolved.has(instance.id) };
  const code = await codeOf(session, repair.patch, request);
  // A patch that does not apply repairs nothing.
  if (typeof code !== 'string') return { resolved: false, ...told, failure: code.failure };
  const together = await onTopOf(session, code, tests.patch);
  if (typeof together !== 'string') {
    return { ...told, failure: `with the tests: ${together.failure}` };
  }
  const record = await recordOn(session, 'base', together, tests.files, request);
  const resolved =
    request.resolved === undefined ? await isResolved(session, code, request) : told.resolved;
  const known = resolved === undefined ? {} : { resolved };
  if (typeof record === 'string') return { ...known, failure: record };
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
  { format }: FilterRequest,
): Promise<string | { readonly failure: string }> {
  if (text.trim() === '') return { failure: 'the patch is empty' };
  const { patch, diagnostics } = await toUnified(text, {
    format,
    tree: { read: (path) => session.readFileOfR(path) },
    python: session.python,
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

/** One diff on R that does what the first does and then the second. */
async function onTopOf(
  session: InstanceSession,
  first: string,
  second: string,
): Promise<string | { readonly failure: string }> {
  const contents = new Map<string, string | undefined>();
  const read = async (path: string): Promise<string | undefined> =>
    contents.has(path) ? contents.get(path) : session.readFileOfR(path);
  for (const patch of [first, second]) {
    const applied = await applyPatch(parseUnified(patch), read);
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

/** Whether everything that T* passes on R∘X* passes on R with the patch; undefined where nobody can say. */
async function isResolved(
  session: InstanceSession,
  code: string,
  request: FilterRequest,
): Promise<boolean | undefined> {
  const { goldenFiles } = session;
  const { goldenTests } = session.instance;
  const golden = await recordOn(session, 'fixed', goldenTests, goldenFiles, request);
  if (typeof golden === 'string') return undefined;
  const passing = ({ outcome }: TestResult): boolean => standing(outcome) === 'passes';
  const wanted = resultsOf(golden, []).filter(passing);
  if (wanted.length === 0) return undefined;
  const together = await onTopOf(session, code, goldenTests);
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

/** A run of some test files on one side with a patch that came to its end, or why there is none. */
async function recordOn(
  session: InstanceSession,
  side: Side,
  patch: string,
  files: readonly string[],
  { timeoutSeconds, signal, reporter }: FilterRequest,
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

async function openFor(instance: Instance, request: FilterRequest): Promise<InstanceSession> {
  const { signal, reporter, engine, python, store } = request;
  reporter.progress(`${instance.id}: preparing R and R∘X*`);
  const source = await sourceOf(instance, request.sources);
  const trees = await prepareTrees(instance, source, request.storage, { signal, reporter });
  return openSession({ instance, trees, engine, python, store });
}
