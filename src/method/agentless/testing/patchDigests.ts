import { z } from 'zod';
import { sha256OfJson } from '../../../files/digest';
import { applyPatch } from '../../../patch/applyPatch';
import { parseUnified } from '../../../patch/parseUnified';
import { normalisedPython } from '../../../python/normalised';
import type { ModelView } from '../../modelView';
import type { Steps } from '../../steps/steps';
import { stage } from '../../steps/stages';

/** Raised when patches are normalised in another way. */
const version = 1;

/**
 * Digests of code patches on R, in their order. Patches have equal digests when they leave the same
 * files behind, Python files after normalising.
 *
 * @param patches unified diffs that apply to R
 */
export const patchDigests = (steps: Steps, patches: readonly string[]): Promise<string[]> =>
  stage(
    steps,
    { stage: 'normalised patches', of: [version, patches], schema: z.array(z.string()) },
    async () => {
      const view = await steps.view();
      return Promise.all(patches.map((patch) => patchDigest(view, patch)));
    },
  );

/** A digest of the files that a patch leaves behind, Python files after normalising. */
async function patchDigest(
  { tree, python }: Pick<ModelView, 'tree' | 'python'>,
  patch: string,
): Promise<string> {
  const applied = await applyPatch(parseUnified(patch), (path) => tree.read(path));
  if (!applied.ok) return sha256OfJson(patch);
  const files = [...applied.files]
    .map(([path, text]) => [
      path,
      text !== undefined && path.endsWith('.py') ? normalisedPython(python, text) : (text ?? null),
    ])
    .sort(([one], [other]) => ((one ?? '') < (other ?? '') ? -1 : 1));
  return sha256OfJson(files);
}
