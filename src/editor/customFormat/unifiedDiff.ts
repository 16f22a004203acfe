import * as vscode from 'vscode';
import { bytesOf } from '../../patch/bytes';
import type { PythonParser } from '../../python/parser';
import { notInEditors } from './applyCustomDiff';
import { convertCustomDiff, warningsIn } from './convertCustomDiff';
import type { DiffInEditor } from './diffInEditor';

/**
 * Opens the unified diff that makes the same changes and that `git apply` accepts. Offers to save
 * it as a file when an editor cannot hold its bytes.
 *
 * @throws HumanError when the custom diff has an error
 */
export async function showUnifiedDiff(diff: DiffInEditor, python: PythonParser): Promise<void> {
  const converted = await convertCustomDiff(diff, python);
  const { patch } = converted.conversion;
  const document = await vscode.workspace.openTextDocument({ language: 'diff', content: patch });
  await vscode.window.showTextDocument(document, { preview: false });
  const hindrance = notInEditors(patch);
  if (hindrance !== undefined) void offerToSave(patch, hindrance);
  else {
    const warnings = warningsIn(converted);
    if (warnings !== '') void vscode.window.showWarningMessage(warnings);
  }
}

async function offerToSave(patch: string, hindrance: string): Promise<void> {
  const save = vscode.l10n.t('Save As…');
  const chosen = await vscode.window.showWarningMessage(
    vscode.l10n.t(
      'The unified diff {0}. Saved from the editor it would not apply, so save it with this button.',
      hindrance,
    ),
    save,
  );
  if (chosen !== save) return;
  const uri = await vscode.window.showSaveDialog({
    title: vscode.l10n.t('File for the Diff'),
    filters: { Diff: ['diff', 'patch'] },
  });
  if (uri !== undefined) await vscode.workspace.fs.writeFile(uri, bytesOf(patch));
}
