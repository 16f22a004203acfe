import { isTestPath } from '../../../patch/testFiles';
import type { TreeOfR } from '../../view/treeOfR';

/** The paths of the Python files of R that are no tests, sorted. */
export async function codeFiles(tree: Pick<TreeOfR, 'paths'>): Promise<readonly string[]> {
  return (await tree.paths()).filter((path) => path.endsWith('.py') && !isTestPath(path));
}

/** The paths of the longest Python files of R that are no tests. @param most of them */
export async function largestFiles(
  tree: Pick<TreeOfR, 'paths' | 'read'>,
  most: number,
): Promise<string[]> {
  const sizes: { readonly path: string; readonly size: number }[] = [];
  for (const path of await codeFiles(tree)) {
    sizes.push({ path, size: (await tree.read(path))?.length ?? 0 });
  }
  return sizes
    .sort((one, other) => other.size - one.size)
    .slice(0, most)
    .map(({ path }) => path);
}

/**
 * The names of files and folders as a tree: a line for each, indented below its folder. Names of
 * folders end with `/`.
 *
 * @param paths sorted
 */
export function treeOfNames(paths: readonly string[]): string {
  const lines: string[] = [];
  let folders: readonly string[] = [];
  for (const path of paths) {
    const parts = path.split('/');
    const own = parts.slice(0, -1);
    let shared = 0;
    while (shared < own.length && own[shared] === folders[shared]) shared += 1;
    for (let depth = shared; depth < own.length; depth += 1) {
      lines.push(`${'    '.repeat(depth)}${own[depth] ?? ''}/`);
    }
    lines.push(`${'    '.repeat(own.length)}${parts.at(-1) ?? ''}`);
    folders = own;
  }
  return lines.join('\n');
}

/** All folders of files, and the folders of those. */
export function foldersOf(paths: readonly string[]): ReadonlySet<string> {
  const folders = new Set<string>();
  for (const path of paths) {
    for (let at = path.indexOf('/'); at >= 0; at = path.indexOf('/', at + 1)) {
      folders.add(path.slice(0, at));
    }
  }
  return folders;
}
