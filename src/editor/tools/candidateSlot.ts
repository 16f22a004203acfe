import { l10n } from 'vscode';
import { HumanError } from '../../domain/problem';
import type { CandidateSlot } from '../../method/tools/tool';
import { unsafePath } from '../../patch/safety';
import { parseUnified } from '../../patch/unified';
import type { InstanceForModels } from '../forModels';
import { patchOfEditors } from '../unsavedEdits';

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
      refuseUnwritable(patch);
      await apply(patch);
    },
  };
}

/**
 * What VS Code, or we, act on by themselves: with it a model would change what runs on this machine
 * without anybody being asked.
 */
const actedOn =
  /^(\.vscode|\.devcontainer|\.swt-bench)(\/|$)|(^|\/)\.devcontainer\.json$|\.code-workspace$/i;

/**
 * Refuses a patch of a model that reaches beyond the workspace, or would be acted on. (Links are seen where
 * it is written.)
 *
 * @throws HumanError
 */
function refuseUnwritable(patch: string): void {
  for (const { oldPath, newPath } of parseUnified(patch).files) {
    for (const path of new Set([oldPath, newPath])) {
      if (path === null) continue;
      const isActedOn = actedOn.test(path);
      const why = unsafePath(path) ?? (isActedOn ? l10n.t('VS Code acts on it') : undefined);
      if (why !== undefined) throw unwritable(path, why);
    }
  }
}

const unwritable = (path: string, why: string): HumanError =>
  new HumanError(
    l10n.t('{0} cannot be written to: {1}. The candidate is what it was', path, why),
    l10n.t('Write tests to files of the repository'),
  );
