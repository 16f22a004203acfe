import { execFileSync } from 'node:child_process';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';

/** Contents by path; null to delete a file. */
type Files = Readonly<Record<string, string | null>>;

/** Rows of a dataset on one made-up repository, for instances with a defect. */
export interface MadeUp {
  /** Path of the repository. */
  readonly repository: string;
  /**
   * The difference from R to these files. A file that disappears at one path and appears at another
   * is renamed.
   */
  patch(files: Files): Promise<string>;
  /** A row whose X* and T* are the differences from R to these files. */
  row(
    id: string,
    golden: { readonly code: Files; readonly tests: Files },
    more?: Readonly<Record<string, unknown>>,
  ): Promise<Record<string, unknown>>;
}

/** Makes the repository `octo/cat` with one commit, which is R of every row. */
export async function madeUp(folder: string, filesOfR: Files): Promise<MadeUp> {
  const repository = join(folder, 'cat');
  const git = (...args: string[]): string =>
    execFileSync('git', args, {
      cwd: repository,
      encoding: 'utf8',
      env: {
        PATH: process.env['PATH'],
        HOME: folder,
        GIT_CONFIG_GLOBAL: '/dev/null',
        GIT_CONFIG_NOSYSTEM: '1',
        GIT_AUTHOR_NAME: 'a',
        GIT_AUTHOR_EMAIL: 'a@example.org',
        GIT_COMMITTER_NAME: 'a',
        GIT_COMMITTER_EMAIL: 'a@example.org',
      },
    });
  const write = async (files: Files): Promise<void> => {
    for (const [path, content] of Object.entries(files)) {
      await mkdir(dirname(join(repository, path)), { recursive: true });
      if (content === null) await rm(join(repository, path));
      else await writeFile(join(repository, path), content);
    }
  };
  await mkdir(repository, { recursive: true });
  git('init', '--quiet');
  await write(filesOfR);
  git('add', '--all');
  git('commit', '--quiet', '-m', 'R');
  const commit = git('rev-parse', 'HEAD').trim();
  const difference = async (files: Files): Promise<string> => {
    await write(files);
    git('add', '--all');
    const patch = git('diff', '--cached', '--find-renames');
    git('reset', '--quiet', '--hard');
    return patch;
  };
  return {
    repository,
    patch: difference,
    row: async (id, golden, more = {}) => ({
      instance_id: id,
      repo: 'octo/cat',
      base_commit: commit,
      version: '1.0',
      problem_statement: 'The cat purrs once.',
      patch: await difference(golden.code),
      test_patch: await difference(golden.tests),
      ...more,
    }),
  };
}
