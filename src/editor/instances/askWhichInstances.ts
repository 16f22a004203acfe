import * as vscode from 'vscode';

/** Asks which of two lists a command is about: the open instance, or the selected rows. */
export async function askWhichInstances(
  lists: readonly (readonly string[])[],
): Promise<readonly string[] | undefined> {
  const [open = [], selected = []] = lists;
  const chosen = await vscode.window.showQuickPick(
    [
      { label: open[0] ?? '', description: vscode.l10n.t('the open instance'), ids: open },
      {
        label:
          selected.length === 1
            ? (selected[0] ?? '')
            : vscode.l10n.t('{0} instances', selected.length),
        description: vscode.l10n.t('selected in the Instances view'),
        ids: selected,
      },
    ],
    { title: vscode.l10n.t('Which Instances?') },
  );
  return chosen?.ids;
}
