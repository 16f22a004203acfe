import * as vscode from 'vscode';
import { scheme, statisticsAuthority } from '../shell/names';

/** Texts of this window, by the query of their documents. */
const texts = new Map<string, string>();

/** Keeps a text and returns the address of its read-only document. */
export function statisticsUri(text: string, dataset: string): vscode.Uri {
  const query = String(texts.size + 1);
  texts.set(query, text);
  const name = vscode.l10n.t('Statistics of {0}', dataset).replaceAll('/', '_');
  return vscode.Uri.from({ scheme, authority: statisticsAuthority, path: `/${name}.txt`, query });
}

/** Text of such a document. After a reload of the window it says how to get it again. */
export const statisticsDocument = ({ query }: vscode.Uri): string =>
  texts.get(query) ??
  vscode.l10n.t('These statistics are gone. Run "SWT-Bench: Statistics" to count again.');
