import type { Recipe } from './recipes';

/**
 * The day as of which setuptools and wheel are taken when the instance's day is earlier: setuptools
 * 65 (59 for Python 3.6). Earlier versions do not run with a later Python. Before 62, they write
 * versions that uv refuses where a project sets `tag_date`. Before 64, they cannot install in
 * editable mode without setup.py.
 */
const builders = '2022-09-01';

/**
 * Options that make uv leave out releases later than a day. They do not apply to setuptools and
 * wheel of {@link builders}, nor to requirements that pin one version.
 */
export function asOf(day: string | undefined, requirements: readonly string[] = []): string[] {
  if (day === undefined) return [];
  const pinned = requirements.flatMap((line) => /^\s*([\w.-]+)\s*==/.exec(line)?.[1] ?? []);
  return [
    ...['--exclude-newer', day],
    ...(day < builders
      ? ['setuptools', 'wheel'].flatMap((name) => [
          '--exclude-newer-package',
          `${name}=${builders}`,
        ])
      : []),
    ...[...new Set(pinned)].flatMap((name) => ['--exclude-newer-package', `${name}=2099-01-01`]),
  ];
}

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
