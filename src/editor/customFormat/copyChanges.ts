import * as vscode from 'vscode';
import { HumanError, throwIfAborted } from '../../domain/work';
import { writeCustom } from '../../patch/customFormat';
import { parseUnified } from '../../patch/parseUnified';
import type { FileEdit } from '../../patch/makeUnified';
import type { PythonParser } from '../../python/parser';
import type { FilesOfR } from '../instance/instanceRoles';
import { afterAWhile } from '../shell/afterAWhile';
import { withoutLinkMarkup } from '../shell/withoutLinkMarkup';
import { workspaceTree } from './workspaceTree';
import { workspacePath } from '../shell/workspacePath';

/**
 * Copies the author's edits of R, unsaved ones too, to the clipboard as a custom diff.
 *
 * @throws HumanError when there are no edits, or none that the format can express; Cancelled
 */
export async function copyChanges(open: FilesOfR, python: PythonParser): Promise<void> {
  const title = vscode.l10n.t('Reading the changes in {0}', open.folder.name);
  const edits = await afterAWhile(title, (signal) => editsIn(open, signal));
  if (edits.length === 0) {
    throw new HumanError(
      vscode.l10n.t('Nothing is changed in {0}', open.folder.name),
      vscode.l10n.t('Edit a test first'),
    );
  }
  const { text, left } = writeCustom(edits, python);
  const reasons = left.map(({ path, why }) => `${path} (${why})`).join(', ');
  if (text === '') {
    throw new HumanError(
      vscode.l10n.t('A custom diff cannot express these changes: {0}', reasons),
      vscode.l10n.t('Use a unified diff: "git diff"'),
    );
  }
  await vscode.env.clipboard.writeText(text);
  const n = edits.length - left.length;
  if (left.length > 0) {
    void vscode.window.showWarningMessage(
      withoutLinkMarkup(vscode.l10n.t('Copied as a custom diff without {0}.', reasons)),
    );
  } else {
    void vscode.window.showInformationMessage(
      n === 1
        ? withoutLinkMarkup(
            vscode.l10n.t('Copied the changes of {0} as a custom diff.', edits[0]?.path ?? ''),
          )
        : vscode.l10n.t('Copied the changes of {0} files as a custom diff.', n),
    );
  }
}

/** What differs from R, on disk or in an editor. */
async function editsIn(open: FilesOfR, signal: AbortSignal): Promise<FileEdit[]> {
  const tree = await workspaceTree(open.folder);
  const paths = new Set<string>();
  for (const { oldPath, newPath } of parseUnified(await open.candidatePatch(signal)).files) {
    for (const path of [oldPath, newPath]) if (path !== null) paths.add(path);
  }
  for (const { isDirty, uri } of vscode.workspace.textDocuments) {
    const isHere = vscode.workspace.getWorkspaceFolder(uri) === open.folder;
    const path = workspacePath(open.folder, uri);
    if (isDirty && isHere && uri.scheme === 'file' && path !== undefined) paths.add(path);
  }
  const edits: FileEdit[] = [];
  for (const path of [...paths].sort()) {
    throwIfAborted(signal);
    if (path.endsWith('.swtdiff')) continue; // A custom diff that was copied before may lie in the workspace.
    const [before, after] = [await open.textOfR(path), await tree.read(path)];
    if (before !== after) edits.push({ path, before, after });
  }
  return edits;
}
