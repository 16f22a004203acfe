import assert from 'node:assert/strict';
import * as vscode from 'vscode';
import {
  asOnDisk,
  closeAllEditors,
  hands,
  screenshot,
  unfoldedTests,
  visible,
  waitFor,
} from '../host/client';

const folder = (): vscode.WorkspaceFolder => {
  const found = vscode.workspace.workspaceFolders?.[0];
  assert.ok(found);
  return found;
};
const fileUri = (path: string): vscode.Uri => vscode.Uri.joinPath(folder().uri, path);
const run = (command: string, ...args: unknown[]): Thenable<unknown> =>
  vscode.commands.executeCommand(`swt-bench.${command}`, ...args);

/** Opens a file with the line that contains `text` in the middle, and the cursor at its end. */
async function show(
  path: string,
  text: string,
): Promise<{ editor: vscode.TextEditor; line: number }> {
  const document = await vscode.workspace.openTextDocument(fileUri(path));
  const editor = await vscode.window.showTextDocument(document, { preview: false });
  // A candidate was written to the disk just now.
  await asOnDisk(document);
  const line = document
    .getText()
    .split('\n')
    .findIndex((each) => each.includes(text));
  assert.ok(line >= 0, text);
  const end = document.lineAt(line).range.end;
  editor.selection = new vscode.Selection(end, end);
  editor.revealRange(new vscode.Range(end, end), vscode.TextEditorRevealType.InCenter);
  return { editor, line };
}

/** The text after the definition of a test; undefined while none is visible. */
const inline = async (test: string): Promise<string | undefined> =>
  (await visible.editors())
    .flatMap(({ lines }) => lines)
    .find(({ text, after }) => text.includes(`def ${test}(`) && after.length > 0)?.after[0];

/**
 * The number that stands beside the definition of a test. VS Code may leave the numbers of a text
 * before until it scrolls, so they say only what is beside what.
 */
const numberOf = async (test: string): Promise<number | undefined> =>
  (await visible.editors())
    .flatMap(({ lines }) => lines)
    .find(({ text }) => text.includes(`def ${test}(`))?.number ?? undefined;

/** What the first lens above a test says: its verdict. */
const verdictLens = async (test: string): Promise<string> => {
  const number = await numberOf(test);
  const lens = (await visible.codeLenses()).find((each) => each.line === number);
  return lens?.text.split('|')[0]?.trim() ?? '';
};

/** Applies a candidate, runs it and waits for the lens above a test of it. */
async function evaluated(
  candidate: string,
  path: string,
  test: string,
  wanted: RegExp,
): Promise<{ editor: vscode.TextEditor; line: number }> {
  await run('applyBundledCandidate', candidate);
  await run('reproduce');
  const shown = await show(path, `def ${test}`);
  await waitFor(`the transition of ${test}`, async () => {
    assert.match(await verdictLens(test), wanted);
    return true;
  });
  return shown;
}

const hintsOf = (path: string): vscode.Diagnostic[] =>
  vscode.languages.getDiagnostics(fileUri(path)).filter((each) => each.source === 'SWT-Bench');

const lenses = async (): Promise<string[]> => (await visible.codeLenses()).map(({ text }) => text);

/** Moves the cursor to the name of a test and shows the hover there, with the keyboard. */
async function hoverOn(path: string, test: string, wanted: string): Promise<string> {
  const { editor, line } = await show(path, `def ${test}`);
  const column = editor.document.lineAt(line).text.indexOf(test);
  editor.selection = new vscode.Selection(line, column, line, column);
  await vscode.commands.executeCommand('editor.action.showHover');
  return waitFor(`the hover of ${test}`, async () =>
    (await visible.hovers()).find((each) => each.includes(wanted)),
  );
}

