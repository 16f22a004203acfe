import assert from 'node:assert/strict';
import * as vscode from 'vscode';
import { hands, inQuickInput, screenshot, visible, waitFor } from './host/client';
import { scriptedModel, scriptedModels } from './scriptedModels';

const extensionId = 'swt-bench.swt-bench';

describe('a folder that is not an instance', () => {
  it('does not activate the extension, even with Python tests in it', async () => {
    const [file] = await vscode.workspace.findFiles('test_plain.py');
    assert.ok(file);
    await vscode.window.showTextDocument(file);
    await vscode.commands.executeCommand('workbench.view.testing.focus');
    const extension = vscode.extensions.getExtension(extensionId);
    assert.ok(extension);
    assert.equal(extension.isActive, false);
  });

  it('welcomes a newcomer in its view, with a button that opens the bundled instance', async () => {
    await vscode.commands.executeCommand('workbench.view.extension.swt-bench');
    const pane = await waitFor('welcome text', async () =>
      (await visible.panes()).find((each) =>
        each.welcome.includes('An instance is a repository with an issue'),
      ),
    );
    assert.deepEqual(pane.buttons, ['Choose Dataset…', 'Open Bundled Instance']);
    await screenshot('welcome');
  });

  it('offers only what works without an instance in the command palette', async () => {
    const commands = await vscode.commands.getCommands(true);
    assert.ok(commands.includes('swt-bench.openBundledInstance'));
    await assert.doesNotReject(async () => vscode.commands.executeCommand('swt-bench.showIssue'));
    const shown = await waitFor('an explanation', async () =>
      (await visible.notifications()).filter((each) =>
        each.message.includes('No instance is open'),
      ),
    );
    assert.match(shown[0]?.message ?? '', /Instances view/);
  });

  it('tells what is missing in the words that are meant for people', async () => {
    await vscode.commands.executeCommand('swt-bench.evaluatePredictions');
    const [shown] = await waitFor('an explanation', async () =>
      (await visible.notifications()).filter((each) => each.message.includes('No dataset')),
    );
    assert.equal(
      shown?.message,
      'No dataset selected. Run "SWT-Bench: Choose Dataset…" first',
      'said in words of ours, as a fault of ours',
    );
    await vscode.commands.executeCommand('notifications.showList');
    await hands.click({
      selector: '.notifications-list-container .monaco-button',
      text: 'Choose Dataset',
    });
    await waitFor('the list of datasets', async () =>
      (await visible.quickInput())?.items.find(({ label }) => label === 'bundled'),
    );
    await inQuickInput.cancel();
  });

  it('says in the chat what @swt needs', async () => {
    await scriptedModel();
    await vscode.commands.executeCommand('workbench.action.chat.open', {
      query: '@swt /reproduce',
      mode: 'ask',
      modelSelector: { vendor: 'swt-test', id: 'scripted' },
      blockOnResponse: true,
    });
    const answer = await waitFor('an answer', async () =>
      (await visible.texts('.interactive-response')).find((each) => each.includes('instance')),
    );
    assert.match(answer, /No instance is open\. Open one from the Instances view first/);
    assert.equal((await scriptedModels()).requests.length, 0);
    await screenshot('chat-no-instance');
  });
});
