import assert from 'node:assert/strict';
import {
  createServer,
  request as httpRequest,
  type IncomingHttpHeaders,
  type Server,
} from 'node:http';
import { connect, type AddressInfo } from 'node:net';
import { useKey } from '../../../../src/engine/keysInUse';
import { budgetOf, type BudgetLimits, type Price } from '../../../../src/method/models/budget';
import { openUpstream } from '../../../../src/method/models/openModel';
import { ModelProxy, type ProxiedExchange } from '../../../../src/method/modelProxy/modelProxy';
import { fakeModels, type FakeModels } from '../../../commandLine/fakeModels';

const key = 'sk-a-key-that-nobody-sees';
const price: Price = { input: 10, output: 20 };
const reporter = { log: () => undefined, progress: () => undefined };

/** A proxy that a test reaches at a port, as an agent does. */
interface Reached {
  readonly proxy: ModelProxy;
  readonly url: string;
  readonly exchanges: ProxiedExchange[];
  readonly ended: () => number;
}

describe('the model proxy', () => {
  const closing: (() => Promise<unknown>)[] = [];
  afterEach(async () => {
    for (const close of closing.splice(0).reverse()) await close();
  });

  const opened = async (server: Server): Promise<number> => {
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
    closing.push(() => new Promise((done) => server.close(done).closeAllConnections()));
    return (server.address() as AddressInfo).port;
  };

  const reached = async (
    name: string,
    baseUrl: string,
    { calls = 10, ...limits }: BudgetLimits & { readonly calls?: number } = {},
  ): Promise<Reached> => {
    const exchanges: ProxiedExchange[] = [];
    let ended = 0;
    const proxy = new ModelProxy({
      upstream: openUpstream({ name, baseUrl, key, price, timeoutSeconds: 30 }),
      limits: { calls },
      budget: budgetOf(limits, 'instance'),
      mostOutput: 500,
      inTurn: (work) => work(),
      record: (exchange) => Promise.resolve(void exchanges.push(exchange)),
      onEnd: () => (ended += 1),
      reporter,
    });
    const server = createServer();
    server.removeAllListeners('connection');
    server.on('connection', (socket) => proxy.serve(socket));
    const port = await opened(server);
    closing.push(() => proxy.close());
    return { proxy, url: `http://127.0.0.1:${port}`, exchanges, ended: () => ended };
  };

  const post = async (url: string, body: unknown, headers: Record<string, string> = {}) => {
    const answer = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: typeof body === 'string' ? body : JSON.stringify(body),
    });
    return { status: answer.status, text: await answer.text() };
  };

  const serve = async (...[script]: Parameters<typeof fakeModels>): Promise<FakeModels> => {
    const models = await fakeModels(script);
    closing.push(() => models.close());
    return models;
  };

  const chat = { messages: [{ role: 'user', content: 'Write a test.' }] };
  const cases = [
    {
      provider: 'openai-compatible',
      path: '/v1/chat/completions',
      streamPath: '/v1/chat/completions',
      body: chat,
      header: ['authorization', `Bearer ${key}`],
      limit: 'max_tokens',
    },
    {
      provider: 'anthropic',
      path: '/v1/messages?beta=true',
      streamPath: '/v1/messages?beta=true',
      body: { ...chat, max_tokens: 100 },
      header: ['x-api-key', key],
      limit: 'max_tokens',
    },
    {
      provider: 'google',
      path: '/v1beta/models/other:generateContent',
      streamPath: '/v1beta/models/other:streamGenerateContent?alt=sse&key=theirs',
      body: { contents: [{ role: 'user', parts: [{ text: 'Write a test.' }] }] },
      header: ['x-goog-api-key', key],
      limit: 'maxOutputTokens',
    },
  ] as const;

  for (const { provider, path, streamPath, body, header } of cases) {
    it(`asks ${provider} for the configured model with our key, whole and streamed, and counts`, async () => {
      const said = {
        ...{ text: 'def test_it(): pass', cached: 4 },
        calls: [{ name: 'write', input: { path: 'a.py' } }],
      };
      const models = await serve(() => said);
      const { url, exchanges, proxy } = await reached(`${provider}/the-model`, models.url);
      const theirs = { authorization: 'Bearer theirs', 'x-api-key': 'theirs', cookie: 'a=b' };
      const whole = await post(url + path, { model: 'other', ...body }, theirs);
      const streamed = await post(
        url + streamPath,
        { model: 'other', ...body, stream: true },
        theirs,
      );
      assert.deepEqual([whole.status, streamed.status], [200, 200], whole.text + streamed.text);
      for (const asked of models.asked) {
        assert.equal(asked.model, 'the-model');
        assert.equal(asked.headers[header[0]], header[1]);
        assert.ok(!JSON.stringify(asked.headers).includes('theirs'));
        assert.equal(asked.headers['cookie'], undefined);
        assert.equal(asked.maxTokens, provider === 'anthropic' ? 100 : 500);
      }
      assert.match(streamed.text, /^(?:event: .*\n)?data: /);
      assert.equal(proxy.calls, 2);
      const [one, two] = exchanges;
      for (const { answer, asked } of exchanges) {
        assert.equal(answer.text, said.text);
        assert.deepEqual(
          answer.calls?.map(({ name, input }) => ({ name, input })),
          said.calls,
        );
        assert.equal(answer.finish, 'stop');
        assert.equal(answer.isEstimate, undefined);
        assert.equal(answer.cachedInputTokens, 4);
        assert.ok((answer.dollars ?? 0) > 0);
        assert.deepEqual(asked.messages, [{ role: 'user', content: 'Write a test.' }]);
      }
      assert.deepEqual(
        [two?.answer.inputTokens, two?.answer.outputTokens],
        [one?.answer.inputTokens, one?.answer.outputTokens],
      );
    });

    it(`estimates an answer of ${provider} that is not counted, or breaks off`, async () => {
      const models = await serve((_, number) =>
        number === 1
          ? { text: 'some words of an answer', uncounted: true }
          : { drop: 'within', text: 'some words of an answer '.repeat(20) },
      );
      const { url, exchanges } = await reached(`${provider}/m`, models.url);
      await post(url + streamPath, { ...body, stream: true });
      await post(url + streamPath, { ...body, stream: true }).catch(() => undefined);
      assert.equal(exchanges.length, 2);
      for (const { answer } of exchanges) {
        assert.equal(answer.isEstimate, true);
        assert.ok(answer.inputTokens > 0 && answer.outputTokens > 0 && (answer.dollars ?? 0) > 0);
      }
    });
  }

  /** A provider that answers as it is told, and remembers what it got. */
  const upstreamOf = async (
    answer: (path: string, body: Record<string, unknown>) => [number, string, string?],
  ) => {
    const got: { path: string; body: Record<string, unknown>; headers: IncomingHttpHeaders }[] = [];
    const server = createServer((request, response) => {
      const pieces: Buffer[] = [];
      request.on('data', (piece: Buffer) => pieces.push(piece));
      request.on('end', () => {
        const body = JSON.parse(Buffer.concat(pieces).toString() || '{}') as Record<
          string,
          unknown
        >;
        got.push({ path: request.url ?? '', body, headers: request.headers });
        const [status, text, type = 'application/json'] = answer(request.url ?? '', body);
        response.writeHead(status, { 'content-type': type, location: 'http://127.0.0.1:9/' });
        response.end(text);
      });
    });
    return { url: `http://127.0.0.1:${await opened(server)}/v1`, got };
  };
  const response = {
    ...{ object: 'response', status: 'completed' },
    output: [
      { type: 'reasoning', summary: [] },
      { type: 'message', content: [{ type: 'output_text', text: 'Done.' }] },
      { type: 'function_call', call_id: 'c', name: 'shell', arguments: '{"command":["ls"]}' },
    ],
    usage: {
      ...{ input_tokens: 11, output_tokens: 7, input_tokens_details: { cached_tokens: 3 } },
      output_tokens_details: { reasoning_tokens: 2 },
    },
  };

  it('reads the responses of OpenAI, whole and streamed', async () => {
    const events = [
      { type: 'response.output_text.delta', delta: 'Do' },
      { type: 'response.completed', response },
    ].map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
    const { url: upstream, got } = await upstreamOf((_, { stream }) =>
      stream === true
        ? [200, events.join(''), 'text/event-stream; charset=utf-8']
        : [200, JSON.stringify(response)],
    );
    const { url, exchanges } = await reached('openai/the-model', upstream);
    const input = [
      { role: 'user', content: [{ type: 'input_text', text: 'Go on.' }] },
      { type: 'function_call_output', call_id: 'c', output: 'a.py' },
    ];
    for (const stream of [false, true]) {
      const { text } = await post(`${url}/v1/responses`, {
        model: 'x',
        instructions: 'Be',
        input,
        stream,
      });
      assert.match(text, /Done\./);
    }
    assert.deepEqual(
      got.map(({ path, body }) => [path, body['model'], body['max_output_tokens']]),
      [
        ['/v1/responses', 'the-model', 500],
        ['/v1/responses', 'the-model', 500],
      ],
    );
    for (const { asked, answer } of exchanges) {
      assert.deepEqual(asked, {
        system: 'Be',
        messages: [
          { role: 'user', content: 'Go on.' },
          { role: 'user', content: 'a.py' },
        ],
      });
      assert.deepEqual(
        { ...answer, dollars: undefined },
        {
          ...{ text: 'Done.', finish: 'stop', inputTokens: 11, outputTokens: 7 },
          ...{ cachedInputTokens: 3, reasoningTokens: 2, dollars: undefined },
          calls: [{ id: 'c', name: 'shell', input: { command: ['ls'] } }],
        },
      );
    }
  });

  it('takes out what a provider would do on a network, and what costs more', async () => {
    const { url: upstream, got } = await upstreamOf(() => [200, '{}']);
    const link = 'https://example.com/fix.png';
    const anthropic = await reached('anthropic/m', upstream);
    await post(
      `${anthropic.url}/v1/messages`,
      {
        max_tokens: 10,
        mcp_servers: [{ url: link }],
        service_tier: 'auto',
        tools: [
          { type: 'web_search_20250305', name: 'web_search' },
          { type: 'web_fetch_20250910', name: 'web_fetch' },
          { type: 'code_execution_20250522', name: 'code_execution' },
          { type: 'text_editor_20250728', name: 'edit' },
          { name: 'Bash', input_schema: {} },
        ],
        messages: [
          {
            role: 'user',
            content: [
              { type: 'image', source: { type: 'url', url: link } },
              { type: 'image', source: { type: 'base64', data: 'AA==' } },
              {
                type: 'tool_result',
                content: [{ type: 'document', source: { type: 'url', url: link } }],
              },
            ],
          },
        ],
      },
      {
        'anthropic-beta':
          'claude-code-20250219,web-fetch-2025-09-10,effort-2025-11-24, context-1m-2025-08-07',
      },
    );
    const openai = await reached('openai/m', upstream);
    await post(`${openai.url}/v1/responses`, {
      background: true,
      tools: [
        { type: 'web_search' },
        { type: 'mcp', server_url: link },
        { type: 'code_interpreter' },
        { type: 'shell', environment: { type: 'container_auto' } },
        { type: 'namespace', name: 'n', tools: [{ type: 'function', name: 'f' }, { type: 'mcp' }] },
        { type: 'function', name: 'g' },
      ],
      input: [{ role: 'user', content: [{ type: 'input_image', image_url: link }] }],
    });
    await post(`${openai.url}/v1/chat/completions`, {
      n: 20,
      web_search_options: {},
      messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url: link } }] }],
    });
    const google = await reached('google/m', upstream);
    await post(`${google.url}/v1beta/models/m:generateContent`, {
      tools: [{ googleSearch: {}, functionDeclarations: [{ name: 'f' }] }, { url_context: {} }],
      generation_config: { candidate_count: 8, temperature: 1 },
      contents: [{ parts: [{ fileData: { fileUri: link } }, { text: 'a' }] }],
    });
    assert.ok(!JSON.stringify(got).includes(link), JSON.stringify(got));
    const [messages, responses, completions, content] = got;
    assert.deepEqual(
      (messages?.body['tools'] as { name: string }[] | undefined)?.map(({ name }) => name),
      ['edit', 'Bash'],
    );
    assert.equal(messages?.headers['anthropic-beta'], 'claude-code-20250219,effort-2025-11-24');
    assert.ok(
      !('mcp_servers' in (messages?.body ?? {})) && !('service_tier' in (messages?.body ?? {})),
    );
    assert.match(JSON.stringify(messages?.body), /"data":"AA=="/);
    assert.deepEqual(responses?.body['tools'], [
      { type: 'namespace', name: 'n', tools: [{ type: 'function', name: 'f' }] },
      { type: 'function', name: 'g' },
    ]);
    assert.equal(responses?.body['background'], undefined);
    assert.equal(completions?.body['n'], undefined);
    assert.deepEqual(content?.body['tools'], [{ functionDeclarations: [{ name: 'f' }] }]);
    assert.deepEqual(content?.body['generationConfig'], { temperature: 1, maxOutputTokens: 500 });
    const [{ removed } = { removed: [] }] = anthropic.exchanges;
    assert.deepEqual(removed, [
      'mcp_servers',
      'service_tier',
      'tools (web_search_20250305)',
      'tools (web_fetch_20250910)',
      'tools (code_execution_20250522)',
      'messages.content (image)',
      'messages.content.content (document)',
      'anthropic-beta (web-fetch-2025-09-10)',
      'anthropic-beta (context-1m-2025-08-07)',
    ]);
  });

  it('reaches no other path, method or address, and follows no redirection', async () => {
    const { url: upstream, got } = await upstreamOf((path) =>
      path.endsWith('/responses') ? [307, ''] : [200, '{}'],
    );
    const { url, proxy } = await reached('openai/the-model', upstream);
    assert.equal((await post(`${url}/v1/files`, {})).status, 404);
    assert.equal((await post(`${url}/v1/messages`, {})).status, 404, 'of another provider');
    assert.equal((await fetch(`${url}/v1/chat/completions`)).status, 404);
    const listed = (await (await fetch(`${url}/v1/models`)).json()) as { data: { id: string }[] };
    assert.deepEqual(
      listed.data.map(({ id }) => id),
      ['the-model'],
    );
    // As a proxy of HTTP: a whole address, and a tunnel.
    const { port } = new URL(url);
    const whole = await new Promise<number>((done) => {
      const asked = httpRequest(
        { port, path: 'http://example.com/v1/files', method: 'POST' },
        (answer) => done(answer.statusCode ?? 0),
      );
      asked.end('{}');
    });
    assert.equal(whole, 404);
    const tunnel = await new Promise<string>((done) => {
      let text = '';
      const socket = connect(Number(port), '127.0.0.1', () =>
        socket.write('CONNECT example.com:443 HTTP/1.1\r\nHost: example.com:443\r\n\r\n'),
      );
      socket.on('data', (piece) => (text += piece.toString()));
      socket.on('close', () => done(text));
    });
    assert.equal(tunnel, '');
    assert.equal(got.length, 0);
    assert.equal((await post(`${url}/v1/responses`, {})).status, 502);
    assert.deepEqual(
      got.map(({ path }) => path),
      ['/v1/responses'],
    );
    assert.ok(proxy.refused.has('POST /v1/files'));
    for (const body of ['no json', '[]', '"text"']) {
      assert.equal((await post(`${url}/v1/responses`, body)).status, 400);
    }
    assert.equal(got.length, 1);
  });

  it('ends at the budget and at the limit of calls, and tells the agent so', async () => {
    const models = await serve(() => ({ text: 'a few words', calls: [] }));
    const body = { ...chat, max_tokens: 100 };
    // A request can cost up to $0.002 and some input.
    const cheap = await reached('openai-compatible/m', models.url, { dollars: 0.003 });
    const statuses: number[] = [];
    for (let count = 0; count < 12; count += 1) {
      statuses.push((await post(`${cheap.url}/v1/chat/completions`, body)).status);
    }
    const spent = cheap.exchanges.reduce((sum, { answer }) => sum + (answer.dollars ?? 0), 0);
    assert.ok(spent > 0 && spent <= 0.003, String(spent));
    assert.equal(statuses.filter((status) => status === 200).length, cheap.exchanges.length);
    assert.equal(statuses.at(-1), 400);
    assert.equal(cheap.proxy.end, 'cost');
    assert.equal(cheap.ended(), 1);
    const few = await reached('openai-compatible/m', models.url, { calls: 2 });
    const all = await Promise.all(
      [1, 2, 3, 4].map(() => post(`${few.url}/v1/chat/completions`, body)),
    );
    assert.deepEqual(all.map(({ status }) => status).sort(), [200, 200, 400, 400]);
    assert.match(all.find(({ status }) => status === 400)?.text ?? '', /request limit/);
    assert.equal(few.proxy.end, 'calls');
  });

  /** What a provider would take for a request, which writes as much as it may. */
  const billOf = (body: Record<string, unknown>): { input: number; output: number } => {
    const text = JSON.stringify(body);
    const limits = [...text.matchAll(/"max_?\w*tokens":(-?\d+)/gi)].map(([, limit]) =>
      Number(limit),
    );
    const unbounded = limits.length === 0 || limits.some((limit) => limit <= 0);
    const answers = text.includes('candidateCount') ? 8 : 1;
    const isStored = /previous_response_id|cachedContent/.test(text);
    return {
      input: Math.ceil(text.length / 4) * (text.includes('1h') ? 2 : 1) + (isStored ? 1e6 : 0),
      output: unbounded ? 1e5 : Math.max(...limits) * answers,
    };
  };
  const dollarsFor = (bodies: readonly Record<string, unknown>[]): number =>
    bodies
      .map(billOf)
      .reduce(
        (sum, { input, output }) => sum + (price.input * input + price.output * output) / 1e6,
        0,
      );

  const dear = {
    'two limits, neither of which is one': {
      ...{ provider: 'openai-compatible', path: '/v1/chat/completions' },
      body: { ...chat, max_tokens: 0, max_completion_tokens: -1 },
    },
    'no limit': { provider: 'openai', path: '/v1/responses', body: { input: 'Go on.' } },
    'a stored answer': {
      ...{ provider: 'openai', path: '/v1/responses' },
      body: { input: 'Go on.', previous_response_id: 'r', store: true },
    },
    'a cache of an hour': {
      ...{ provider: 'anthropic', path: '/v1/messages' },
      body: {
        ...{ ...chat, max_tokens: 10 },
        system: [
          {
            ...{ type: 'text', text: 'Write tests. '.repeat(300) },
            cache_control: { type: 'ephemeral', ttl: '1h' },
          },
        ],
      },
    },
    'many answers': {
      ...{ provider: 'google', path: '/v1beta/models/m:generateContent' },
      body: {
        contents: [{ parts: [{ text: 'Go on.' }] }],
        generationConfig: { maxOutputTokens: 0, candidateCount: 8 },
      },
    },
  } as const;

  for (const [how, { provider, path, body }] of Object.entries(dear)) {
    it(`spends no more than the budget on 60 requests at once: ${how}`, async () => {
      const { url: upstream, got } = await upstreamOf((_, asked) => {
        const { input, output } = billOf(asked);
        const usage = {
          ...{ input_tokens: input, output_tokens: output },
          ...{ prompt_tokens: input, completion_tokens: output },
        };
        const usageMetadata = { promptTokenCount: input, candidatesTokenCount: output };
        const candidates = [{ finishReason: 'STOP' }];
        const rest = { stop_reason: 'end_turn', object: 'response', status: 'completed' };
        return [200, JSON.stringify({ ...rest, usage, usageMetadata, candidates })];
      });
      const { url, proxy } = await reached(`${provider}/m`, upstream, {
        dollars: 0.05,
        calls: 100,
      });
      const answers = await Promise.all(
        Array.from({ length: 60 }, () => post(`${url}${path}`, body)),
      );
      assert.ok(
        dollarsFor(got.map((each) => each.body)) <= 0.05,
        `${got.length}: ${dollarsFor(got.map((each) => each.body))}`,
      );
      if (how === 'a stored answer') {
        assert.equal(got.length, 0);
        assert.match(answers[0]?.text ?? '', /Send the whole conversation/);
      } else {
        assert.ok(got.length > 0 && got.length < 60, String(got.length));
        assert.equal(proxy.end, 'cost');
      }
    });
  }

  it('holds the most for an answer that the agent does not wait for, which may come nevertheless', async () => {
    const models = await serve(() => ({ hang: true }));
    const { url, proxy } = await reached('openai-compatible/m', models.url, { dollars: 0.05 });
    let statuses = 0;
    while (proxy.end === undefined) {
      const before = models.asked.length;
      const gone = new AbortController();
      const asked = fetch(`${url}/v1/chat/completions`, {
        ...{ method: 'POST', body: JSON.stringify(chat), signal: gone.signal },
      }).then(
        ({ status }) => (statuses = status),
        () => undefined,
      );
      while (models.asked.length === before && proxy.end === undefined) {
        await new Promise((go) => setImmediate(go));
      }
      gone.abort();
      await asked;
    }
    assert.equal(proxy.end, 'cost');
    assert.ok(dollarsFor(models.asked.map((each) => each.body)) <= 0.05);
    assert.ok(statuses === 0 || statuses === 400);
  });

  it('sends the limit under the other name where the server says that it knows no such field', async () => {
    const { url: upstream, got } = await upstreamOf((_, body) =>
      'max_tokens' in body
        ? [
            400,
            JSON.stringify({
              error: {
                message:
                  "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
              },
            }),
          ]
        : [200, '{}'],
    );
    const { url } = await reached('openai-compatible/m', upstream);
    for (const max_tokens of [7, 8]) {
      const { status } = await post(`${url}/v1/chat/completions`, { ...chat, max_tokens });
      assert.equal(status, 200);
    }
    assert.deepEqual(
      got.map(({ body }) => [body['max_tokens'], body['max_completion_tokens']]),
      [
        [7, undefined],
        [undefined, 7],
        [undefined, 8],
      ],
    );
  });

  it('pays for an answer that the agent does not wait for', async () => {
    const models = await serve(() => ({ hang: true }));
    const { url, exchanges, proxy } = await reached('openai-compatible/m', models.url);
    const gone = new AbortController();
    const asked = fetch(`${url}/v1/chat/completions`, {
      ...{ method: 'POST', body: JSON.stringify(chat), signal: gone.signal },
    }).catch(() => undefined);
    while (models.asked.length === 0) await new Promise((go) => setImmediate(go));
    gone.abort();
    await asked;
    while (exchanges.length === 0) await new Promise((go) => setImmediate(go));
    assert.equal(exchanges[0]?.answer.isEstimate, true);
    assert.ok((exchanges[0]?.answer.dollars ?? 0) > 0);
    assert.equal(proxy.calls, 1);
  });

  it('shows the agent no key that a server repeats, and ends the run at a wrong key', async () => {
    useKey(key);
    const { url: upstream } = await upstreamOf((_, { stream }) =>
      stream === true
        ? [
            200,
            `data: {"choices":[{"delta":{"content":"${key}"}}]}\n\ndata: [DONE]\n\n`,
            'text/event-stream',
          ]
        : [401, JSON.stringify({ error: { message: `wrong key ${key}` } })],
    );
    const { url, proxy, ended } = await reached('openai/m', upstream);
    const streamed = await post(`${url}/v1/chat/completions`, { ...chat, stream: true });
    assert.doesNotMatch(streamed.text, new RegExp(key));
    const refused = await post(`${url}/v1/chat/completions`, chat);
    assert.equal(refused.status, 401);
    assert.doesNotMatch(refused.text, new RegExp(key));
    assert.doesNotMatch(proxy.unusable?.message ?? '', new RegExp(key));
    assert.match(proxy.unusable?.message ?? '', /status 401.*Check the API key/s);
    assert.equal(ended(), 1);
    assert.equal(proxy.calls, 1);
  });
});
