import assert from 'node:assert/strict';
import { readFileSync, readdirSync, readlinkSync } from 'node:fs';
import * as vscode from 'vscode';
import {
  closeAllEditors,
  hands,
  inQuickInput,
  type Row,
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
const statusText = async (): Promise<string> =>
  (await visible.statusBar()).find((item) => item.id.endsWith('swt-bench.verdict'))?.text ?? '';
const isIdle = async (): Promise<boolean> => !/running|opening|cancelling/.test(await statusText());

const ledger = 'tests/test_ledger.py';
const money = 'tests/test_money.py';
const partsAddUp = `${money}::AllocateTest::test_parts_add_up_to_the_amount`;

async function opened(path: string): Promise<vscode.TextEditor> {
  const document = await vscode.workspace.openTextDocument(fileUri(path));
  return vscode.window.showTextDocument(document, { preview: false });
}

async function lineOf(editor: vscode.TextEditor, text: string): Promise<number> {
  const line = editor.document
    .getText()
    .split('\n')
    .findIndex((each) => each.includes(text));
  assert.ok(line >= 0, text);
  editor.revealRange(new vscode.Range(line, 0, line, 0), vscode.TextEditorRevealType.InCenter);
  return line;
}

/** Adds a method to the last class of a file. */
async function typed(editor: vscode.TextEditor, ...lines: readonly string[]): Promise<void> {
  const { document } = editor;
  const end = document.lineAt(document.lineCount - 1).range.end;
  const text = lines.map((line) => `    ${line}\n`).join('');
  await hands.edit(editor, (edit) => edit.insert(end, `\n${text}`));
}

async function verdict(wanted: RegExp): Promise<string> {
  return waitFor(`a verdict like ${wanted}`, async () => {
    const text = await statusText();
    assert.match(text, wanted);
    assert.doesNotMatch(text, /out of date|running/);
    return text;
  });
}

/** Replaces the edits of the workspace with the candidate of that name. */
async function applied(name: string): Promise<void> {
  await run('applyBundledCandidate', name);
  await vscode.workspace.saveAll(false);
}

const rowOf = (name: string): Promise<Row> =>
  waitFor(`the row of ${name}`, async () =>
    (await unfoldedTests()).find((row) => row.label.includes(name)),
  );

/**
 * Ids of processes that belong to a run: their environment contains the run's mark. An interpreter
 * that waits for a run still reads from the pipe that it was started with.
 */
function processesOfRuns(): string[] {
  if (process.platform !== 'linux') return [];
  return readdirSync('/proc').filter((name) => {
    if (!/^\d+$/.test(name)) return false;
    try {
      const environment = readFileSync(`/proc/${name}/environ`, 'utf8');
      const [, end] = /SWT_TRACE_AHEAD=(\d+)/.exec(environment) ?? [];
      if (end !== undefined && isReadingFrom(name, end)) return false;
      return environment.includes('SWT_BENCH_RUN=') && environment.includes(storage);
    } catch {
      return false;
    }
  });
}

/** A running program may have the number for a copy of another pipe. */
function isReadingFrom(id: string, end: string): boolean {
  const folder = `/proc/${id}/fd`;
  const files = new Map(
    readdirSync(folder).map((each) => [each, readlinkSync(`${folder}/${each}`)]),
  );
  const file = files.get(end) ?? '';
  return (
    file.startsWith('pipe:') && [...files.values()].filter((each) => each === file).length === 1
  );
}

const storage = process.env['SWT_BENCH_STORAGE'] ?? 'no storage';

describe('runs of the candidate', () => {
  before(async () => {
    await closeAllEditors();
    await vscode.commands.executeCommand('workbench.view.testing.focus');
    await applied('covers-some');
    await run('reproduce');
    await verdict(/1 F→P/);
  });

  after(() => applied('covers-some'));

  // Each test begins with the same candidate, whatever the one before left.
  beforeEach(async () => {
    await applied('covers-some');
    await waitFor('the end of runs', isIdle);
  });

  it('tell what a test does on one side', async () => {
    await run('runTestOnR', partsAddUp);
    await waitFor('the state on R', async () =>
      /Failed/.test((await rowOf('test_parts_add_up')).aria),
    );
    await run('runTestOnFixed', partsAddUp);
    await waitFor('the state on R∘X*', async () =>
      /Passed/.test((await rowOf('test_parts_add_up')).aria),
    );
    await waitFor('the verdict, which is another thing', async () =>
      /1 F→P/.test(await statusText()),
    );
  });

  it('wait for one another, and each is about what was saved when its turn came', async () => {
    const editor = await opened(money);
    const line = await lineOf(editor, 'test_parts_add_up');
    const first = run('reproduce');
    await waitFor('the first run', async () => (await statusText()).includes('running'));
    await hands.edit(editor, (edit) =>
      edit.insert(new vscode.Position(line + 1, 0), '        return\n'),
    );
    const second = run('reproduce');
    const onR = run('runTestOnR', partsAddUp);
    await Promise.all([first, second, onR]);
    await verdict(/passes on R/);
    await hands.edit(editor, (edit) => edit.delete(new vscode.Range(line + 1, 0, line + 2, 0)));
    await run('reproduce');
    await verdict(/1 F→P/);
  });

  it('end when they are cancelled, those that wait too, and leave no process', async () => {
    const editor = await opened(ledger);
    const text = editor.document.getText();
    await typed(editor, 'def test_endless(self):', '    while True:', '        pass');
    const endless = run('reproduce');
    await waitFor('a process that runs tests', () => processesOfRuns().length > 0);
    const waiting = run('reproduce');
    const alsoWaiting = run('runTestOnR', partsAddUp);
    let areDone = false;
    const all = Promise.all([endless, waiting, alsoWaiting]).then(() => (areDone = true));
    // A command begins its run a moment after the call; the next step cancels one that has not
    // begun yet.
    await waitFor('the end of what was asked for', async () => {
      await vscode.commands.executeCommand('testing.cancelRun');
      return areDone;
    });
    await all;
    assert.deepEqual(processesOfRuns(), []);
    await waitFor('the end of the runs', isIdle);
    await replaced(editor, text);
    await run('reproduce');
    await verdict(/1 F→P/);
  });

  it('say so above the test, and end at a click on the status bar, which leaves the verdict', async () => {
    await run('reproduce');
    await verdict(/1 F→P/);
    const editor = await opened(ledger);
    const text = editor.document.getText();
    await typed(editor, 'def test_endless(self):', '    while True:', '        pass');
    await lineOf(editor, 'def test_endless');
    const endless = run('reproduce');
    const firstLens = async (): Promise<string> =>
      (await visible.codeLenses()).find((each) => each.text.includes('Reproduce'))?.text ?? '';
    await waitFor('a lens that says that it runs', async () => {
      assert.match(await firstLens(), /running on R and R∘X\*/);
      return true;
    });
    await waitFor('a process that runs tests', () => processesOfRuns().length > 0);
    await screenshot('running-lens');
    await hands.click({ selector: '.part.statusbar .statusbar-item[id$="swt-bench.verdict"] a' });
    await endless;
    await waitFor('the end of the runs', isIdle);
    assert.deepEqual(processesOfRuns(), []);
    assert.match(await statusText(), /1 F→P.*out of date/);
    assert.match((await rowOf('test_parts_add_up')).aria, /Passed/);
    await replaced(editor, text);
  });

  it('of one test show the states of all that were graded, and a P→P beside an F→P is not red', async () => {
    const editor = await opened(ledger);
    const text = editor.document.getText();
    await typed(editor, 'def test_passes_anyway(self):', '    pass');
    await run('reproduceTest', partsAddUp);
    await verdict(/1 F→P/);
    const row = await waitFor('its state', async () => {
      const found = await rowOf('test_passes_anyway');
      assert.match(found.label, /^P→P/);
      return found;
    });
    assert.match(row.aria, /Passed/);
    assert.match((await rowOf('test_parts_add_up')).aria, /Passed/);
    await screenshot('neutral-beside-success');
    await replaced(editor, text);
  });

  it('with own tests that fail on both sides say how many beside the F→P, and the list of the verdict goes to each', async () => {
    const editor = await opened(ledger);
    const text = editor.document.getText();
    await typed(editor, 'def test_wrong_once(self):', '    self.fail("one")');
    await typed(editor, 'def test_wrong_twice(self):', '    self.fail("two")');
    await editor.document.save();
    await run('reproduce');
    await verdict(/2 of its own tests fail on both sides · 1 F→P/);
    await closeAllEditors();
    const asked = run('showVerdict');
    await inQuickInput.choose('test_wrong_twice', 'Verdict');
    await asked;
    await waitFor('the test', () => {
      const active = vscode.window.activeTextEditor;
      return active?.document
        .lineAt(active.selection.active.line)
        .text.includes('test_wrong_twice');
    });
    await replaced(await opened(ledger), text);
  });

  it('that follow a save save nothing else', async () => {
    await run('reproduce');
    await verdict(/1 F→P/);
    // An unsaved edit makes the verdict one on something else.
    const shows = (wanted: RegExp): Promise<unknown> =>
      waitFor(`a verdict like ${wanted}`, async () => wanted.test(await statusText()));
    await vscode.commands.executeCommand('testing.startContinuousRun');
    // VS Code itself saves edited files when a run starts.
    const other = await opened(ledger);
    await typed(other, 'def test_unfinished(self):', '    self.fail("not saved")');
    try {
      const editor = await opened(money);
      const line = await lineOf(editor, 'test_parts_add_up');
      await hands.edit(editor, (edit) =>
        edit.insert(new vscode.Position(line + 1, 0), '        return\n'),
      );
      await editor.document.save();
      await shows(/passes on R/);
      assert.equal(other.document.isDirty, true);
      await hands.edit(editor, (edit) => edit.delete(new vscode.Range(line + 1, 0, line + 2, 0)));
      await editor.document.save();
      await shows(/1 F→P/);
      assert.equal(other.document.isDirty, true);
    } finally {
      await vscode.commands.executeCommand('testing.stopContinuousRun');
      await vscode.window.showTextDocument(other.document);
      await vscode.commands.executeCommand('workbench.action.files.revert');
    }
  });

  it('keep the result of a test that is only renamed', async () => {
    await run('reproduce');
    await verdict(/1 F→P/);
    const editor = await opened(money);
    const line = await lineOf(editor, 'test_parts_add_up_to_the_amount');
    const name = 'test_parts_add_up_to_the_amount';
    const column = editor.document.lineAt(line).text.indexOf(name);
    const rename = (from: string, to: string): Promise<void> =>
      hands.edit(editor, (edit) =>
        edit.replace(new vscode.Range(line, column, line, column + from.length), to),
      );
    await rename(name, 'test_parts_make_the_amount');
    const after = await waitFor('its transition', async () =>
      (await visible.decorationsAfter()).find((each) => each.line === line + 1),
    );
    assert.match(after.text, /^on R: /);
    assert.doesNotMatch(after.text, /out of date/);
    assert.match((await rowOf('test_parts_make_the_amount')).label, /^F→P/);
    await hands.edit(editor, (edit) =>
      edit.insert(new vscode.Position(line + 1, 0), '        x = 1\n'),
    );
    await waitFor('no result of a test that is another now', async () =>
      (await visible.decorationsAfter()).every(
        (each) => each.line !== line + 1 || !each.text.startsWith('on R: '),
      ),
    );
    await hands.edit(editor, (edit) => edit.delete(new vscode.Range(line + 1, 0, line + 2, 0)));
    await rename('test_parts_make_the_amount', name);
    await editor.document.save();
  });

  it('show the cases of a parametrised test below it', async function () {
    const python = process.env['SWT_BENCH_PYTEST_PYTHON'];
    if (python === undefined) {
      console.log('skipped parametrised: no Python with pytest is to be had');
      return this.skip();
    }
    this.timeout(180_000);
    const settings = vscode.workspace.getConfiguration('swt-bench');
    await settings.update('python', python, vscode.ConfigurationTarget.Global);
    const uri = fileUri('tests/test_cases.py');
    const source = [
      'import pytest',
      'from tallybook.money import Money',
      '',
      '@pytest.mark.parametrize("ways", [1, 3])',
      'def test_allocates(ways):',
      '    parts = Money(2000).allocate([1] * ways)',
      '    assert sum(part.cents for part in parts) == 2000',
      '',
    ].join('\n');
    await vscode.workspace.fs.writeFile(uri, Buffer.from(source));
    try {
      await rowOf('test_allocates');
      await run('reproduce');
      const row = await waitFor('its transitions', async () => {
        const found = await rowOf('test_allocates');
        assert.match(found.label, /1 P→P, 1 F→P|1 F→P, 1 P→P/);
        return found;
      });
      assert.notEqual(row.expanded, null, 'it has rows below');
      const cases = await waitFor('rows of its cases', async () =>
        (await unfoldedTests()).filter((each) => /\[\d\]$/.test(each.label)),
      );
      assert.deepEqual(
        cases.map((each) => each.label),
        ['P→P  [1]', 'F→P  [3]'],
      );
      assert.match(cases[1]?.aria ?? '', /Passed/);
      await run('runTestOnR', 'tests/test_cases.py::test_allocates[3]');
      await waitFor('the state of this case on R', async () =>
        (await unfoldedTests()).some(
          (each) => each.label.endsWith('[3]') && /Failed/.test(each.aria),
        ),
      );
    } finally {
      await vscode.workspace.fs.delete(uri);
      await settings.update('python', undefined, vscode.ConfigurationTarget.Global);
      await vscode.commands.executeCommand('testing.refreshTests');
    }
  });

  it('say what is missing for a debugger', async () => {
    assert.equal(vscode.extensions.getExtension('ms-python.debugpy'), undefined);
    await run('reproduce');
    await verdict(/1 F→P/);
    await run('debugTestOnR', partsAddUp);
    const told = await waitFor('the offer to install it', async () =>
      (await visible.notifications()).find((each) => /ms-python\.debugpy/.test(each.message)),
    );
    assert.deepEqual(told.buttons, ['Install']);
    assert.ok(await isIdle());
    await waitFor('the state of the verdict, which debugging leaves alone', async () =>
      /Passed/.test((await rowOf('test_parts_add_up')).aria),
    );
    await vscode.commands.executeCommand('notifications.clearAll');
    const settings = vscode.workspace.getConfiguration(undefined, folder().uri);
    await settings.update('swt-bench.engine', 'docker', vscode.ConfigurationTarget.Workspace);
    try {
      await run('debugTestOnR', partsAddUp);
      await waitFor('what to do instead', async () =>
        (await visible.notifications()).some((each) =>
          /Select Python or Container Environment/.test(each.message),
        ),
      );
    } finally {
      await settings.update('swt-bench.engine', undefined, vscode.ConfigurationTarget.Workspace);
      await vscode.commands.executeCommand('notifications.clearAll');
    }
  });
});

async function replaced(editor: vscode.TextEditor, text: string): Promise<void> {
  const { document } = editor;
  const whole = new vscode.Range(0, 0, document.lineCount, 0);
  const shown = await vscode.window.showTextDocument(document, { preview: false });
  await hands.edit(shown, (edit) => edit.replace(whole, text));
  await document.save();
}
