import * as vscode from 'vscode';
import { HumanError, type Reporter } from '../../domain/work';
import { afterAWhile, withNotification } from '../shell/progress';
import type {
  FilesOfR,
  InstanceSource,
  LatestVerdict,
  TestsOfInstance,
  Revealing,
} from '../instance/instanceRoles';
import type { Evaluated } from './evaluated';
import { hasUnsaved, saveEdits } from '../instance/saveEdits';
import { isSetToContainers } from '../shell/problems';
import type { ShownVerdict } from './verdictSentences';
import { checkSubmission } from '../../method/tools';
import type { OpenInstance } from '../instance/openInstance';
import { patchOfEditors } from '../instance/patchOfEditors';
import { iconBeside } from '../shell/draw';
import { timeoutSeconds } from '../shell/settings';
import { submissionPick } from './submissionPick';

/** Why a verdict is needed, and how fresh it must be. */
interface VerdictRequest {
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
      vscode.l10n.t('No changes in {0}', open.folder.name),
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

/** The last verdict of an instance; undefined before the first. */
export function shownVerdict(
  open: Pick<InstanceSource, 'folder'> & Revealing & LatestVerdict,
  current: boolean,
): ShownVerdict | undefined {
  const { last: evaluated, environment, revealed, wasRevealed } = open;
  if (evaluated === undefined) return undefined;
  const { language } = vscode.env;
  const inContainers = isSetToContainers(open.folder.uri);
  return { evaluated, current, environment, inContainers, revealed, wasRevealed, language };
}

/**
 * Checks the candidate as the editors show it, on R alone, and shows the answers.
 *
 * @throws HumanError when R is unavailable
 */
export async function checkBeforeSubmitting(open: OpenInstance, reporter: Reporter): Promise<void> {
  const check = await withNotification(
    vscode.l10n.t('Checking the candidate on R'),
    reporter,
    async (shown, signal) => {
      const view = await open.viewOfPerson();
      try {
        return await checkSubmission(view, await patchOfEditors(open, signal), {
          format: 'unified',
          timeoutSeconds: timeoutSeconds(open.folder.uri),
          signal,
          reporter: shown,
        });
      } finally {
        await view.dispose();
      }
    },
  );
  if (check === undefined) return;
  const { entries, ...about } = submissionPick(check);
  await vscode.window.showQuickPick(entries.map(iconBeside), { ...about, ignoreFocusOut: true });
}
