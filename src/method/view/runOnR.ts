import { type TestResult } from '../../domain/outcome';
import { fileOf, functionOf } from '../../domain/testId';
import { HumanError, messageOf, type Reporter, turnsOf } from '../../domain/work';
import { prepareCandidate, type OwnTests, stackPatches } from '../../evaluation/prepareCandidate';
import { resultsOf, whyIncomplete, whyNotRunnable } from '../../evaluation/results';
import { contentsWith, type InstanceSession, type TestSet } from '../../evaluation/session';
import type { Diagnostic } from '../../patch/diagnostic';
import { unsafePath } from '../../patch/unsafePath';
import { GitError } from '../../repository/git';
import { pathsOutsideTests } from '../../patch/testFiles';
import { makeUnified } from '../../patch/makeUnified';
import { parseUnified } from '../../patch/parseUnified';
import { findTests } from '../../python/tests';
import { syntaxErrorsOf, type SyntaxErrorOfCandidate } from '../steps/syntaxErrorsOf';
import { neutralLog, neutralResult, neutralText } from '../prompt/neutralText';
import { TestsCannotRun } from '../testsOfModels';

export interface RunOnROptions {
  /** The format of the candidate; detected by default. */
  readonly format?: string | undefined;
  /** Leave out edits outside test files. */
  readonly testsOnly?: boolean;
  /** Files, or ids of tests, to run instead of the candidate's own: `tests/test_a.py::A::test_x`. */
  readonly tests?: readonly string[];
  /**
   * A code patch, as a unified diff on R, that the tests run with. Which tests these are does not
   * depend on it.
   */
  readonly fix?: string;
  /** Run the whole files that the candidate touches. */
  readonly whole?: boolean;
  readonly timeoutSeconds: number;
  /** Whether a kept run of the same request may be used instead of running; true by default. */
  readonly reuse?: boolean;
  readonly signal?: AbortSignal | undefined;
  readonly reporter: Reporter;
}

/** A candidate on R, before anything runs. */
export interface ReadOnR {
  /** W: whether it is a patch and applies to R. */
  readonly applies: boolean;
  /** Why it does not apply, or cannot be run; undefined when it can. */
  readonly problem: string | undefined;
  /** The unified diff that `git apply` takes on R; empty when it does not apply. */
  readonly patch: string;
  readonly diagnostics: readonly Diagnostic[];
  /** Test files that it adds or changes. */
  readonly files: readonly string[];
  /** Ids of test functions that it adds or changes, without parameters. */
  readonly ownTests: readonly string[];
  /** Ids of test functions of R that it removes, without those that it renames or moves. */
  readonly removedTests: readonly string[];
  /** Ids of test functions of R whose code it takes away. */
  readonly emptiedTests: readonly string[];
  /** Later id by earlier id, of test functions of R that it only renames or moves. */
  readonly movedTests: ReadonlyMap<string, string>;
  /** Files that it changes outside tests. */
  readonly otherFiles: readonly string[];
  /** Where its Python files are not Python. */
  readonly syntaxErrors: readonly SyntaxErrorOfCandidate[];
}

/**
 * What tests did on R. Its texts are the same in equal runs. Paths are relative to the tree, other
 * places and times are removed, and outcomes have the order of their ids.
 */
export interface RunOnR extends ReadOnR {
  /** Outcomes of the candidate's own tests, or of the requested ones. */
  readonly tests: readonly TestResult[];
  /** Outcomes of the other tests in the files that ran. */
  readonly others: readonly TestResult[];
  /** Bounded output of the runner; empty when nothing ran. */
  readonly log: string;
  /** For records of the run; no text for a model contains it. */
  readonly seconds: number;
}

/**
 * Converts a candidate for R and finds its tests, as grading does. An empty candidate applies and
 * has no tests.
 */
export async function readOnR(
  session: InstanceSession,
  candidate: string,
  options: Pick<RunOnROptions, 'format' | 'testsOnly' | 'signal'>,
): Promise<ReadOnR> {
  return (await readWith(session, candidate, options)).read;
}

interface Read {
  readonly read: ReadOnR;
  readonly own: OwnTests | undefined;
}

