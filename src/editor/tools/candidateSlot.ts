import type { CandidateSlot } from '../../method/tools/tool';
import type { InstanceForModels } from './instanceForModels';
import { patchOfEditors } from '../instance/patchOfEditors';

/**
 * The candidate of an agent that works in the workspace: what is edited there against R, as the editors
 * show it. What is applied takes its place, as one edit that one Undo takes back.
 *
 * @param apply makes the workspace R with a patch
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
