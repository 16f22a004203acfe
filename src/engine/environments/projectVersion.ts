import type { Instance } from '../../domain/instance';
import type { Recipe } from './recipes';

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

/** The version to give to setuptools-scm, since R has no tags to derive one from. */
export function projectVersion({ version }: Pick<Instance, 'version'>, recipe: Recipe): string {
  if (recipe.projectVersion !== undefined) return recipe.projectVersion;
  if (!/^\d+(\.\d+)*$/.test(version)) return '1.0.0';
  return version.split('.').length < 3 ? `${version}.0` : version;
}
