import type { Instance } from '../domain/instance';
import { services } from '../engine/sandbox';
import { sha256OfJson } from '../files/digest';
import { projectNeeds, type ProjectNeeds } from './plan/projectNeeds';
import { projectVersion, recipeOf, type Recipe } from './recipes';

/**
 * Version of the way environments are made, of images and virtual environments alike. Raise it with
 * each change of a plan's meaning or of what carries it out, so that nothing made before is reused.
 */
export const planVersion = 1;

/**
 * What the environment of an instance is made of, before any version is resolved. It is computed
 * from the recipe, the row and R's own files alone, and is the same wherever it is carried out:
 * `image/` makes images by it, `virtual/` makes virtual environments.
 */
export interface EnvironmentPlan {
  /** Title for people, such as `sympy/sympy 1.7`. */
  readonly title: string;
  readonly repo: string;
  /** Version of Python, such as `3.9`. */
  readonly python: string;
  /** Day as of which packages are taken, `YYYY-MM-DD`; undefined for now. */
  readonly day: string | undefined;
  /** Packages for Python. */
  readonly packages: ProjectNeeds;
  /** What an image gets from Debian. A virtual environment takes what its machine has. */
  readonly system: Pick<Recipe, 'programs' | 'locales'> & {
    /** Debian packages, without which the environment cannot be built. */
    readonly packages: readonly string[];
  };
  /** Programs on the loopback, each in an environment of its own. */
  readonly services: readonly {
    readonly name: Recipe['services'][number];
    readonly requirements: readonly string[];
    readonly day: string;
  }[];
  /** How R becomes importable. */
  readonly installation: Pick<Recipe, 'install' | 'preInstall'> & {
    /** The version that R gets from setuptools-scm. */
    readonly version: string;
  };
}

/** @param tree R */
export async function environmentPlan(
  { repo, version, createdAt }: Pick<Instance, 'repo' | 'version' | 'createdAt'>,
  tree: string,
): Promise<EnvironmentPlan> {
  const recipe = recipeOf(repo, version);
  const { python, system, programs, locales, install, preInstall } = recipe;
  const packages = await projectNeeds(tree, repo, recipe);
  const compilers = compiles(packages) ? compilerPackages : [];
  return {
    title: titleOf({ repo, version }),
    ...{ repo, python, packages },
    day: dayOf(createdAt, recipe),
    system: { packages: sorted([...system, ...compilers]), programs, locales },
    services: recipe.services.map((name) => {
      const { requirements, day } = services[name];
      return { name, requirements, day };
    }),
    installation: { install, preInstall, version: projectVersion({ version }, recipe) },
  };
}

/** The key of everything that is kept of a plan. */
export const planDigest = (plan: EnvironmentPlan): string =>
  sha256OfJson([planVersion, plan]).slice(0, 24);

/** A plan of an R of which only building it shows that there is something to compile. */
export const withCompilers = (plan: EnvironmentPlan): EnvironmentPlan => ({
  ...plan,
  system: { ...plan.system, packages: sorted([...plan.system.packages, ...compilerPackages]) },
});

/** A compiler, the headers of Python, and a cache of what was compiled. */
export const compilerPackages: readonly string[] = ['build-essential', 'ccache', 'python3-dev'];

/**
 * The pip of an environment. It can install in editable mode both projects without setup.py (PEP
 * 660, from 21.3 on) and projects with nothing else (before 25). The pip that comes with Python may
 * be too old, and the newest is too new.
 */
export const pipOfEnvironment = 'pip>=21.3,<25';

/** Whether the build requirements of the project show that there is something to compile. */
const compiles = ({ build }: ProjectNeeds): boolean =>
  build.some((line) =>
    /^(cython|numpy|oldest-supported-numpy|pybind11|cffi|extension-helpers|scipy)\b/i.test(line),
  );

const sorted = (names: readonly string[]): string[] => [...new Set(names)].sort();

/** Title for people, such as `sympy/sympy 1.7`. */
const titleOf = ({ repo, version }: Pick<Instance, 'repo' | 'version'>): string =>
  `${repo} ${version}`.trim();

/**
 * The day as of which packages are taken, `YYYY-MM-DD`; undefined for now.
 *
 * @param createdAt of the instance, ISO 8601 or empty
 */
export function dayOf(createdAt: string, recipe: Pick<Recipe, 'asOf'>): string | undefined {
  const day = /^\d{4}-\d{2}-\d{2}/.exec(createdAt)?.[0];
  if (day === undefined || recipe.asOf === undefined) return day ?? recipe.asOf;
  return day > recipe.asOf ? day : recipe.asOf;
}
