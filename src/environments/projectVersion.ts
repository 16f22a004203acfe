import type { Instance } from '../domain/instance';
import { recipeOf, type Recipe } from './recipes';

/**
 * A name in the form in which the index compares names:
 * https://packaging.python.org/en/latest/specifications/name-normalization/
 */
export const plainName = (name: string): string => name.toLowerCase().replace(/[-_.]+/g, '-');

/** Plain name of the package that a line of a requirement file is about. */
export const packageOf = (requirement: string): string =>
  plainName(/^[\w.-]+/.exec(requirement)?.[0] ?? requirement);

/** Name of a project as it ends variables of setuptools-scm. */
export const scmName = (name: string): string => plainName(name).toUpperCase().replaceAll('-', '_');

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
