import assert from 'node:assert/strict';
import { Cancelled, HumanError, silent } from '../../../src/domain/work';
import {
  ModelFailure,
  ModelUnusable,
  type ChatModel,
  type ChatRequest,
} from '../../../src/method/models/chatModel';
import { openModel, parseModelName, type ModelRequest } from '../../../src/method/models/openModel';
import { keyVariables } from '../../../src/engine/keysInUse';
import { retryAfter } from '../../../src/method/models/retrying';
import { fakeModels, type Asked, type FakeModels, type Reply } from '../../commandLine/fakeModels';

const key = 'sk-secret-0123456789abcdef';
const env = Object.fromEntries(
  Object.values(keyVariables)
    .flat()
    .map((name) => [name, key]),
);

const question: ChatRequest = {
  system: 'You write tests.',
  messages: [{ role: 'user', content: 'Write one.' }],
  temperature: 0.7,
  maxOutputTokens: 1000,
};

describe('models', () => {
  let server: FakeModels | undefined;
  afterEach(async () => {
    await server?.close();
    server = undefined;
  });

  const open = async (
    script: (asked: Asked, number: number) => Reply,
    more: Partial<ModelRequest> = {},
  ): Promise<ChatModel> => {
    server = await fakeModels(script);
    return openModel({
      name: 'openai-compatible/m',
      baseUrl: server.url,
      timeoutSeconds: 20,
      retries: { count: 2, firstWaitMs: 1 },
      stream: true,
      env,
      ...more,
    });
  };

  for (const provider of ['openai', 'openai-compatible', 'anthropic', 'google']) {
    for (const stream of [true, false]) {
      const how = stream ? 'streaming' : 'as a whole';
      it(`${provider}, ${how}: text, how it ended, and tokens`, async () => {
        const model = await open(() => ({ text: 'def test():\n    pass\n'.repeat(9) }), {
          name: `${provider}/gpt-4o`,
          stream,
          price: { input: 2, output: 8 },
        });
        const pieces: string[] = [];
        const answer = await model.complete(question, {
          reporter: silent,
          onText: (piece) => pieces.push(piece),
        });
        assert.equal(answer.text, 'def test():\n    pass\n'.repeat(9));
        assert.equal(pieces.join(''), answer.text);
        assert.equal(answer.finish, 'stop');
        assert.equal(answer.isEstimate, undefined);
        assert.ok(answer.inputTokens > 0 && answer.outputTokens > 0);
        assert.equal(answer.dollars, (2 * answer.inputTokens + 8 * answer.outputTokens) / 1e6);
        const [asked] = server?.asked ?? [];
        assert.equal(asked?.stream, stream);
        assert.equal(asked?.temperature, 0.7);
        assert.equal(asked?.maxTokens, 1000);
        assert.match(asked?.text ?? '', /You write tests\.[\s\S]*Write one\./);
      });

      it(`${provider}, ${how}: an answer that is cut off, and one that is refused`, async () => {
        const model = await open(
          (_, number) => ({ text: 'half', finish: number === 1 ? 'length' : 'refused' }),
          { name: `${provider}/m`, stream },
        );
        const first = await model.complete(question, { reporter: silent });
        assert.deepEqual([first.text, first.finish], ['half', 'length']);
        assert.equal((await model.complete(question, { reporter: silent })).finish, 'refused');
      });

      it(`${provider}, ${how}: what was cached, and what is reasoning`, async () => {
        const model = await open(() => ({ text: 'a test', reasoning: 40, cached: 3 }), {
          name: `${provider}/m`,
          stream,
          price: { input: 2, output: 8, cached: 1 },
        });
        const answer = await model.complete(question, { reporter: silent });
        assert.equal(answer.cachedInputTokens, 3);
        // Anthropic counts reasoning as output and does not say how much of it there is.
        if (provider !== 'anthropic') assert.equal(answer.reasoningTokens, 40);
        assert.ok(answer.outputTokens > 40);
        assert.equal(
          answer.dollars,
          (2 * (answer.inputTokens - 3) + 3 + 8 * answer.outputTokens) / 1e6,
        );
      });

      it(`${provider}, ${how}: an empty answer is an answer`, async () => {
        const model = await open(() => ({ text: '' }), { name: `${provider}/m`, stream });
        const answer = await model.complete(question, { reporter: silent });
        assert.deepEqual([answer.text, answer.finish], ['', 'stop']);
        assert.equal(server?.asked.length, 1);
      });

      it(`${provider}, ${how}: 429, 500 and dropped connections are tried again`, async () => {
        const replies: Reply[] = [
          { status: 429, headers: { 'retry-after': '0' } },
          { status: 500 },
          { drop: 'before' },
          { drop: 'within', text: 'half of it '.repeat(30) },
          { text: 'whole' },
        ];
        const log: string[] = [];
        const model = await open((_, number) => replies[number - 1] ?? { status: 400 }, {
          name: `${provider}/m`,
          stream,
          retries: { count: 4, firstWaitMs: 1 },
        });
        const reporter = { ...silent, log: (line: string) => void log.push(line) };
        assert.equal((await model.complete(question, { reporter })).text, 'whole');
        assert.equal(server?.asked.length, 5);
        assert.equal(log.length, 4, log.join('\n'));
      });
    }
  }

  it('a stream that ends in good order but too early is no answer', async () => {
    for (const name of ['openai/m', 'anthropic/m', 'google/m']) {
      const model = await open(
        (_, number) => (number === 1 ? { cut: true, text: 'half '.repeat(40) } : { text: 'all' }),
        { name },
      );
      assert.equal((await model.complete(question, { reporter: silent })).text, 'all', name);
      await server?.close();
    }
  });

  it('an answer that never comes is given up, tried again, and then a failure', async () => {
    const model = await open(() => ({ hang: true }), {
      timeoutSeconds: 0.2,
      retries: { count: 1, firstWaitMs: 1 },
    });
    await assert.rejects(model.complete(question, { reporter: silent }), (error: Error) => {
      assert.ok(error instanceof ModelFailure);
      assert.match(error.message, /no complete answer within 0\.2 s/);
      return true;
    });
    assert.equal(server?.asked.length, 2);
  });

  it('tries end: the last failure is told, and only this request has failed', async () => {
    const model = await open(() => ({ status: 503, error: 'overloaded' }));
    await assert.rejects(
      model.complete(question, { reporter: silent }),
      (error) => error instanceof ModelFailure && /status 503: overloaded/.test(error.message),
    );
    assert.equal(server?.asked.length, 3);
  });

  it('what will not pass is not tried again: the request, or all of them', async () => {
    const cases: [Reply, typeof ModelFailure | typeof ModelUnusable][] = [
      [{ status: 400, error: 'the context is too long' }, ModelFailure],
      [{ status: 401, error: `Incorrect API key provided: ${key}` }, ModelUnusable],
      [{ status: 401, error: 'Incorrect API key provided: sk-se****cdef' }, ModelUnusable],
      [{ status: 404, error: 'no such model' }, ModelUnusable],
      [{ status: 429, error: 'insufficient_quota' }, ModelUnusable],
    ];
    for (const [reply, kind] of cases) {
      const model = await open(() => reply);
      await assert.rejects(model.complete(question, { reporter: silent }), (error: Error) => {
        assert.ok(error instanceof kind, error.message);
        assert.doesNotMatch(error.message, /secret|sk-se/);
        return true;
      });
      assert.equal(server?.asked.length, 1);
      await server?.close();
    }
  });

  it('stops at once when it is cancelled, also while it waits to try again', async () => {
    for (const reply of [
      { hang: true } as const,
      { status: 429, headers: { 'retry-after': '100' } },
    ]) {
      const abort = new AbortController();
      const model = await open(() => {
        if ('hang' in reply) setImmediate(() => abort.abort());
        return reply;
      });
      // The model logs a line before it waits.
      const log = (): void => void setImmediate(() => abort.abort());
      await assert.rejects(
        model.complete(question, { signal: abort.signal, reporter: { ...silent, log } }),
        Cancelled,
      );
      await server?.close();
    }
  });

  it('counts tokens itself where the server does not, and says so', async () => {
    for (const stream of [true, false]) {
      const model = await open(() => ({ text: 'one two three', uncounted: true }), { stream });
      const answer = await model.complete(question, { reporter: silent });
      assert.equal(answer.isEstimate, true);
      assert.equal(answer.outputTokens, 3);
      assert.ok(answer.inputTokens > 5);
      await server?.close();
    }
  });

  it('asks OpenAI in its own way, whatever the name of the model', async () => {
    const bodies: Record<string, unknown>[] = [];
    for (const name of [
      'openai/gpt-4o',
      'openai/o3-mini',
      'openai/gpt-5',
      'openai-compatible/o3',
    ]) {
      const model = await open(() => ({ text: 'x' }), { name });
      await model.complete(question, { reporter: silent });
      bodies.push({ ...server?.asked[0]?.body });
      await server?.close();
    }
    const limits = bodies.map((body) => [
      body['max_tokens'],
      body['max_completion_tokens'],
      body['temperature'],
    ]);
    assert.deepEqual(limits, [
      [undefined, 1000, 0.7],
      [undefined, 1000, 0.7],
      [undefined, 1000, 0.7],
      [1000, undefined, 0.7],
    ]);
  });

  it('leaves the temperature to the server when none is given', async () => {
    const model = await open(() => ({ text: 'x' }));
    await model.complete({ ...question, temperature: undefined }, { reporter: silent });
    assert.equal('temperature' in (server?.asked[0]?.body ?? {}), false);
  });

  it('asks each provider for effort, and sends further fields, in its own way', async () => {
    const bodies: Record<string, unknown>[] = [];
    for (const name of ['openai/m', 'openai-compatible/m', 'anthropic/m', 'google/m']) {
      const model = await open(() => ({ text: 'x' }), { name });
      const body = { seed: 7, generationConfig: { seed: 8 } };
      const log: string[] = [];
      await model.complete(
        { ...question, topP: 0.9, reasoningEffort: 'low', body },
        { reporter: { ...silent, log: (line) => void log.push(line) } },
      );
      bodies.push({ ...server?.asked[0]?.body });
      assert.deepEqual(
        log.filter((line) => /deprecated|effort/i.test(line)),
        [],
      );
      await server?.close();
    }
    const [openai, compatible, anthropic, google] = bodies;
    assert.equal(openai?.['reasoning_effort'], 'low');
    assert.equal(compatible?.['reasoning_effort'], 'low');
    assert.deepEqual(anthropic?.['output_config'], { effort: 'low' });
    const config = google?.['generationConfig'] as Record<string, unknown>;
    assert.deepEqual(config['thinkingConfig'], { thinkingLevel: 'low' });
    assert.deepEqual([config['seed'], config['maxOutputTokens']], [8, 1000]);
    assert.deepEqual([compatible?.['seed'], compatible?.['top_p']], [7, 0.9]);
  });

  it('marks for Anthropic what further requests begin with', async () => {
    for (const isReused of [true, false]) {
      const model = await open(() => ({ text: 'x' }), { name: 'anthropic/m' });
      await model.complete({ ...question, isReused }, { reporter: silent });
      const body = JSON.stringify(server?.asked[0]?.body);
      assert.equal(body.includes('"cache_control":{"type":"ephemeral"}'), isReused);
      await server?.close();
    }
  });

  it('sends further headers, and shows their values to nobody else', async () => {
    const secret = 'a-secret-of-a-gateway';
    const model = await open(() => ({ status: 400, error: `who is ${secret}` }), {
      headers: { 'X-Gateway': `Bearer ${secret}` },
    });
    await assert.rejects(model.complete(question, { reporter: silent }), (error: Error) => {
      assert.equal(error.message.includes(secret), false, error.message);
      return true;
    });
    assert.equal(server?.asked[0]?.headers['x-gateway'], `Bearer ${secret}`);
  });

  it('sends no key of OpenAI to whoever else serves a model', async () => {
    const model = await open(() => ({ text: 'x' }), { env: { OPENAI_API_KEY: key } });
    await model.complete(question, { reporter: silent });
    assert.equal(server?.asked[0]?.headers['authorization'], undefined);
  });

  it('names what is missing or misspelt', async () => {
    const request = {
      timeoutSeconds: 1,
      retries: { count: 0, firstWaitMs: 1 },
      stream: true,
      env: {},
    };
    const cases: [Partial<ModelRequest> & { name: string }, RegExp][] = [
      [{ name: 'openai/gpt-4o' }, /OPENAI_API_KEY/],
      [{ name: 'google/gemini' }, /GOOGLE_GENERATIVE_AI_API_KEY or GEMINI_API_KEY/],
      [{ name: 'openai-compatible/m' }, /--base-url/],
      [{ name: 'openai-compatible/m', baseUrl: 'localhost:11434' }, /is not a valid URL/],
      [{ name: 'gpt-4o' }, /PROVIDER\/NAME/],
      [{ name: 'mistral/large' }, /openai-compatible/],
      [{ name: 'openai/' }, /PROVIDER\/NAME/],
    ];
    for (const [more, message] of cases) {
      await assert.rejects(openModel({ ...request, ...more }), (error: Error) => {
        assert.ok(error instanceof HumanError);
        assert.match(error.message, message);
        return true;
      });
    }
    assert.deepEqual(parseModelName('openai-compatible/org/model:7b'), {
      provider: 'openai-compatible',
      name: 'org/model:7b',
    });
  });

  it('reads how long a server wants to be left alone', () => {
    const now = Date.parse('2026-01-01T00:00:00Z');
    assert.equal(retryAfter(undefined), 0);
    assert.equal(retryAfter({ 'retry-after': '7' }), 7000);
    assert.equal(retryAfter({ 'retry-after': 'Thu, 01 Jan 2026 00:00:05 GMT' }, now), 5000);
    assert.equal(retryAfter({ 'retry-after': 'Wed, 31 Dec 2025 00:00:00 GMT' }, now), 0);
    assert.equal(retryAfter({ 'retry-after': 'soon' }), 0);
    assert.equal(retryAfter({ 'retry-after-ms': '250', 'retry-after': '7' }), 250);
  });
});
