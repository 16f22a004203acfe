import assert from 'node:assert/strict';
import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { Script } from 'node:vm';
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
} from './host/client';

const sample = process.env['SWT_BENCH_SAMPLE'] ?? '';
const folder = (): vscode.WorkspaceFolder => {
  const found = vscode.workspace.workspaceFolders?.[0];
  assert.ok(found);
  return found;
};
const fileUri = (path: string): vscode.Uri => vscode.Uri.joinPath(folder().uri, path);

const apply = (name: string): Thenable<unknown> =>
  vscode.commands.executeCommand('swt-bench.applyBundledCandidate', name);
const reproduce = (): Thenable<unknown> => vscode.commands.executeCommand('swt-bench.reproduce');
const statusText = async (): Promise<string> =>
  (await visible.statusBar()).find((item) => item.id.endsWith('swt-bench.verdict'))?.text ?? '';

interface Expected {
  readonly change_coverage: {
    readonly covered: number;
    readonly executable: number;
    readonly removed: Readonly<Record<string, Readonly<Record<string, string>>>>;
    readonly added: Readonly<Record<string, Readonly<Record<string, string>>>>;
  };
}

async function expected(candidate: string): Promise<Expected> {
  const file = JSON.parse(await readFile(join(sample, 'expected.json'), 'utf8')) as {
    candidates: Record<string, Expected>;
  };
  const found = file.candidates[candidate];
  assert.ok(found, candidate);
  return found;
}

/**
 * Applies a bundled candidate, runs it, and waits until the status bar shows the verdict.
 *
 * @param wanted the verdict: a busy window may briefly show that of the candidate before
 */
async function evaluate(name: string, wanted = /ΔC/): Promise<string> {
  await apply(name);
  await reproduce();
  return waitFor(`a verdict on ${name}`, async () => {
    const text = await statusText();
    return wanted.test(text) && !text.includes('out of date') ? text : undefined;
  });
}

/** What the palette offers for these words. */
async function offered(words: string): Promise<readonly string[]> {
  await vscode.commands.executeCommand('workbench.action.quickOpen', `>${words}`);
  const labels = await waitFor('commands', async () => {
    const found = (await visible.quickInput())?.items.map(({ label }) => label) ?? [];
    return found.length > 0 ? found : undefined;
  });
  await hands.press('Escape');
  return labels.filter((label) => label.includes('Fix and Golden Tests'));
}

