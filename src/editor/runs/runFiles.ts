import { readFile } from 'node:fs/promises';
import { basename, resolve, sep } from 'node:path';
import * as vscode from 'vscode';
import { runFileAuthority, scheme } from '../shell/names';
import type { RunLibrary } from './library';

/**
 * Address of a file of a saved run as a read-only document. A log is a record, and an edit of it
 * would change what the next reader believes.
 */
export function runFileUri(path: string, instance: string): vscode.Uri {
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

/** Whether an absolute path lies below a folder, with `..` resolved. */
function isWithin(path: string, folder: string): boolean {
  const whole = resolve(folder);
  return resolve(path).startsWith(whole.endsWith(sep) ? whole : whole + sep);
}
