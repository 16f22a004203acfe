import * as vscode from 'vscode';
import { HumanError, orCancelled, type Reporter } from '../../domain/work';
import type { EngineReadiness } from '../shell/engineReadiness';
import { forgetShellPython } from '../shell/shellPython';
import { withNotification } from '../shell/withNotification';
import type { OpenInstance } from './openInstance';

/**
 * Opens the engine of the open instance again, and says what it found.
 *
 * @throws HumanError when the engine is not available
 */
export async function reopenEngine(
  { runs, environmentNotes }: OpenInstance,
  readiness: EngineReadiness,
  reporter: Reporter,
): Promise<void> {
  const found = await withNotification(
    vscode.l10n.t('Looking for Python or Docker'),
    reporter,
    async (shown, signal) => {
      forgetShellPython();
      // Views wait for the check too, so it goes on when the person gives up.
      await orCancelled(readiness.check(), signal);
      if (readiness.problem !== undefined) throw new HumanError(readiness.problem.text);
      return runs.reopenEngine({ reporter: shown, signal });
    },
  );
  if (found === undefined) return;
  await environmentNotes.keep((at) => vscode.l10n.t('Looked again at {0}: {1}', at, found));
  void vscode.window.showInformationMessage(vscode.l10n.t('Tests run with: {0}', found));
}