describe('the bundled instance in VS Code', () => {
  before(async () => {
    await vscode.commands.executeCommand('workbench.view.testing.focus');
  });

  it('activates on the workspace of an instance, with a bundle that is quick to load', async () => {
    const extension = vscode.extensions.getExtension<{ activationMs: number }>(
      'swt-bench.swt-bench',
    );
    assert.ok(extension);
    // The installed package, as users have it.
    assert.match(extension.extensionPath, /[\\/]extensions[\\/]swt-bench\.swt-bench-/);
    const { activationMs } = await extension.activate();
    const main = join(extension.extensionPath, 'dist', 'extension.js');
    const started = performance.now();
    new Script(await readFile(main, 'utf8'), { filename: main });
    const compiling = performance.now() - started;
    console.log(
      `    activation took ${activationMs.toFixed(1)} ms, reading its bundle ${compiling.toFixed(1)} ms`,
    );
    // Time is printed, not asserted, since a busy machine must not fail the tests. Its cause, the
    // size, is asserted. The parts that are loaded late have a hundred times that size.
    assert.ok((await stat(main)).size < 100_000, 'activation loads more than it needs');
  });

  it('shows nothing of the answer in the workspace', async () => {
    const found = await vscode.workspace.findFiles('**/*', null);
    for (const uri of found) {
      const text = Buffer.from(await vscode.workspace.fs.readFile(uri)).toString('utf8');
      assert.doesNotMatch(text, /left_over|by_loss/, uri.path);
    }
  });

  it('says in the empty Testing view what to do', async () => {
    const pane = await waitFor('welcome text', async () =>
      (await visible.panes()).find((each) => each.welcome.includes('No tests yet')),
    );
    assert.ok(pane.buttons.includes('Apply Bundled Candidate…'), pane.buttons.join());
    await screenshot('testing-empty');
  });

  it('lists the tests of a candidate by file and class before anything has run', async () => {
    await apply('covers-some');
    const [file] = await waitFor('the file in the Testing view', () => visible.testingRows());
    assert.deepEqual(
      { label: file?.label, level: file?.level, expanded: file?.expanded },
      { label: 'tests/test_money.py', level: 1, expanded: false },
    );
    await screenshot('testing-folded');
    const rows = await unfoldedTests();
    assert.deepEqual(
      rows.map(({ label, level }) => `${level} ${label}`),
      [
        '1 tests/test_money.py',
        '2 ParseTest',
        '3 test_whole_and_decimal_amounts',
        '3 test_sign',
        '3 test_anything_else_is_refused',
        '2 ArithmeticTest',
        '3 test_sums_are_exact',
        '3 test_difference_and_sign',
        '3 test_order',
        '3 test_text',
        '2 AllocateTest',
        '3 test_equal_parts',
        '3 test_in_proportion',
        '3 test_missing_cent_goes_to_the_first',
        '3 test_useless_weights_are_refused',
        '3 new · test_parts_add_up_to_the_amount',
      ],
    );
    assert.match(rows.at(-1)?.aria ?? '', /^new · test_parts_add_up_to_the_amount/);
    await screenshot('testing-unfolded');
  });

  it('shows the tests of the candidate alone where the filter asks for them', async () => {
    const filter = '.testing-filter-wrapper .monaco-editor';
    await hands.click({ selector: filter });
    await hands.type('@swt-bench:new');
    await waitFor('the filtered rows', async () => {
      const rows = (await unfoldedTests()).map(({ label }) => label);
      // Without the suggestions of the filter itself.
      assert.deepEqual(
        rows.filter((label) => !label.startsWith('@')),
        ['tests/test_money.py', 'AllocateTest', 'new · test_parts_add_up_to_the_amount'],
      );
      return true;
    });
    await screenshot('testing-filtered');
    await hands.press('Control+a');
    await hands.press('Delete');
    await waitFor('all rows', async () => (await unfoldedTests()).length > 10);
  });

  it('folds the list of runs, and gives Change Coverage the most room', async () => {
    await vscode.commands.executeCommand('workbench.view.extension.swt-bench');
    const panes = await waitFor('the views', async () => {
      const shown = await visible.panes();
      return shown.some(({ title }) => title === 'Runs') ? shown : undefined;
    });
    const expanded = new Map(panes.map((pane) => [pane.title, pane.expanded]));
    assert.equal(expanded.get('Instances'), true);
    assert.equal(expanded.get('Runs'), false);
    assert.equal(expanded.get('Change Coverage'), true);
    await screenshot('views-of-an-instance');
    await vscode.commands.executeCommand('workbench.view.testing.focus');
  });

  it('shows F→P above the test, in the Testing view and in the status bar', async () => {
    await evaluate('covers-some', /1 F→P · ΔC 71 % 12\/17/);

    const document = await vscode.workspace.openTextDocument(fileUri('tests/test_money.py'));
    const line = document
      .getText()
      .split('\n')
      .findIndex((each) => each.includes('test_parts_add_up'));
    const editor = await vscode.window.showTextDocument(document);
    editor.revealRange(new vscode.Range(line, 0, line, 0), vscode.TextEditorRevealType.InCenter);
    const after = await waitFor('text after the definition', async () =>
      (await visible.decorationsAfter()).filter((each) => each.text.startsWith('on R: ')),
    );
    assert.equal(after[0]?.line, line + 1);
    assert.match(after[0]?.text ?? '', /^on R: expected /);
    const lenses = await waitFor('the lens', () => visible.codeLenses());
    assert.match(lenses[0]?.text ?? '', /^✓ F→P/);

    const row = await waitFor('the transition in the Testing view', async () =>
      (await unfoldedTests()).find((each) => each.label.startsWith('F→P')),
    );
    assert.match(row.aria, /Passed/);
  });

  it('runs what is below the row of a class, which shows the worst result', async () => {
    const row = '.test-explorer .monaco-list-row';
    await hands.click({ selector: row, text: 'AllocateTest', button: 'right' });
    await hands.click({ selector: '.monaco-menu .action-item', text: 'Execute Using Profile' });
    await inQuickInput.choose('Run on R');
    const states = await waitFor('the state of the class', async () => {
      const rows = (await unfoldedTests()).filter(({ expanded }) => expanded === true);
      const found = rows.map(({ label, aria }) => `${label} ${/\((\w+)\)/.exec(aria)?.[1]}`);
      return found.includes('AllocateTest Failed') ? found : undefined;
    });
    assert.deepEqual(states, [
      'tests/test_money.py Failed',
      'ParseTest Passed',
      'ArithmeticTest Passed',
      'AllocateTest Failed',
    ]);
    await screenshot('class-failed');
  });

  for (const [candidate, status, inline] of [
    ['passes-on-both', /passes on R · ΔC 88 % 15\/17/, /^passes on R: does not reproduce/],
    ['fails-on-both', /fails on both sides · ΔC 71 % 12\/17/, /^on R: expected /],
    [
      'import-error',
      /unrelated failure · ΔC 0 % 0\/17/,
      /probably not this issue · on R: (ImportError|ModuleNotFoundError)/,
    ],
  ] as const) {
    it(`tells that ${candidate} is no reproduction, and why`, async () => {
      await evaluate(candidate, status);
      await waitFor('the transition in the Testing view', async () =>
        (await unfoldedTests()).find((row) => /^(P→P|F→F) {2}new · /.test(row.label)),
      );
      const path =
        candidate === 'import-error'
          ? 'test_rounding'
          : candidate === 'passes-on-both'
            ? 'test_ledger'
            : 'test_money';
      const document = await vscode.workspace.openTextDocument(fileUri(`tests/${path}.py`));
      const editor = await vscode.window.showTextDocument(document);
      const end = document.lineCount - 1;
      editor.revealRange(new vscode.Range(end, 0, end, 0));
      const after = await waitFor('text after the definition', async () =>
        (await visible.decorationsAfter()).filter((each) => inline.test(each.text)),
      );
      assert.equal(after.length, 1);
    });
  }

  it('shows each test of a candidate with its own transition', async () => {
    await evaluate('covers-everything', /2 F→P · ΔC 100 % 17\/17/);
    const document = await vscode.workspace.openTextDocument(fileUri('tests/test_expense.py'));
    const editor = await vscode.window.showTextDocument(document, { preview: false });
    await hands.resize(1400, 760);
    const end = document.lineCount - 1;
    editor.revealRange(new vscode.Range(end, 0, end, 0));
    const above = await waitFor('three transitions', async () => {
      const texts = (await visible.codeLenses()).map((each) => each.text);
      // VS Code places lenses before it has their texts.
      return texts.length === 3 && !texts.includes('') ? texts : undefined;
    });
    assert.deepEqual(
      above.map((text) => text.split(/\s*\|/)[0]),
      ['✓ F→P', '✓ F→P', '○ P→P'],
    );
    const rows = (await unfoldedTests()).filter(({ label }) => label.includes('new · '));
    assert.deepEqual(
      rows.map(({ label }) => label.slice(0, 3)),
      ['F→P', 'F→P', 'P→P'],
    );
    const covered = (await visible.editors()).flatMap((each) => each.testMessages);
    assert.deepEqual(
      covered.filter((message) => message.line === 72),
      [],
      'nothing covers the transition',
    );
    await screenshot('testing-view');
    await hands.resize(1500, 1000);
  });

  it('calls transition and verdict stale once the test is edited', async () => {
    await evaluate('covers-some');
    const document = await vscode.workspace.openTextDocument(fileUri('tests/test_money.py'));
    const editor = await vscode.window.showTextDocument(document);
    const line = document
      .getText()
      .split('\n')
      .findIndex((each) => each.includes('test_parts_add_up'));
    editor.revealRange(new vscode.Range(line, 0, line, 0), vscode.TextEditorRevealType.InCenter);
    await hands.edit(editor, (edit) =>
      edit.insert(new vscode.Position(line + 1, 0), '        # later\n'),
    );
    await waitFor('a stale mark', async () =>
      (await visible.decorationsAfter()).find((each) => each.text.includes('out of date')),
    );
    await document.save();
    await waitFor('a stale verdict', async () => (await statusText()).includes('out of date'));
    await vscode.commands.executeCommand('undo');
    await document.save();
  });

  it('calls a transition stale whose test was edited while it ran', async () => {
    const document = await vscode.workspace.openTextDocument(fileUri('tests/test_money.py'));
    const editor = await vscode.window.showTextDocument(document);
    const line = document
      .getText()
      .split('\n')
      .findIndex((each) => each.includes('test_parts_add_up'));
    editor.revealRange(new vscode.Range(line, 0, line, 0), vscode.TextEditorRevealType.InCenter);
    const running = reproduce();
    await waitFor('the run', async () => (await statusText()).includes('running'));
    // After the run has read the saved files, and long before the tests end.
    await hands.edit(editor, (edit) =>
      edit.insert(new vscode.Position(line + 1, 0), '        # typed\n'),
    );
    await running;
    await waitFor('a stale mark', async () =>
      (await visible.decorationsAfter()).find((each) => each.text.includes('out of date')),
    );
    await vscode.commands.executeCommand('undo');
    await waitFor('the mark again', async () =>
      (await visible.decorationsAfter()).every((each) => !each.text.includes('out of date')),
    );
    await document.save();
  });

  it('finds a test while it is typed, runs it on save, and shows its transition', async () => {
    const document = await vscode.workspace.openTextDocument(fileUri('tests/test_ledger.py'));
    const editor = await vscode.window.showTextDocument(document);
    const end = document.lineAt(document.lineCount - 1).range.end;
    await hands.edit(editor, (edit) =>
      edit.insert(
        end,
        '\n    def test_typed_by_hand(self):\n        self.spend("Anna", 2000, "Anna", "Ben", "Cleo")\n',
      ),
    );
    await waitFor('the typed test in the Testing view, unsaved', async () =>
      (await unfoldedTests()).find((row) => row.label.includes('test_typed_by_hand')),
    );
    await reproduce();
    const after = await waitFor('its transition', async () => {
      const visibleEditor = vscode.window.activeTextEditor;
      visibleEditor?.revealRange(
        new vscode.Range(document.lineCount - 1, 0, document.lineCount - 1, 0),
      );
      return (await visible.decorationsAfter()).filter((each) => each.text.startsWith('on R: '));
    });
    assert.match(after[0]?.text ?? '', /^on R: UnbalancedEntryError/);
    assert.equal(document.isDirty, false, 'the run saves what it runs');
  });

  it('follows each save while it runs continuously, with the tests that were edited', async () => {
    await evaluate('covers-some');
    const before = await statusText();
    await vscode.commands.executeCommand('testing.startContinuousRun');
    const document = await vscode.workspace.openTextDocument(fileUri('tests/test_money.py'));
    const editor = await vscode.window.showTextDocument(document);
    const line = document
      .getText()
      .split('\n')
      .findIndex((each) => each.includes('test_parts_add_up'));
    editor.revealRange(new vscode.Range(line, 0, line, 0), vscode.TextEditorRevealType.InCenter);
    const saved = async (edit: (edit: vscode.TextEditorEdit) => void): Promise<void> => {
      await editor.edit(edit);
      await document.save();
    };
    try {
      await saved((edit) => edit.insert(new vscode.Position(line + 1, 0), '        return\n'));
      await waitFor('the verdict on what was saved', async () =>
        (await statusText()).includes('passes on R · ΔC 0 % 0/17'),
      );
      await waitFor('its transition', async () =>
        (await visible.codeLenses()).some((each) => each.text.startsWith('○ P→P')),
      );
      await saved((edit) => edit.delete(new vscode.Range(line + 1, 0, line + 2, 0)));
      await waitFor('the verdict before it', async () => (await statusText()) === before);
    } finally {
      await vscode.commands.executeCommand('testing.stopContinuousRun');
    }
  });

  it('ends an endless run when it is cancelled', async () => {
    const document = await vscode.workspace.openTextDocument(fileUri('tests/test_ledger.py'));
    const editor = await vscode.window.showTextDocument(document);
    const end = document.lineAt(document.lineCount - 1).range.end;
    await hands.edit(editor, (edit) =>
      edit.insert(end, '\n    def test_endless(self):\n        while True:\n            pass\n'),
    );
    const running = reproduce();
    await waitFor('the run', async () => (await statusText()).includes('running'));
    await vscode.commands.executeCommand('testing.cancelRun');
    await running;
    await waitFor('the end of the run', async () => !(await statusText()).includes('running'));
    await vscode.window.showTextDocument(document);
    await vscode.commands.executeCommand('undo');
    await document.save();
    await waitFor('the verdict again', async () => !(await statusText()).includes('out of date'));
  });

  it('asks before it shows the golden patch', async () => {
    await evaluate('covers-some');
    const asked = vscode.commands.executeCommand('swt-bench.showChangeCoverage');
    const question = await answerDialog('Cancel', 'reveals the fix', 'reveal-dialog');
    assert.deepEqual(question, {
      message:
        '“Show Change Coverage” reveals the fix, golden tests and hints of tallybook__tallybook-217.',
      detail: 'You cannot unsee them. This is recorded, and exports mention it.',
      buttons: ['Cancel', 'Show Fix'],
    });
    await asked;
    assert.equal((await visible.editors()).filter((each) => each.uri.includes('fixed')).length, 0);
    assert.deepEqual(await offered('Fix and Golden Tests'), [
      'SWT-Bench: Reveal Fix and Golden Tests…',
    ]);
  });

  it('shows the state of every changed line in the gutters of both sides', async () => {
    const asked = vscode.commands.executeCommand('swt-bench.showChangeCoverage');
    await answerDialog('Show Fix');
    await asked;
    assert.deepEqual(await offered('Fix and Golden Tests'), [
      'SWT-Bench: Hide Fix and Golden Tests',
    ]);
    await hands.resize(1500, 1500);
    const wanted = (await expected('covers-some')).change_coverage;
    for (const path of ['tallybook/money.py', 'tallybook/expense.py']) {
      const uri = (side: string): vscode.Uri =>
        vscode.Uri.from({ scheme: 'swt-bench', authority: side, path: `/${path}` });
      await vscode.commands.executeCommand('vscode.diff', uri('base'), uri('fixed'), path);
      await waitFor(`gutters of ${path}`, async () => {
        const icons = await visible.gutterIcons();
        const states = (side: 'original' | 'modified') =>
          Object.fromEntries(
            icons
              .filter((icon) => icon.side === side && icon.uri.includes(path))
              .map((icon) => [String(icon.line), stateOfIcon(icon.icon)]),
          );
        assert.deepEqual(states('original'), wanted.removed[path]);
        assert.deepEqual(states('modified'), wanted.added[path]);
        return true;
      });
      await hands.resize(1400, 820);
      const shown = vscode.window.visibleTextEditors.find(
        (each) => each.document.uri.toString() === uri('fixed').toString(),
      );
      shown?.revealRange(new vscode.Range(36, 0, 70, 0), vscode.TextEditorRevealType.AtTop);
      await screenshot(`golden-diff-${path.split('/').at(-1)?.replace('.py', '') ?? ''}`);
      await hands.resize(1500, 1500);
    }
  });

  it('sums up the instance in its view', async () => {
    await vscode.commands.executeCommand('workbench.view.extension.swt-bench');
    // VS Code draws the rows of an earlier time first.
    const rows = await waitFor('the verdict in the view', async () => {
      const shown = await visible.treeRows('Current Instance');
      return /reproduces the issue \(F→P\)/.test(shown[1]?.description ?? '') ? shown : undefined;
    });
    assert.deepEqual(
      rows.map((row) => row.label),
      ['Issue', 'Candidate', 'Change coverage', 'Fix, golden tests, hints', 'Environment'],
    );
    assert.match(rows[2]?.description ?? '', /12\/17/);
    assert.match(rows[3]?.description ?? '', /revealed/);
  });

  it('shows the issue as rendered text', async () => {
    await closeAllEditors();
    await vscode.commands.executeCommand('swt-bench.showIssue');
    const [text] = await waitFor('the issue', async () =>
      (await visible.webviews()).filter((each) => each.includes('out of balance by')),
    );
    assert.doesNotMatch(text ?? '', /Rounding down first/, 'hints stay hidden');
    await screenshot('issue');
  });

  it('leads from the issue to the code: paths with lines, and dotted names', async () => {
    const shows = (path: string, line: number): Promise<unknown> =>
      waitFor(`line ${line} of ${path}`, () => {
        const editor = vscode.window.activeTextEditor;
        return (
          editor?.document.uri.path.endsWith(path) === true &&
          editor.selection.active.line === line - 1
        );
      });
    await hands.clickInWebview('site-packages/tallybook/ledger.py", line 40');
    await shows('/tallybook/ledger.py', 40);
    const definition = await vscode.workspace.openTextDocument(fileUri('tallybook/errors.py'));
    const line = definition
      .getText()
      .split('\n')
      .findIndex((each) => each.startsWith('class UnbalancedEntryError'));
    await hands.clickInWebview('tallybook.errors.UnbalancedEntryError');
    await shows('/tallybook/errors.py', line + 1);
    await screenshot('issue-beside-code');
  });

  it('shows in the status bar that the golden patch was revealed, until it is hidden', async () => {
    assert.match(await statusText(), /revealed/);
    await vscode.commands.executeCommand('swt-bench.hideGoldenPatch');
    await waitFor(
      'the status bar without it',
      async () => !(await statusText()).includes('reveal'),
    );
    await waitFor('the issue without the patch', async () =>
      (await visible.webviews()).some(
        (each) => each.includes('are hidden') && !each.includes('diff --git'),
      ),
    );
  });

  it('writes a dev container that is no part of the candidate', async () => {
    void vscode.commands.executeCommand('swt-bench.environment');
    await inQuickInput.choose('Add Dev Container to Workspace', 'Environment of');
    const uri = await waitFor('the file', () => {
      const shown = vscode.window.activeTextEditor?.document.uri;
      return shown?.path.includes('devcontainer') === true ? shown : undefined;
    });
    assert.match(uri.path, /\.devcontainer\/devcontainer\.json$/);
    const text = vscode.window.activeTextEditor?.document.getText() ?? '';
    assert.match(text, /"name": "tallybook__tallybook-217"/);
    assert.match(text, /"image": "/);
    await reproduce();
    await waitFor('a verdict', async () => (await statusText()).includes('ΔC'));
    await vscode.commands.executeCommand('workbench.view.testing.focus');
    const rows = await visible.testingRows();
    assert.ok(rows.every((row) => !row.text.includes('devcontainer')));
  });
});

/** Maps `…/newly-covered-dark.svg` to `newly covered`. */
function stateOfIcon(icon: string): string {
  return icon
    .replace(/^.*\//, '')
    .replace(/-(light|dark)\.svg.*$/, '')
    .replace('-', ' ');
}
