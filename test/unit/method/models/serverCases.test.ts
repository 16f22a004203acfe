import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  CallsNoTools,
  ContextExceeded,
  ModelFailure,
  ModelUnusable,
  type ChatRequest,
} from '../../../../src/method/models/chatModel';
import {
  openEmbeddingModel,
  openModel,
  type ModelRequest,
} from '../../../../src/method/models/openModel';
import { withoutThinking, writesCallsAsText } from '../../../../src/method/models/reasoning';

type Fields = Record<string, unknown>;
interface Received {
  readonly url: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Fields;
}
/** A JSON answer, or the events of a stream. */
type Said = { readonly status?: number; readonly body: unknown } | { readonly events: unknown[] };

const question: ChatRequest = {
  system: 'You write tests.',
  messages: [{ role: 'user', content: 'Write one.' }],
  temperature: 0,
  topP: 0.95,
  maxOutputTokens: 1000,
};
const tool = { name: 'run', description: 'Runs it.', inputSchema: { type: 'object' } };

/** An answer in OpenAI's chat protocol. */
const chat = (message: Fields, more: Fields = {}): Said => ({
  body: {
    ...{ id: 'x', object: 'chat.completion', created: 1, model: 'm' },
    choices: [
      { index: 0, message: { role: 'assistant', ...message }, finish_reason: 'stop', ...more },
    ],
    usage: { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 },
  },
});
const refused = (status: number, error: unknown): Said => ({ status, body: { error } });

