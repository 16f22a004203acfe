import assert from 'node:assert/strict';
import { readMarker } from '../../src/repository/workspace';
import * as vscode from 'vscode';
import { mcpServer } from '../../src/editor/tools/mcpServer';
import { call } from './calledTools';
import { cleanWorkspace, folder } from './customDiffWorkspace';
import { answerDialog, visible } from './host/client';
import { scriptedModels } from './scriptedModels';

const key = 'runModelTestsLocally';
const allow = (value: boolean | undefined): Thenable<void> =>
  vscode.workspace
    .getConfiguration('swt-bench')
    .update(key, value, vscode.ConfigurationTarget.Global);
const isAllowed = (): unknown => vscode.workspace.getConfiguration('swt-bench').get(key);

const question = 'model-written tests without isolation';
const run = (): Promise<string> =>
  call('run_tests', { tests: ['tests/test_money.py'], without_candidate: true });

describe('tests that models write, with the local engine', () => {
  cleanWorkspace();
  before(() => allow(undefined));
  after(() => allow(true));

  it('run in no call of an agent unless the person allows it, who is told what it means', async () => {
    const calling = run();
    const shown = await answerDialog('Cancel', question, 'isolation-dialog');
    assert.deepEqual(shown.buttons, ['Cancel', 'Run Without Isolation', 'Use Docker']);
    assert.match(shown.detail, /your files, the dataset with the answer, and your API keys/);
    assert.match(await calling, /^Error: Tests cannot run here; the log says why/);
    assert.equal(isAllowed(), false);
    // An agent's call does not ask again, since this one would wait for an answer. Reading still
    // works.
    assert.match(await run(), /^Error: Tests cannot run here/);
    assert.match(await call('read_issue'), /^Issue of tallybook/);
  });

  it('are refused to a method that needs them before anything is asked of the model', async () => {
    const { everything } = await scriptedModels();
    const before = everything.length;
    const generating = vscode.commands.executeCommand('swt-bench.generate', {
      method: 'libro',
      model: 'vscode/swt-test/scripted',
    });
    await answerDialog('Cancel', question);
    await generating;
    const [shown] = (await visible.notifications()).map(({ message }) => message);
    assert.match(shown ?? '', /Choose docker in the setting swt-bench\.engine, or allow it with/);
    await vscode.commands.executeCommand('notifications.clearAll');
    assert.equal(everything.length, before);
  });

  it('cannot be allowed by a workspace', async () => {
    await assert.rejects(
      Promise.resolve(
        vscode.workspace
          .getConfiguration('swt-bench')
          .update(key, true, vscode.ConfigurationTarget.Workspace),
      ),
      /workspace/i,
    );
  });

  it('are no argument of the MCP server, until they are allowed', async () => {
    const extension = vscode.extensions.getExtension('swt-bench.swt-bench');
    const marker = await readMarker(folder().uri.fsPath);
    assert.ok(extension && marker);
    const server = async (): Promise<readonly string[]> =>
      (
        await mcpServer(
          { folder: folder(), marker, alias: () => Promise.resolve('alias') },
          extension,
        )
      )?.args ?? [];
    assert.ok(!(await server()).includes('--run-tests-locally'));
  });

  it('run when the person allows it, from then on without a question', async () => {
    // The command asks a person; agents have already been refused.
    const generating = vscode.commands.executeCommand('swt-bench.generate', {
      method: 'libro',
      model: 'vscode/swt-test/scripted',
    });
    await answerDialog('Run Without Isolation', question);
    await generating;
    await vscode.commands.executeCommand('notifications.clearAll');
    assert.equal(isAllowed(), true);
    assert.match(await run(), /^On the current repository, without a candidate: \d+ passed/);
  });
});
