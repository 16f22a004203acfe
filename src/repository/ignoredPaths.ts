import { git, GitError } from './git/git';

/**
 * Those of some paths that the `.gitignore` files of a tree name, whether or not they are in it.
 *
 * @param tree folder with a repository of ours
 * @throws GitError, Cancelled
 */
export async function ignoredPaths(
  tree: string,
  paths: readonly string[],
  signal?: AbortSignal,
): Promise<ReadonlySet<string>> {
  if (paths.length === 0) return new Set();
  const options = { cwd: tree, input: paths.map((path) => `${path}\0`).join(''), signal };
  try {
    const found = await git(['check-ignore', '--no-index', '--stdin', '-z'], options);
    return new Set(found.split('\0').filter((path) => path !== ''));
  } catch (error) {
    // Status 1 says that none of them is ignored.
    if (error instanceof GitError && error.status === 1) return new Set();
    throw error;
  }
}
