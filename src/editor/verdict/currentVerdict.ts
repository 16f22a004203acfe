import * as vscode from 'vscode';
import { HumanError } from '../../domain/humanError';
import type { Reporter } from '../../domain/reporter';
import { withNotification } from '../shell/withNotification';
import type {
  FilesOfR,
  InstanceSource,
  LatestVerdict,
  TestsOfInstance,
} from '../instance/instanceRoles';
import type { Evaluated } from './evaluated';
import { hasUnsaved, saveEdits } from '../instance/saveEdits';

/** What a verdict is asked for. */
export interface VerdictRequest {
  /** Shown while it runs. */
  readonly title: string;
  /** Every test of the touched files has to have run in this window, none kept from an earlier run. */
  readonly complete: boolean;
}

/**
 * The verdict on what is in the workspace now: the last one where it is that, else that of a run made
 * for it. Edits are saved first, as before any run.
 *
 * @returns undefined when the run was cancelled
 * @throws HumanError when there is no candidate, or it cannot be run
 */
export async function currentVerdict(
  open: LatestVerdict & FilesOfR & TestsOfInstance,
  reporter: Reporter,
  { title, complete }: VerdictRequest,
): Promise<Evaluated | undefined> {
  await saveEdits(open);
  if ((await open.candidatePatch()).trim() === '') {
    throw new HumanError(
      vscode.l10n.t('Nothing is changed in {0}', open.folder.name),
      vscode.l10n.t('Write a test first'),
    );
  }
  const { last } = open;
  if (last !== undefined && (!complete || isComplete(last)) && (await isStill(open, last))) {
    return last;
  }
  return withNotification(title, reporter, (shown, signal) =>
    open.runs.evaluate({ signal, reporter: shown }),
  );
}

const isComplete = ({ result, restored }: Evaluated): boolean =>
  result.affected === undefined && restored !== true;

/**
 * Whether a verdict is about exactly what is in the workspace now, editors included, and no later run
 * has told otherwise.
 */
export async function isStill(
  open: LatestVerdict & Pick<InstanceSource, 'folder'>,
  evaluated: Evaluated,
): Promise<boolean> {
  const agrees = (): boolean =>
    open.last !== undefined &&
    open.last.digest === evaluated.digest &&
    open.last.result.strict.success === evaluated.result.strict.success;
  return !hasUnsaved(open) && agrees() && (await open.isCurrent()) && !hasUnsaved(open) && agrees();
}
