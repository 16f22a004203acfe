import assert from 'node:assert/strict';
import * as vscode from 'vscode';
import { waitFor } from './host/client';
import { scriptedModel, scriptedModels, type ScriptedModels } from './scriptedModels';

const asked = [vscode.LanguageModelChatMessage.User('What now?')];

async function answerOf(model: vscode.LanguageModelChat): Promise<string> {
  const response = await model.sendRequest(asked);
  let text = '';
  for await (const piece of response.text) text += piece;
  return text;
}

describe('the scripted models of the tests', () => {
  let models: ScriptedModels;
  before(async () => {
    models = await scriptedModels();
  });
  beforeEach(() => models.clear());

  it('answer what they are told, in order, and keep what they were sent', async () => {
    const model = await scriptedModel();
    models.script('first', (request) => `${request.messages.length} message`);
    models.always('else');
    assert.deepEqual(
      [await answerOf(model), await answerOf(model), await answerOf(model)],
      ['first', '1 message', 'else'],
    );
    assert.deepEqual(
      models.requests.map(({ text, model: id }) => [text, id]),
      Array.from({ length: 3 }, () => ['What now?', 'scripted']),
    );
    assert.equal(await model.countTokens('a'.repeat(40)), 10);
  });

  it('call tools, and are given their results', async () => {
    const model = await scriptedModel();
    models.script({ text: 'Let me see.', calls: [{ name: 'look', input: { at: 1 } }] }, 'seen');
    const tools = [{ name: 'look', description: 'looks', inputSchema: { type: 'object' } }];
    const response = await model.sendRequest(asked, { tools });
    const parts: unknown[] = [];
    for await (const part of response.stream) parts.push(part);
    const call = parts.find((part) => part instanceof vscode.LanguageModelToolCallPart);
    assert.ok(call);
    assert.deepEqual([call.name, call.input], ['look', { at: 1 }]);
    const result = new vscode.LanguageModelToolResultPart(call.callId, [
      new vscode.LanguageModelTextPart('a wall'),
    ]);
    await (
      await model.sendRequest([
        ...asked,
        vscode.LanguageModelChatMessage.Assistant([call]),
        vscode.LanguageModelChatMessage.User([result]),
      ])
    ).text[Symbol.asyncIterator]().next();
    assert.deepEqual(
      models.requests[0]?.tools.map(({ name }) => name),
      ['look'],
    );
    assert.deepEqual(models.requests[1]?.messages.at(-1)?.parts, [
      { type: 'result', id: call.callId, text: 'a wall' },
    ]);
  });

  it('fail as they are told, and are cancelled', async () => {
    const model = await scriptedModel('scripted-without-tools');
    models.script({ error: { code: 'Blocked', message: 'too much' } });
    await assert.rejects(answerOf(model), (error) => {
      assert.ok(error instanceof vscode.LanguageModelError, String(error));
      assert.equal(error.code, 'Blocked');
      return true;
    });
    models.script({ hangs: true });
    const source = new vscode.CancellationTokenSource();
    const response = await model.sendRequest(asked, {}, source.token);
    await waitFor('the answer that never ends', () => models.left() === 0);
    source.cancel();
    await (async () => {
      for await (const piece of response.text) assert.fail(piece);
    })().catch(() => undefined);
    assert.equal(models.requests.at(-1)?.cancelled, true);
  });
});
