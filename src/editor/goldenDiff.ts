import * as vscode from 'vscode';
import { parseUnified } from '../patch/unified';
import { sideOfUri, sideUri } from './documents';
import type { OpenInstance } from './openInstance';

/**
 * Opens the golden patch as diffs, R on the left and R∘X* on the right, with the states of the changed
 * lines in the gutters. The first time it asks, since it gives the fix away.
 */
export async function showChangeCoverage(open: OpenInstance): Promise<void> {
  if (!(await open.reveal(vscode.l10n.t('Show Change Coverage')))) return;
  const trees = await open.trees();
  const { files } = parseUnified(trees.golden ?? (await open.instance()).goldenPatch);
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

/** Closes the diffs that show X*. */
export async function closeGoldenDiffs(): Promise<void> {
  const showing = vscode.window.tabGroups.all
    .flatMap((group) => group.tabs)
    .filter(
      (tab) =>
        tab.input instanceof vscode.TabInputTextDiff && sideOfUri(tab.input.modified) !== undefined,
    );
  await vscode.window.tabGroups.close(showing);
}
