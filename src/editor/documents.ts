import * as vscode from 'vscode';
import { sideName, type Side } from '../domain/outcome';
import { scheme } from './names';
import type { OpenInstance } from './openInstance';

/** Address of a file of R or R∘X* as a read-only document. */
export function sideUri(side: Side, path: string): vscode.Uri {
  return vscode.Uri.from({ scheme, authority: side, path: `/${path}` });
}

/** Side and path of a document of ours; undefined for any other. */
export function sideOfUri(uri: vscode.Uri): { side: Side; path: string } | undefined {
  if (uri.scheme !== scheme) return undefined;
  if (uri.authority !== 'base' && uri.authority !== 'fixed') return undefined;
  return { side: uri.authority, path: uri.path.slice(1) };
}

/**
 * Content of a document that is not in the workspace: a side of the golden diff. It is served only once
 * that was revealed, whoever asks.
 */
export async function documentText(open: OpenInstance, uri: vscode.Uri): Promise<string> {
  const file = sideOfUri(uri);
  if (file === undefined) return '';
  if (!open.revealed) {
    return `The golden patch is hidden. Run "SWT-Bench: Show Change Coverage" to reveal ${sideName[file.side]}.\n`;
  }
  return open.fileOfSide(file.side, file.path);
}
