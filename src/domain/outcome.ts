import { fileOf, functionOf, parametersOf } from './testId';
/** R, or R∘X* (the repository with the golden patch). */
export const sides = ['base', 'fixed'] as const;
export type Side = (typeof sides)[number];

/** The name of a side wherever the user reads it. */
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
 * a hint for the user and never part of a grade. A test of a function that only the fix adds
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

/**
 * The transition of one test from R to R∘X*. The first letter is for R, the second for R∘X*: F
 * fails, P passes, `-` neither (skipped, missing, or failed as expected).
 */
export const transitions = ['F→P', 'F→F', 'P→P', 'P→F', 'F→-', 'P→-', '-→P', '-→F', '-→-'] as const;
export type Transition = (typeof transitions)[number];

/** The letter of a transition for each standing. */
export const letterOf: Readonly<Record<Standing, 'F' | 'P' | '-'>> = {
  fails: 'F',
  passes: 'P',
  neither: '-',
};

export function transition(base: Outcome, fixed: Outcome): Transition {
  return `${letterOf[standing(base)]}→${letterOf[standing(fixed)]}`;
}

/**
 * A transition in words, for people who do not know the letters. The editor has the same words as
 * literals for translation, and a test checks that both are equal.
 */
export const transitionWords: Readonly<Record<Transition, string>> = {
  'F→P': 'reproduces the issue: fails on R, passes on R∘X*',
  'F→F': 'fails on R and on R∘X*',
  'P→P': 'passes on R: does not reproduce the issue',
  'P→F': 'passes on R, fails on R∘X*',
  'F→-': 'fails on R, did not run on R∘X*',
  'P→-': 'passes on R, did not run on R∘X*',
  '-→P': 'did not run on R, passes on R∘X*',
  '-→F': 'did not run on R, fails on R∘X*',
  '-→-': 'ran on neither side',
};

/** One test on both sides. */
export interface TestTransition {
  readonly test: string;
  readonly transition: Transition;
  readonly base: TestResult;
  readonly fixed: TestResult;
}

/**
 * Pairs the results of two runs by test id. Ids are in the order of their first appearance, R
 * first. A test absent on a side is `missing` there.
 */
export function pairResults(
  base: readonly TestResult[],
  fixed: readonly TestResult[],
): TestTransition[] {
  const onBase = new Map(base.map((result) => [result.test, result]));
  const onFixed = new Map(fixed.map((result) => [result.test, result]));
  const ids = new Set([...onBase.keys(), ...onFixed.keys()]);
  return [...ids].map((test) => {
    const before = onBase.get(test) ?? { test, outcome: 'missing' as const };
    const after = onFixed.get(test) ?? { test, outcome: 'missing' as const };
    return {
      test,
      transition: transition(before.outcome, after.outcome),
      base: before,
      fixed: after,
    };
  });
}

/**
 * Parts of an id that say nothing but when and where a run took place: addresses in memory, UUIDs
 * and other long hexadecimal numbers, clocks, and names that
 * `tempfile` makes. Shorter numbers may tell two cases apart.
 */
const ofOneRun =
  /0x[0-9a-f]+|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|(?<![0-9a-z])(?=[a-f]*\d)[0-9a-f]{8,}|\d{8,}|\btmp[a-z0-9_]{8}\b/gi;

const withoutRun = (id: string): string => id.replace(ofOneRun, '#');

/**
 * The names in `known` of tests that have other names in a second run, since their ids hold what
 * differs between two runs: the `repr` of an object, a time, a temporary folder. Two ids are those of
 * one test if nothing else differs, or else if they are the same case, by position, of a function
 * that has equally many. Ids that both runs have are not changed.
 *
 * @param known ids of the first run, in the order of its tests
 * @param ids ids of the second run, in the order of its tests
 * @returns the known id for each id that changed and can be identified
 */
export function matchChangedNames(
  known: Iterable<string>,
  ids: Iterable<string>,
): ReadonlyMap<string, string> {
  const [before, after] = [new Set(known), new Set(ids)];
  const gone = new Set([...before].filter((id) => !after.has(id)));
  const appeared = gone.size === 0 ? [] : [...after].filter((id) => !before.has(id));
  const found = new Map<string, string>();
  if (appeared.length === 0) return found;
  const add = (id: string, name: string): void => {
    if (!gone.delete(name)) return;
    found.set(id, name);
  };
  const shapes = groupedBy(gone, withoutRun);
  for (const [shape, those] of groupedBy(appeared, withoutRun)) {
    const these = shapes.get(shape);
    if (these?.length === those.length) those.forEach((id, at) => add(id, these[at] ?? ''));
  }
  // An id without a case may stand for all of them, such as that of an error in collection.
  const isCase = (id: string): boolean => functionOf(id) !== id;
  const cases = groupedBy([...before].filter(isCase), functionOf);
  for (const [name, those] of groupedBy([...after].filter(isCase), functionOf)) {
    const these = cases.get(name);
    if (these?.length !== those.length) continue;
    those.forEach((id, at) => {
      if (!before.has(id) && !found.has(id)) add(id, these[at] ?? '');
    });
  }
  return found;
}

