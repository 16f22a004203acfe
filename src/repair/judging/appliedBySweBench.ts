import type { InstanceSession } from '../../evaluation/session';
import { applyPatch } from '../../patch/unified/applyPatch';
import type { ParsedPatch } from '../../patch/unified/parsedPatch';
import { parseUnified } from '../../patch/unified/parseUnified';
import { checkPatchPaths } from '../../patch/unsafePath';
import { applyFuzzily } from '../../repository/git/applyFuzzily';
import { applyOnCopies } from '../../repository/git/applyOnCopies';

/** A code patch as SWE-bench applies it, with the command that does so. */
interface AppliedPatch {
  readonly patch: ParsedPatch;
  readonly with: string;
}

/**
 * A unified diff as SWE-bench applies it to R: as it is written, with `git apply`, else with `patch
 * --fuzz=5`. Undefined where neither does. Of its other ways, `git apply --reject` succeeds only
 * where the first does, and `--3way` needs objects that R's tree does not have.
 *
 * @throws Cancelled
 */
export async function appliedBySweBench(
  { readFileOfR }: Pick<InstanceSession, 'readFileOfR'>,
  text: string,
  signal: AbortSignal | undefined,
): Promise<AppliedPatch | undefined> {
  const patch = parseUnified(text);
  if (patch.files.length === 0 || checkPatchPaths(patch).length > 0) return undefined;
  if (!patch.problems.some(({ severity }) => severity === 'error')) {
    const applied = await applyPatch(patch, readFileOfR);
    if (applied.ok) return { patch: applied.placed, with: 'git apply' };
  }
  const fuzzy = await applyOnCopies(readFileOfR, text, (tree) =>
    applyFuzzily(tree, text, signal, { whole: false }),
  );
  return fuzzy && { patch: parseUnified(fuzzy.patch), with: fuzzy.appliedWith };
}
