import type { Environment } from '../engine';
import type { Recipe, Runner } from '../environments/recipes';

/** What to run, and what cannot be run here. */
export interface TestPlan {
  readonly runner: Runner;
  /** Arguments after the interpreter. */
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** Folder of the command, relative to the tree. */
  readonly cwd: string;
  /** Files that the command covers, relative to the tree. */
  readonly files: readonly string[];
  /** Files that nothing here can run, with the reason in words. */
  readonly notRun: readonly { readonly path: string; readonly reason: string }[];
}

/** A file of tests, with what the choice of a runner depends on. */
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

/** The request with the recipe of its repository and version. */
export interface Planning extends PlanRequest {
  readonly recipe: Recipe;
}

/** The plan of one runner; undefined when it cannot run in this tree and environment. */
export type Adapter = (planning: Planning) => Promise<TestPlan | undefined> | TestPlan | undefined;

/** A plan that covers all files of the request from the top of the tree. */
export function wholePlan(
  runner: Runner,
  files: readonly TestFile[],
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): TestPlan {
  return { runner, args, env, cwd: '.', files: files.map((file) => file.path), notRun: [] };
}

/** The arguments of the recipe in front of the tests, or the usual ones. */
export function argumentsOf(recipe: Recipe, usual: readonly string[]): readonly string[] {
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
