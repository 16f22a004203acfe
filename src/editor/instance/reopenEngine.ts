import * as vscode from 'vscode';
import type { Reporter } from '../../domain/reporter';
import { withNotification } from '../shell/withNotification';
import type { OpenInstance } from './openInstance';

/** Opens the engine of the open instance again, and says what it found. */
export async function reopenEngine({ runs }: OpenInstance, reporter: Reporter): Promise<void> {
  const found = await withNotification(
    vscode.l10n.t('Looking for Python or Docker'),
    reporter,
    (shown, signal) => runs.reopenEngine({ reporter: shown, signal }),
  );
  if (found === undefined) return;
  void vscode.window.showInformationMessage(vscode.l10n.t('Tests run with: {0}', found));
}