describe('what servers answer', () => {
  let server: Server | undefined;
  let received: Received[] = [];
  let log: string[] = [];
  const work = { reporter: { log: (line: string) => log.push(line), progress: () => undefined } };

  const open = async (
    script: (asked: Received, number: number) => Said,
    more: Partial<ModelRequest> & { readonly path?: string } = {},
  ) => {
    close();
    received = [];
    log = [];
    server = createServer((request, response) => {
      let text = '';
      request.on('data', (chunk: Buffer) => (text += chunk.toString()));
      request.on('end', () => {
        const { url = '', headers } = request;
        const asked = { url, headers, body: JSON.parse(text) as Fields };
        received.push(asked);
        const said = script(asked, received.length);
        if ('events' in said) {
          response.writeHead(200, { 'content-type': 'text/event-stream' });
          for (const each of said.events) response.write(`data: ${JSON.stringify(each)}\n\n`);
          response.end('data: [DONE]\n\n');
        } else {
          response.writeHead(said.status ?? 200, { 'content-type': 'application/json' });
          response.end(JSON.stringify(said.body));
        }
      });
    });
    await new Promise<void>((done) => server?.listen(0, '127.0.0.1', done));
    const { port } = server.address() as AddressInfo;
    const { path = '', ...request } = more;
    return openModel({
      name: 'openai-compatible/m',
      baseUrl: `http://127.0.0.1:${port}${path}`,
      ...{ timeoutSeconds: 20, retries: { count: 2, firstWaitMs: 1 }, stream: false },
      env: { OPENAI_API_KEY: 'sk-1', ANTHROPIC_API_KEY: 'sk-2', GEMINI_API_KEY: 'sk-3' },
      ...request,
    });
  };
  const close = (): void => {
    server?.closeAllConnections();
    server?.close();
    server = undefined;
  };
  afterEach(close);

  it('a parameter that a model refuses is left out, also from what follows', async () => {
    const model = await open(({ body }) =>
      'top_p' in body
        ? refused(400, {
            param: 'top_p',
            code: 'unsupported_parameter',
            message: "'top_p' is not supported with this model.",
          })
        : chat({ content: 'yes' }),
    );
    const answer = await model.complete(question, work);
    assert.equal(answer.text, 'yes');
    assert.deepEqual(answer.changes, ['without top_p']);
    await model.complete(question, work);
    assert.equal(received.length, 3);
    assert.equal(received[2]?.body['temperature'], 0);
    assert.equal(log.filter((line) => line.includes('without top_p')).length, 1);
  });

  it('several of them go one after the other, and a refusal of everything ends', async () => {
    const model = await open(({ body }) => {
      const name = ['temperature', 'top_p'].find((each) => each in body);
      return name === undefined
        ? chat({ content: 'yes' })
        : refused(400, { param: name, message: `Unsupported value: '${name}'` });
    });
    const { changes } = await model.complete(question, work);
    assert.deepEqual(changes, ['without temperature', 'without top_p']);
    const other = await open(() => refused(400, { param: 'top_p', message: 'unsupported top_p' }));
    await assert.rejects(other.complete(question, work), ModelFailure);
    assert.equal(received.length, 2);
  });

  it('max_tokens is sent under the name that the server wants', async () => {
    const model = await open(({ body }) =>
      'max_tokens' in body
        ? refused(400, {
            param: 'max_tokens',
            message: "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead.",
          })
        : chat({ content: 'yes' }),
    );
    const { changes } = await model.complete(question, work);
    assert.deepEqual(changes, ['max_completion_tokens in place of max_tokens']);
    assert.equal(received[1]?.body['max_completion_tokens'], 1000);
  });

  it('a limit above what the model writes is lowered', async () => {
    const model = await open(({ body }) =>
      Number(body['max_tokens']) > 64
        ? refused(400, {
            message:
              'max_tokens is too large: 1000. This model supports at most 64 completion tokens',
          })
        : chat({ content: 'yes' }),
    );
    const answer = await model.complete(question, work);
    assert.equal(answer.sentMaxOutputTokens, 64);
  });

  it('a server that cannot stream gets requests for whole answers', async () => {
    const model = await open(
      ({ body }) =>
        body['stream'] === true
          ? refused(400, {
              param: 'stream',
              code: 'unsupported_value',
              message: "'stream' does not support true",
            })
          : chat({ content: 'yes' }),
      { stream: true },
    );
    assert.equal((await model.complete(question, work)).text, 'yes');
  });

  it('a prompt that is too long teaches the window, which the next run knows', async () => {
    const storage = await mkdtemp(join(tmpdir(), 'swt-bench-models-'));
    try {
      const script = (): Said => ({
        status: 400,
        body: {
          object: 'error',
          message:
            "This model's maximum context length is 8192 tokens. However, you requested 9000 tokens",
          code: 400,
        },
      });
      const model = await open(script, { storage });
      assert.equal(model.room?.(1000), undefined);
      await assert.rejects(model.complete(question, work), (error: Error) => {
        assert.ok(error instanceof ContextExceeded);
        assert.match(error.message, /8192 .* 9000[\s\S]*--model-window/);
        return true;
      });
      assert.equal(model.room?.(1000), Math.floor(0.97 * 7192));
      close();
      const { name } = model;
      const baseUrl = received[0] && `http://${String(received[0].headers['host'])}`;
      const again = await openModel({
        ...{ name, baseUrl, storage, timeoutSeconds: 1, stream: false, env: {} },
        retries: { count: 0, firstWaitMs: 1 },
      });
      assert.equal(again.room?.(1000), Math.floor(0.97 * 7192));
    } finally {
      await rm(storage, { recursive: true });
    }
  });

  it('tools that a server does not take end the run, with its words', async () => {
    const model = await open(() => ({
      status: 400,
      body: {
        object: 'error',
        message:
          '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set',
      },
    }));
    await assert.rejects(
      model.complete({ ...question, tools: [tool] }, work),
      (error: Error) => error instanceof CallsNoTools && /--tool-call-parser/.test(error.message),
    );
  });

  it('an error inside of a stream is tried again as its status says', async () => {
    const model = await open(
      (_, number) =>
        number === 1
          ? { events: [{ error: { code: 502, message: 'Provider returned error' } }] }
          : {
              events: [
                { choices: [{ index: 0, delta: { content: 'yes' } }] },
                { choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] },
              ],
            },
      { stream: true },
    );
    assert.equal((await model.complete(question, work)).text, 'yes');
    assert.match(log.join('\n'), /Provider returned error; trying again/);
  });

  it('an error inside of a whole answer is one, too', async () => {
    const model = await open((_, number) =>
      number === 1
        ? { body: { error: { code: 503, message: 'no capacity' } } }
        : chat({ content: 'yes' }),
    );
    assert.equal((await model.complete(question, work)).text, 'yes');
    assert.match(log.join('\n'), /no capacity/);
  });

  it('credit and key end the run at once', async () => {
    const cases = [
      [
        'anthropic/m',
        {
          type: 'invalid_request_error',
          message: 'Your credit balance is too low to access the Anthropic API.',
        },
        /credit/,
      ],
      [
        'google/m',
        {
          code: 400,
          status: 'INVALID_ARGUMENT',
          message: 'API key not valid.',
          details: [{ reason: 'API_KEY_INVALID' }],
        },
        /key/,
      ],
    ] as const;
    for (const [name, error, about] of cases) {
      const model = await open(() => refused(400, error), { name });
      await assert.rejects(
        model.complete(question, work),
        (found: Error) => found instanceof ModelUnusable && about.test(found.message),
      );
      assert.equal(received.length, 1);
    }
  });

  it('a limit of a minute is waited for, and is no lack of credit', async () => {
    const model = await open(
      (_, number) =>
        number === 1
          ? refused(429, {
              ...{ code: 429, status: 'RESOURCE_EXHAUSTED' },
              message:
                'You exceeded your current quota, please check your plan and billing details.',
              details: [{ retryDelay: '0.01s' }],
            })
          : {
              body: {
                candidates: [
                  { content: { role: 'model', parts: [{ text: 'yes' }] }, finishReason: 'STOP' },
                ],
                usageMetadata: { promptTokenCount: 3, candidatesTokenCount: 1, totalTokenCount: 4 },
              },
            },
      { name: 'google/m' },
    );
    assert.equal((await model.complete(question, work)).text, 'yes');
  });

  it('reasoning is kept, and sent back with the calls that followed it', async () => {
    const model = await open((_, number) =>
      number === 1
        ? chat(
            {
              content: '',
              reasoning_content: 'first look',
              tool_calls: [
                { id: 'c1', type: 'function', function: { name: 'run', arguments: '{}' } },
              ],
            },
            { finish_reason: 'tool_calls' },
          )
        : chat({ content: 'done' }),
    );
    const { reasoning = [], calls = [] } = await model.complete(
      { ...question, tools: [tool] },
      work,
    );
    assert.equal(reasoning[0]?.text, 'first look');
    await model.complete(
      {
        ...question,
        tools: [tool],
        messages: [
          ...question.messages,
          { role: 'assistant', content: '', reasoning, calls },
          {
            role: 'user',
            content: '',
            results: [{ id: 'c1', name: 'run', text: 'ok', isError: false }],
          },
        ],
      },
      work,
    );
    const sent = received[1]?.body['messages'] as Fields[];
    assert.equal(
      sent.find(({ role }) => role === 'assistant')?.['reasoning_content'],
      'first look',
    );
  });

  it('thinking of Anthropic goes back with its signature', async () => {
    const model = await open(
      (_, number) => ({
        body: {
          ...{ id: 'x', type: 'message', role: 'assistant', model: 'm', stop_sequence: null },
          content:
            number === 1
              ? [
                  { type: 'thinking', thinking: 'first look', signature: 'signed' },
                  { type: 'tool_use', id: 'c1', name: 'run', input: {} },
                ]
              : [{ type: 'text', text: 'done' }],
          stop_reason: number === 1 ? 'tool_use' : 'end_turn',
          usage: { input_tokens: 3, output_tokens: 4 },
        },
      }),
      { name: 'anthropic/m' },
    );
    const { reasoning = [], calls = [] } = await model.complete(
      { ...question, tools: [tool] },
      work,
    );
    const results = [{ id: 'c1', name: 'run', text: 'ok', isError: false }];
    const messages = [
      ...question.messages,
      { role: 'assistant' as const, content: '', reasoning, calls },
      { role: 'user' as const, content: '', results },
    ];
    await model.complete({ ...question, tools: [tool], messages }, work);
    assert.match(JSON.stringify(received[1]?.body), /"thinking":"first look","signature":"signed"/);
  });

  it('an address with a query keeps it behind the path, and Azure gets its own header', async () => {
    const model = await open(() => chat({ content: 'yes' }), {
      name: 'openai/x',
      path: '/openai/deployments/D?api-version=2024-10-21',
    });
    await model.complete(question, work);
    const [asked] = received;
    assert.equal(asked?.url, '/openai/deployments/D/chat/completions?api-version=2024-10-21');
    assert.equal(asked.headers['api-key'], 'sk-1');
    assert.equal(asked.headers['authorization'], undefined);
  });

  it('a model of the Responses API alone is asked there', async () => {
    const model = await open(
      ({ url }) =>
        url.endsWith('/chat/completions')
          ? refused(404, {
              ...{ type: 'invalid_request_error', param: 'model' },
              message:
                'This model is only supported in v1/responses and not in v1/chat/completions.',
            })
          : {
              body: {
                ...{ id: 'r', object: 'response', created_at: 1, model: 'm', status: 'completed' },
                output: [
                  {
                    ...{ type: 'message', id: 'm1', role: 'assistant', status: 'completed' },
                    content: [{ type: 'output_text', text: 'yes', annotations: [] }],
                  },
                ],
                usage: { input_tokens: 3, output_tokens: 1, total_tokens: 4 },
              },
            },
      { name: 'openai/gpt-5-pro' },
    );
    assert.equal((await model.complete(question, work)).text, 'yes');
    assert.equal((await model.complete(question, work)).text, 'yes');
    assert.deepEqual(
      received.map(({ url }) => url),
      ['/chat/completions', '/responses', '/responses'],
    );
    assert.equal(received[1]?.body['store'], false);
    assert.equal(received[0]?.body['store'], undefined);
  });

  it('no limit but that of the request ends a slow answer', async () => {
    const key = Symbol.for('undici.globalDispatcher.1');
    const holder = globalThis as unknown as Record<
      symbol,
      { dispatch: (...of: unknown[]) => boolean }
    >;
    void new Headers();
    await fetch('data:,x');
    const real = holder[key];
    assert.ok(real);
    const options: Fields[] = [];
    class Recorder {
      dispatch(...of: unknown[]): boolean {
        options.push(of[0] as Fields);
        return real?.dispatch(...of) ?? false;
      }
    }
    const model = await open(() => chat({ content: 'yes' }));
    holder[key] = new Recorder();
    try {
      await model.complete(question, work);
    } finally {
      holder[key] = real;
    }
    assert.deepEqual(
      options.map(({ headersTimeout, bodyTimeout }) => [headersTimeout, bodyTimeout]),
      [[0, 0]],
    );
  });

  it('reasoning of the Responses API goes back as the encrypted item that it was', async () => {
    const model = await open(
      ({ url }, number) =>
        url.endsWith('/chat/completions')
          ? refused(404, { message: 'This model is only supported in v1/responses.' })
          : {
              body: {
                ...{ id: 'r', object: 'response', created_at: 1, model: 'm', status: 'completed' },
                output:
                  number === 2
                    ? [
                        {
                          ...{ type: 'reasoning', id: 'rs1', encrypted_content: 'sealed' },
                          summary: [{ type: 'summary_text', text: 'first look' }],
                        },
                        {
                          ...{ type: 'function_call', id: 'f1', call_id: 'c1' },
                          ...{ name: 'run', arguments: '{}', status: 'completed' },
                        },
                      ]
                    : [
                        {
                          ...{ type: 'message', id: 'm1', role: 'assistant', status: 'completed' },
                          content: [{ type: 'output_text', text: 'yes', annotations: [] }],
                        },
                      ],
                usage: { input_tokens: 3, output_tokens: 1, total_tokens: 4 },
              },
            },
      { name: 'openai/gpt-5-pro' },
    );
    const asked = { ...question, tools: [tool] };
    const { reasoning = [], calls = [] } = await model.complete(asked, work);
    const results = [{ id: 'c1', name: 'run', text: 'ok', isError: false }];
    const messages = [
      ...question.messages,
      { role: 'assistant' as const, content: '', reasoning, calls },
      { role: 'user' as const, content: '', results },
    ];
    await model.complete({ ...asked, messages }, work);
    assert.match(JSON.stringify(received.at(-1)?.body), /"encrypted_content":"sealed"/);
  });

  it('texts for an embedding model are cut to the window that it names', async () => {
    await open(({ body }) => {
      const [text = ''] = body['input'] as string[];
      return text.length > 1280
        ? refused(400, {
            message: `This model's maximum context length is 256 tokens, requested ${text.length} tokens`,
          })
        : {
            body: {
              object: 'list',
              model: 'e',
              data: [{ index: 0, embedding: [1, 2] }],
              usage: { prompt_tokens: 9, total_tokens: 9 },
            },
          };
    });
    assert.ok(server);
    const { port } = server.address() as AddressInfo;
    const embedder = await openEmbeddingModel({
      ...{
        name: 'openai-compatible/e',
        baseUrl: `http://127.0.0.1:${port}`,
        timeoutSeconds: 20,
        env: {},
      },
      retries: { count: 0, firstWaitMs: 1 },
    });
    const { vectors } = await embedder.embed(['word '.repeat(600)], work);
    assert.equal(vectors.length, 1);
    assert.equal(received.length, 2);
  });

  it('a server that cuts prompts is named once, with both numbers', async () => {
    const model = await open(() => chat({ content: 'yes' }));
    const long = {
      ...question,
      messages: [{ role: 'user' as const, content: 'word '.repeat(2500) }],
    };
    await model.complete(long, work);
    await model.complete(long, work);
    const said = log.filter((line) => line.includes('truncates prompts'));
    assert.equal(said.length, 1);
    assert.match(said[0] ?? '', /read only 10 of about 25\d\d prompt tokens/);
  });

  it('a server that counts more tokens than we do is believed', async () => {
    const model = await open(
      () => ({
        body: {
          ...{ id: 'x', object: 'chat.completion', created: 1, model: 'm' },
          choices: [
            { index: 0, message: { role: 'assistant', content: 'yes' }, finish_reason: 'stop' },
          ],
          usage: { prompt_tokens: 3400, completion_tokens: 5, total_tokens: 3405 },
        },
      }),
      { window: 32_000 },
    );
    const before = model.room?.(2000) ?? 0;
    const long = {
      ...question,
      messages: [{ role: 'user' as const, content: 'word '.repeat(2500) }],
    };
    await model.complete(long, work);
    assert.ok(Math.abs((model.ratio ?? 0) - 1.35) < 0.02, String(model.ratio));
    assert.ok((model.room?.(2000) ?? 0) < 0.8 * before);
  });

  it('what stands between thinking tags is reasoning', async () => {
    const model = await open(() =>
      chat({ content: '<think>\nMaybe ```bash\nrm x\n```\n</think>\n\nThe answer.' }),
    );
    const { text, reasoning } = await model.complete(question, work);
    assert.equal(text, 'The answer.');
    assert.deepEqual(reasoning, [{ text: 'Maybe ```bash\nrm x\n```', isFromText: true }]);
  });
});

