import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { streamedCalls, wholeCalls, type SaidCall } from './fakeToolCalls';

/** One request as the server received it. */
export interface Asked {
  readonly protocol: 'openai' | 'anthropic' | 'google';
  readonly stream: boolean;
  readonly model: string;
  readonly temperature: number | undefined;
  readonly maxTokens: number | undefined;
  /** The full input of the model: system text and messages. */
  readonly text: string;
  readonly body: Readonly<Record<string, unknown>>;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
}

/** What the server does with a request. */
export type Reply =
  | {
      readonly text: string;
      /** Calls of tools, after the text. */
      readonly calls?: readonly SaidCall[];
      readonly finish?: 'stop' | 'length' | 'refused';
      /** The server does not count tokens. */
      readonly uncounted?: boolean;
      /** Tokens of the output that are reasoning, and of the input that are cached. */
      readonly reasoning?: number;
      readonly cached?: number;
      /** The model calls a tool that nobody offered. */
      readonly toolCall?: boolean;
      /** Milliseconds between pieces of a streamed answer. */
      readonly pauseMs?: number;
    }
  | { readonly status: number; readonly headers?: Record<string, string>; readonly error?: string }
  /** The connection is cut, before the answer or in the middle of it. */
  | { readonly drop: 'before' | 'within'; readonly text?: string }
  /** The answer ends without an error on the connection, but incomplete. */
  | { readonly cut: true; readonly text: string }
  /** Half of the answer arrives, and then nothing more. */
  | { readonly stall: () => void; readonly text: string }
  /** No answer ever arrives. */
  | { readonly hang: true };

/** What the server does with a request for vectors: a vector for each text, or nothing ever. */
export type EmbeddingReply = readonly (readonly number[])[] | { readonly hang: true };

export interface FakeModels {
  /** Base address for `openai-compatible` and `anthropic`. */
  readonly url: string;
  readonly asked: readonly Asked[];
  /** Requests whose answer was sent completely. */
  readonly answered: readonly Asked[];
  /** The texts of each request for vectors that was answered. */
  readonly embedded: readonly (readonly string[])[];
  close(): Promise<void>;
}

/**
 * A local server that speaks the protocols of OpenAI, Anthropic and Google, streaming or not, and
 * follows a script.
 *
 * @param script what to do with a request; the first request has number 1
 * @param embed the same for a request for vectors, in the protocol of OpenAI
 */
