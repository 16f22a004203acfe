// VS Code restarts the suite in the window that it reloads. The first time, the suite writes what
// it saw to a file and reloads. The second time, the window must show the same again.
import assert from 'node:assert/strict';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as vscode from 'vscode';
import {
  answerDialog,
  closeAllEditors,
  hands,
  inQuickInput,
  screenshot,
  unfoldedTests,
  visible,
  waitFor,
} from '../host/client';

const diffNotes = join(process.env['SWT_BENCH_SCRATCH'] ?? '', 'diff-before-the-reload');
const comparisonNotes = join(
  process.env['SWT_BENCH_SCRATCH'] ?? '',
  'comparison-before-the-reload',
);
const notes = join(process.env['SWT_BENCH_SCRATCH'] ?? '', 'before-the-reload.json');
const test = 'test_parts_add_up_to_the_amount';

/** What a person sees of the last run. */
interface Seen {
  readonly inline: string;
  readonly status: string;
  /** States by line in the gutter of the file that the golden patch changes. */
  readonly gutter: readonly string[];
  /** Rows of the Testing view with their icons. */
  readonly tests: readonly string[];
}

const fileUri = (path: string): vscode.Uri => {
  const [folder] = vscode.workspace.workspaceFolders ?? [];
  assert.ok(folder);
  return vscode.Uri.joinPath(folder.uri, path);
};

async function seen(): Promise<Seen> {
  const editors = await visible.editors();
  const inline = editors
    .flatMap(({ lines }) => lines)
    .find(({ text, after }) => text.includes(`def ${test}(`) && after.length > 0)?.after[0];
  const gutter = editors
    .filter(({ uri }) => uri.endsWith('tallybook/money.py'))
    .flatMap((editor) => editor.gutter)
    .filter(({ icon }) => /covered|missed|executable/.test(icon))
    .map(({ line, icon }) => `${line} ${icon}`)
    .sort();
  const status = (await visible.statusBar()).find(({ id }) => id.endsWith('swt-bench.verdict'));
  const tests = (await unfoldedTests()).map(({ label, icons }) => `${label} ${icons.join()}`);
  return { inline: inline ?? '', status: status?.text ?? '', gutter, tests };
}

function assertWhole({ inline, status, gutter, tests }: Seen): void {
  assert.match(inline, /^on R: /);
  assert.match(status, /1 F→P · ΔC 71 % 12\/17[^]*revealed/);
  assert.ok(gutter.some((mark) => mark.includes('newly-covered')));
  assert.ok(
    tests.some((row) => row.includes('F→P') && row.includes('testing-passed-icon')),
    tests.join('\n'),
  );
}

async function showBoth(): Promise<void> {
  const code = await vscode.workspace.openTextDocument(fileUri('tallybook/money.py'));
  const beside = { preview: false, viewColumn: vscode.ViewColumn.Two };
  const shown = await vscode.window.showTextDocument(code, beside);
  shown.revealRange(new vscode.Range(45, 0, 45, 0), vscode.TextEditorRevealType.InCenter);
  const tests = await vscode.workspace.openTextDocument(fileUri('tests/test_money.py'));
  const first = { preview: false, viewColumn: vscode.ViewColumn.One };
  const editor = await vscode.window.showTextDocument(tests, first);
  const end = tests.lineCount - 1;
  editor.revealRange(new vscode.Range(end, 0, end, 0), vscode.TextEditorRevealType.InCenter);
  await vscode.commands.executeCommand('workbench.view.testing.focus');
}

/** The sentence about mutants in the list behind the status bar, which shows what has room. */
async function mutantsInVerdict(): Promise<string> {
  await hands.resize(1500, 1500);
  const asked = vscode.commands.executeCommand('swt-bench.showVerdict');
  const { label } = await waitFor('the mutants of the verdict', async () =>
    (await visible.quickInput())?.items.find((each) => each.label.includes('Mutants killed')),
  );
  await inQuickInput.cancel();
  await asked;
  await hands.resize(1500, 1000);
  return label;
}

