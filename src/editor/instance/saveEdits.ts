import * as vscode from 'vscode';
import { HumanError } from '../../domain/humanError';

/** Milliseconds that saving may take, and between two looks. */
const longest = 3000;
const step = 100;

/** What has a workspace folder, such as the open instance. */
interface InFolder {
  readonly folder: vscode.WorkspaceFolder;
}

/** Documents of the workspace whose editors hold something else than the disk. */
export function unsavedIn({ folder }: InFolder): vscode.TextDocument[] {
  return vscode.workspace.textDocuments.filter(
    ({ isDirty, uri }) =>
      isDirty &&
      uri.scheme === folder.uri.scheme &&
      vscode.workspace.getWorkspaceFolder(uri) === folder,
  );
}

/** Whether an editor shows something else of the workspace than what is saved, and would run. */
export function hasUnsaved(open: InFolder): boolean {
  return unsavedIn(open).length > 0;
}

/**
 * Saves what is edited in the workspace.
 *
 * @throws HumanError when a document stays unsaved
 */
export async function saveEdits(open: InFolder): Promise<void> {
  for (const document of unsavedIn(open)) await document.save();
  // What autosave is just writing is not said to be saved before that has come to its end.
  for (let waited = 0; waited < longest && unsavedIn(open).length > 0; waited += step) {
    await new Promise((resolve) => setTimeout(resolve, step));
    for (const document of unsavedIn(open)) await document.save();
  }
  const [left] = unsavedIn(open);
  if (left !== undefined) {
    throw new HumanError(
      vscode.l10n.t('{0} could not be saved', vscode.workspace.asRelativePath(left.uri, false)),
      vscode.l10n.t('Save it, or revert it'),
    );
  }
}
