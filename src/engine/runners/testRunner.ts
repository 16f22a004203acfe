import { fileOf, namesOf } from '../../domain/testId';
import type { TestResult } from '../../domain/outcome';
import type { Environment } from '../engine';
import type { TestPlan } from './testPlan';

/** A test file, with the facts that determine its runner. */
export interface TestFile {
  readonly path: string;
  /** Whether the file cannot be loaded without pytest. */
  readonly importsPytest: boolean;
  /** Number of tests that unittest can run. */
  readonly unittestTests: number;
  /** Number of tests that only pytest can run. */
  readonly pytestTests: number;
}

/** The input of a runner's plan. */
export interface PlanRequest {
  /** `owner/name` */
  readonly repo: string;
  /** Version of the instance as its row gives it, such as `1.11`; empty when the row has none. */
  readonly version: string;
  readonly files: readonly TestFile[];
  readonly environment: Environment;
  /**
   * A file of R as text; undefined when R does not have it. Runners read R because old versions
   * lack newer options.
   */
  readonly readFileOfR: (path: string) => Promise<string | undefined>;
  /** Test ids to run instead of whole files, in the form `path::Class::test`. */
  readonly select?: readonly string[] | undefined;
}

/** The request, with the recipe of its repository and version for running tests. */
export interface Planning extends PlanRequest {
  readonly recipe: {
    /** Name of the runner that the repository uses. */
    readonly runner: string;
    readonly testArguments: readonly string[];
  };
}

/**
 * A program that runs tests: its command, and the facts that the engine needs about it. Runners
 * based on pytest, unittest or SymPy's runner record outcomes in their own process (`tracer/`). For
 * all others, the log is read. The parser of the reference harness reads the logs of a repository
 * that it knows (`parseLog.ts`).
 */
export interface TestRunner {
  /** Name of the runner in recipes and reports. */
  readonly name: string;
  /** Packages that the environment needs for it. */
  readonly packages?: readonly string[];
  /** The plan; undefined when the runner cannot run in this tree and environment. */
  readonly plan: (planning: Planning) => Promise<TestPlan | undefined> | TestPlan | undefined;
  /**
   * The status of each test in a log of a repository that the reference harness does not know;
   * undefined where the log is not this runner's.
   */
  readonly readLog?: (log: string) => ReadonlyMap<string, string> | undefined;
  /** Variables for a script of its repositories, which runs without it; none by default. */
  readonly scriptEnv?: (
    request: Pick<PlanRequest, 'readFileOfR'>,
  ) => Promise<Readonly<Record<string, string>>>;
  /** Whether it runs nothing at all when one of its files is missing, as pytest does. */
  readonly needsAllFiles?: boolean;
  /**
   * Whether it only starts another process that runs the tests, and passes the key of the records
   * on to it.
   */
  readonly isRelay?: boolean;
  /** Whether its interpreter may start before the tests are known, with the first two options. */
  readonly startsAhead?: boolean;
  /**
   * Variables that it sets before it imports R. Absent where it prepares R in other ways, so that no
   * module of R can be loaded before it runs.
   */
  readonly beforeR?: Readonly<Record<string, string>>;
  /** Whether the recorder may miss programs that it starts, so that log and records may differ. */
  readonly isUnrecorded?: boolean;
  /** Whether a failing outcome can occur with exit status 0; by default none can. */
  readonly failsWithStatus0?: (
    failed: Pick<TestResult, 'outcome' | 'message' | 'phase'>,
  ) => boolean;
}

/** A plan that covers all files of the request from the root of the tree. */
export function wholePlan(
  runner: string,
  files: readonly TestFile[],
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): TestPlan {
  return { runner, args, env, cwd: '.', files: files.map((file) => file.path), notRun: [] };
}

/** The arguments before the tests: those of the recipe, else the defaults. */
export function testArgumentsOf(
  recipe: Planning['recipe'],
  usual: readonly string[],
): readonly string[] {
  return recipe.testArguments.length > 0 ? recipe.testArguments : usual;
}

/**
 * Writes a path so that no program reads it as an option, nor as a file of arguments, as pytest
 * does with `@`. Test ids stay the same.
 */
export function noOption(path: string): string {
  return /^[-@]/.test(path) ? `./${path}` : path;
}

/** Dotted names cannot be written that way, but argparse has a sign for the end of the options. */
export function operands(names: readonly string[]): readonly string[] {
  return names.some((name) => name.startsWith('-')) ? ['--', ...names] : names;
}

/** Converts `tests/test_a.py::A::test_x` to `tests.test_a.A.test_x`. */
export function dotted(id: string): string {
  const module = fileOf(id).replace(/\.py$/, '').replaceAll('/', '.');
  return [module, ...namesOf(id)].join('.');
}
