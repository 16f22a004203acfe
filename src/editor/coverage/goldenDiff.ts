import * as vscode from 'vscode';
import { sideOfUri, sideUri } from '../shell/documents';
import { diffPairs } from './diffPairs';
import type { PlaceOnSide } from './documentMarks';
import { goldenFilesOf } from './goldenFiles';
import type { InstanceSource, Revealing } from '../instance/instanceRoles';

/** Part of the title of every diff that shows X*, which identifies its tab. */
const sides = '(R ↔ R∘X*)';

const titleOf = (open: InstanceSource): string =>
  vscode.l10n.t('Golden patch of {0} {1}', open.marker.id, sides);

/** Most milliseconds to wait for the editor of a diff. */
const patience = 3000;

/**
 * Opens the golden patch as one diff of all its files, R on the left and R∘X* on the right. The
 * gutters show the states of the changed lines. Asks the first time, since the diff gives the fix
 * away.
 */
export async function showChangeCoverage(open: InstanceSource & Revealing): Promise<void> {
  if (!(await open.reveal(vscode.l10n.t('Show Change Coverage')))) return;
  await showDiff(open, undefined);
}

/** Shows a line in the golden diff. Opens the diff unless the line's file is visible. */
export async function showInGoldenDiff(
  open: InstanceSource & Revealing,
  at: PlaceOnSide,
): Promise<void> {
  if (!(await open.reveal(vscode.l10n.t('Show Change Coverage')))) return;
  const uri = sideUri(at.side, at.path);
  let editor = editorOf(uri);
  if (editor === undefined) {
    await showDiff(open, at);
    editor = await appearing(uri);
  }
  if (editor === undefined) {
    await showFile(open, at);
    editor = await appearing(uri);
  }
  if (editor === undefined) return;
  const line = Math.min(at.line, editor.document.lineCount) - 1;
  editor.selection = new vscode.Selection(line, 0, line, 0);
  editor.revealRange(
    new vscode.Range(line, 0, line, 0),
    vscode.TextEditorRevealType.InCenterIfOutsideViewport,
  );
}

interface DiffOfFile {
  readonly original: vscode.Uri;
  readonly modified: vscode.Uri;
}

/** The pairs of documents of the diff. */
async function diffsOf(open: InstanceSource): Promise<readonly DiffOfFile[]> {
  return diffPairs(await goldenFilesOf(open)).map(({ base, fixed }) => ({
    original: sideUri('base', base),
    modified: sideUri('fixed', fixed),
  }));
}

async function showDiff(open: InstanceSource, at: PlaceOnSide | undefined): Promise<void> {
  const diffs = await diffsOf(open);
  const title = titleOf(open);
  const wanted =
    at === undefined ? undefined : diffs.find((each) => isOf(each, sideUri(at.side, at.path)));
  // The command behind `vscode.changes`: with an id it finds its editor again and shows a chosen
  // file.
  const shown = await vscode.commands
    .executeCommand('_workbench.openMultiDiffEditor', {
      multiDiffSourceUri: vscode.Uri.from({
        scheme: 'multi-diff-editor',
        path: `swt-bench/${open.marker.id}`,
      }),
      title,
      resources: diffs.map(({ original, modified }) => ({
        originalUri: original,
        modifiedUri: modified,
      })),
      ...(wanted === undefined ? {} : { reveal: { modifiedUri: wanted.modified } }),
    })
    .then(
      () => true,
      () => false,
    );
  if (shown) return;
  await closeTabs((tab) => tab.label.startsWith(title));
  await vscode.commands.executeCommand(
    'vscode.changes',
    title,
    diffs.map(({ original, modified }) => [modified, original, modified]),
  );
}

/** Opens the diff of one file. */
async function showFile(open: InstanceSource, at: PlaceOnSide): Promise<void> {
  const diff = (await diffsOf(open)).find((each) => isOf(each, sideUri(at.side, at.path)));
  if (diff === undefined) return;
  await vscode.commands.executeCommand(
    'vscode.diff',
    diff.original,
    diff.modified,
    `${at.path} ${sides}`,
  );
}

const isOf = ({ original, modified }: DiffOfFile, uri: vscode.Uri): boolean =>
  [original, modified].some((each) => each.toString() === uri.toString());

const editorOf = (uri: vscode.Uri): vscode.TextEditor | undefined =>
  vscode.window.visibleTextEditors.find((each) => each.document.uri.toString() === uri.toString());

/** The editor of a document that is about to appear; undefined when it does not. */
function appearing(uri: vscode.Uri): Promise<vscode.TextEditor | undefined> {
  const there = editorOf(uri);
  if (there !== undefined) return Promise.resolve(there);
  return new Promise((resolve) => {
    const finish = (editor: vscode.TextEditor | undefined): void => {
      clearTimeout(timer);
      subscription.dispose();
      resolve(editor);
    };
    const timer = setTimeout(() => finish(undefined), patience);
    const subscription = vscode.window.onDidChangeVisibleTextEditors(() => {
      const editor = editorOf(uri);
      if (editor !== undefined) finish(editor);
    });
  });
}

/** Closes the tabs that show X*. */
export async function closeGoldenDiffs(): Promise<void> {
  await closeTabs(({ input, label }) => {
    if (input instanceof vscode.TabInputTextDiff) {
      // A mutant stands beside R∘X*.
      return [input.original, input.modified].some((uri) => sideOfUri(uri) !== undefined);
    }
    if (input instanceof vscode.TabInputText) return sideOfUri(input.uri) !== undefined;
    // The tab of a multi-file diff does not expose its documents, so the title identifies it.
    return label.includes(sides);
  });
}

async function closeTabs(which: (tab: vscode.Tab) => boolean): Promise<void> {
  const tabs = vscode.window.tabGroups.all.flatMap((group) => group.tabs).filter(which);
  await vscode.window.tabGroups.close(tabs);
}
