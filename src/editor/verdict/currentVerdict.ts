import * as vscode from 'vscode';
import { HumanError, type Reporter } from '../../domain/work';
import { afterAWhile } from '../shell/afterAWhile';
import { withNotification } from '../shell/withNotification';
import type {
  FilesOfR,
  InstanceSource,
  LatestVerdict,
  TestsOfInstance,
} from '../instance/instanceRoles';
import type { Evaluated } from './evaluated';
import { hasUnsaved, saveEdits } from '../instance/saveEdits';

/** Why a verdict is needed, and how fresh it must be. */
export interface VerdictRequest {
  /** Title of the notification while it runs. */
  readonly title: string;
  /**
   * Whether all tests of the touched files must have run in this window, with no outcome kept from
   * an earlier run.
   */
  readonly complete: boolean;
}

/**
 * The verdict on the current workspace: the last one if it is current, else that of a new run.
 * Saves the edits first, as before any run.
 *
 * @returns undefined when the run was cancelled
 * @throws HumanError when there is no candidate, or it cannot be run; Cancelled before a run
 */
export async function currentVerdict(
  open: LatestVerdict & FilesOfR & TestsOfInstance,
  reporter: Reporter,
  { title, complete }: VerdictRequest,
): Promise<Evaluated | undefined> {
  await saveEdits(open);
  const known = await afterAWhile(
    vscode.l10n.t('Reading the changes in {0}', open.folder.name),
    (signal) => knownVerdict(open, complete, signal),
  );
  if (known !== undefined) return known;
  return withNotification(title, reporter, (shown, signal) =>
    open.runs.evaluate({ signal, reporter: shown }),
  );
}

/** The last verdict if it will do. @throws HumanError when there is no candidate, Cancelled */
async function knownVerdict(
  open: LatestVerdict & FilesOfR,
  complete: boolean,
  signal: AbortSignal,
): Promise<Evaluated | undefined> {
  if ((await open.candidatePatch(signal)).trim() === '') {
    throw new HumanError(
      vscode.l10n.t('Nothing is changed in {0}', open.folder.name),
      vscode.l10n.t('Write a test first'),
    );
  }
  const { last } = open;
  const willDo = last !== undefined && (!complete || isComplete(last));
  return willDo && (await isStill(open, last)) ? last : undefined;
}

const isComplete = ({ result, restored }: Evaluated): boolean =>
  result.affected === undefined && restored === undefined;

/**
 * Whether a verdict is about exactly the current workspace, unsaved editors included, and no later
 * run has replaced it.
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
