import assert from 'node:assert/strict';
import { silent } from '../../../../src/domain/work';
import {
  CallsNoTools,
  ModelFailure,
  type ChatModel,
  type ChatRequest,
} from '../../../../src/method/models/chatModel';
import { openModel } from '../../../../src/method/models/openModel';
import { keyVariables } from '../../../../src/engine/keysInUse';
import { offer, tools } from '../../../../src/method/tools/tools';
import { fakeModels, type FakeModels, type Reply } from '../../../commandLine/fakeModels';

const key = 'sk-secret-0123456789abcdef';
const env = Object.fromEntries(
  Object.values(keyVariables)
    .flat()
    .map((name) => [name, key]),
);

const question: ChatRequest = {
  system: 'You write tests.',
  messages: [{ role: 'user', content: 'Write one.' }],
  tools: offer(tools),
  temperature: 0,
  maxOutputTokens: 1000,
};
/** The same request after an answer with two calls. */
const next: ChatRequest = {
  ...question,
  messages: [
    ...question.messages,
    {
      role: 'assistant',
      content: 'I look.',
      calls: [
        { id: 'one', name: 'read_issue', input: {} },
        { id: 'two', name: 'read_file', input: { path: key } },
        // No object: providers refuse it in a history.
        { id: 'three', name: 'read_file', input: ['a.py'] },
      ],
    },
    {
      role: 'user',
      content: '',
      results: [
        { id: 'one', name: 'read_issue', text: 'It fails.', isError: false },
        { id: 'two', name: 'read_file', text: `no ${key}`, isError: true },
        { id: 'three', name: 'read_file', text: 'no object', isError: true },
      ],
    },
  ],
};

describe('models with tools', () => {
  let server: FakeModels | undefined;
  afterEach(async () => {
    await server?.close();
    server = undefined;
  });
  const open = async (name: string, stream: boolean, reply: Reply): Promise<ChatModel> => {
    server = await fakeModels(() => reply);
    return openModel({
      ...{ name, stream, env, baseUrl: server.url, timeoutSeconds: 20 },
      retries: { count: 0, firstWaitMs: 1 },
    });
  };

  for (const provider of ['openai', 'openai-compatible', 'anthropic', 'google']) {
    for (const stream of [true, false]) {
      const how = `${provider}, ${stream ? 'streaming' : 'as a whole'}`;

      it(`${how}: several calls come back, and none is made`, async () => {
        const model = await open(`${provider}/m`, stream, {
          text: 'I look.',
          calls: [
            { name: 'search_code', input: { query: 'allocate "é"', kind: 'text' } },
            { name: 'read_issue' },
            { name: 'no_such_tool', input: { x: 1 } },
          ],
        });
        const answer = await model.complete(question, { reporter: silent });
        assert.deepEqual([answer.text, answer.finish], ['I look.', 'stop']);
        assert.deepEqual(
          answer.calls?.map(({ name, input }) => [name, input]),
          [
            ['search_code', { query: 'allocate "é"', kind: 'text' }],
            ['read_issue', {}],
            ['no_such_tool', { x: 1 }],
          ],
        );
        assert.equal(new Set(answer.calls?.map(({ id }) => id)).size, 3);
        assert.equal(server?.asked.length, 1);
        const sent = JSON.stringify(server?.asked[0]?.body);
        for (const { name } of tools) assert.ok(sent.includes(`"${name}"`), name);
      });

      it(`${how}: a history with calls and results, without keys`, async () => {
        const model = await open(`${provider}/m`, stream, { text: 'Done.' });
        const answer = await model.complete(next, { reporter: silent });
        assert.deepEqual([answer.text, answer.calls], ['Done.', undefined]);
        const sent = JSON.stringify(server?.asked[0]?.body);
        assert.match(sent, /I look\.[^]*read_issue[^]*It fails\./);
        assert.ok(!sent.includes(key));
      });

      it(`${how}: a server that takes no tools`, async () => {
        const error = 'registry.ollama.ai/library/gemma:2b does not support tools';
        const model = await open(`${provider}/m`, stream, { status: 400, error });
        await assert.rejects(model.complete(question, { reporter: silent }), (thrown: unknown) => {
          assert.ok(thrown instanceof CallsNoTools);
          assert.match(
            thrown.message,
            /\/m does not support tool calls \(.*gemma.*Choose a model that does/,
          );
          return true;
        });
        const { tools: _, ...plain } = question;
        await assert.rejects(model.complete(plain, { reporter: silent }), ModelFailure);
      });
    }
  }

  for (const provider of ['openai-compatible', 'anthropic']) {
    it(`${provider}: a call that is cut off has no input, and those before it are whole`, async () => {
      const model = await open(`${provider}/m`, true, {
        text: '',
        finish: 'length',
        calls: [
          { name: 'read_issue', input: '{}' },
          { name: 'apply_candidate', input: '{"patch": "--- a/tests/te' },
        ],
      });
      const { calls, finish } = await model.complete(question, { reporter: silent });
      assert.equal(finish, 'length');
      assert.deepEqual(
        calls?.map(({ name, input }) => [name, input]),
        [
          ['read_issue', {}],
          ['apply_candidate', undefined],
        ],
      );
    });
  }

  it('sends results to OpenAI in messages of their own, one for each call', async () => {
    const model = await open('openai-compatible/m', true, { text: 'Done.' });
    await model.complete(next, { reporter: silent });
    const body = server?.asked[0]?.body as { readonly messages: object[] } | undefined;
    assert.deepEqual(body?.messages.slice(2), [
      {
        ...{ role: 'assistant', content: 'I look.' },
        tool_calls: [
          { id: 'one', type: 'function', function: { name: 'read_issue', arguments: '{}' } },
          {
            ...{ id: 'two', type: 'function' },
            function: { name: 'read_file', arguments: '{"path":"[key]"}' },
          },
          { id: 'three', type: 'function', function: { name: 'read_file', arguments: '{}' } },
        ],
      },
      { role: 'tool', tool_call_id: 'one', content: 'It fails.' },
      { role: 'tool', tool_call_id: 'two', content: 'no [key]' },
      { role: 'tool', tool_call_id: 'three', content: 'no object' },
    ]);
  });

  it('counts calls and tools where the server does not count', async () => {
    const calls = [{ name: 'search_code', input: { query: 'a'.repeat(400), kind: 'text' } }];
    const model = await open('openai-compatible/m', true, { text: '', calls, uncounted: true });
    const { inputTokens, outputTokens, isEstimate } = await model.complete(question, {
      reporter: silent,
    });
    assert.equal(isEstimate, true);
    assert.ok(outputTokens > 40, String(outputTokens));
    assert.ok(inputTokens > 1000, String(inputTokens));
  });
});
