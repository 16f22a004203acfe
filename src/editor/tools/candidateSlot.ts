import type { CandidateSlot } from '../../method/tools/tool';
import type { InstanceForModels } from './instanceForModels';
import { patchOfEditors } from '../instance/patchOfEditors';

/**
 * The candidate of an agent that works in the workspace: the edits of R that the editors show. An
 * applied candidate replaces it as one edit, which one Undo reverts.
 *
 * @param apply makes the workspace R with a patch applied
 */
export function candidateSlot(
  open: InstanceForModels,
  apply: (patch: string) => Promise<unknown>,
): CandidateSlot {
  return {
    read: () => patchOfEditors(open),
    apply: async (patch) => {
      await apply(patch);
    },
  };
}
