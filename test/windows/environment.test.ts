import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import * as vscode from 'vscode';
import { hands, inQuickInput, screenshot, visible, waitFor } from './host/client';

interface PythonApi {
  readonly environments: {
    getActiveEnvironmentPath(): { readonly path: string };
    updateActiveEnvironmentPath(path: string): Promise<void>;
  };
}

const statusText = async (): Promise<string> =>
  (await visible.statusBar()).find((each) => each.id.endsWith('swt-bench.verdict'))?.text ?? '';
const setting = () => vscode.workspace.getConfiguration('swt-bench');
const folder = (): vscode.Uri => {
  const found = vscode.workspace.workspaceFolders?.[0];
  assert.ok(found);
  return found.uri;
};
/** A test that needs pytest, which the interpreter of this suite lacks. */
const candidate = `import pytest
from tallybook.money import Money


@pytest.mark.parametrize("ways", [3])
def test_allocates(ways):
    parts = Money(2000).allocate([1] * ways)
    assert sum(part.cents for part in parts) == 2000
`;

/** What the view of the open instance says of the environment. */
const environmentRow = async (): Promise<string> =>
  (await visible.treeRows('Current Instance')).find(({ label }) => label === 'Environment')
    ?.description ?? '';

describe('the environment of an instance', () => {
  const bare = join(process.env['SWT_BENCH_SCRATCH'] ?? '', 'bare');
  const python = join(bare, 'bin', 'python');
  before(async () => {
    execFileSync('python3', ['-m', 'venv', '--without-pip', bare]);
    await vscode.extensions.getExtension('swt-bench.swt-bench')?.activate();
    await vscode.workspace.fs.writeFile(
      vscode.Uri.joinPath(folder(), 'tests/test_cases.py'),
      Buffer.from(candidate),
    );
  });
  const api = async (): Promise<PythonApi['environments']> => {
    const found = vscode.extensions.getExtension<PythonApi>('ms-python.python');
    assert.ok(found);
    return (await found.activate()).environments;
  };

  it('follows the choice of the Python extension, and is named as what is missing', async () => {
    await (await api()).updateActiveEnvironmentPath(python);
    await vscode.commands.executeCommand('swt-bench.reproduce');
    await waitFor('the verdict', async () => /could not run/.test(await statusText()));
    assert.doesNotMatch(await statusText(), /ΔC 0/, 'nobody knows what it covers');
    // The command ends when the list is closed.
    void vscode.commands.executeCommand('swt-bench.showVerdict');
    await waitFor('the offer', async () =>
      (await visible.texts('.quick-input-widget .label-name')).some((label) =>
        label.includes('Create Environment for This Instance'),
      ),
    );
    await screenshot('environment-verdict');
    await vscode.commands.executeCommand('workbench.action.closeQuickOpen');
  });

  it('is said again when it is detected again', async () => {
    const detecting = vscode.commands.executeCommand('swt-bench.environment');
    await inQuickInput.choose('Detect Python and Docker Again', 'Environment of');
    await detecting;
    await waitFor('what it found', async () =>
      (await visible.notifications()).some(
        ({ message }) => message.includes('pytest not installed') && message.includes(python),
      ),
    );
    await vscode.commands.executeCommand('workbench.view.extension.swt-bench');
    await waitFor('the same in the view', async () =>
      /^CPython 3\.\d+\.\d+ · local engine$/.test(await environmentRow()),
    );
    await screenshot('environment-found');
  });

  it('can be chosen among those that the Python extension knows, which then has the choice', async () => {
    const selecting = vscode.commands.executeCommand('swt-bench.environment');
    /** Types, and waits until the list shows only what has it, or nothing. */
    const finds = async (typed: string, isThere: boolean): Promise<void> => {
      await hands.press('Control+a');
      await hands.type(typed);
      await waitFor(`what ${typed} finds`, async () => {
        const shown = (await visible.quickInput())?.items.map(({ label }) => label) ?? [];
        const found = shown.filter((label) => label.includes(typed));
        return found.length > 0 === isThere && shown.every((each) => !each.includes('Default'));
      });
    };
    // This one is found by the search, which also ends with a Python 2.
    await finds('(searched)', true);
    for (const unusable of ['(bare)', '(old)']) await finds(unusable, false);
    await finds('(known)', true);
    await screenshot('environment-python');
    await hands.press('Enter');
    await selecting;
    assert.equal(setting().get('python'), '/envs/known/bin/python');
    assert.equal((await api()).getActiveEnvironmentPath().path, '/envs/known/bin/python');
    const folderSetting = vscode.workspace.getConfiguration('swt-bench', folder());
    await folderSetting.update('python', undefined, vscode.ConfigurationTarget.WorkspaceFolder);
    await (await api()).updateActiveEnvironmentPath(python);
  });

  it('has settings that can be set where the extension runs', async () => {
    await vscode.commands.executeCommand('swt-bench.openSetting', 'swt-bench.python');
    await waitFor('the setting', async () =>
      (await visible.texts('.settings-editor .setting-item-label')).some((label) =>
        /^python$/i.test(label.trim()),
      ),
    );
    await screenshot('environment-settings');
    await vscode.commands.executeCommand('workbench.action.closeActiveEditor');
  });

  it('is made from the page of the issue, with which the tests then run', async () => {
    await vscode.commands.executeCommand('swt-bench.showIssue');
    await screenshot('environment-issue');
    const making = vscode.commands.executeCommand('swt-bench.makeEnvironment');
    await waitFor('how far it is', async () => /^being created: /.test(await environmentRow()));
    await vscode.commands.executeCommand('swt-bench.makeEnvironment');
    await making;
    const made = setting().get<string>('python') ?? '';
    assert.match(made, /virtualenvs[\\/]tallybook-tallybook-0-7-\w+[\\/]bin[\\/]python$/);
    assert.equal((await api()).getActiveEnvironmentPath().path, made);
    // Its versions say more than its folder, and are known before a run.
    await waitFor('what came of it', async () =>
      /^CPython 3\.9\..*local engine/.test(await environmentRow()),
    );
    await screenshot('environment-made');
    await vscode.commands.executeCommand('swt-bench.reproduce');
    await waitFor('the verdict', async () => /F→P/.test(await statusText()));
    await screenshot('environment-reproduced');
  });

  it('leaves the verdict as it is while the file of its setting is written', async () => {
    const file = (path: string): vscode.Uri => vscode.Uri.joinPath(folder(), path);
    const settings = await vscode.window.showTextDocument(file('.vscode/settings.json'));
    await hands.edit(settings, (edit) => edit.insert(new vscode.Position(0, 0), '\n'));
    const tests = await vscode.window.showTextDocument(file('tests/test_cases.py'));
    await hands.edit(tests, (edit) => edit.insert(new vscode.Position(0, 0), '\n'));
    await waitFor('an edited test', async () => (await statusText()).includes('out of date'));
    await vscode.commands.executeCommand('undo');
    await waitFor('the verdict again', async () => !(await statusText()).includes('out of date'));
    assert.ok(settings.document.isDirty);
    for (const { document } of [settings, tests]) {
      await vscode.window.showTextDocument(document);
      await vscode.commands.executeCommand('workbench.action.revertAndCloseActiveEditor');
    }
  });

  it('follows the Python extension from one interpreter to another, between two runs', async () => {
    const made = setting().get<string>('python') ?? '';
    const folderSetting = vscode.workspace.getConfiguration('swt-bench', folder());
    await folderSetting.update('python', undefined, vscode.ConfigurationTarget.WorkspaceFolder);
    for (const [chosen, verdict] of [
      [python, /could not run/],
      [made, /F→P/],
    ] as const) {
      await (await api()).updateActiveEnvironmentPath(chosen);
      await vscode.commands.executeCommand('swt-bench.reproduce');
      await waitFor(`the verdict with ${chosen}`, async () => verdict.test(await statusText()));
      assert.equal(setting().get('python'), '', 'the choice is not written into a setting');
    }
  });
});
