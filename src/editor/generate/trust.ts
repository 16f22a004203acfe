import * as vscode from 'vscode';
import { HumanError } from '../../domain/work';

/**
 * In an untrusted workspace no text goes to a model, and no code runs.
 *
 * @throws HumanError in a workspace that is not trusted
 */
export function refuseUntrusted(): void {
  if (vscode.workspace.isTrusted) return;
  throw new HumanError(
    vscode.l10n.t('This workspace is not trusted: no model works on it'),
    vscode.l10n.t('Trust it first'),
  );
}
