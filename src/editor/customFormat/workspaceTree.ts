import * as vscode from 'vscode';
import type { PatchTree } from '../../patch/toUnified';
import { folderTree } from '../../repository/folderTree';
import { workspacePath } from '../shell/workspacePath';

/** Maximum number of files that are listed. Hints ignore the rest. */
const mostPaths = 50_000;

/**
 * The tree that a custom diff belongs to: a folder of the workspace, unsaved edits before the disk.
 */
export interface WorkspaceTree extends PatchTree {
  readonly folder: vscode.WorkspaceFolder;
  /** Every file that the workspace does not exclude. */
  paths(): Promise<readonly string[]>;
}

/** The folder that holds a document, else the first folder; undefined when none is open. */
export function folderOf(uri: vscode.Uri): vscode.WorkspaceFolder | undefined {
  return (
    vscode.workspace.getWorkspaceFolder(uri) ??
    vscode.workspace.workspaceFolders?.find((folder) => folder.uri.scheme === 'file')
  );
}

/**
 * A folder of the workspace as a tree. It reads nothing outside the folder and follows no link.
 *
 * @throws HumanError when the folder is gone
 */
export async function workspaceTree(folder: vscode.WorkspaceFolder): Promise<WorkspaceTree> {
  const disk = await folderTree(folder.uri.fsPath);
  return {
    folder,
    links: disk.links,
    beyondLinks: disk.beyondLinks,
    async read(path) {
      // Checked before the disk read too: that read may miss an edit that is saved meanwhile.
      const wasEdited = documentOf(uriIn(folder, path))?.isDirty === true;
      const onDisk = await disk.read(path);
      if (onDisk === undefined || disk.links.has(path)) return onDisk;
      const edited = documentOf(uriIn(folder, path));
      if (edited === undefined || !(wasEdited || edited.isDirty)) return onDisk;
      // An editor hides the byte order mark and preserves it.
      return (onDisk.startsWith('\ufeff') ? '\ufeff' : '') + edited.getText();
    },
    async paths() {
      const pattern = new vscode.RelativePattern(folder, '**/*');
      const found = await vscode.workspace.findFiles(pattern, undefined, mostPaths);
      return found.flatMap((uri) => workspacePath(folder, uri) ?? []).sort();
    },
  };
}

/** Address of a file of a folder. */
export const uriIn = (folder: vscode.WorkspaceFolder, path: string): vscode.Uri =>
  vscode.Uri.joinPath(folder.uri, path);

/** The open document of a file. */
export function documentOf(uri: vscode.Uri): vscode.TextDocument | undefined {
  const wanted = uri.toString();
  return vscode.workspace.textDocuments.find((each) => each.uri.toString() === wanted);
}