/** Reloads the window, which ends this extension host before it gets an answer. */
async function reload(): Promise<never> {
  // Errors of other extensions in it about closed channels do not matter here.
  process.removeAllListeners('uncaughtException');
  process.on('uncaughtException', () => undefined);
  vscode.commands.executeCommand('workbench.action.reloadWindow').then(undefined, () => undefined);
  return new Promise<never>(() => undefined);
}

/** The documents that a golden diff shows. */
async function shownSides(): Promise<string[]> {
  const editors = await visible.editors();
  return editors.map(({ uri }) => uri).filter((uri) => /^swt-bench:.*money\.py/.test(uri));
}

/** The sides of the comparison with the golden tests, and its table. */
async function shownComparison(): Promise<{ sides: string[]; table: string | undefined }> {
  const editors = await visible.editors();
  const sides = editors
    .filter(({ uri }) => uri.endsWith('tests/test_money.py'))
    .map(
      ({ uri, side }) => `${side} ${uri.startsWith('swt-bench:') ? 'golden tests' : 'candidate'}`,
    )
    .sort();
  const table = (await visible.webviews()).find((each) => each.includes('Covered by neither'));
  return { sides, table };
}

async function waitForComparison(): Promise<void> {
  await waitFor('candidate, golden tests and their table', async () => {
    const { sides, table } = await shownComparison();
    assert.deepEqual(sides, ['modified candidate', 'original golden tests']);
    assert.ok(table?.includes('From the run at'), String(table));
    // Diff and table beside each other, and no empty one from before.
    const tabs = vscode.window.tabGroups.all.map((group) => group.tabs.map(({ label }) => label));
    assert.deepEqual(tabs, [
      ['Golden tests ↔ candidate (2 files)'],
      ['Preview Candidate and golden tests.md'],
    ]);
    return true;
  });
}

describe('a reload of the window', () => {
  it('keeps results, inline text, marks, mutants, golden diff and comparison', async () => {
    if (existsSync(comparisonNotes)) {
      await waitForComparison();
      await screenshot('comparison-after-reload');
      return;
    }
    if (existsSync(diffNotes)) {
      await waitFor('both sides again', async () => (await shownSides()).length >= 2);
      await screenshot('golden-diff-after-reload');
      await closeAllEditors();
      await vscode.commands.executeCommand('swt-bench.compareWithGolden');
      await waitForComparison();
      await screenshot('comparison-before-reload');
      writeFileSync(comparisonNotes, '');
      await reload();
    }
    if (!existsSync(notes)) {
      await vscode.commands.executeCommand('swt-bench.applyBundledCandidate', 'covers-some');
      await vscode.commands.executeCommand('swt-bench.reproduce');
      const asked = vscode.commands.executeCommand('swt-bench.reveal');
      await answerDialog('Show Fix');
      await asked;
      await vscode.commands.executeCommand('swt-bench.checkWithMutants');
      const mutants = await mutantsInVerdict();
      assert.match(mutants, /9\/16/);
      await vscode.commands.executeCommand('notifications.clearAll');
      await showBoth();
      const before = await waitFor('everything before the reload', async () => {
        const found = await seen();
        assertWhole(found);
        return found;
      });
      await screenshot('before-reload');
      writeFileSync(notes, JSON.stringify({ ...before, mutants }));
      await reload();
    }
    const { mutants, ...before } = JSON.parse(readFileSync(notes, 'utf8')) as Seen & {
      readonly mutants: string;
    };
    assertWhole(before);
    // Nothing runs, and VS Code itself restores the editors.
    await vscode.commands.executeCommand('workbench.view.testing.focus');
    await waitFor('the same after the reload', async () => {
      assert.deepEqual(await seen(), before);
      return true;
    });
    await screenshot('after-reload');
    assert.equal(await mutantsInVerdict(), mutants);

    await vscode.commands.executeCommand('swt-bench.showChangeCoverage');
    await waitFor('both sides', async () => (await shownSides()).length >= 2);
    writeFileSync(diffNotes, '');
    await reload();
  });
});
