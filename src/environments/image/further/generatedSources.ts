import type { TreeEntry } from '../../../repository/treeFiles';
import { packageOf } from '../../plan/projectNeeds';
import { identityDigest } from '../imageRecords';

/**
 * Files beyond a `.pyx` that decide about what Cython makes of it: declarations, includes, templates
 * and the build's own settings.
 */
const shared =
  /(^|\/)(setup\.(py|cfg)|pyproject\.toml|meson\.build)$|\.(pxd|pxi)(\.(in|tp))?$|\.tp$/;

/**
 * Digest of everything but the `.pyx` itself that Cython reads: declarations that any of them may
 * include, and its version. A change of one of them makes all sources again.
 *
 * @param entries files of R
 * @param packages of the environment, as `name==version`
 */
export function generatedKey(
  entries: ReadonlyMap<string, TreeEntry>,
  packages: readonly string[],
): string {
  const read = [...entries]
    .filter(([path]) => shared.test(path))
    .map(([path, { id }]) => `${path} ${id}`)
    .sort();
  const made = packages.filter((line) => ['cython', 'numpy', 'scipy'].includes(packageOf(line)));
  return identityDigest(read, [...made].sort());
}

/**
 * The name under which a source that Cython made is kept. Undefined for any other file: R has it, or
 * R has no `.pyx` beside it.
 *
 * @param path of the file in the tree
 */
export function generatedName(
  path: string,
  key: string,
  entries: ReadonlyMap<string, TreeEntry>,
): string | undefined {
  const place = path.replace(/^\.\//, '');
  const origin = entries.get(place.replace(/\.(c|cpp)$/, '.pyx'));
  if (origin === undefined || !/\.(c|cpp)$/.test(place) || entries.has(place)) return undefined;
  return `generated/${key}/${origin.id}/${place}`;
}

/** Path in the tree of a source that is kept under this name, if it fits R; else undefined. */
export function generatedPath(
  name: string,
  key: string,
  entries: ReadonlyMap<string, TreeEntry>,
): string | undefined {
  const [, at, place] = /^generated\/([^/]+)\/[^/]+\/(.+)$/.exec(name) ?? [];
  if (at !== key || place === undefined) return undefined;
  return generatedName(place, key, entries) === name ? place : undefined;
}
