import * as vscode from 'vscode';

/**
 * Asks whether the answers of a run, and what its stages found, are to be deleted.
 *
 * @param title of the question
 * @param what names the run
 */
export async function askToForget(title: string, what: string): Promise<boolean> {
  const forget = {
    label: vscode.l10n.t('Forget {0}', what),
    detail: vscode.l10n.t(
      'Its answers and what its stages found are deleted. Getting them again means paying for them again.',
    ),
  };
  const keep = { label: vscode.l10n.t('Keep them') };
  return (await vscode.window.showQuickPick([forget, keep], { title })) === forget;
}
