import * as vscode from 'vscode';

/**
 * Shows diffs of several files from the window before again. VS Code brings back their tabs before
 * the extension can provide documents, and such a diff that is in sight then has no files for good.
 *
 * @param isStale tells such a diff by its tab, which does not expose its documents
 * @param show opens the diff in the active group, beside an old one; undefined closes them alone
 * @returns whether a diff is shown again
 */
export async function showTabsAgain(
  isStale: (tab: vscode.Tab) => boolean,
  show: (() => Promise<void>) | undefined,
): Promise<boolean> {
  const { tabGroups } = vscode.window;
  const stale = tabGroups.all.filter(
    ({ activeTab }) => activeTab !== undefined && isStale(activeTab),
  );
  const [place] = stale;
  if (place === undefined) return false;
  if (show === undefined) {
    await tabGroups.close(stale.flatMap(({ activeTab }) => activeTab ?? []));
    return false;
  }
  const before = tabGroups.activeTabGroup.viewColumn;
  // It opens before the old one closes, since a group goes with its last tab.
  await focusGroup(place.viewColumn);
  await show();
  const old = tabGroups.all.flatMap(({ isActive, tabs }) =>
    tabs.filter((tab) => isStale(tab) && !(isActive && tab.isActive)),
  );
  await tabGroups.close(old);
  if (before !== place.viewColumn) await focusGroup(before);
  return true;
}

const ordinals = ['First', 'Second', 'Third', 'Fourth', 'Fifth', 'Sixth', 'Seventh', 'Eighth'];

async function focusGroup(viewColumn: vscode.ViewColumn): Promise<void> {
  const ordinal = ordinals[viewColumn - 1];
  if (ordinal === undefined) return;
  await vscode.commands.executeCommand(`workbench.action.focus${ordinal}EditorGroup`);
}
