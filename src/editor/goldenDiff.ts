import * as vscode from 'vscode';
import { parseUnified } from '../patch/unified';
import { sideUri } from './documents';
import type { OpenInstance } from './openInstance';

/**
 * Opens the golden patch as diffs, R on the left and R∘X* on the right, with the states of the changed
 * lines in the gutters. The first time it asks, since it gives the fix away.
 */
export async function showChangeCoverage(open: OpenInstance): Promise<void> {
  if (!open.revealed) {
    const reveal = vscode.l10n.t('Reveal the golden patch (X*)');
    const answer = await vscode.window.showQuickPick(
      [
        {
          label: reveal,
          detail: vscode.l10n.t(
            'Change coverage is drawn on the maintainers’ fix, which gives it away.',
          ),
        },
        { label: vscode.l10n.t('Keep it hidden') },
      ],
      { title: vscode.l10n.t('Show Change Coverage') },
    );
    if (answer?.label !== reveal) return;
    await open.setRevealed(true);
  }
  const { files } = parseUnified((await open.instance()).goldenPatch);
  const python = files.filter((file) => (file.newPath ?? file.oldPath)?.endsWith('.py') === true);
  // The last one opened is the one in front: begin with the first file of the patch.
  for (const file of [...(python.length > 0 ? python : files)].reverse()) {
    const path = file.newPath ?? file.oldPath;
    if (path === null) continue;
    await vscode.commands.executeCommand(
      'vscode.diff',
      sideUri('base', file.oldPath ?? path),
      sideUri('fixed', path),
      `${path} (R ↔ R∘X*)`,
      { preview: false },
    );
  }
}

/** Hides X* again and closes what shows it. */
export async function hideGolden(open: OpenInstance): Promise<void> {
  await open.setRevealed(false);
  const showing = vscode.window.tabGroups.all
    .flatMap((group) => group.tabs)
    .filter(
      (tab) =>
        tab.input instanceof vscode.TabInputTextDiff &&
        tab.input.modified.scheme === sideUri('fixed', '').scheme,
    );
  await vscode.window.tabGroups.close(showing);
}
