import { z } from 'zod';
import { runnerNames } from '../runners/runners';
import table from './recipes.json';
import { isInVersionRange } from './versionRange';

const words = z.array(z.string().min(1));

/** What the metadata of a project does not say of the environment that its tests need. */
const recipeFields = z.strictObject({
  /** Version of Python, such as `3.9`. */
  python: z.string().regex(/^3\.\d+$/),
  /** Debian packages. */
  system: words,
  /** Requirement files of the tree that are installed, where they are there. */
  requirementFiles: words,
  /** Extras of the project itself. */
  extras: words,
  /** Requirement specifiers beside those of the project. */
  packages: words,
  /** Names of packages that requirement files and the project ask for and that are left out. */
  without: words,
  /** Requirement specifiers that only limit what the others ask for. */
  constraints: words,
  /**
   * Day as of which packages are taken, where that is later than the instance: for a Python that is
   * younger than the packages of the instance's time can be. Instances before that day then share one
   * environment. ISO 8601.
   */
  asOf: z.iso.date().optional(),
  /**
   * What building the project needs in the environment beside what its pyproject.toml says, since it is
   * built without isolation.
   */
  build: words,
  /** Commands in the tree, each a list of words, before the project is installed. */
  preInstall: z.array(words),
  /**
   * How the project gets into its environment: installed for editing (`editable`), which also builds
   * what is compiled; or found by PYTHONPATH alone (`path`).
   */
  install: z.enum(['editable', 'path']),
  /** Program that runs its tests. */
  runner: z.enum(runnerNames),
  /** Arguments of that program in front of the tests, where they differ from its usual ones. */
  testArguments: words,
  /**
   * Version of the project that is told to setuptools-scm, which would look for tags of git, where it is not
   * the version of the row.
   */
  projectVersion: z.string().optional(),
  /** Tests reach for hosts outside of the sandbox. */
  network: z.boolean(),
});

/** The recipe of one repository at one version. */
export type Recipe = Readonly<z.infer<typeof recipeFields>>;

const repositoryRecipe = recipeFields.partial().extend({
  /**
   * What differs in some versions: from the first to the last, ends included (`1.0-1.6`, `3.0-`, `-2.9`).
   * Later ranges override earlier ones.
   */
  versions: z.record(z.string(), recipeFields.partial()).optional(),
  /** Reasons, for the reader. */
  notes: z.string().optional(),
});

const recipes = z.record(z.string(), repositoryRecipe).parse(table);

const usual: Recipe = {
  python: '3.9',
  system: [],
  requirementFiles: [],
  extras: [],
  packages: [],
  without: [],
  constraints: [],
  build: [],
  preInstall: [],
  install: 'editable',
  runner: 'pytest',
  testArguments: [],
  network: false,
};

/**
 * The recipe of a repository (`owner/name`) at a version as rows give it (`1.11`), or the usual one for
 * a repository that the table does not have. Values of a later range take the place of earlier ones.
 */
export function recipeOf(repo: string, version: string | undefined): Recipe {
  const { versions = {}, ...always } = recipes[repo] ?? {};
  const applying = Object.entries(versions).flatMap(([range, fields]) =>
    version !== undefined && isInVersionRange(version, range) ? [fields] : [],
  );
  const { notes, ...recipe } = Object.assign({}, usual, always, ...applying) as Recipe & {
    notes?: string;
  };
  void notes;
  return recipe;
}
