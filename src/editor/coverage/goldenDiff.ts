import * as vscode from 'vscode';
import { sideOfUri, sideUri } from '../shell/documents';
import { diffPairs } from './diffOrder';
import type { PlaceOnSide } from './documentMarks';
import type { InstanceSource, Revealing } from '../instance/instanceRoles';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { retryingMemoOf } from '../../domain/work';
import { applyPatch } from '../../patch/applyPatch';
import { textOf } from '../../patch/bytes';
import { parseUnified } from '../../patch/parseUnified';
import type { FilePatch } from '../../patch/parsedPatch';

/** Part of the title of every diff that shows X*, which identifies its tab. */
const sides = '(R ↔ R∘X*)';

const titleOf = (open: InstanceSource): string =>
  vscode.l10n.t('Fix of {0} {1}', open.marker.id, sides);

/** Maximum number of milliseconds to wait for the editor of a diff. */
const editorTimeout = 3000;
/** Maximum number of milliseconds to wait for the focus, after a command that moves it. */
const focusTimeout = 500;

/**
 * Opens the golden patch as one diff of all its files, R on the left and R∘X* on the right. The
 * gutters show the states of the changed lines. Asks the first time, since the diff gives the fix
 * away.
 */
export async function showChangeCoverage(open: InstanceSource & Revealing): Promise<void> {
  if (!(await open.reveal(vscode.l10n.t('Show Change Coverage')))) return;
  await showDiff(open, undefined);
}

/**
 * Shows a line in the golden diff and moves the cursor to its side, so that commands about the line
 * at the cursor work there. Opens the diff unless the line's file is visible.
 */
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
    // VS Code goes to the first change of a diff as soon as that is loaded.
    if (editor !== undefined) await isSideFocused();
  }
  if (editor === undefined) {
    await showFile(open, at);
    editor = await appearing(uri);
  }
  if (editor === undefined) return;
  await focus(open, at);
  editor = editorOf(uri) ?? editor;
  const line = Math.min(at.line, editor.document.lineCount) - 1;
  const range = new vscode.Range(line, 0, line, 0);
  editor.selection = new vscode.Selection(range.start, range.end);
  editor.revealRange(range, vscode.TextEditorRevealType.InCenterIfOutsideViewport);
}

/** Moves the focus to the side of a visible diff. */
async function focus(open: InstanceSource, at: PlaceOnSide): Promise<void> {
  const uri = sideUri(at.side, at.path);
  if (await isFocused(uri, 0)) return;
  const active = vscode.window.activeTextEditor?.document.uri;
  const diff = (await diffsOf(open)).find((each) => isOf(each, uri));
  const isInDiff = active !== undefined && diff !== undefined && isOf(diff, active);
  const tab = vscode.window.tabGroups.activeTabGroup.activeTab?.label ?? '';
  if (!isInDiff && tab.startsWith(titleOf(open))) {
    // Of a diff of several files, VS Code focuses the one that was last asked for, unless another
    // has the focus.
    await vscode.commands.executeCommand('workbench.action.focusStatusBar');
    await showDiff(open, at);
  }
  await vscode.commands.executeCommand('workbench.action.focusActiveEditorGroup');
  // It focuses R∘X*, or the side that had the focus before.
  if (await isFocused(uri, focusTimeout)) return;
  await vscode.commands.executeCommand('diffEditor.switchSide');
  await isFocused(uri, focusTimeout);
}

/** Whether an editor of the document has the focus, now or within some milliseconds. */
async function isFocused(uri: vscode.Uri, milliseconds: number): Promise<boolean> {
  const found = (): true | undefined =>
    vscode.window.activeTextEditor?.document.uri.toString() === uri.toString() || undefined;
  const isSoon = await soon(found, vscode.window.onDidChangeActiveTextEditor, milliseconds);
  return isSoon === true;
}

/** Resolves once an editor of R or R∘X* has the focus, or none gets it. */
const isSideFocused = (): Promise<true | undefined> =>
  soon(
    () => {
      const active = vscode.window.activeTextEditor?.document.uri;
      return (active !== undefined && sideOfUri(active) !== undefined) || undefined;
    },
    vscode.window.onDidChangeActiveTextEditor,
    editorTimeout,
  );

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

/** The editor of a document, preferably the one with the focus: a diff may have left another. */
function editorOf(uri: vscode.Uri): vscode.TextEditor | undefined {
  const { activeTextEditor, visibleTextEditors } = vscode.window;
  return [activeTextEditor, ...visibleTextEditors].find(
    (each) => each?.document.uri.toString() === uri.toString(),
  );
}

/** The editor of a document that is about to appear; undefined when it does not. */
const appearing = (uri: vscode.Uri): Promise<vscode.TextEditor | undefined> =>
  soon(() => editorOf(uri), vscode.window.onDidChangeVisibleTextEditors, editorTimeout);

/** What is found now, or at an event within some milliseconds; undefined when it is not. */
function soon<T>(
  find: () => T | undefined,
  event: vscode.Event<unknown>,
  milliseconds: number,
): Promise<T | undefined> {
  const there = find();
  if (there !== undefined || milliseconds === 0) return Promise.resolve(there);
  return new Promise((resolve) => {
    const finish = (found: T | undefined): void => {
      clearTimeout(timer);
      subscription.dispose();
      resolve(found);
    };
    const timer = setTimeout(() => finish(undefined), milliseconds);
    const subscription = event(() => {
      const found = find();
      if (found !== undefined) finish(found);
    });
  });
}

/** Whether a golden diff is open, such as one that VS Code has restored. */
export function isGoldenDiffOpen(open: InstanceSource): boolean {
  const title = titleOf(open);
  const tabs = vscode.window.tabGroups.all.flatMap((group) => group.tabs);
  return tabs.some((tab) => tab.label.startsWith(title));
}

/** Closes the tabs that show X*. */
export async function closeGoldenDiffs(): Promise<void> {
  await closeTabs(({ input, label }) => {
    if (input instanceof vscode.TabInputTextDiff) {
      // A mutant is beside R∘X*.
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

const known = new WeakMap<object, Promise<readonly FilePatch[]>>();

/**
 * The files of the golden patch, with the line numbers at which its hunks apply.
 *
 * @throws HumanError when the trees are unavailable
 */
export function goldenFilesOf(open: InstanceSource): Promise<readonly FilePatch[]> {
  return retryingMemoOf(known, open, () => read(open));
}

async function read(open: InstanceSource): Promise<readonly FilePatch[]> {
  const trees = await open.trees();
  const golden = parseUnified(trees.golden ?? (await open.instance()).goldenPatch);
  // In a snapshot the hunks may apply at other lines than the patch says.
  const applied = await applyPatch(golden, (path) =>
    readFile(join(trees.base, path)).then(textOf, () => undefined),
  );
  return (applied.ok ? applied.placed : golden).files;
}