/**
 * Functions that have cases on each side which the other one lacks, after what `matchChangedNames`
 * could match. Which of them are the same test cannot be determined.
 */
export function functionsWithUnmatchedCases(tests: readonly TestTransition[]): string[] {
  const only = (side: 'base' | 'fixed', other: 'base' | 'fixed'): string[] =>
    tests
      .filter((each) => each[side].outcome !== 'missing' && each[other].outcome === 'missing')
      .map(({ test }) => functionOf(test));
  const onFixed = new Set(only('fixed', 'base'));
  return [...new Set(only('base', 'fixed'))].filter((name) => onFixed.has(name));
}

function groupedBy(
  ids: Iterable<string>,
  keyOf: (id: string) => string,
): ReadonlyMap<string, string[]> {
  const groups = new Map<string, string[]>();
  for (const id of ids) {
    const key = keyOf(id);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [id]);
    else group.push(id);
  }
  return groups;
}

/** `f(): unexpected keyword argument 'x'` of Python, with function and argument. */
export const unexpectedArgument =
  /(?:^|\s)([\w.<>]+)\(\) got an unexpected keyword argument '([^']+)'/;

/** `Class.name` of a missing attribute; undefined for any other text, and for None. */
export function missingAttribute(text: string): string | undefined {
  const [, module, type, object, name] =
    /^(?:(?:partially initialized )?module '([^']+)'|type object '([^']+)'|'([^']+)' object) has no attribute '([^']+)'/.exec(
      text,
    ) ?? [];
  const owner = module ?? type ?? object;
  // Many issues are about a value that is None by mistake.
  if (owner === undefined || name === undefined || owner === 'NoneType') return undefined;
  return `${owner}.${name}`;
}

/**
 * The module, fixture or name that the message of an exception says is missing, dotted where it
 * names the owner: `cats.purr`, `f(loud=…)`. Undefined where it names none. Untrusted.
 */
export function missingName(text: string): string | undefined {
  const imported =
    /cannot import name '?([\w.]+)'?(?: from (?:partially initialized module )?'([^']+)')?/.exec(
      text,
    );
  if (imported !== null) {
    return imported[2] === undefined ? imported[1] : `${imported[2]}.${imported[1]}`;
  }
  const argument = unexpectedArgument.exec(text);
  if (argument !== null) return `${argument[1]}(${argument[2]}=…)`;
  return (
    /No module named '?([\w.]+)'?/.exec(text)?.[1] ??
    /fixture '([^']*)' not found/.exec(text)?.[1] ??
    /\bname '([^']+)' is not defined/.exec(text)?.[1] ??
    /\(\) missing \d+ required positional arguments?: (.+)$/m
      .exec(text)?.[1]
      ?.replaceAll("'", '') ??
    missingAttribute(text)
  );
}

/** Values that any text may have by chance. */
const isTelling = (value: string): boolean =>
  value.length >= 3 && !/^(true|false|none|null|nan|-?\d{1,2}(\.\d)?)$/i.test(value);

/**
 * Whether the issue names what a failing test is about: what its failure says is missing, or the
 * value of its parameter. Such a failure may well be that of the issue. Only whole words count.
 *
 * @param test one case, whose id has its parameters in brackets
 */
export function isNamedByIssue(
  issue: string,
  { test, message = '' }: Pick<TestResult, 'test' | 'message'>,
): boolean {
  return [...missingWords(message), ...parameters(test)].some(
    (word) => isTelling(word) && hasWord(issue, word),
  );
}

/** Of `cats.purr` and `f(loud=…)` the name that is missing, not its owner, which exists. */
function missingWords(message: string): string[] {
  const missing = missingName(message);
  if (missing === undefined) return [];
  const last = /([\w]+)(?:=…\))?$/.exec(missing)?.[1];
  return [missing, ...(last === undefined ? [] : [last])];
}

/** The parameters of a case: `test_x[a-b]` has `a-b`, `a` and `b`. */
function parameters(test: string): string[] {
  const all = parametersOf(test);
  return all === '' ? [] : [all, ...all.split('-')];
}

function hasWord(text: string, word: string): boolean {
  const isWordCharacter = (character: string | undefined): boolean =>
    character !== undefined && /[\p{L}\p{N}_]/u.test(character);
  for (let at = text.indexOf(word); at >= 0; at = text.indexOf(word, at + 1)) {
    const before = isWordCharacter(word[0]) && isWordCharacter(text[at - 1]);
    const after = isWordCharacter(word.at(-1)) && isWordCharacter(text[at + word.length]);
    if (!before && !after) return true;
  }
  return false;
}
