/** R, or R∘X* (the repository with the golden patch). */
export const sides = ['base', 'fixed'] as const;
export type Side = (typeof sides)[number];

/** The name of a side wherever a person reads it. */
export const sideName: Readonly<Record<Side, string>> = { base: 'R', fixed: 'R∘X*' };

/**
 * The outcome of one test in one run. `missing` means that the run has no trace of the test. A test
 * whose file could not be imported is `error`, not `missing`.
 */
export const outcomes = [
  'passed',
  'failed',
  'error',
  'skipped',
  'xfailed',
  'xpassed',
  'missing',
] as const;
export type Outcome = (typeof outcomes)[number];

/**
 * How an outcome is read by strict grading and by everything that compares runs: transitions,
 * validation, filters of repairs and the tools of models. Only harness grading reads statuses of
 * its own.
 *
 * - Failing: failed, errored, or could not be collected.
 * - Passing: passed, also against an expectation to fail.
 * - Neither: skipped, missing, or failed as expected.
 */
export const standings = ['passes', 'fails', 'neither'] as const;
export type Standing = (typeof standings)[number];

export function standing(outcome: Outcome): Standing {
  return standingOfOutcome[outcome];
}

const standingOfOutcome: Readonly<Record<Outcome, Standing>> = {
  passed: 'passes',
  failed: 'fails',
  error: 'fails',
  skipped: 'neither',
  xfailed: 'neither',
  xpassed: 'passes',
  missing: 'neither',
};

/** A place in the tested repository: path relative to its root, 1-based line, enclosing function. */
export interface StackFrame {
  readonly path: string;
  readonly line: number;
  readonly function: string;
}

/** The two values of a comparison that failed, as text; both come from tested code. */
export interface FailedComparison {
  readonly expected: string;
  readonly actual: string;
}

/** The phase in which a test got its outcome. */
export const phases = ['setup', 'call', 'teardown', 'collect'] as const;
type Phase = (typeof phases)[number];

/**
 * One test in one run, with details of its failure. All texts are untrusted, since tested code
 * writes them.
 */
export interface TestResult {
  /** `path::Class::test[param]`, relative to the tree. */
  readonly test: string;
  readonly outcome: Outcome;
  readonly seconds?: number;
  readonly phase?: Phase;
  /** Class name of the exception, such as `AssertionError`. */
  readonly exception?: string;
  /** First lines of the failure. */
  readonly message?: string;
  /** The failure as the runner shows it. */
  readonly details?: string;
  /** Frames inside the tree, innermost last. */
  readonly frames?: readonly StackFrame[];
  /** The values that a failed assertion compares, if the runner reports them. */
  readonly comparison?: FailedComparison;
}

/** Whether the test failed, so that a message may exist. */
export function isFailure({ outcome }: Pick<TestResult, 'outcome'>): boolean {
  return standing(outcome) === 'fails';
}

/**
 * Removes the parameters: `tests/test_a.py::A::test_x[1-2]` becomes `tests/test_a.py::A::test_x`.
 */
export function functionOf(test: string): string {
  const names = test.indexOf('::');
  const bracket = names < 0 ? -1 : test.indexOf('[', names);
  return bracket < 0 ? test : test.slice(0, bracket);
}

/**
 * The file of a test: `tests/test_a.py::A::test_x` becomes `tests/test_a.py`. A path alone stays as
 * it is.
 */
export function fileOf(test: string): string {
  const names = test.indexOf('::');
  return names < 0 ? test : test.slice(0, names);
}

/**
 * Whether an id stands for the set-up and tear-down of a class or a file, which run once for
 * several tests. The tracer writes such ids as `path::Class::` and `path::`, with nothing after the
 * last colons.
 */
export function isScope(id: string): boolean {
  return id.endsWith('::');
}

/** Where a test file is not Python, so that none of its tests can run. */
export interface SyntaxErrorOfFile {
  readonly path: string;
  /** 1-based. */
  readonly line: number;
  /** What Python says, without the name of the exception. */
  readonly problem: string;
}

/** The syntax error of its own file that prevented a test; undefined for any other result. */
export function syntaxErrorOf({
  test,
  exception,
  message = '',
}: TestResult): SyntaxErrorOfFile | undefined {
  const path = fileOf(test);
  if (!/(^|\.)(Syntax|Indentation|Tab)Error$/.test(exception ?? '')) return undefined;
  // As runners print it with its code, and as the exception says it of a file by its name.
  const [, file = '', line = ''] =
    /^(?:E )?\s*File "([^"\n]+)", line (\d+)\s*$/m.exec(message) ??
    / \(([^()]+), line (\d+)\)$/.exec(message) ??
    [];
  if (file === '' || !(`/${file}`.endsWith(`/${path}`) || `/${path}`.endsWith(`/${file}`))) {
    return undefined;
  }
  const [, problem = message] = /^(?:E )?\s*\w*Error: (.+)$/m.exec(message) ?? [];
  return { path, line: Number(line), problem: problem.replace(/ \([^()]*, line \d+\)$/, '') };
}

/** Causes of a failure that seldom have to do with the issue. */
export type UnrelatedReason = 'import error' | 'syntax error' | 'fixture error' | 'undefined name';

/**
 * Whether a failure suggests that the test itself is broken, rather than the code under test. Signs
 * are an import, syntax or fixture error, or an undefined name, raised in the test itself. This is
 * a hint for a person and never part of a grade. A test of a function that only the fix adds
 * rightly fails on R with an import error.
 */
export function unrelatedReason(result: TestResult): UnrelatedReason | undefined {
  if (standing(result.outcome) !== 'fails') return undefined;
  const name = result.exception?.split('.').at(-1) ?? '';
  const text = result.message ?? '';
  const collecting = result.phase === 'collect';
  const raisedInTest =
    collecting ||
    result.frames === undefined ||
    result.frames.length === 0 ||
    result.frames.at(-1)?.path === fileOf(result.test);
  const syntax = /^(SyntaxError|IndentationError|TabError)$/;
  // Code under test may raise these as well, such as a parser or code that evaluates text.
  if (raisedInTest && syntax.test(name)) return 'syntax error';
  if (collecting && /\b(SyntaxError|IndentationError|TabError):/.test(text)) return 'syntax error';
  if (raisedInTest && /^(ImportError|ModuleNotFoundError)$/.test(name)) return 'import error';
  if (collecting && /\b(ImportError|ModuleNotFoundError|No module named)\b/.test(text)) {
    return 'import error';
  }
  if (result.phase === 'setup' && /fixture '[^']*' not found/.test(text)) return 'fixture error';
  if (name === 'NameError' && raisedInTest) return 'undefined name';
  return undefined;
}
