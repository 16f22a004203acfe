import * as vscode from 'vscode';
import { hasUnsaved } from '../instance/saveEdits';
import { afterAWhile } from '../shell/progress';
import { iconBeside } from '../shell/draw';
import { commandIds, scheme, verdictAuthority } from '../shell/names';
import type { InstanceSource, LatestVerdict, Revealing } from '../instance/instanceRoles';
import { shownVerdict } from './currentVerdict';
import { runPick, verdictPick } from './verdictPick';
import { fileOf, functionOf } from '../../domain/testId';
import { HumanError } from '../../domain/work';
import { findTests } from '../../python/tests';
import { uriInside } from '../testing/testMessages';
import { reproductionNote } from '../../results/reproduction';
import { describe } from './exportReproduction';

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
  const { title, placeHolder, entries } = verdictPick(verdict);
  const chosen = await vscode.window.showQuickPick(entries.map(itemOf), { title, placeHolder });
  if (chosen === undefined || !('does' in chosen)) return;
  const { does } = chosen;
  if (does === 'open the document') await showVerdictDocument(open);
  else if ('goTo' in does) await goToTest(open, does.goTo);
  else await vscode.commands.executeCommand(does.command);
}

/** Shows what the run under way has found. Returns whether it ended before the user chose. */
async function endsWhileShown(open: LatestVerdict): Promise<boolean> {
  const ended = new vscode.CancellationTokenSource();
  const subscription = open.onDidChange(() => {
    if (!open.isRunning) ended.cancel();
  });
  const { title, placeHolder, entries } = runPick(open.soFar?.first);
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

/**
 * Opens a test of the workspace at its definition. An id that stands for a file or a class opens the
 * file.
 *
 * @throws HumanError when the file is gone
 */
async function goToTest(open: InstanceSource, test: string): Promise<void> {
  const path = fileOf(test);
  const uri = uriInside(open.folder, path);
  const document =
    uri === undefined
      ? undefined
      : await vscode.workspace.openTextDocument(uri).then(
          (found) => found,
          () => undefined,
        );
  if (document === undefined) {
    throw new HumanError(
      vscode.l10n.t('Could not open {0}', path),
      vscode.l10n.t('The file no longer exists. Run "SWT-Bench: Run Tests on R and R∘X*" again'),
    );
  }
  const name = functionOf(test);
  const found = findTests(await open.python(), document.getText(), { path });
  const line = (found.find(({ id }) => id === name)?.defLine ?? 1) - 1;
  await vscode.window.showTextDocument(document, {
    selection: new vscode.Range(line, 0, line, 0),
  });
}

/**
 * Shows the summary of an export as a rendered page. The page follows the verdict, and shows
 * of the golden patch only what is revealed at that time.
 */
async function showVerdictDocument(open: InstanceSource & LatestVerdict): Promise<void> {
  if (open.last === undefined) return;
  const uri = vscode.Uri.from({
    scheme,
    authority: verdictAuthority,
    path: `/${vscode.l10n.t('Verdict on {0}', open.marker.id)}.md`,
  });
  await vscode.commands.executeCommand('markdown.showPreview', uri);
}

/** Content of that document. */
export async function verdictText(
  open: Revealing & LatestVerdict & InstanceSource,
): Promise<string> {
  const { last } = open;
  return last === undefined
    ? `${vscode.l10n.t('No verdict yet. Run "SWT-Bench: Run Tests on R and R∘X*".')}\n`
    : reproductionNote(await describe(open, last));
}
