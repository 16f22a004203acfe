import type { TestResult } from '../../domain/outcome';
import type { Environment } from '../engine';
import type { TestPlan } from '../testPlan';

/** A test file, with the facts that the choice of a runner depends on. */
export interface TestFile {
  readonly path: string;
  /** Without pytest the file cannot even be loaded. */
  readonly importsPytest: boolean;
  /** Tests that unittest can run. */
  readonly unittestTests: number;
  /** Tests that only pytest can run. */
  readonly pytestTests: number;
}

/** What an adapter makes the command of one runner from. */
export interface PlanRequest {
  /** `owner/name` */
  readonly repo: string;
  /** Version of the instance as its row gives it, such as `1.11`; empty when the row has none. */
  readonly version: string;
  readonly files: readonly TestFile[];
  readonly environment: Environment;
  /** A file of R as text; undefined when R has none. Old runners lack options of newer ones. */
  readonly readFileOfR: (path: string) => Promise<string | undefined>;
  /** Test ids to run instead of whole files, in the form `path::Class::test`. */
  readonly select?: readonly string[] | undefined;
}

/** The request with what the recipe of its repository and version says of running tests. */
export interface Planning extends PlanRequest {
  readonly recipe: {
    /** Name of the runner that the repository uses. */
    readonly runner: string;
    readonly testArguments: readonly string[];
  };
}

/**
 * A program that runs tests: its command, and what the rest of the engine has to know of it. Its outcomes
 * are recorded in its process where it builds on pytest, unittest or SymPy's runner (`tracer/`); the log
 * of any other is read. Which parser reads a log depends on the repository, not on the runner (`parseLog.ts`).
 */
export interface TestRunner {
  /** As recipes and reports write it. */
  readonly name: string;
  /** Packages that the environment needs for it. */
  readonly packages?: readonly string[];
  /** The plan; undefined when it cannot run in this tree and environment. */
  readonly plan: (planning: Planning) => Promise<TestPlan | undefined> | TestPlan | undefined;
  /** It runs nothing at all where one of its files is not there, as pytest does. */
  readonly needsAllFiles?: boolean;
  /** Its own process runs no tests: it starts another, to which it hands on the key of the records. */
  readonly isRelay?: boolean;
  /** What it starts may be out of the recorder's reach, so that log and records need not fit. */
  readonly isUnrecorded?: boolean;
  /** Whether an outcome that fails goes with an exit status of 0; none does when absent. */
  readonly failsWithStatus0?: (
    failed: Pick<TestResult, 'outcome' | 'message' | 'phase'>,
  ) => boolean;
}

/** A plan that covers all files of the request from the top of the tree. */
export function wholePlan(
  runner: string,
  files: readonly TestFile[],
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): TestPlan {
  return { runner, args, env, cwd: '.', files: files.map((file) => file.path), notRun: [] };
}

/** The arguments before the tests: those of the recipe, or the usual ones. */
export function testArgumentsOf(
  recipe: Planning['recipe'],
  usual: readonly string[],
): readonly string[] {
  return recipe.testArguments.length > 0 ? recipe.testArguments : usual;
}

/**
 * A path that no program takes for an option, nor for a file of arguments as pytest does with `@`. Test
 * ids stay the same.
 */
export function noOption(path: string): string {
  return /^[-@]/.test(path) ? `./${path}` : path;
}

/** Dotted names have no such spelling, but argparse has a sign for the end of the options. */
export function operands(names: readonly string[]): readonly string[] {
  return names.some((name) => name.startsWith('-')) ? ['--', ...names] : names;
}

/** `tests/test_a.py::A::test_x` to `tests.test_a.A.test_x`. */
export function dotted(id: string): string {
  return id
    .replace(/\.py(?=::|$)/, '')
    .replaceAll('::', '.')
    .replaceAll('/', '.');
}
