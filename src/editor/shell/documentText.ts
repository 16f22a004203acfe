import * as vscode from 'vscode';
import { sideName } from '../../domain/outcome';
import { unsafePath } from '../../patch/unsafePath';
import { comparisonDocumentText, isComparisonDocument } from '../coverage/compareWithGolden';
import { isMutantDocument, mutantDocumentText } from '../coverage/mutants';
import type { FilesOfR, InstanceSource, LatestVerdict, Revealing } from '../instance/instanceRoles';
import { verdictText } from '../verdict/showVerdict';
import { sideOfUri } from './documents';
import { verdictAuthority } from './names';

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
      'The fix is hidden. Run "SWT-Bench: Show Change Coverage in Gutters" to reveal {0}.',
      sideName[file.side],
    );
    return `${hidden}\n`;
  }
  // Any extension may ask, with any path.
  return unsafePath(file.path) === undefined ? open.fileOfSide(file.side, file.path) : '';
}
