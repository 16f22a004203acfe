import * as vscode from 'vscode';
import { contentsWith } from '../../evaluation/session';
import { asShown } from '../../patch/bytes';
import { unsafePath } from '../../patch/unsafePath';
import { scheme } from '../shell/names';
import type { FilesOfR, InstanceSource, Revealing } from '../instance/instanceRoles';
import { pathBelow } from '../shell/workspacePath';

/** Authority of files as the golden tests leave them. */
const goldenTestsAuthority = 'golden-tests';
/** Authority of the same files where they stand alone, and not beside those of the workspace. */
const goldenFileAuthority = 'golden-test';
/** Authority of tables of what candidate and golden tests cover. */
const tableAuthority = 'comparison';

/** Tables of a window, by the query of their documents. Each is about one verdict. */
const tables = new WeakMap<object, Map<string, string>>();

/** Whether a document belongs to a comparison with the golden tests. */
export function isComparisonDocument({ scheme: of, authority }: vscode.Uri): boolean {
  const mine = [goldenTestsAuthority, goldenFileAuthority, tableAuthority];
  return of === scheme && mine.includes(authority);
}

/** Address of a file as the golden tests leave it, by itself. Labels say that it is one of T*. */
export const goldenFileUri = (path: string): vscode.Uri =>
  vscode.Uri.from({ scheme, authority: goldenFileAuthority, path: `/${path}` });

/**
 * Address of a file of the workspace as the golden tests leave it. It has the file's whole path,
 * since a diff editor reports files with different paths as renamed.
 */
export function goldenTestsUri(open: InstanceSource, path: string): vscode.Uri {
  const file = vscode.Uri.joinPath(open.folder.uri, path);
  return vscode.Uri.from({ scheme, authority: goldenTestsAuthority, path: file.path });
}

/** Stores a table and returns the address of its document. */
export function tableUri(open: object, text: string, digest: string): vscode.Uri {
  const kept = tables.get(open) ?? new Map<string, string>();
  tables.set(open, kept);
  // Two verdicts on one candidate may differ, and VS Code does not reread an open document.
  const query = `${digest.slice(0, 12)}-${kept.size}`;
  kept.set(query, text);
  return vscode.Uri.from({
    scheme,
    authority: tableAuthority,
    path: `/${vscode.l10n.t('Candidate and golden tests')}.md`,
    query,
  });
}

/**
 * Content of a document of the comparison. It is empty until the golden tests are revealed, whoever
 * asks.
 */
export async function comparisonDocumentText(
  open: InstanceSource & Revealing & FilesOfR,
  uri: vscode.Uri,
): Promise<string> {
  if (!open.revealed) {
    return vscode.l10n.t(
      'The golden tests are hidden. Run "SWT-Bench: Compare with Golden Tests…" to reveal them.',
    );
  }
  if (uri.authority === tableAuthority) return tables.get(open)?.get(uri.query) ?? '';
  const path =
    uri.authority === goldenFileAuthority ? uri.path.slice(1) : pathBelow(open.folder, uri);
  if (path === undefined || unsafePath(path) !== undefined) return '';
  const text = (await goldenTestFiles(open)).get(path);
  return asShown(text ?? (await open.textOfR(path)) ?? '').replace(/^\ufeff/, '');
}

/** Files that the golden tests touch, as they leave them; undefined for one that they delete. */
export async function goldenTestFiles(
  open: InstanceSource & FilesOfR,
): Promise<ReadonlyMap<string, string | undefined>> {
  const { goldenTests } = await open.instance();
  return contentsWith(goldenTests, (path) => open.textOfR(path));
}
