import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import * as vscode from 'vscode';
import { hands, screenshot, unfoldedTests, visible, waitFor } from './host/client';

const extensionId = 'swt-bench.swt-bench';
const canary = process.env['SWT_BENCH_CANARY'] ?? '';

/** Traces so far: programs that ran, and addresses that were requested. */
const fired = (): string[] => {
  const requests = join(canary, 'requests');
  const asked = existsSync(requests) ? readFileSync(requests, 'utf8').trim().split('\n') : [];
  return [...readdirSync(canary).filter((name) => name !== 'requests'), ...asked].sort();
};

/** Opens the views of the container and the Testing view, as a person does. */
async function lookAtEverything(): Promise<void> {
  await vscode.commands.executeCommand('workbench.view.extension.swt-bench');
  for (const view of ['instance', 'changeCoverage', 'instances', 'runs']) {
    await vscode.commands.executeCommand(`swt-bench.${view}.focus`);
  }
  await vscode.commands.executeCommand('workbench.view.testing.focus');
  await vscode.commands.executeCommand('testing.refreshTests').then(undefined, () => undefined);
  await vscode.commands.executeCommand('workbench.view.explorer');
}

const welcomeOf = async (title: string): Promise<string> =>
  (await visible.panes()).find((pane) => pane.title.toLowerCase().includes(title))?.welcome ?? '';

describe('a hostile folder in Restricted Mode', () => {
  before(async () => {
    assert.equal(vscode.workspace.isTrusted, false, 'the window asks for trust');
    const extension = vscode.extensions.getExtension(extensionId);
    await extension?.activate();
    const [folder] = vscode.workspace.workspaceFolders ?? [];
    assert.ok(folder);
    // Each activates a part of the extension: Python, a custom diff, Markdown.
    for (const path of ['tests/test_evil.py', 'README.md']) {
      const uri = vscode.Uri.joinPath(folder.uri, path);
      await vscode.workspace.openTextDocument(uri).then(
        (document) => vscode.window.showTextDocument(document),
        () => undefined,
      );
    }
  });

  it('says in the status bar and in each view that it is not trusted', async () => {
    const [item] = await waitFor('the status bar', () => visible.statusBar('not trusted'));
    assert.match(item?.text ?? '', /SWT-Bench: not trusted/);
    // Nobody has opened it.
    await waitFor('the Instance view', async () =>
      (await welcomeOf('instance')).includes('not even git'),
    );
    await vscode.commands.executeCommand('swt-bench.changeCoverage.focus');
    await waitFor('the Change Coverage view', async () =>
      (await welcomeOf('change coverage')).includes('not even git'),
    );
    await vscode.commands.executeCommand('workbench.view.testing.focus');
    await waitFor('the Testing view', async () =>
      (await visible.panes()).find((pane) => pane.welcome.includes('not even git')),
    );
    await screenshot('untrusted');
  });

  it('has commands about the instance that say why they do nothing', async () => {
    await vscode.commands.executeCommand('swt-bench.reproduce');
    const [shown] = await waitFor('an explanation', async () =>
      (await visible.notifications()).filter((each) => each.message.includes('not trusted')),
    );
    assert.match(shown?.message ?? '', /nothing in it runs.*Trust it first/);
    for (const id of ['generate', 'exportReproduction', 'environment', 'copyMcpConfiguration']) {
      await vscode.commands.executeCommand(`swt-bench.${id}`);
    }
    await vscode.commands.executeCommand('notifications.clearAll');
  });

  it('executed nothing and asked for nothing, with every view looked at', async () => {
    await lookAtEverything();
    const [folder] = vscode.workspace.workspaceFolders ?? [];
    assert.ok(folder);
    // Changed files make lists of tests and verdicts refresh.
    const uri = vscode.Uri.joinPath(folder.uri, 'tests', 'test_more.py');
    await vscode.workspace.fs.writeFile(uri, Buffer.from('def test_more():\n    pass\n'));
    const document = await vscode.workspace.openTextDocument(uri);
    const edit = new vscode.WorkspaceEdit();
    edit.insert(uri, new vscode.Position(0, 0), '# edited\n');
    await vscode.workspace.applyEdit(edit);
    await document.save();
    await lookAtEverything();
    // Background work cannot be awaited: these commands end after all work that had begun.
    await vscode.commands.executeCommand('swt-bench.refresh');
    assert.deepEqual(fired(), []);
    assert.equal(existsSync(join(folder.uri.fsPath, 'stolen-storage')), false);
  });

  it('opens no instance whose repository has a link where the marker belongs', async () => {
    const linked = process.env['SWT_BENCH_LINKED'] ?? '';
    await vscode.commands.executeCommand('swt-bench.openInstance', 'octo__linked-1');
    const [shown] = await waitFor('a refusal', async () =>
      (await visible.notifications()).filter((each) => each.message.includes('cannot be opened')),
    );
    assert.match(shown?.message ?? '', /octo__linked-1 cannot be opened: \.swt-bench in its/);
    const elsewhere = join(linked, 'elsewhere');
    assert.deepEqual(readdirSync(elsewhere), ['instance.json']);
    assert.equal(readFileSync(join(elsewhere, 'instance.json'), 'utf8'), 'precious\n');
    await vscode.commands.executeCommand('notifications.clearAll');
    assert.deepEqual(fired(), []);
  });

  it('is opened by itself when it is trusted: tests, status, issue', async () => {
    await vscode.commands.executeCommand('workbench.trust.manage');
    await waitFor('the button that trusts', async () =>
      (await visible.texts('.workspace-trust-editor .monaco-button')).find((each) =>
        /^Trust$/.test(each.trim()),
      ),
    );
    await hands.click({ selector: '.workspace-trust-editor .monaco-button', text: 'Trust' });
    await waitFor('trust', () => vscode.workspace.isTrusted);
    await vscode.commands.executeCommand('workbench.action.closeModalEditor');
    await waitFor('the verdict in the status bar', () => visible.statusBar('no verdict yet'));
    assert.deepEqual(await visible.statusBar('not trusted'), []);
    await vscode.commands.executeCommand('workbench.view.testing.focus');
    const rows = await waitFor('the tests of the candidate', async () => {
      const found = await unfoldedTests();
      return found.some((row) => row.text.includes('test_evil')) ? found : undefined;
    });
    assert.ok(rows.some((row) => row.text.includes('test_more')));
    await vscode.commands.executeCommand('workbench.view.extension.swt-bench');
    await waitFor('the issue', async () =>
      (await visible.treeRows()).find((row) => row.label === 'Issue'),
    );
    await screenshot('trusted');
  });

  it('gets no git of ours to run anything then either', async () => {
    await lookAtEverything();
    const [folder] = vscode.workspace.workspaceFolders ?? [];
    assert.ok(folder);
    const uri = vscode.Uri.joinPath(folder.uri, 'tests', 'test_late.py');
    await vscode.workspace.fs.writeFile(uri, Buffer.from('def test_late():\n    pass\n'));
    await vscode.commands.executeCommand('workbench.view.testing.focus');
    await waitFor('the new test', async () =>
      (await unfoldedTests()).find((row) => row.text.includes('test_late')),
    );
    // Once the folder is trusted, the interpreter and the dataset of its settings and marker may be
    // used.
    assert.deepEqual(
      fired().filter((name) => /^(git|python)-/.test(name)),
      [],
    );
    assert.ok(
      fired().some((name) => name.includes('/marker-dataset.jsonl')),
      'the dataset of the marker was asked for, once that was allowed',
    );
    rmSync(uri.fsPath, { force: true });
  });
});
