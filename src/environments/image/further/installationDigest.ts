import { posix } from 'node:path';
import type { TreeEntry } from '../../../repository/treeFiles';
import { identityDigest } from '../imageRecords';
import { isSilentFolder, setupInputs } from '../../plan/setupInputs';

/** Sources that a set-up program compiles, or makes such sources from. */
const compiledSource =
  /\.(c|cc|cpp|cxx|m|mm|h|hh|hpp|hxx|inc|pyx|pxd|pxi|f|f77|f90|f95|for|s|asm|rs|go|l|y|swg|tp|tpl|templ?)$/i;

/**
 * A digest that is equal for two trees which an installation in editable mode makes the same of:
 * the same metadata, scripts and paths. Only the list of sources in an `egg-info` folder may differ,
 * which also a candidate leaves as it is. So the tree of one can be laid over the installed tree of
 * the other. Undefined for a tree with sources to compile, whose installation depends on all of it.
 *
 * It covers what {@link setupInputs} covers, the folders with Python files, and
 * the names of modules of the top folder. Editable installations name folders, not the files in them:
 * https://setuptools.pypa.io/en/latest/userguide/development_mode.html
 *
 * @param tree a pristine tree
 * @param entries its files
 * @param steps what runs in the tree apart from the installation, and the version that it gets
 */
export async function installationDigest(
  tree: string,
  entries: ReadonlyMap<string, TreeEntry>,
  ...steps: readonly unknown[]
): Promise<string | undefined> {
  const places = new Set<string>();
  for (const path of entries.keys()) {
    if (isSilentFolder(path)) continue;
    if (compiledSource.test(path)) return undefined;
    // A module of the top folder may be listed by its name.
    if (path.endsWith('.py')) places.add(path.includes('/') ? posix.dirname(path) : path);
  }
  return identityDigest(await setupInputs(tree, entries), [...places].sort(), ...steps);
}