describe('thinking in the text of an answer', () => {
  const cases: readonly (readonly [string, string, string, string])[] = [
    ['at the beginning', '<think>a</think>b', 'b', 'a'],
    ['that is not closed', '<thinking>\na ```x```', '', 'a ```x```'],
    ['whose opening tag the server stripped', 'a\n</think>\nb', 'b', 'a'],
    ['between two parts of the answer', 'one\n<think>a</think>two', 'one\ntwo', 'a'],
    ['of Magistral', '[THINK]a[/THINK]b', 'b', 'a'],
  ];
  for (const [name, text, answer, thought] of cases) {
    it(name, () => {
      const found = withoutThinking(text);
      assert.equal(found.text, answer);
      assert.deepEqual(
        found.reasoning.map((each) => each.text),
        [thought],
      );
    });
  }
  it('is none where code mentions a tag', () => {
    const text = 'assert parse("<think>x</think>") == "x"';
    assert.deepEqual(withoutThinking(text), { text, reasoning: [] });
  });
});

describe('calls that a model writes as text', () => {
  for (const text of [
    '<tool_call>{"name": "run", "arguments": {}}</tool_call>',
    '{"name": "run_tests", "arguments": {"tests": []}}',
    '```json\n{"name": "run_tests", "parameters": {}}\n```',
    '[TOOL_CALLS][{"name": "run"}]',
    'I call it.\n<function=run>{}</function>',
  ]) {
    it(text.split('\n')[0] ?? '', () => assert.ok(writesCallsAsText(text)));
  }
  it('are none in an explanation', () => {
    assert.ok(
      !writesCallsAsText('The test calls {"name": 1} and fails for the reason in the issue.'),
    );
  });
});
