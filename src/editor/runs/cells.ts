import { access, readFile } from 'node:fs/promises';
import { join, basename, resolve, sep } from 'node:path';
import * as vscode from 'vscode';
import { HumanError } from '../../domain/work';
import { logsOf, logToShow, type FoundCell } from './foundCell';
import { runFileAuthority, scheme } from '../shell/names';
import type { RunLibrary } from './library';

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
      vscode.l10n.t('It may have been removed. Evaluate the candidate again'),
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

/**
 * Address of a file of a saved run as a read-only document. A log is a record, and an edit of it
 * would change what the next reader believes.
 */
function runFileUri(path: string, instance: string): vscode.Uri {
  return vscode.Uri.from({
    scheme,
    authority: runFileAuthority,
    path: `/${instance}/${basename(path)}`,
    query: path,
  });
}

/**
 * Text of such a document. Any extension may ask for any address, so only files of listed runs are
 * read.
 */
export async function runFileText(library: RunLibrary, { query }: vscode.Uri): Promise<string> {
  await library.loaded();
  const folders = library.runs.flatMap(({ folder }) => (folder === undefined ? [] : [folder]));
  if (!folders.some((folder) => isWithin(query, folder))) {
    return vscode.l10n.t('The run of this file is no longer listed: open it from the dashboard.');
  }
  return readFile(query, 'utf8').catch(() => vscode.l10n.t('{0} does not exist', query));
}

/** Whether an absolute path is below a folder, with `..` resolved. */
function isWithin(path: string, folder: string): boolean {
  const whole = resolve(folder);
  return resolve(path).startsWith(whole.endsWith(sep) ? whole : whole + sep);
}
