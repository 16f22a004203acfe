import type { Instance } from '../domain/instance';
import { HumanError } from '../domain/humanError';
import { git, GitError } from './git/git';
import { applyFuzzily } from './git/applyFuzzily';
import type { TreeSource } from './source';
import { withoutPassword } from './git/unreachable';
import { plainEdits, writePlainEdits } from './plainEdits';
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
 * @returns how, with the object id of the commit's tree
 * @throws HumanError when no way applies the whole patch; the tree is then unusable
 */
export async function applyGolden(
  instance: Instance,
  source: TreeSource,
  tree: string,
  signal: AbortSignal | undefined,
): Promise<{ readonly applied: Applied; readonly tree: string }> {
  const appliedWith = await applyPatchOfRow(tree, instance.goldenPatch, signal).catch(
    (error: unknown) => {
      if (!(error instanceof GitError)) throw error;
      throw new GoldenPatchUnfit(
        `The golden patch of ${instance.id} does not apply to its repository from ${withoutPassword(source.from)} (${error.stderr.trim().split('\n')[0]})`,
        source.kind === 'snapshot'
          ? 'Name a snapshot closer to the base commit with --source'
          : 'Check that base_commit and patch of the row belong together',
      );
    },
  );
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
  const applied = golden === undefined ? { appliedWith } : { appliedWith, golden };
  return { applied, tree: await commitAlone(tree, signal) };
}

/**
 * Applies a patch of a row to a tree in the first of the ways that fits.
 *
 * @returns the command
 * @throws GitError with git's words when none does; the tree is then unusable
 */
export async function applyPatchOfRow(
  tree: string,
  patch: string,
  signal: AbortSignal | undefined,
): Promise<string> {
  const plain = await plainEdits(tree, patch);
  if (plain !== undefined) {
    await writePlainEdits(tree, plain);
    return plainApply;
  }
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
