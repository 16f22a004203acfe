import * as vscode from 'vscode';
import { HumanError } from '../../domain/work';
import { isLeftover } from '../../repository/workspaceRepository';
import { workspacePath } from '../shell/workspacePath';

/** Maximum number of milliseconds that saving may take, and the pause between two attempts. */
const longest = 3000;
const step = 100;

/** What has a workspace folder, such as the open instance. */
interface InFolder {
  readonly folder: vscode.WorkspaceFolder;
}

/** Documents of the workspace whose editors differ from the disk. */
export function unsavedIn({ folder }: InFolder): vscode.TextDocument[] {
  return vscode.workspace.textDocuments.filter(
    ({ isDirty, uri }) =>
      isDirty &&
      uri.scheme === folder.uri.scheme &&
      vscode.workspace.getWorkspaceFolder(uri) === folder,
  );
}

/**
 * Whether an editor of the workspace differs from the saved file, which is the one that would run.
 * Files that are never part of a candidate do not count: VS Code itself opens, edits and saves
 * `.vscode/settings.json` where a setting is written.
 */
export function hasUnsaved(open: InFolder): boolean {
  return unsavedIn(open).some(({ uri }) => {
    const path = workspacePath(open.folder, uri);
    return path === undefined || !isLeftover(path);
  });
}

/**
 * Saves the edits of the workspace.
 *
 * @throws HumanError when a document stays unsaved
 */
export async function saveEdits(open: InFolder): Promise<void> {
  for (const document of unsavedIn(open)) await document.save();
  // Autosave may be writing a document now; it counts as saved only after that.
  for (let waited = 0; waited < longest && unsavedIn(open).length > 0; waited += step) {
    await new Promise((resolve) => setTimeout(resolve, step));
    for (const document of unsavedIn(open)) await document.save();
  }
  const [left] = unsavedIn(open);
  if (left !== undefined) {
    throw new HumanError(
      vscode.l10n.t('Could not save {0}', vscode.workspace.asRelativePath(left.uri, false)),
      vscode.l10n.t('Save or revert it'),
    );
  }
}
