import * as vscode from 'vscode';
import type { Reporter } from '../../domain/work';
import { parseUnified } from '../../patch/parseUnified';
import {
  goldenTestFiles,
  goldenTestsUri,
  isComparisonDocument,
  tableUri,
} from './comparisonDocuments';
import { currentVerdict } from '../verdict/currentVerdict';
import { withoutLinkMarkup } from '../shell/withoutLinkMarkup';
import type { OpenInstance } from '../instance/openInstance';
import type { FilesOfR, InstanceSource } from '../instance/instanceRoles';

const title = (): string => vscode.l10n.t('Golden tests ↔ candidate');

/**
 * Shows golden tests and candidate as one diff with an editable candidate, and beside it a table of
 * what each covers. Asks before it reveals the golden tests. Runs the candidate if the last verdict
 * is not about the current workspace.
 *
 * @throws HumanError when there is no candidate, or it cannot run
 */
export async function compareWithGolden(open: OpenInstance, reporter: Reporter): Promise<void> {
  if (!(await open.reveal(vscode.l10n.t('Compare with Golden Tests')))) return;
  const evaluated = await currentVerdict(open, reporter, {
    title: vscode.l10n.t('Running the candidate to compare it'),
    complete: false,
  });
  if (evaluated === undefined) return;
  const { result } = evaluated;
  // The table goes into the second column, since a third one would be too narrow.
  await vscode.commands.executeCommand('workbench.action.focusFirstEditorGroup');
  await showDiff(open, result.patch);
  const table = tableUri(open, evaluated);
  if (table === undefined) {
    const why = result.notes.join('; ');
    const text = vscode.l10n.t('What each of them covers is not known: {0}', why);
    void vscode.window.showWarningMessage(withoutLinkMarkup(text));
    return;
  }
  await vscode.commands.executeCommand('markdown.showPreviewToSide', table);
}

/** Opens the diff of all files of both, with the golden tests on the left. */
async function showDiff(open: InstanceSource & FilesOfR, patch: string): Promise<void> {
  const golden = await goldenTestFiles(open);
  const paths = new Set(golden.keys());
  for (const { oldPath, newPath } of parseUnified(patch).files) {
    for (const path of [oldPath, newPath]) if (path !== null) paths.add(path);
  }
  const rows = await Promise.all(
    [...paths].sort().map(async (path) => {
      const mine = vscode.Uri.joinPath(open.folder.uri, path);
      const isMine = await vscode.workspace.fs.stat(mine).then(
        () => true,
        () => false,
      );
      const isTheirs = golden.has(path)
        ? golden.get(path) !== undefined
        : (await open.textOfR(path)) !== undefined;
      return [
        mine,
        isTheirs ? goldenTestsUri(open, path) : undefined,
        isMine ? mine : undefined,
      ] as const;
    }),
  );
  await vscode.commands.executeCommand('vscode.changes', title(), rows);
}

/** Closes the tabs that show the golden tests. */
export async function closeComparisons(): Promise<void> {
  const shows = (tab: vscode.Tab): boolean => {
    const { input } = tab;
    if (input instanceof vscode.TabInputText) return isComparisonDocument(input.uri);
    // Tabs of multi-file diffs and previews do not expose their documents, so their titles identify
    // them.
    return [title(), vscode.l10n.t('Candidate and golden tests')].some((name) =>
      tab.label.includes(name),
    );
  };
  const tabs = vscode.window.tabGroups.all.flatMap((group) => group.tabs).filter(shows);
  await vscode.window.tabGroups.close(tabs);
}
