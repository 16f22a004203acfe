import { access } from 'node:fs/promises';
import { join } from 'node:path';
import * as vscode from 'vscode';
import { HumanError } from '../../domain/work';
import { runFileUri } from './runFiles';
import { logsOf, logToShow, type FoundCell } from './foundCell';

/** Opens what the tests of a candidate printed: both sides beside each other, or the only one. */
export async function showLog(found: FoundCell): Promise<void> {
  const logs = logsOf(found);
  const [base, fixed] = await Promise.all([exists(logs.base), exists(logs.fixed)]);
  const log = logToShow(found, { base, fixed });
  if ('one' in log) {
    await showFile(log.one, found.entry.instance);
    return;
  }
  await vscode.commands.executeCommand(
    'vscode.diff',
    runFileUri(log.both.base, found.entry.instance),
    runFileUri(log.both.fixed, found.entry.instance),
    vscode.l10n.t('Output of {0} (R ↔ R∘X*)', found.entry.instance),
  );
}

/** Opens the candidate as it was predicted. */
export async function showCellCandidate(found: FoundCell): Promise<void> {
  await showFile(join(found.folder, 'model_patch.diff'), found.entry.instance, 'diff');
}

async function showFile(path: string, instance: string, language?: string): Promise<void> {
  if (!(await exists(path))) {
    throw new HumanError(
      vscode.l10n.t('{0} does not exist', path),
      vscode.l10n.t('It may have been removed since: evaluate the candidate again'),
    );
  }
  const document = await vscode.workspace.openTextDocument(runFileUri(path, instance));
  if (language !== undefined) await vscode.languages.setTextDocumentLanguage(document, language);
  await vscode.window.showTextDocument(document, {
    preview: true,
    viewColumn: vscode.ViewColumn.Beside,
  });
}

const exists = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false,
  );
