import assert from 'node:assert/strict';
import { readFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import * as vscode from 'vscode';
import { lostCent } from '../commandLine/lostCent';
import { fakeModels, type FakeModels } from '../commandLine/fakeModels';
import {
  answerDialog,
  closeAllEditors,
  inQuickInput,
  type Row,
  screenshot,
  visible,
  waitFor,
} from './host/client';

/** Milliseconds; an image may have to be built. */
const longWait = 240_000;
const model = 'openai-compatible/the-model';
const program = process.env['SWT_BENCH_AGENT'] ?? '';

const set = (key: string, value: unknown): Thenable<void> =>
  vscode.workspace.getConfiguration().update(key, value, vscode.ConfigurationTarget.Global);
const row = (what: string, is: (row: Row) => boolean, limit?: number): Promise<Row> =>
  waitFor(what, async () => (await visible.treeRows('Generated')).find(is), limit);
const said = (text: RegExp, limit?: number): Promise<string> =>
  waitFor(
    `a message with ${text}`,
    async () =>
      (await visible.notifications()).map(({ message }) => message).find((each) => text.test(each)),
    limit,
  );

describe('an agent of the Agent Client Protocol in VS Code', () => {
  let models: FakeModels;

  before(async () => {
    models = await fakeModels(() => ({ text: lostCent }));
    await vscode.workspace
      .getConfiguration('swt-bench')
      .update('engine', 'docker', vscode.ConfigurationTarget.Global);
    await set('swt-bench.models', [{ model, baseUrl: models.url }]);
    await set('swt-bench.generate.agents', {
      good: { title: 'The Good Agent', command: 'fake', program },
      missing: { command: 'not-there', program, title: 'No Agent' },
    });
    await vscode.commands.executeCommand('notifications.clearAll');
    await closeAllEditors();
  });
  after(async () => {
    await set('swt-bench.models', undefined);
    await set('swt-bench.generate.agents', undefined);
    await models.close();
  });

  it('is offered beside the methods, with the models that it can ask, and writes a test', async () => {
    const done = vscode.commands.executeCommand('swt-bench.generate');
    await waitFor('the methods', async () =>
      (await visible.quickInput())?.title.endsWith('Select a Method'),
    );
    await inQuickInput.type('agent');
    const labels = await waitFor('the agents', async () => {
      const found = (await visible.quickInput())?.items.map(({ label }) => label) ?? [];
      return found.includes('The Good Agent') && found.includes('Add an Agent…')
        ? found
        : undefined;
    });
    assert.ok(!labels.includes('Claude Code'), 'its program is not named');
    await screenshot('agents-methods');
    await inQuickInput.choose('The Good Agent', 'Select a Method');
    await waitFor('the models', async () =>
      (await visible.quickInput())?.items.some(({ label }) => label === model),
    );
    await screenshot('agents-models');
    await inQuickInput.choose(model, 'Select a Model');
    await said(/The Good Agent: candidate 1, finished after 1 call/, longWait);
    await done;
    await vscode.commands.executeCommand('swt-bench.generated.focus');
    assert.equal(models.asked.length, 1);
    assert.equal(models.asked[0]?.model, 'the-model');
    const { description } = await row('the candidate', ({ label }) => label === 'Candidate 1');
    assert.match(description, /^selected · W · fails on R: expected 2000, got 2001/);
    await row('its steps', ({ label, description: steps }) => /Steps/.test(label + steps));
    await screenshot('agents-candidate');
  });

  it('is not asked again, and its conversation is its answer', async () => {
    await vscode.commands.executeCommand('notifications.clearAll');
    await vscode.commands.executeCommand('swt-bench.generate', { method: 'acp:good', model });
    await said(/no request was needed/);
    assert.equal(models.asked.length, 1);
    await vscode.commands.executeCommand('swt-bench.showPromptAndAnswer');
    await waitFor('the conversation', async () =>
      (await visible.webviews()).find((each) => each.includes('I play good')),
    );
    await screenshot('agents-trajectory');
    await closeAllEditors();
  });

  it('cannot ask a model of VS Code, and says what is wrong with its program', async () => {
    const vscodeModel = { method: 'acp:good', model: 'vscode/some/model' };
    void vscode.commands.executeCommand('swt-bench.generate', vscodeModel);
    await said(/The Good Agent cannot use the model vscode\/some\/model/);
    await vscode.commands.executeCommand('notifications.clearAll');
    void vscode.commands.executeCommand('swt-bench.generate', { method: 'acp:missing', model });
    const why = await said(/No Agent did nothing/);
    assert.doesNotMatch(why, /--/, 'nothing of the command line');
  });

  it('is forgotten with what it has said', async () => {
    const forgotten = vscode.commands.executeCommand('swt-bench.deleteGenerated');
    await answerDialog('Delete', 'deletes The Good Agent');
    await forgotten;
    const folders = await readdir(join(process.env['SWT_BENCH_SCRATCH'] ?? ''), {
      recursive: true,
    });
    const traces = folders.filter((each) => each.endsWith(join('generate', 'trace.jsonl')));
    for (const each of traces) {
      const text = await readFile(join(process.env['SWT_BENCH_SCRATCH'] ?? '', each), 'utf8');
      assert.doesNotMatch(text, /"step":"session"/);
    }
    await vscode.commands.executeCommand('swt-bench.generate', { method: 'acp:good', model });
    assert.equal(models.asked.length, 2);
  });
});
