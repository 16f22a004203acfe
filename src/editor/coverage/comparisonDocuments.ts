import * as vscode from 'vscode';
import { comparisonText } from '../../evaluation/compareCoverage';
import { contentsWith } from '../../evaluation/session';
import { asShown } from '../../patch/bytes';
import { unsafePath } from '../../patch/unsafePath';
import { scheme } from '../shell/names';
import type { FilesOfR, InstanceSource, LatestVerdict, Revealing } from '../instance/instanceRoles';
import { pathBelow } from '../shell/workspacePath';
import type { Evaluated } from '../verdict/evaluated';
import { timeOfDay } from '../verdict/verdictSentences';

/** Authority of files as the golden tests leave them. */
const goldenTestsAuthority = 'golden-tests';
/** Authority of the same files where they stand alone, and not beside those of the workspace. */
const goldenFileAuthority = 'golden-test';
/** Authority of tables of what candidate and golden tests cover. */
const tableAuthority = 'comparison';

/**
 * Tables of a window, by the query of their documents. Each is about one verdict, and stays while
 * the candidate changes.
 */
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

/**
 * Stores the table of a verdict and returns the address of its document; undefined when what
 * candidate or golden tests cover is not known.
 */
export function tableUri(open: object, evaluated: Evaluated): vscode.Uri | undefined {
  const text = tableText(evaluated);
  if (text === undefined) return undefined;
  const kept = tables.get(open) ?? new Map<string, string>();
  tables.set(open, kept);
  const query = tableQuery(evaluated);
  kept.set(query, text);
  return vscode.Uri.from({
    scheme,
    authority: tableAuthority,
    path: `/${vscode.l10n.t('Candidate and golden tests')}.md`,
    query,
  });
}

/** Two verdicts on one candidate may differ, and VS Code does not reread an open document. */
const tableQuery = ({ digest, evaluatedAt }: Evaluated): string =>
  `${digest.slice(0, 12)}-${evaluatedAt.getTime()}`;

function tableText({ result, evaluatedAt }: Evaluated): string | undefined {
  const { instance, changeCoverage: candidate, goldenCoverage: golden } = result;
  if (candidate === undefined || golden === undefined) return undefined;
  // The page stays open while the candidate changes.
  const about = vscode.l10n.t(
    'About the run at {0}. After another run, compare again.',
    timeOfDay(evaluatedAt, vscode.env.language),
  );
  return comparisonText({ instance, candidate, golden, about });
}

/** The table at an address. After a reload of the window it is that of the kept verdict. */
function tableAt(open: LatestVerdict, query: string): string {
  const { last } = open;
  const kept = tables.get(open)?.get(query);
  const again = last !== undefined && tableQuery(last) === query ? tableText(last) : undefined;
  return (
    kept ??
    again ??
    vscode.l10n.t(
      'The verdict that this table is about is no longer stored. Run "SWT-Bench: Compare with Golden Tests…" again.',
    )
  );
}

/**
 * Content of a document of the comparison. It is empty until the golden tests are revealed, whoever
 * asks.
 */
export async function comparisonDocumentText(
  open: InstanceSource & Revealing & LatestVerdict & FilesOfR,
  uri: vscode.Uri,
): Promise<string> {
  if (!open.revealed) {
    return vscode.l10n.t(
      'The golden tests are hidden. Run "SWT-Bench: Compare with Golden Tests…" to reveal them.',
    );
  }
  if (uri.authority === tableAuthority) return tableAt(open, uri.query);
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
