import { z } from 'zod';
import { isRunner } from '../engine/runners';
import table from './recipes.json';
import { programNames, serviceNames } from '../engine/sandbox';
import { isInVersionRange, type Instance } from '../domain/instance';

const words = z.array(z.string().min(1));

/** https://www.debian.org/doc/debian-policy/ch-controlfields.html#source */
const debianPackage = z.string().regex(/^[a-z0-9][a-z0-9+.-]+$/);

/** The facts about a test environment that a project's metadata does not state. */
export const recipeSchema = z.strictObject({
  /** Version of Python, such as `3.9`. */
  python: z.string().regex(/^3\.\d+$/),
  /** Debian packages, without which the environment cannot be built. */
  system: z.array(debianPackage),
  /**
   * Programs that tests run, and the Debian packages that have them. They are installed if they can
   * be. Nothing is installed for an empty list: the packages take a gigabyte, and the base image may
   * have them.
   */
  programs: z.partialRecord(z.enum(programNames), z.array(debianPackage)),
  /** Locales that tests set, such as `de_DE.UTF-8`, made if they can be. */
  locales: z.array(z.string().regex(/^[a-z]{2,3}_[A-Z]{2}\.UTF-8$/)),
  /** Requirement files of the tree that are installed, if they exist. */
  requirementFiles: words,
  /** Extras of the project itself. */
  extras: words,
  /** Requirement specifiers in addition to those of the project. */
  packages: words,
  /**
   * Requirements of the project itself, in place of its metadata. This is for set-up programs
   * that would compile the project before they say what it requires.
   */
  requires: words.optional(),
  /** Names of packages that are left out although requirement files or the project require them. */
  without: words,
  /** Requirement specifiers that only restrict the versions of other requirements. */
  constraints: words,
  /**
   * Day as of which packages are taken, where it is later than the instance. This is for a Python
   * that the packages of the instance's time cannot support. Instances before that day then share
   * one environment. ISO 8601.
   */
  asOf: z.iso.date().optional(),
  /**
   * Requirements of the build beyond those in pyproject.toml. They are installed in the
   * environment, since the project is built without isolation.
   */
  build: words,
  /** Commands, each a list of words, that run in the tree before the project is installed. */
  preInstall: z.array(words),
  /**
   * How the project becomes importable. `editable` installs it in editable mode, which also builds
   * what is compiled. `path` only adds it to PYTHONPATH.
   */
  install: z.enum(['editable', 'path']),
  /** Program that runs its tests. */
  runner: z.string().refine(isRunner, 'is the name of a runner'),
  /** Arguments of that program before the tests, where they differ from its usual ones. */
  testArguments: words,
  /**
   * Version to give to setuptools-scm, which would look for git tags, where it differs from the
   * version of the row.
   */
  projectVersion: z.string().optional(),
  /** Programs on the loopback that tests connect to; variables tell them where. */
  services: z.array(z.enum(serviceNames)),
  /** Whether tests connect to hosts outside of the sandbox. */
  network: z.boolean(),
});

/** The recipe of one repository at one version. */
export type Recipe = Readonly<z.infer<typeof recipeSchema>>;

const repositoryRecipe = recipeSchema.partial().extend({
  /**
   * Differences of some versions, by range with both ends included (`1.0-1.6`, `3.0-`, `-2.9`).
   * Later ranges override earlier ones.
   */
  versions: z.record(z.string(), recipeSchema.partial()).optional(),
  /** Reasons for people who read the table. */
  notes: z.string().optional(),
});

const recipes = z.record(z.string(), repositoryRecipe).parse(table);

const usual: Recipe = {
  python: '3.9',
  system: [],
  programs: {},
  locales: [],
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
  services: [],
  network: false,
};

/**
 * The recipe of a repository (`owner/name`) at a version as rows give it (`1.11`). A repository
 * that the table does not have gets the usual recipe. Values of a later range override those of
 * earlier ones.
 */
export function recipeOf(repo: string, version: string): Recipe {
  const { versions = {}, ...always } = recipes[repo] ?? {};
  const applying = Object.entries(versions).flatMap(([range, fields]) =>
    version !== '' && isInVersionRange(version, range) ? [fields] : [],
  );
  const { notes, ...recipe } = Object.assign({}, usual, always, ...applying) as Recipe & {
    notes?: string;
  };
  void notes;
  return recipe;
}

/** The version of R where its recipe or its row states one in numbers. */
function knownVersion({ version }: Pick<Instance, 'version'>, recipe: Recipe): string | undefined {
  if (recipe.projectVersion !== undefined) return recipe.projectVersion;
  if (!/^\d+(\.\d+)*$/.test(version)) return undefined;
  return version.split('.').length < 3 ? `${version}.0` : version;
}

/** The version to give to setuptools-scm while R is built. */
export const projectVersion = (instance: Pick<Instance, 'version'>, recipe: Recipe): string =>
  knownVersion(instance, recipe) ?? '1.0.0';

/**
 * The tag of the one commit in the repositories that tests see, such as `v4.3.0`: some projects ask
 * git for their version each time they are imported. Undefined where no version of R is known.
 *
 * A variable of setuptools-scm would do for setuptools-scm only. It would also give this version to
 * other projects that tests build, and it would be in the environment of every test.
 */
export function versionTag(instance: Pick<Instance, 'repo' | 'version'>): string | undefined {
  const version = knownVersion(instance, recipeOf(instance.repo, instance.version));
  return version === undefined ? undefined : `v${version}`;
}