async function readWith(
  session: InstanceSession,
  candidate: string,
  {
    format = 'auto',
    testsOnly = false,
    signal,
  }: Pick<RunOnROptions, 'format' | 'testsOnly' | 'signal'>,
): Promise<Read> {
  const nothing = {
    files: [],
    ownTests: [],
    removedTests: [],
    emptiedTests: [],
    movedTests: new Map<string, string>(),
    otherFiles: [],
    syntaxErrors: [],
  };
  if (candidate.trim() === '') {
    const problem = 'the candidate is empty';
    const read = { ...nothing, applies: true, problem, patch: '', diagnostics: [] };
    return { read, own: undefined };
  }
  const request = {
    model: 'candidate',
    text: candidate,
    format,
    testsOnly,
    mode: 'unit-test',
  } as const;
  const found = await prepareCandidate(session, request, signal);
  const { diagnostics, patch } = found;
  const otherFiles = pathsOutsideTests(parseUnified(patch));
  if ('verdict' in found) {
    const { wellFormed: applies, explanation } = found.verdict;
    const problem = neutralText(explanation, { folders: [session.trees.base] });
    return {
      read: { ...nothing, applies, problem, patch, diagnostics, otherFiles },
      own: undefined,
    };
  }
  const { files, own } = found;
  const turns = turnsOf(signal);
  const after = await contentsWith(patch, (path) => session.readFileOfR(path), turns);
  const read: ReadOnR = {
    applies: true,
    problem: undefined,
    patch,
    diagnostics,
    files,
    ownTests: own.functions,
    removedTests: own.lost.removed,
    emptiedTests: own.lost.emptied,
    movedTests: own.moved,
    otherFiles,
    syntaxErrors: await syntaxErrorsOf(after, session, turns),
  };
  return { read, own };
}

/**
 * Runs tests with a candidate on R alone.
 *
 * @throws HumanError when a requested test does not exist, Cancelled
 */
export async function runOnR(
  session: InstanceSession,
  candidate: string,
  options: RunOnROptions,
): Promise<RunOnR> {
  const { read, own } = await readWith(session, candidate, options);
  const nothing: RunOnR = { ...read, tests: [], others: [], log: '', seconds: 0 };
  if (!read.applies) return nothing;
  const stacked = await withFix(session, read.patch, options);
  if (typeof stacked !== 'string') return { ...nothing, problem: stacked.failure };
  if (options.tests !== undefined) {
    const all = await testsAskedFor(session, options.tests, stacked, options.signal);
    const select = options.tests.every((test) => test.includes('::')) ? options.tests : undefined;
    const files = [...new Set(options.tests.map(fileOf))];
    const run = await runFiles(session, { patch: stacked, files, select }, all, options);
    const wanted = new Set(options.tests);
    return sorted({ ...read, problem: undefined }, run, ({ test }) =>
      [test, functionOf(test), fileOf(test)].some((name) => wanted.has(name)),
    );
  }
  if (own === undefined) return nothing;
  const functions = new Set(own.functions);
  // In files that R does not have every test is the candidate's, also one that a loop creates.
  const isOwn = ({ test }: TestResult): boolean =>
    functions.has(functionOf(test)) || own.filesOfR.length === 0;
  const set = { patch: stacked, files: read.files, select: undefined };
  const inPart = functions.size > 0 && functions.size < own.all.length && options.whole !== true;
  if (inPart) {
    const files = read.files.filter((path) => own.functions.some((test) => fileOf(test) === path));
    const part = { patch: stacked, files, select: own.functions };
    const run = await runFiles(session, part, own.functions, options);
    // A runner that does not know one test by its name runs none.
    if (run.results.some(isOwn)) return sorted(read, run, isOwn);
  }
  return sorted(read, await runFiles(session, set, own.all, options), isOwn);
}

/** The patch of a candidate together with the code patch that it runs with, or why there is none. */
const withFix = async (
  session: InstanceSession,
  patch: string,
  { fix, signal }: Pick<RunOnROptions, 'fix' | 'signal'>,
): Promise<string | { readonly failure: string }> =>
  fix === undefined ? patch : stackPatches(session, fix, patch, { signal });

/** A script that ran on R on its own. */
export interface ScriptRun {
  /** Undefined where the script did not end on its own, or did not run. */
  readonly exitCode: number | undefined;
  /** Bounded output of both streams. */
  readonly output: string;
  /** Why it did not run, or did not come to its end. */
  readonly problem: string | undefined;
  readonly seconds: number;
}

/** Where a script runs: in the root of R, so that it finds the packages there. */
const scriptPaths = ['reproduce_issue.py', 'reproduce_issue_1.py'];

/**
 * Runs a script on R, as the reproduction-script mode does, optionally with a code patch.
 *
 * @param patch unified diff on R; empty for R itself
 * @throws TestsCannotRun when nothing can be run, Cancelled
 */
export async function runScriptOnR(
  session: InstanceSession,
  script: string,
  patch: string,
  { timeoutSeconds, reuse = true, signal, reporter }: RunOnROptions,
): Promise<ScriptRun> {
  const nothing = { exitCode: undefined, output: '', seconds: 0 };
  const taken = await Promise.all(scriptPaths.map((path) => session.readFileOfR(path)));
  const path = scriptPaths.find((_, at) => taken[at] === undefined);
  if (path === undefined)
    return { ...nothing, problem: "R already has files with the script's names" };
  const added = makeUnified([{ path, before: undefined, after: script }]);
  const together = await stackPatches(session, patch, added, { signal });
  if (typeof together !== 'string') return { ...nothing, problem: together.failure };
  const { records } = await session
    .run(
      { patch: together, files: [path], script: true },
      { timeoutSeconds, signal, reporter, reuse, sides: ['base'] },
    )
    .catch(cannotRun);
  const record = records.base;
  if (record === undefined) return { ...nothing, problem: 'no runner for scripts is available' };
  const isEnded = record.ending === 'exited' && record.killedBy === undefined;
  const problem = isEnded ? undefined : (whyIncomplete(record) ?? record.ending);
  return {
    exitCode: isEnded ? record.exitCode : undefined,
    output: neutralLog(record.log, record),
    problem: problem === undefined ? undefined : neutralLog(problem, record),
    seconds: record.seconds,
  };
}

