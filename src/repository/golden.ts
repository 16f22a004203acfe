import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Instance } from '../domain/instance';
import { Cancelled, HumanError } from '../domain/humanError';
import { parseUnified } from '../patch/unified/parseUnified';
import { bytesOf } from '../patch/bytes';
import { git, GitError, neutralFolder } from './git/git';
import type { TreeSource } from './source';
import { withoutPassword } from './git/unreachable';
import { commitAlone, stageAll } from './repositoryOfR';

/** How the golden patch was applied. */
export interface Applied {
  /** The command, as a person would write it. */
  readonly appliedWith: string;
  /**
   * The difference between R and R∘X* as git prints it, if the command was not plain `git apply`.
   * Then the lines in the row's patch are not those that changed.
   */
  readonly golden?: string;
}

export const plainApply = 'git apply';

/** The golden patch does not apply to R, which is a fault of the row and not of the machine. */
export class GoldenPatchUnfit extends HumanError {}

/**
 * Ways to apply a golden patch, the strictest first; each is tried when those before it fail. The
 * reference harness tries `git apply --reject` and then `patch --batch --fuzz=5`, both of which can
 * leave a tree half-patched. Every way here applies the whole patch or nothing.
 *
 * 1. as it is
 * 2. with different white space in the context, as a conversion of line ends leaves it
 * 3. with one matching line of context at either end of a hunk instead of three
 * 4. `patch --fuzz=5`, the harness's last way, which also works without context
 *
 * `--recount` is not among them, since a truncated patch would pass for whole.
 */
const ways: readonly (readonly string[])[] = [[], ['--ignore-whitespace'], ['-C1']];

/**
 * Turns a copy of R into R∘X*, which becomes the only commit of its repository.
 *
 * @throws HumanError when no way applies the whole patch; the tree is then unusable
 */
export async function applyGolden(
  instance: Instance,
  source: TreeSource,
  tree: string,
  signal: AbortSignal | undefined,
): Promise<Applied> {
  const appliedWith = await apply(tree, instance.goldenPatch, signal).catch((error: unknown) => {
    if (!(error instanceof GitError)) throw error;
    throw new GoldenPatchUnfit(
      `The golden patch of ${instance.id} does not apply to its repository from ${withoutPassword(source.from)} (${error.stderr.trim().split('\n')[0]})`,
      source.kind === 'snapshot'
        ? 'Name a snapshot closer to the base commit with --source'
        : 'Check that base_commit and patch of the row belong together',
    );
  });
  await stageAll(tree, signal);
  const golden =
    appliedWith === plainApply
      ? undefined
      : await git(
          [
            ...['diff', '--cached', '--no-color', '--no-ext-diff', '--no-textconv', '--no-renames'],
            ...['--binary', 'HEAD'],
          ],
          { cwd: tree, signal },
        );
  await commitAlone(tree, signal);
  return golden === undefined ? { appliedWith } : { appliedWith, golden };
}

async function apply(
  tree: string,
  patch: string,
  signal: AbortSignal | undefined,
): Promise<string> {
  let why: GitError | undefined;
  for (const way of ways) {
    try {
      await applyToTree(tree, patch, signal, way);
      return [plainApply, ...way].join(' ');
    } catch (error) {
      if (!(error instanceof GitError)) throw error;
      why ??= error;
    }
  }
  const fuzzy = await applyFuzzily(tree, patch, signal);
  if (fuzzy !== undefined) return fuzzy;
  throw why ?? new GitError('apply', 'the patch does not apply', undefined);
}

/**
 * Applies a unified diff to the files of a tree with `git apply`. It refuses paths outside the
 * tree, and changes nothing when any part does not fit.
 *
 * @throws GitError with git's words when it does not apply
 */
export async function applyToTree(
  tree: string,
  patch: string,
  signal?: AbortSignal,
  options: readonly string[] = [],
  env: Readonly<Record<string, string>> = {},
): Promise<void> {
  await git(['apply', '--whitespace=nowarn', ...options, '-'], {
    cwd: tree,
    input: patch.endsWith('\n') ? patch : `${patch}\n`,
    signal,
    env,
  });
}

/**
 * Applies a patch with GNU patch, after a dry run in which every hunk must apply. Undefined when
 * one does not, or without a GNU patch that keeps paths inside the tree (2.7 and later do).
 */
async function applyFuzzily(
  tree: string,
  patch: string,
  signal: AbortSignal | undefined,
): Promise<string | undefined> {
  // GNU patch accepts a truncated hunk as one with less context.
  const { files, problems } = parseUnified(patch);
  if (!files.every(isInside) || problems.some((each) => each.severity === 'error'))
    return undefined;
  const version = await runPatch(['--version'], tree, signal);
  if (!/^GNU patch (2\.([7-9]|\d\d)|[3-9])/.test(version?.text ?? '')) return undefined;
  const file = join(dirname(tree), `golden.${randomUUID()}.patch`);
  // Never reversed, and never as an ed script, which runs commands. No .orig and .rej files remain.
  const options = [
    ...['--unified', '--force', '--forward', '--fuzz=5', '-p1', '--binary'],
    ...['--no-backup-if-mismatch', '--reject-file=-', '--silent', '-i', file],
  ];
  try {
    await writeFile(file, bytesOf(patch.endsWith('\n') ? patch : `${patch}\n`));
    const trial = await runPatch(['--dry-run', ...options], tree, signal);
    if (trial?.status !== 0 || /ignor|skipp|reversed/i.test(trial.text)) return undefined;
    const real = await runPatch(options, tree, signal);
    if (real?.status !== 0) {
      throw new GitError('apply', `patch: ${real?.text ?? 'cannot be run'}`, real?.status);
    }
    return 'patch --fuzz=5 -p1';
  } finally {
    await rm(file, { force: true });
  }
}

function isInside(file: { readonly oldPath: string | null; readonly newPath: string | null }) {
  return [file.oldPath, file.newPath].every(
    (path) =>
      path === null ||
      (!/^([/\\]|[A-Za-z]:)/.test(path) &&
        !path.split(/[/\\]/).some((part) => part === '..' || part.toLowerCase() === '.git')),
  );
}

/** Undefined when patch cannot be run. */
function runPatch(
  args: readonly string[],
  tree: string,
  signal: AbortSignal | undefined,
): Promise<{ readonly status: number; readonly text: string } | undefined> {
  const { PATH } = process.env;
  return new Promise((done, fail) => {
    execFile(
      'patch',
      ['--directory', tree, ...args],
      // Leaves out POSIXLY_CORRECT, PATCH_GET and similar variables, which change how patch works.
      { cwd: neutralFolder, signal, env: { ...(PATH === undefined ? {} : { PATH }), LC_ALL: 'C' } },
      (error, stdout, stderr) => {
        if (signal?.aborted === true) return fail(new Cancelled());
        if (error === null) return done({ status: 0, text: stdout + stderr });
        const { code } = error;
        done(typeof code === 'number' ? { status: code, text: stdout + stderr } : undefined);
      },
    );
  });
}