export async function fakeModels(
  script: (asked: Asked, number: number) => Reply | Promise<Reply>,
  embed?: (texts: readonly string[]) => EmbeddingReply,
): Promise<FakeModels> {
  const asked: Asked[] = [];
  const answered: Asked[] = [];
  const embedded: (readonly string[])[] = [];
  const server: Server = createServer((request, response) => {
    void (async () => {
      if (embed !== undefined && request.url?.endsWith('/embeddings') === true) {
        const { input } = (await bodyOf(request)) as { readonly input: readonly string[] };
        const vectors = embed(input);
        if ('hang' in vectors) return;
        response.writeHead(200, { 'content-type': 'application/json' });
        const tokens = Math.ceil(input.join('').length / 4);
        const data = vectors.map((embedding, index) => ({ embedding, index }));
        await end(response, JSON.stringify({ data, usage: { prompt_tokens: tokens } })).then(
          () => embedded.push(input),
          () => undefined,
        );
        return;
      }
      const one = await readRequest(request);
      if (one === undefined) {
        response.writeHead(404, { 'content-type': 'application/json' });
        response.end(JSON.stringify({ error: { message: `no such path ${request.url}` } }));
        return;
      }
      asked.push(one);
      const reply = await script(one, asked.length);
      // A client that died is not a fault of the server.
      await answer(one, reply, response, asked.length).then(
        (isWhole) => {
          if (isWhole) answered.push(one);
        },
        () => undefined,
      );
    })();
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/v1`,
    asked,
    answered,
    embedded,
    close: () =>
      new Promise((done) => {
        server.close(() => done());
        server.closeAllConnections();
      }),
  };
}

async function bodyOf(request: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return JSON.parse(Buffer.concat(chunks).toString());
}

async function readRequest(request: IncomingMessage): Promise<Asked | undefined> {
  const path = request.url ?? '';
  const protocol = path.endsWith('/chat/completions')
    ? 'openai'
    : path.endsWith('/messages')
      ? 'anthropic'
      : /:(streamG|g)enerateContent/.test(path)
        ? 'google'
        : undefined;
  if (protocol === undefined) return undefined;
  const body = (await bodyOf(request)) as Record<string, unknown>;
  const settings = (body['generationConfig'] ?? body) as Record<string, unknown>;
  const texts: string[] = [];
  const collect = (value: unknown): void => {
    if (typeof value === 'string') texts.push(value);
    else if (Array.isArray(value)) value.forEach(collect);
    else if (typeof value === 'object' && value !== null) {
      for (const [key, each] of Object.entries(value)) {
        if (key !== 'role' && key !== 'type') collect(each);
      }
    }
  };
  collect([body['system'], body['messages'], body['systemInstruction'], body['contents']]);
  const { model } = body;
  const limit =
    settings['max_tokens'] ?? settings['max_completion_tokens'] ?? settings['maxOutputTokens'];
  return {
    protocol,
    stream: body['stream'] === true || path.includes(':streamGenerateContent'),
    model: typeof model === 'string' ? model : (/models\/([^:]+)/.exec(path)?.[1] ?? ''),
    temperature: settings['temperature'] as number | undefined,
    maxTokens: limit as number | undefined,
    text: texts.join('\n'),
    body,
    headers: request.headers,
  };
}

/** @returns whether the answer was sent completely */
async function answer(
  asked: Asked,
  reply: Reply,
  response: ServerResponse,
  turn: number,
): Promise<boolean> {
  if ('hang' in reply) return false;
  if ('status' in reply) {
    response.writeHead(reply.status, { 'content-type': 'application/json', ...reply.headers });
    const message = reply.error ?? `status ${reply.status}`;
    const ofGoogle = asked.protocol === 'google' && { code: reply.status, status: 'FAILED' };
    response.end(JSON.stringify({ type: 'error', error: { type: 'error', message, ...ofGoogle } }));
    return false;
  }
  if ('drop' in reply && reply.drop === 'before') {
    response.destroy();
    return false;
  }
  const text = reply.text ?? '';
  const isCut = 'drop' in reply || 'cut' in reply || 'stall' in reply;
  const finish: Finish =
    'toolCall' in reply ? 'toolCall' : 'finish' in reply ? (reply.finish ?? 'stop') : 'stop';
  const isCounted = !('uncounted' in reply && reply.uncounted === true);
  const { reasoning = 0, cached = 0 } = 'reasoning' in reply || 'cached' in reply ? reply : {};
  const counted = {
    input: Math.ceil(asked.text.length / 4),
    output: Math.ceil(text.length / 4) + reasoning,
    reasoning,
    cached,
  };
  const usage = isCounted ? counted : undefined;
  const calls = 'calls' in reply ? (reply.calls ?? []) : [];
  const said = { text, finish, usage, calls, turn };
  if (!asked.stream) {
    const whole = JSON.stringify(wholeAnswer(asked, said));
    response.writeHead(200, {
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(whole),
    });
    if (isCut) {
      response.write(whole.slice(0, whole.length / 2));
      response.destroy();
      return false;
    }
    await end(response, whole);
    return true;
  }
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  const { head, pieces, tail } = streamed(asked, said);
  const sent = isCut ? [...head, ...pieces.slice(0, pieces.length / 2)] : [...head, ...pieces];
  for (const event of sent) {
    response.write(event);
    await sleep('pauseMs' in reply ? (reply.pauseMs ?? 0) : 0);
  }
  if (isCut) {
    if ('stall' in reply) reply.stall();
    else if ('cut' in reply) await end(response, '');
    else response.destroy();
    return false;
  }
  await end(response, tail.join(''));
  return true;
}

const end = (response: ServerResponse, text: string): Promise<void> =>
  new Promise((done, fail) => {
    response.on('close', () => fail(new Error('the client is gone')));
    response.end(text, () => done());
  });

interface Usage {
  readonly input: number;
  readonly output: number;
  readonly reasoning: number;
  readonly cached: number;
}

const reasons = {
  openai: {
    ...{ stop: 'stop', length: 'length', refused: 'content_filter', toolCall: 'tool_calls' },
  },
  anthropic: {
    ...{ stop: 'end_turn', length: 'max_tokens', refused: 'refusal', toolCall: 'tool_use' },
  },
  google: {
    ...{ stop: 'STOP', length: 'MAX_TOKENS', refused: 'SAFETY', toolCall: 'UNEXPECTED_TOOL_CALL' },
  },
} as const;

type Finish = 'stop' | 'length' | 'refused' | 'toolCall';

const openAiUsage = ({ input, output, reasoning, cached }: Usage) => ({
  prompt_tokens: input,
  completion_tokens: output,
  total_tokens: input + output,
  prompt_tokens_details: { cached_tokens: cached },
  completion_tokens_details: { reasoning_tokens: reasoning },
});
const anthropicInput = (usage: Usage | undefined) => ({
  input_tokens: (usage?.input ?? 0) - (usage?.cached ?? 0),
  cache_read_input_tokens: usage?.cached ?? 0,
});
const googleUsage = ({ input, output, reasoning, cached }: Usage) => ({
  promptTokenCount: input,
  cachedContentTokenCount: cached,
  candidatesTokenCount: output - reasoning,
  thoughtsTokenCount: reasoning,
  totalTokenCount: input + output,
});

/** What an answer holds, whatever the protocol. */
interface Said {
  readonly text: string;
  readonly finish: Finish;
  readonly usage: Usage | undefined;
  readonly calls: readonly SaidCall[];
  /** Number of the request. */
  readonly turn: number;
}

/** Why an answer ends; each protocol but Google's has a word for calls of tools. */
const reasonOf = ({ protocol }: Asked, { finish, calls }: Said): string =>
  finish === 'stop' && calls.length > 0 && protocol !== 'google'
    ? { openai: 'tool_calls', anthropic: 'tool_use' }[protocol]
    : reasons[protocol][finish];

function wholeAnswer(asked: Asked, said: Said): object {
  const { text, usage } = said;
  const reason = reasonOf(asked, said);
  const calls = wholeCalls(asked.protocol, said.calls, said.turn);
  switch (asked.protocol) {
    case 'openai':
      return {
        ...{ id: 'a', object: 'chat.completion', created: 1, model: asked.model },
        choices: [
          {
            index: 0,
            message: {
              ...{ role: 'assistant', content: text },
              ...(calls.length > 0 && { tool_calls: calls }),
            },
            finish_reason: reason,
          },
        ],
        ...(usage !== undefined && { usage: openAiUsage(usage) }),
      };
    case 'anthropic':
      return {
        ...{ id: 'a', type: 'message', role: 'assistant', model: asked.model },
        content: [...(text === '' ? [] : [{ type: 'text', text }]), ...calls],
        stop_reason: reason,
        stop_sequence: null,
        usage: { ...anthropicInput(usage), output_tokens: usage?.output ?? 0 },
      };
    case 'google':
      return {
        candidates: [
          { content: { role: 'model', parts: [{ text }, ...calls] }, finishReason: reason },
        ],
        ...(usage !== undefined && { usageMetadata: googleUsage(usage) }),
      };
  }
}

/** The events of a streamed answer: before, with, and after its text. */
function streamed(asked: Asked, said: Said): { head: string[]; pieces: string[]; tail: string[] } {
  const { text, usage } = said;
  const reason = reasonOf(asked, said);
  const calls = streamedCalls(asked.protocol, said.calls, said.turn);
  const parts = text.match(/[\s\S]{1,40}/g) ?? [];
  const data = (value: object): string => `data: ${JSON.stringify(value)}\n\n`;
  switch (asked.protocol) {
    case 'openai': {
      const chunk = (delta: object, finish_reason: string | null = null): string =>
        data({
          ...{ id: 'a', object: 'chat.completion.chunk', created: 1, model: asked.model },
          choices: [{ index: 0, delta, finish_reason }],
        });
      const counted =
        usage === undefined ? [] : [data({ id: 'a', choices: [], usage: openAiUsage(usage) })];
      return {
        head: [chunk({ role: 'assistant', content: '' })],
        pieces: [
          ...parts.map((content) => chunk({ content })),
          ...calls.map((each) => chunk(each)),
        ],
        tail: [chunk({}, reason), ...counted, 'data: [DONE]\n\n'],
      };
    }
    case 'anthropic': {
      const event = (type: string, value: object): string =>
        `event: ${type}\n${data({ type, ...value })}`;
      const block = { index: 0 };
      return {
        head: [
          event('message_start', {
            message: {
              ...{ id: 'a', type: 'message', role: 'assistant', model: asked.model, content: [] },
              ...{ stop_reason: null, stop_sequence: null },
              usage: { ...anthropicInput(usage), output_tokens: 0 },
            },
          }),
          event('content_block_start', { ...block, content_block: { type: 'text', text: '' } }),
        ],
        pieces: parts.map((each) =>
          event('content_block_delta', { ...block, delta: { type: 'text_delta', text: each } }),
        ),
        tail: [
          event('content_block_stop', block),
          ...calls.map((each) => event((each as { readonly type: string }).type, each)),
          event('message_delta', {
            delta: { stop_reason: reason, stop_sequence: null },
            usage: { output_tokens: usage?.output ?? 0 },
          }),
          event('message_stop', {}),
        ],
      };
    }
    case 'google':
      return {
        head: [],
        pieces: [...parts.map((each) => ({ text: each })), ...calls].map((part) =>
          data({ candidates: [{ content: { role: 'model', parts: [part] } }] }),
        ),
        tail: [
          data({
            candidates: [{ content: { role: 'model', parts: [] }, finishReason: reason }],
            ...(usage !== undefined && { usageMetadata: googleUsage(usage) }),
          }),
        ],
      };
  }
}
