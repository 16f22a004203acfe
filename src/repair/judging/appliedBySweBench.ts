import type { InstanceSession } from '../../evaluation/session';
import { applyPatch } from '../../patch/applyPatch';
import type { ParsedPatch } from '../../patch/parsedPatch';
import { parseUnified } from '../../patch/parseUnified';
import { withoutSubmodules } from '../../patch/testFiles';
import { checkPatchPaths } from '../../patch/unsafePath';
import { applyFuzzily, applyToTree, applyOnCopies } from '../../repository/trees';
import { git, GitError } from '../../repository/git';

/** A code patch as SWE-bench applies it, with the command that does so. */
interface AppliedPatch {
  readonly patch: ParsedPatch;
  readonly with: string;
}

/**
 * A unified diff as SWE-bench applies it to R: as it is written, with `git apply`, else with `git
 * apply --3way`, else with `patch --fuzz=5`. Undefined where none does. Its other way, `git apply
 * --reject`, succeeds only where the first does.
 *
 * @throws Cancelled
 */
export async function appliedBySweBench(
  { readFileOfR }: Pick<InstanceSession, 'readFileOfR'>,
  written: string,
  signal: AbortSignal | undefined,
): Promise<AppliedPatch | undefined> {
  const { text } = withoutSubmodules(written);
  const patch = parseUnified(text);
  if (patch.files.length === 0 || checkPatchPaths(patch).length > 0) return undefined;
  if (!patch.problems.some(({ severity }) => severity === 'error')) {
    const applied = await applyPatch(patch, readFileOfR);
    if (applied.ok) return { patch: applied.placed, with: 'git apply' };
  }
  const found =
    (await applyOnCopies(readFileOfR, text, (tree) => mergeThreeWays(tree, text, signal))) ??
    (await applyOnCopies(readFileOfR, text, (tree) =>
      applyFuzzily(tree, text, signal, { whole: false }),
    ));
  return found && { patch: parseUnified(found.patch), with: found.appliedWith };
}

/**
 * Merges each part with what the parts before it made of the file that its `index` line names. The
 * files of R itself are there to merge with; its history is not.
 */
async function mergeThreeWays(
  tree: string,
  text: string,
  signal: AbortSignal | undefined,
): Promise<string | undefined> {
  try {
    await git(['init', '--quiet'], { cwd: tree, signal });
    await git(['add', '--all', '--force'], { cwd: tree, signal });
    await applyToTree(tree, text, signal, ['--3way']);
    return 'git apply --3way';
  } catch (error) {
    if (!(error instanceof GitError)) throw error;
    return undefined;
  }
}
