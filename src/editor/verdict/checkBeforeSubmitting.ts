import * as vscode from 'vscode';
import type { Reporter } from '../../domain/work';
import { checkSubmission } from '../../method/submission/submissionCheck';
import type { OpenInstance } from '../instance/openInstance';
import { patchOfEditors } from '../instance/patchOfEditors';
import { iconBeside } from '../shell/iconBeside';
import { timeoutSeconds } from '../shell/settings';
import { withNotification } from '../shell/withNotification';
import { submissionPick } from './submissionPick';

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
          ...{ format: 'unified', timeoutSeconds: timeoutSeconds(open.folder.uri) },
          ...{ signal, reporter: shown },
        });
      } finally {
        await view.dispose();
      }
    },
  );
  if (check === undefined) return;
  const { entries, ...about } = submissionPick(vscode.l10n, check);
  await vscode.window.showQuickPick(entries.map(iconBeside), { ...about, ignoreFocusOut: true });
}