/** @throws TestsCannotRun in place of what the engine and git say to the user */
function cannotRun(error: unknown): never {
  if (error instanceof HumanError || error instanceof GitError) {
    throw new TestsCannotRun(messageOf(error));
  }
  throw error;
}

/** The problem of a run that came to its end without any test. */
export const noTestFound = 'the runner found none of the tests';
/** Why nothing ran, where no runner of the environment takes the files. */
export const noRunnerFound = 'no test runner is available for these tests';

interface Ran {
  readonly results: readonly TestResult[];
  readonly problem: string | undefined;
  readonly log: string;
  readonly seconds: number;
}

async function runFiles(
  session: InstanceSession,
  {
    patch,
    files,
    select,
  }: Pick<TestSet, 'patch' | 'files'> & { select: readonly string[] | undefined },
  expected: readonly string[],
  { timeoutSeconds, reuse = true, signal, reporter }: RunOnROptions,
): Promise<Ran> {
  const set: TestSet = { patch, files, ...(select !== undefined && { select }) };
  const { plan, records } = await session
    .run(set, { timeoutSeconds, signal, reporter, reuse, sides: ['base'] })
    .catch(cannotRun);
  const notRun = plan.notRun.map(({ path, reason }) => `${path}: ${reason}`).join('; ');
  const record = records.base;
  if (record === undefined) {
    return {
      results: [],
      problem: notRun || noRunnerFound,
      log: '',
      seconds: 0,
    };
  }
  const unrunnable = whyNotRunnable(record);
  const inPlan = expected.filter((test) => plan.files.includes(fileOf(test)));
  const results = unrunnable === undefined ? resultsOf(record, inPlan) : [];
  const problem =
    unrunnable ??
    whyIncomplete(record) ??
    (results.length === 0 ? noTestFound : notRun || undefined);
  return {
    results: results.map((each) => neutralResult(each, record)).sort(byTest),
    problem: problem === undefined ? undefined : neutralLog(problem, record),
    log: neutralLog(record.log, record),
    seconds: record.seconds,
  };
}

/** Compares by id, since outcomes from several processes come in no reliable order. */
const byTest = (one: TestResult, other: TestResult): number =>
  one.test < other.test ? -1 : one.test > other.test ? 1 : 0;

const sorted = (read: ReadOnR, run: Ran, isWanted: (result: TestResult) => boolean): RunOnR => ({
  ...read,
  problem: run.problem ?? read.problem,
  tests: run.results.filter(isWanted),
  others: run.results.filter((result) => !isWanted(result)),
  log: run.log,
  seconds: run.seconds,
});

/** Ids of all tests in the requested files, with the patch applied. */
async function testsAskedFor(
  session: InstanceSession,
  asked: readonly string[],
  patch: string,
  signal: AbortSignal | undefined,
): Promise<string[]> {
  const turns = turnsOf(signal);
  const after = await contentsWith(patch, (path) => session.readFileOfR(path), turns);
  const found: string[] = [];
  for (const path of new Set(asked.map(fileOf))) {
    const refuse = (why: string, next: string): HumanError =>
      new HumanError(`${JSON.stringify(path)} cannot be run: ${why}`, next);
    const unsafe = unsafePath(path);
    if (unsafe !== undefined) throw refuse(unsafe, "Use the test file's path in the repository");
    if (!path.endsWith('.py')) {
      throw refuse(
        'it is not a Python file',
        'Use test files, or tests in the form path::Class::test',
      );
    }
    const source = after.has(path) ? after.get(path) : await session.readFileOfR(path);
    if (source === undefined) {
      throw refuse('the repository has no such file', 'List the files first');
    }
    const tests = findTests(session.python, source, { path }).map((test) => test.id);
    found.push(...tests);
    await turns.pause();
  }
  for (const test of asked) {
    if (!test.includes('::') || found.includes(functionOf(test))) continue;
    const isInherited = found.length === 0;
    if (isInherited) continue;
    const near = found.filter((each) => each.endsWith(`::${functionOf(test).split('::').at(-1)}`));
    throw new HumanError(
      `${JSON.stringify(test)} is not a test in ${fileOf(test)}`,
      `Use one of ${(near.length > 0 ? near : found).slice(0, 20).join(', ')}`,
    );
  }
  return found;
}
