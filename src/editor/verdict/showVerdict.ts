import * as vscode from 'vscode';
import { hasUnsaved } from '../instance/saveEdits';
import { commandIds } from '../shell/names';
import type { InstanceSource, LatestVerdict, Revealing } from '../instance/instanceRoles';
import { showVerdictDocument } from './verdictDocument';
import { shownVerdict } from './shownVerdict';
import { verdictInWords, verdictSentences } from './verdictSentences';

interface Step extends vscode.QuickPickItem {
  readonly take: () => PromiseLike<unknown>;
}

/**
 * Shows the verdict in sentences, with next steps, as a quick pick that works with the keyboard and
 * a screen reader. A click on the status-bar item opens it.
 */
export async function showVerdict(open: InstanceSource & Revealing & LatestVerdict): Promise<void> {
  const current = !hasUnsaved(open) && (await open.isCurrent().catch(() => false));
  const verdict = shownVerdict(open, current);
  if (verdict === undefined) {
    await vscode.commands.executeCommand(commandIds.reproduce);
    return;
  }
  const { strict } = verdict.evaluated.result;
  const label = (text: string): vscode.QuickPickItem => ({
    label: text,
    kind: vscode.QuickPickItemKind.Separator,
  });
  // Choosing a sentence opens the whole verdict as a document.
  const sentences = verdictSentences(vscode.l10n, verdict).map((sentence) => ({
    // Names of candidates and tests must not become icons.
    label: sentence.replaceAll('$(', '\\$('),
    take: () => showVerdictDocument(open),
  }));
  const chosen = await vscode.window.showQuickPick<vscode.QuickPickItem | Step>(
    [
      label(vscode.l10n.t('Next')),
      ...steps(open, current && strict.success),
      label(vscode.l10n.t('Verdict')),
      ...sentences,
    ],
    {
      title: current
        ? vscode.l10n.t('Verdict: {0}', verdictInWords(strict))
        : vscode.l10n.t('Verdict: {0}, edited since', verdictInWords(strict)),
      placeHolder: strict.explanation,
    },
  );
  if (chosen !== undefined && 'take' in chosen) await chosen.take();
}

/** Possible next steps, the likeliest first. */
function steps(open: InstanceSource & Revealing & LatestVerdict, exportable: boolean): Step[] {
  const command = (label: string, id: string, detail: string): Step => ({
    label,
    detail,
    take: () => vscode.commands.executeCommand(id),
  });
  const hidden = open.revealed ? '' : vscode.l10n.t('Asks before it reveals the golden patch. ');
  const run = command(
    `$(run-all) ${vscode.l10n.t('Reproduce on R and R∘X*')}`,
    commandIds.reproduce,
    vscode.l10n.t('Runs everything again.'),
  );
  const save = command(
    `$(export) ${vscode.l10n.t('Export Reference Reproduction…')}`,
    commandIds.exportReproduction,
    vscode.l10n.t('Patch, prediction and note.'),
  );
  return [
    ...(exportable ? [save, run] : [run, save]),
    command(
      `$(checklist) ${vscode.l10n.t('Show Change Coverage')}`,
      commandIds.showChangeCoverage,
      hidden + vscode.l10n.t('The state of every changed line.'),
    ),
    command(
      `$(diff) ${vscode.l10n.t('Compare with Golden Tests…')}`,
      commandIds.compareWithGolden,
      hidden + vscode.l10n.t('Both as a diff, and what each covers.'),
    ),
    {
      label: `$(note) ${vscode.l10n.t('Show the Verdict as a Document')}`,
      detail: vscode.l10n.t('With every test on both sides.'),
      take: () => showVerdictDocument(open),
    },
  ];
}
