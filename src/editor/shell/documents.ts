import * as vscode from 'vscode';
import { sideName, sides, type Side } from '../../domain/outcome';
import { scheme } from './names';

/** Address of a file of R or R∘X* as a read-only document. */
export function sideUri(side: Side, path: string): vscode.Uri {
  return vscode.Uri.from({ scheme, authority: side, path: `/${path}` });
}

/**
 * Authority of the same documents in the coverage view, which shows it as the root folder of the
 * files.
 */
const listed = 'golden-patch';

/** Address of a file of R or R∘X* for places where people read the address. */
export function listedUri(side: Side, path: string): vscode.Uri {
  return vscode.Uri.from({ scheme, authority: listed, path: `/${sideName[side]}/${path}` });
}

/** Side and path of a document of this extension; undefined for any other. */
export function sideOfUri(uri: vscode.Uri): { side: Side; path: string } | undefined {
  if (uri.scheme !== scheme) return undefined;
  if (uri.authority === listed) {
    const side = sides.find((each) => uri.path.startsWith(`/${sideName[each]}/`));
    return side && { side, path: uri.path.slice(sideName[side].length + 2) };
  }
  if (uri.authority !== 'base' && uri.authority !== 'fixed') return undefined;
  return { side: uri.authority, path: uri.path.slice(1) };
}
