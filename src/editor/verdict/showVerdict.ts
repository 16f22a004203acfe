import * as vscode from 'vscode';
import { hasUnsaved } from '../instance/saveEdits';
import { afterAWhile } from '../shell/afterAWhile';
import { iconBeside } from '../shell/iconBeside';
import { commandIds } from '../shell/names';
import type { InstanceSource, LatestVerdict, Revealing } from '../instance/instanceRoles';
import { goToTest } from './goToTest';
import { showVerdictDocument } from './verdictDocument';
import { shownVerdict } from './shownVerdict';
import { runPick, verdictPick } from './verdictPick';

/**
 * Shows the verdict in sentences, with next steps, as a quick pick that works with the keyboard and
 * a screen reader. A click on the status-bar item opens it. While tests run, it first offers to
 * wait or to cancel, and shows the verdict if the run ends meanwhile.
 */
export async function showVerdict(open: InstanceSource & Revealing & LatestVerdict): Promise<void> {
  if (open.isRunning && !(await endsWhileShown(open))) return;
  const current = !hasUnsaved(open) && (await isCurrent(open));
  const verdict = shownVerdict(open, current);
  if (verdict === undefined) {
    await vscode.commands.executeCommand(commandIds.reproduce);
    return;
  }
  const { title, placeHolder, entries } = verdictPick(vscode.l10n, verdict);
  const chosen = await vscode.window.showQuickPick(entries.map(itemOf), { title, placeHolder });
  if (chosen === undefined || !('does' in chosen)) return;
  const { does } = chosen;
  if (does === 'open the document') await showVerdictDocument(open);
  else if ('goTo' in does) await goToTest(open, does.goTo);
  else await vscode.commands.executeCommand(does.command);
}

/** Shows what the run under way has found. Returns whether it ended before a person chose. */
async function endsWhileShown(open: LatestVerdict): Promise<boolean> {
  const ended = new vscode.CancellationTokenSource();
  const subscription = open.onDidChange(() => {
    if (!open.isRunning) ended.cancel();
  });
  const { title, placeHolder, entries } = runPick(vscode.l10n, open.soFar?.first);
  try {
    const chosen = await vscode.window.showQuickPick(
      entries.map(itemOf),
      { title, placeHolder },
      ended.token,
    );
    if (chosen !== undefined && 'does' in chosen && chosen.does !== 'wait') {
      await vscode.commands.executeCommand(chosen.does.command);
      return false;
    }
    return chosen === undefined && ended.token.isCancellationRequested;
  } finally {
    subscription.dispose();
    ended.dispose();
  }
}

/** Whether the verdict is about the saved workspace; no where that cannot be known. */
async function isCurrent(open: LatestVerdict): Promise<boolean> {
  const title = vscode.l10n.t('Comparing the workspace with the verdict');
  return afterAWhile(title, () => open.isCurrent().catch(() => false));
}

const itemOf = <Choice extends { readonly label: string }>(
  entry: { readonly heading: string } | Choice,
) =>
  'heading' in entry
    ? { label: entry.heading, kind: vscode.QuickPickItemKind.Separator }
    : iconBeside(entry);
