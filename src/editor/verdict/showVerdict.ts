import * as vscode from 'vscode';
import { hasUnsaved } from '../instance/saveEdits';
import { afterAWhile } from '../shell/afterAWhile';
import { commandIds } from '../shell/names';
import type { InstanceSource, LatestVerdict, Revealing } from '../instance/instanceRoles';
import { goToTest } from './goToTest';
import { showVerdictDocument } from './verdictDocument';
import { shownVerdict } from './shownVerdict';
import { verdictPick, type VerdictEntry } from './verdictPick';

/**
 * Shows the verdict in sentences, with next steps, as a quick pick that works with the keyboard and
 * a screen reader. A click on the status-bar item opens it.
 */
export async function showVerdict(open: InstanceSource & Revealing & LatestVerdict): Promise<void> {
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

/** Whether the verdict is about the saved workspace; no where that cannot be known. */
async function isCurrent(open: LatestVerdict): Promise<boolean> {
  const title = vscode.l10n.t('Comparing the workspace with the verdict');
  return afterAWhile(title, () => open.isCurrent().catch(() => false));
}

const itemOf = (entry: VerdictEntry) =>
  'heading' in entry ? { label: entry.heading, kind: vscode.QuickPickItemKind.Separator } : entry;
