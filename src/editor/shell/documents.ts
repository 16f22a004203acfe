import * as vscode from 'vscode';
import { sideName, sides, type Side } from '../../domain/outcome';
import { unsafePath } from '../../patch/unsafePath';
import { comparisonDocumentText, isComparisonDocument } from '../coverage/comparisonDocuments';
import { isMutantDocument, mutantDocumentText } from '../mutants/mutantDocuments';
import { scheme, verdictAuthority } from './names';
import type { FilesOfR, InstanceSource, LatestVerdict, Revealing } from '../instance/instanceRoles';
import { verdictText } from '../verdict/verdictDocument';

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

/**
 * Content of a document outside the workspace: a side of the golden diff, a document of the
 * comparison with the golden tests, or a mutant. All are empty until the golden patch is revealed,
 * whoever asks. The verdict document itself leaves out what is hidden.
 */
export async function documentText(
  open: InstanceSource & Revealing & LatestVerdict & FilesOfR,
  uri: vscode.Uri,
): Promise<string> {
  if (isComparisonDocument(uri)) return comparisonDocumentText(open, uri);
  if (isMutantDocument(uri)) return mutantDocumentText(open, uri);
  if (uri.authority === verdictAuthority) return verdictText(open);
  const file = sideOfUri(uri);
  if (file === undefined) return '';
  if (!open.revealed) {
    const hidden = vscode.l10n.t(
      'The golden patch is hidden. Run "SWT-Bench: Show Change Coverage" to reveal {0}.',
      sideName[file.side],
    );
    return `${hidden}\n`;
  }
  // Any extension may ask, with any path.
  return unsafePath(file.path) === undefined ? open.fileOfSide(file.side, file.path) : '';
}
