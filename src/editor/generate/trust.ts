import * as vscode from 'vscode';
import { HumanError } from '../../domain/humanError';

/**
 * Nothing that an untrusted workspace says is sent to a model, and none of its code runs.
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
