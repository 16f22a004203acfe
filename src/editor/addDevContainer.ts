import * as vscode from 'vscode';
import { devContainerFile } from '../engine/devContainer';
import { writeDevContainer } from '../repository/workspaceFiles';
import type { OpenInstance } from './openInstance';

/** Writes the dev container of the open instance and shows it. */
export async function addDevContainer(open: OpenInstance): Promise<void> {
  const text = devContainerFile(await open.instance());
  const place = await writeDevContainer(open.folder.uri.fsPath, text);
  await vscode.window.showTextDocument(vscode.Uri.joinPath(open.folder.uri, place));
}
