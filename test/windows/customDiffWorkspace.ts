import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as vscode from 'vscode';
import { toUnified } from '../unit/patch/formats';
import type { Conversion } from '../../src/patch/toUnified';
import { createPythonParser } from '../../src/python/parser';
import { folderTree } from '../../src/repository/folderTree';
import { closeAllEditors, hands, waitFor } from './host/client';

export const folder = (): vscode.WorkspaceFolder => {
  const found = vscode.workspace.workspaceFolders?.[0];
  assert.ok(found);
  return found;
};
export const fileUri = (path: string): vscode.Uri => vscode.Uri.joinPath(folder().uri, path);
export const onDisk = (path: string): string => join(folder().uri.fsPath, path);

/** A block of the custom format. */
export const block = (
  path: string,
  action: string,
  place: string | number,
  ...code: string[]
): string => ['diff', path, action, place, ...code, 'end diff', ''].join('\n');

export const betterTest = [
  '    def test_missing_cent_goes_to_the_first(self):',
  '        parts = Money.parse("20.00").allocate([1, 1, 1])',
  '        self.assertEqual(amounts(parts), ["6.67", "6.67", "6.66"])',
];
export const rewriting = block('tests/test_money.py', 'rewrite', 54, ...betterTest);
export const newFile = block(
  'tests/test_rounding.py',
  'insert',
  'EOF',
  'def test_rounding():',
  '    """Nothing yet: \'end diff\' is far."""',
  '    assert True',
);

const made: string[] = [];
/** Writes a file of the workspace and opens it; it is removed after the test. */
export async function open(path: string, content: string): Promise<vscode.TextEditor> {
  await writeFile(onDisk(path), content);
  made.push(path);
  const document = await vscode.workspace.openTextDocument(fileUri(path));
  return vscode.window.showTextDocument(document, { preview: false });
}

/** The engine's own conversion of a text. */
export async function engine(text: string): Promise<Conversion> {
  const extension = vscode.extensions.getExtension('swt-bench.swt-bench');
  assert.ok(extension);
  const python = await createPythonParser((file) => join(extension.extensionPath, 'dist', file));
  const tree = await folderTree(folder().uri.fsPath);
  return toUnified(text, { format: 'custom', tree, python });
}

export const ours = (uri: vscode.Uri): vscode.Diagnostic[] =>
  vscode.languages.getDiagnostics(uri).filter((each) => each.source === 'swt-bench');

/** Diagnostics of a document, once there are this many. */
export const diagnosticsOf = (uri: vscode.Uri, n: number): Promise<vscode.Diagnostic[]> =>
  waitFor(`${n} diagnostics of ${uri.path}`, () => {
    const all = ours(uri);
    return all.length === n ? all : undefined;
  });

export const noDiagnostics = (uri: vscode.Uri): Promise<boolean> =>
  waitFor(`no diagnostics of ${uri.path}`, () => ours(uri).length === 0);

export const setText = (editor: vscode.TextEditor, text: string): Promise<void> =>
  hands.edit(editor, (edit) =>
    edit.replace(new vscode.Range(0, 0, editor.document.lineCount, 0), text),
  );

export const run = (name: string, argument?: unknown): Thenable<unknown> =>
  vscode.commands.executeCommand(`swt-bench.${name}`, argument);

/** A Markdown answer with two attempts, the first of them wrong. */
export const answer = `Two attempts.\n\n\`\`\`custom-diff\n${rewriting.replace('rewrite', 'replace')}\`\`\`\n\nBetter:\n\n\`\`\`custom-diff\n${rewriting}\`\`\`\n`;

/** Activates the extension, and restores the workspace after each test of the calling suite. */
export function cleanWorkspace(): void {
  before(async () => {
    await vscode.extensions.getExtension('swt-bench.swt-bench')?.activate();
  });

  afterEach(async () => {
    await vscode.commands.executeCommand('notifications.clearAll');
    for (const document of vscode.workspace.textDocuments) {
      // VS Code may be writing to its own settings meanwhile.
      const isOurs = document.isUntitled || vscode.workspace.getWorkspaceFolder(document.uri);
      if (!document.isDirty || !isOurs) continue;
      await vscode.window.showTextDocument(document);
      await vscode.commands.executeCommand('workbench.action.files.revert');
    }
    await closeAllEditors();
    execFileSync('git', ['checkout', '--quiet', '.'], { cwd: folder().uri.fsPath });
    for (const path of [...made.splice(0), 'tests/test_rounding.py']) {
      await rm(onDisk(path), { force: true });
    }
  });
}
