/** R, or R∘X* (the repository with the golden patch). */
export const sides = ['base', 'fixed'] as const;
export type Side = (typeof sides)[number];

/** How a side is called wherever a person reads it. */
export const sideName: Readonly<Record<Side, string>> = { base: 'R', fixed: 'R∘X*' };

/**
 * What became of one test in one run. `missing` means that the run has no trace of it; a test whose
 * file could not be imported is not missing but `error`.
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
 * How an outcome is read, by strict grading and by all that compares runs: transitions, validation,
 * filters of repairs and the tools of models. Only harness grading reads statuses of its own. Failing:
 * failed, errored, or could not be collected. Passing: passed, also against an expectation to fail.
 * Neither: skipped, missing, or failed as expected.
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

/** What a test was at when it got its outcome. */
export const phases = ['setup', 'call', 'teardown', 'collect'] as const;
export type Phase = (typeof phases)[number];

/** One test in one run, with what is known of a failure. All texts come from tested code: untrusted. */
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
  /** Of a failed assertion that compares two values, where the runner tells them. */
  readonly comparison?: FailedComparison;
}

/** Whether the test itself failed, so that there may be a message of it. */
export function isFailure({ outcome }: Pick<TestResult, 'outcome'>): boolean {
  return standing(outcome) === 'fails';
}

/** `tests/test_a.py::A::test_x[1-2]` to `tests/test_a.py::A::test_x`: the function behind a parametrised case. */
export function functionOf(test: string): string {
  const names = test.indexOf('::');
  const bracket = names < 0 ? -1 : test.indexOf('[', names);
  return bracket < 0 ? test : test.slice(0, bracket);
}

/** `tests/test_a.py::A::test_x` to `tests/test_a.py`; a bare file is its own file. */
export function fileOf(test: string): string {
  const names = test.indexOf('::');
  return names < 0 ? test : test.slice(0, names);
}

/**
 * Whether an id stands for the set-up and tear-down of a class or a file, which run once for several
 * tests: the tracer calls them `path::Class::` and `path::`, with nothing behind the last colons.
 */
export function isScope(id: string): boolean {
  return id.endsWith('::');
}

/** Reasons for a failure that seldom have to do with the issue. */
export type UnrelatedReason = 'import error' | 'syntax error' | 'fixture error' | 'undefined name';

/**
 * Whether a failure looks as if the test itself were broken, rather than the code under test: an
 * import, syntax or fixture error, or a name that does not exist, raised where the test stands.
 * A hint for a person, never part of a grade: a test of a function that only the fix brings fails
 * on R with an import error, and rightly so.
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
  // Code under test may raise these as well: a parser, or whatever evaluates text.
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