describe('beside a test in the editor', () => {
  const money = 'tests/test_money.py';
  const ledger = 'tests/test_ledger.py';
  const partsAddUp = 'test_parts_add_up_to_the_amount';

  before(async () => {
    await closeAllEditors();
    await hands.resize(1500, 1000);
  });

  it('offers what can be done with it, in a CodeLens that can be switched off', async () => {
    await evaluated('covers-some', money, partsAddUp, /^✓ F→P$/);
    assert.match((await inline(partsAddUp)) ?? '', /^on R: expected /);
    // VS Code puts a lens before its text.
    const [text, ...more] = await waitFor('the lens', async () => {
      const shown = await lenses();
      return shown.some((each) => each.includes('Debug')) ? shown : undefined;
    });
    assert.deepEqual(
      text?.split('|').map((part) => part.trim()),
      ['✓ F→P', 'Reproduce', 'R', 'R∘X*', 'Debug'],
    );
    assert.deepEqual(more, [], 'tests that R has too have none');
    await screenshot('inline');
    const settings = vscode.workspace.getConfiguration('swt-bench');
    await settings.update('codeLens', false, vscode.ConfigurationTarget.Workspace);
    await waitFor('no lens', async () => (await lenses()).length === 0);
    await waitFor('the mark after the definition instead', async () =>
      (await inline(partsAddUp))?.startsWith('✓ F→P  on R: expected '),
    );
    await settings.update('codeLens', undefined, vscode.ConfigurationTarget.Workspace);
    await waitFor('the lens again', lenses);
  });

  it('tells in a hover what it did on both sides', async () => {
    const text = await hoverOn(money, partsAddUp, 'failed on R in');
    assert.match(text, /✓ F→P\s+reproduces the issue: fails on R, passes on R∘X\*/);
    assert.match(text, /failed on R in (\d+\.\d\d|less than 0\.01) s/);
    assert.match(text, /AssertionError: .*20\.01.* != .*20\.00/);
    assert.match(text, /Failed at tests\/test_money\.py:\d+/);
    assert.match(text, /passed on R∘X\* in (\d+\.\d\d|less than 0\.01) s/);
    await screenshot('inline-hover');
    await hands.press('Escape');
    await waitFor('no hover', async () => (await visible.hovers()).length === 0);
  });

  it('shows the hover to who points at the text after the definition', async () => {
    await show(money, `def ${partsAddUp}`);
    await waitFor('the transition', () => inline(partsAddUp));
    await hands.hover({
      selector: `.view-line:has-text("${partsAddUp}") span[class*="ced-"] >> nth=-1`,
    });
    await waitFor('the hover', async () =>
      (await visible.hovers()).some((each) => each.includes('failed on R in')),
    );
    await hands.press('Escape');
  });

  it('leads from the hover to the line of R where the code failed', async () => {
    await run('applyBundledCandidate', 'covers-some');
    const document = await typed(
      'def test_three_share(self):\n        self.spend("Anna", 2000, "Anna", "Ben", "Cleo")\n',
    );
    await run('reproduce');
    await show(ledger, 'def test_three_share');
    await waitFor('its transition', async () =>
      (await inline('test_three_share'))?.startsWith('on R: '),
    );
    const text = await hoverOn(ledger, 'test_three_share', 'UnbalancedEntryError');
    const [, path, number] =
      /Failed at (tallybook\/\w+\.py):(\d+) · tests\/test_ledger\.py:\d+/.exec(text) ?? [];
    assert.ok(path !== undefined && number !== undefined, text);
    await hands.click({ selector: '.monaco-hover a', text: `${path}:${number}` });
    await waitFor(`line ${number} of ${path}`, () => {
      const active = vscode.window.activeTextEditor;
      return (
        active?.document.uri.path.endsWith(path) === true &&
        active.selection.active.line === Number(number) - 1
      );
    });
    const source = vscode.window.activeTextEditor?.document.lineAt(Number(number) - 1).text;
    assert.match(source ?? '', /raise UnbalancedEntryError/);
    await undone(document);
  });

  it('shows what a test says as plain text, whatever it says', async () => {
    const said = '```\\n<b>bold</b> [here](https://example.org) https://example.org\\n```';
    const document = await typed(`def test_markup(self):\n        self.fail("${said}")\n`);
    await run('reproduce');
    await show(ledger, 'def test_markup');
    await waitFor('its transition', async () =>
      (await inline('test_markup'))?.startsWith('on R: '),
    );
    const text = await hoverOn(ledger, 'test_markup', '<b>bold</b> [here](https://example.org)');
    assert.match(text, /✗ F→F\s+fails on R and on R∘X\*/);
    // VS Code adds a link of its own for the hint below.
    const links = (await visible.texts('.monaco-hover a')).filter(
      (each) => !/^tests\/test_ledger\.py:\d+$|^Quick Fix/.test(each),
    );
    assert.deepEqual(links, []);
    await hands.press('Escape');
    await undone(document);
  });

  it('hints at a test that passes on R, until it is edited', async () => {
    const test = 'test_thirds_leave_no_cent_behind';
    const { editor, line } = await evaluated('passes-on-both', ledger, test, /^○ P→P/);
    const [hint, ...more] = await waitFor('the hint', () => hintsOf(ledger));
    assert.deepEqual(more, []);
    assert.equal(hint?.severity, vscode.DiagnosticSeverity.Hint);
    assert.match(hint?.message ?? '', /^Passes on R: does not reproduce the issue\. Assert /);
    assert.equal(editor.document.getText(hint?.range), test);
    assert.deepEqual(hintsOf(money), [], 'hints of the candidate before are gone');
    await hands.edit(editor, (edit) =>
      edit.insert(new vscode.Position(line + 1, 0), '        # typed\n'),
    );
    await waitFor('no hint', () => hintsOf(ledger).length === 0);
    await waitFor('a stale mark', async () =>
      /^out of date, run again · was ○ P→P/.test((await inline(test)) ?? ''),
    );
    await screenshot('inline-stale');
    await vscode.commands.executeCommand('undo');
    await waitFor('the hint again', () => hintsOf(ledger).length === 1);
    await editor.document.save();
  });

  it('calls out a failure that is probably not this issue, and names what is missing', async () => {
    const rounding = 'tests/test_rounding.py';
    const test = 'test_twenty_among_three';
    await evaluated('import-error', rounding, test, /^✗ F→F/);
    assert.match(
      (await inline(test)) ?? '',
      /^probably not this issue · on R: (ImportError|ModuleNotFoundError)/,
    );
    const [hint] = await waitFor('the hint', () => hintsOf(rounding));
    assert.match(
      hint?.message ?? '',
      /^Fails on both sides with an import error that is probably not this issue.*tallybook\.rounding cannot/,
    );
    const actions = await vscode.commands.executeCommand<vscode.CodeAction[]>(
      'vscode.executeCodeActionProvider',
      fileUri(rounding),
      hint?.range,
    );
    assert.ok(actions.some((each) => each.title === 'Show Test Output of Both Sides'));
  });

  it('shows a failure at its line, with what was expected and what there was', async () => {
    const test = 'test_surplus_cent_is_taken_from_the_first';
    await evaluated('fails-on-both', money, test, /^✗ F→F$/);
    assert.match((await inline(test)) ?? '', /^on R: /);
    const [hint] = await waitFor('the hint', () => hintsOf(money));
    assert.match(hint?.message ?? '', /^Fails on both sides: it expects something/);
    const message = await waitFor('messages at the assertion', async () => {
      const definition = await numberOf(test);
      return (await visible.editors())
        .flatMap((each) => each.testMessages)
        .find((each) => each.line === (definition ?? 0) + 2);
    });
    assert.match(message.text, /^on R: expected .*6\.67/);
    await screenshot('failure-at-its-line');
    await hands.click({ selector: '.test-error-content-widget' });
    await waitFor('the failure', async () =>
      (await visible.texts('.test-output-peek')).join('\n').includes('on R: expected '),
    );
    await vscode.commands.executeCommand('testing.goToNextMessage');
    await screenshot('expected-and-actual');
    const peek = await waitFor('the two values', async () => {
      const shown = (await visible.texts('.test-output-peek')).join('\n');
      return /Expected/.test(shown) && /Actual/.test(shown);
    });
    assert.ok(peek);
    await hands.press('Escape');
    await hands.press('Escape');
  });

  it('shows the outputs of both sides beside each other', async () => {
    await evaluated('covers-some', money, partsAddUp, /^✓ F→P/);
    await run('showOutputs');
    const documents = await waitFor('both outputs', () => {
      const found = vscode.workspace.textDocuments.filter(
        ({ uri }) => uri.scheme === 'swt-bench' && uri.authority === 'output',
      );
      return found.length === 2 ? found : undefined;
    });
    const textOf = (side: string): string =>
      documents.find(({ uri }) => uri.path.startsWith(`/${side}/`))?.getText() ?? '';
    assert.match(
      textOf('base'),
      new RegExp(`${partsAddUp}\nfailed on R in [\\s\\S]*AssertionError`),
    );
    assert.match(textOf('fixed'), new RegExp(`${partsAddUp}\npassed on R∘X\\* in `));
    for (const side of ['base', 'fixed']) assert.match(textOf(side), /output of the whole run/);
    assert.match(vscode.window.tabGroups.activeTabGroup.activeTab?.label ?? '', /R ↔ R∘X\*/);
    await screenshot('outputs-of-both-sides');
    await vscode.commands.executeCommand('workbench.action.closeActiveEditor');
  });

  it('runs the test of a lens, on both sides and on R', async () => {
    const { editor, line } = await evaluated('covers-some', money, partsAddUp, /^✓ F→P/);
    await hands.edit(editor, (edit) =>
      edit.insert(new vscode.Position(line + 1, 0), '        # typed\n'),
    );
    await waitFor('a stale mark', async () =>
      (await inline(partsAddUp))?.startsWith('out of date'),
    );
    await waitFor('a stale lens', async () => /was ✓ F→P$/.test(await verdictLens(partsAddUp)));
    await hands.click({ selector: '.codelens-decoration a', text: 'Reproduce' });
    await waitFor('the transition', async () => (await verdictLens(partsAddUp)) === '✓ F→P');
    await vscode.commands.executeCommand('workbench.view.testing.focus');
    await vscode.window.showTextDocument(editor.document);
    await hands.click({ selector: '.codelens-decoration a >> nth=2' });
    await waitFor('the failure on R', async () =>
      (await unfoldedTests()).some(
        ({ aria, label }) => /\(Failed\)/.test(aria) && label.includes(partsAddUp),
      ),
    );
    await undone(editor.document);
  });

  /** Types a method at the end of the last class in the ledger's tests, and saves. */
  async function typed(method: string): Promise<vscode.TextDocument> {
    const document = await vscode.workspace.openTextDocument(fileUri(ledger));
    const editor = await vscode.window.showTextDocument(document, { preview: false });
    const end = document.lineAt(document.lineCount - 1).range.end;
    await hands.edit(editor, (edit) => edit.insert(end, `\n    ${method}`));
    await document.save();
    return document;
  }

  async function undone(document: vscode.TextDocument): Promise<void> {
    await vscode.window.showTextDocument(document);
    await vscode.commands.executeCommand('undo');
    await document.save();
  }
});
