import * as vscode from 'vscode';
import type { Reporter } from '../../domain/work';
import { parseUnified } from '../../patch/parseUnified';
import { currentVerdict } from '../verdict/currentVerdict';
import { withoutLinkMarkup } from '../shell/plainText';
import type { OpenInstance } from '../instance/openInstance';
import type { FilesOfR, InstanceSource, LatestVerdict, Revealing } from '../instance/instanceRoles';
import { comparisonText } from '../../evaluation/compareCoverage';
import { contentsWith } from '../../evaluation/session';
import { asShown } from '../../patch/bytes';
import { unsafePath } from '../../patch/unsafePath';
import { scheme } from '../shell/names';
import { pathBelow } from '../shell/workspacePath';
import type { Evaluated } from '../verdict/evaluated';
import { timeOfDay } from '../verdict/verdictSentences';

const title = (): string => vscode.l10n.t('Golden tests ↔ candidate');

/**
 * Shows golden tests and candidate as one diff with an editable candidate, and beside it a table of
 * what each covers. Asks before it reveals the golden tests. Runs the candidate if the last verdict
 * is not about the current workspace.
 *
 * @throws HumanError when there is no candidate, or it cannot run
 */
export async function compareWithGolden(open: OpenInstance, reporter: Reporter): Promise<void> {
  if (!(await open.reveal(vscode.l10n.t('Compare with Golden Tests')))) return;
  const evaluated = await currentVerdict(open, reporter, {
    title: vscode.l10n.t('Running the tests to compare them'),
    complete: false,
  });
  if (evaluated === undefined) return;
  const { result } = evaluated;
  // The table goes into the second column, since a third one would be too narrow.
  await vscode.commands.executeCommand('workbench.action.focusFirstEditorGroup');
  await showDiff(open, result.patch);
  const table = tableUri(open, evaluated);
  if (table === undefined) {
    const why = result.notes.join('; ');
    const text = vscode.l10n.t('Coverage is not available: {0}', why);
    void vscode.window.showWarningMessage(withoutLinkMarkup(text));
    return;
  }
  await vscode.commands.executeCommand('markdown.showPreviewToSide', table);
}

/** Opens the diff of all files of both, with the golden tests on the left. */
async function showDiff(open: InstanceSource & FilesOfR, patch: string): Promise<void> {
  const golden = await goldenTestFiles(open);
  const paths = new Set(golden.keys());
  for (const { oldPath, newPath } of parseUnified(patch).files) {
    for (const path of [oldPath, newPath]) if (path !== null) paths.add(path);
  }
  const rows = await Promise.all(
    [...paths].sort().map(async (path) => {
      const mine = vscode.Uri.joinPath(open.folder.uri, path);
      const isMine = await vscode.workspace.fs.stat(mine).then(
        () => true,
        () => false,
      );
      const isTheirs = golden.has(path)
        ? golden.get(path) !== undefined
        : (await open.textOfR(path)) !== undefined;
      return [
        mine,
        isTheirs ? goldenTestsUri(open, path) : undefined,
        isMine ? mine : undefined,
      ] as const;
    }),
  );
  await vscode.commands.executeCommand('vscode.changes', title(), rows);
}

/** Closes the tabs that show the golden tests. */
export async function closeComparisons(): Promise<void> {
  const shows = (tab: vscode.Tab): boolean => {
    const { input } = tab;
    if (input instanceof vscode.TabInputText) return isComparisonDocument(input.uri);
    // Tabs of multi-file diffs and previews do not expose their documents, so their titles identify
    // them.
    return [title(), vscode.l10n.t('Candidate and golden tests')].some((name) =>
      tab.label.includes(name),
    );
  };
  const tabs = vscode.window.tabGroups.all.flatMap((group) => group.tabs).filter(shows);
  await vscode.window.tabGroups.close(tabs);
}

/** Authority of files as the golden tests leave them. */
const goldenTestsAuthority = 'golden-tests';
/** Authority of the same files where they are alone, and not beside those of the workspace. */
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

/** Address of a file as the golden tests leave it, on its own. Labels say that it is one of T*. */
export const goldenFileUri = (path: string): vscode.Uri =>
  vscode.Uri.from({ scheme, authority: goldenFileAuthority, path: `/${path}` });

/**
 * Address of a file of the workspace as the golden tests leave it. It has the file's whole path,
 * since a diff editor reports files with different paths as renamed.
 */
function goldenTestsUri(open: InstanceSource, path: string): vscode.Uri {
  const file = vscode.Uri.joinPath(open.folder.uri, path);
  return vscode.Uri.from({ scheme, authority: goldenTestsAuthority, path: file.path });
}

/**
 * Stores the table of a verdict and returns the address of its document; undefined when what
 * candidate or golden tests cover is not known.
 */
function tableUri(open: object, evaluated: Evaluated): vscode.Uri | undefined {
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
    'From the run at {0}. Compare again after another run.',
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
      'This comparison is no longer stored. Run "SWT-Bench: Compare with Golden Tests…" again.',
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
async function goldenTestFiles(
  open: InstanceSource & FilesOfR,
): Promise<ReadonlyMap<string, string | undefined>> {
  const { goldenTests } = await open.instance();
  return contentsWith(goldenTests, (path) => open.textOfR(path));
}
