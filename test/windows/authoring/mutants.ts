import assert from 'node:assert/strict';
import * as vscode from 'vscode';
import {
  answerDialog,
  closeAllEditors,
  hands,
  inQuickInput,
  screenshot,
  visible,
  waitFor,
} from '../host/client';

const run = (command: string): Thenable<unknown> =>
  vscode.commands.executeCommand(`swt-bench.${command}`);
const money = vscode.Uri.from({
  scheme: 'swt-bench',
  authority: 'fixed',
  path: '/tallybook/money.py',
});

/** The texts of the hovers that VS Code draws for a line (1-based) of R∘X*. */
async function hoverOn(line: number, wanted: string): Promise<string> {
  const editor = await vscode.window.showTextDocument(money, { preview: false });
  const { firstNonWhitespaceCharacterIndex: column } = editor.document.lineAt(line - 1);
  editor.selection = new vscode.Selection(line - 1, column, line - 1, column);
  editor.revealRange(editor.selection, vscode.TextEditorRevealType.InCenter);
  await vscode.commands.executeCommand('editor.action.showHover');
  return waitFor(`the hover of line ${line}`, async () =>
    (await visible.hovers()).find((each) => each.includes(wanted)),
  );
}

const statusText = async (): Promise<string> =>
  (await visible.statusBar()).find((each) => each.id.endsWith('swt-bench.verdict'))?.text ?? '';

/** The entries of the list behind the status bar. */
async function verdictLabels(): Promise<string[]> {
  const asked = run('showVerdict');
  const { items } = await waitFor('the verdict', async () => {
    const input = await visible.quickInput();
    return input?.title.startsWith('Verdict:') === true ? input : undefined;
  });
  await inQuickInput.cancel();
  await asked;
  return items.map(({ label }) => label);
}

describe('mutants in VS Code', () => {
  before(async function () {
    // Longer than a wait, which says what it saw last.
    this.timeout(600_000);
    await run('hideGoldenPatch');
    await closeAllEditors();
    // The list of a verdict shows only the entries that have room.
    await hands.resize(1500, 1500);
    await vscode.commands.executeCommand('swt-bench.applyBundledCandidate', 'covers-some');
    await run('reproduce');
    await waitFor('a verdict', async () => {
      const text = await statusText();
      // A run of the same candidate before it, as in the tests of coverage, adds "as before".
      assert.match(text, /71 % 12\/17(?! · edited)/);
      return true;
    });
  });

  after(async () => {
    await hands.resize(1500, 1000);
    await run('hideGoldenPatch');
    await closeAllEditors();
  });

  it('run only after the golden patch is revealed', async () => {
    const asked = run('checkWithMutants');
    await answerDialog('Cancel', 'Check Tests with Mutants');
    await asked;
    assert.ok((await verdictLabels()).every((label) => !label.includes('Mutants killed')));
  });

  it('are told beside ΔC in the verdict', async function () {
    this.timeout(240_000);
    const asked = run('checkWithMutants');
    await answerDialog('Show Fix');
    await asked;
    const told = 'Mutants killed 56 % (9/16), by F→P tests 9; survived 2, not covered 5.';
    await waitFor('the score', async () =>
      (await visible.notifications()).some(({ message }) => message.includes(told)),
    );
    const labels = await verdictLabels();
    const delta = labels.findIndex((label) => label.startsWith('ΔC '));
    assert.equal(labels[delta + 1], told, labels.join('\n'));
    await vscode.commands.executeCommand('notifications.clearAll');
  });

  it('are in the hover of their line, with what the candidate does', async () => {
    const text = await hoverOn(61, 'Mutants of this line');
    assert.match(text, /newly covered/);
    assert.match(text, /kill: 1 of 2/);
    assert.match(text, /✓ killed\s+sorted\(range\(len\(shares\)\).*→ None/);
    assert.match(text, /✗ survived\s+-lost\[index\] → lost\[index\]/);
    await screenshot('mutants-hover');
  });

  it('are listed with those that survive first, and open as diffs', async () => {
    const asked = run('showMutants');
    const { items } = await waitFor('the list', async () => {
      const input = await visible.quickInput();
      return input?.title === 'Mutants of the Fix' ? input : undefined;
    });
    assert.match(items[0]?.label ?? '', /self\.is_negative\(\) → not \(self\.is_negative\(\)\)/);
    await screenshot('mutants-list');
    await inQuickInput.choose('-lost[index]');
    await asked;
    await waitFor('the diff', async () =>
      (await visible.tabs()).some(({ active, label }) => active && label.includes('↔ mutant')),
    );
    const { input } = vscode.window.tabGroups.activeTabGroup.activeTab ?? {};
    assert.ok(input instanceof vscode.TabInputTextDiff);
    const texts = await Promise.all(
      [input.original, input.modified].map(async (uri) =>
        (await vscode.workspace.openTextDocument(uri)).getText().split('\n'),
      ),
    );
    const [fixed = [], mutant = []] = texts;
    const changed = fixed.flatMap((line, index) => (line === mutant[index] ? [] : [index + 1]));
    assert.deepEqual(changed, [61]);
    assert.match(mutant[60] ?? '', /lambda index: lost\[index\]/);
  });

  it('disappear with the golden patch', async () => {
    const { input } = vscode.window.tabGroups.activeTabGroup.activeTab ?? {};
    assert.ok(input instanceof vscode.TabInputTextDiff);
    await run('hideGoldenPatch');
    await waitFor('the diff gone', async () =>
      (await visible.tabs()).every(({ label }) => !label.includes('↔ mutant')),
    );
    const hidden = await vscode.workspace.openTextDocument(input.modified);
    await waitFor('nothing of the mutant', () => !hidden.getText().includes('lost'));
    assert.ok((await verdictLabels()).every((label) => !label.includes('Mutants killed')));
  });
});
