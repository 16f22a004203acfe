import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** What an agent is told to do next: tools by what they do, whatever the agent calls them. */
export type Move =
  | { readonly do: 'read'; readonly path: string }
  | { readonly do: 'write'; readonly path: string; readonly content: string }
  | { readonly do: 'run'; readonly command: string }
  | { readonly do: 'say'; readonly text: string };

/** A request of an agent. */
export interface AgentAsked {
  readonly path: string;
  readonly body: Fields;
  /** Names of the tools that it offers. */
  readonly tools: readonly string[];
  /** Tokens that the answer counts, in and out. */
  readonly tokens: readonly [number, number];
}

type Fields = Readonly<Record<string, unknown>>;
interface Call {
  readonly name: string;
  readonly input: object;
  /** The input as a text, where the tool takes no JSON. */
  readonly text?: string;
}
interface Said {
  readonly id: number;
  readonly model: string;
  readonly text: string;
  readonly call: Call | undefined;
  readonly input: number;
  readonly output: number;
}

/**
 * A server with the four APIs that agents ask, streaming or not. Each request that offers tools gets
 * the move after those whose results it has; any other one gets a title.
 */
export async function scriptedModel(moves: readonly Move[]): Promise<{
  readonly url: string;
  readonly asked: readonly AgentAsked[];
  close(): Promise<void>;
}> {
  const asked: AgentAsked[] = [];
  const server = createServer((request, response) => {
    void (async () => {
      const path = (request.url ?? '').replace(/\?.*/, '');
      const api = apis.find((each) => each.path.test(path));
      const body = request.method === 'POST' ? await bodyOf(request) : {};
      if (api === undefined) return void response.writeHead(404).end('{}');
      if (/count/i.test(path)) {
        const counted = JSON.stringify({ input_tokens: 1000, totalTokens: 1000 });
        return void response.writeHead(200, { 'content-type': 'application/json' }).end(counted);
      }
      const tools = toolsOf(body);
      const id = asked.length + 1;
      const tokens = [1000 + 10 * id, 20 + id] as const;
      asked.push({ path, body, tools: tools.map(({ name }) => name), tokens });
      const move = tools.length === 0 ? undefined : (moves[api.results(body)] ?? moves.at(-1));
      const said = {
        ...{ id, model: 'the-model', input: tokens[0], output: tokens[1] },
        text: move === undefined ? 'A title' : move.do === 'say' ? move.text : 'The next step.',
        call: move === undefined || move.do === 'say' ? undefined : callOf(move, tools),
      };
      send(response, api.stream(said), api.isStream(path, body));
    })().catch((error: unknown) => response.destroy(error as Error));
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked,
    close: () =>
      new Promise((done) => {
        server.close(() => done());
        server.closeAllConnections();
      }),
  };
}

interface Tool {
  readonly name: string;
  readonly schema: Fields;
}

const fieldsOf = (value: unknown): Fields =>
  typeof value === 'object' && value !== null ? (value as Fields) : {};
const listOf = (value: unknown): readonly Fields[] =>
  Array.isArray(value) ? value.map(fieldsOf) : [];
const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

/** The tools of a request in whatever API. */
function toolsOf(body: Fields): Tool[] {
  const offered = [...listOf(body['tools']), ...listOf(body['input'])].flatMap((each) => [
    each,
    ...listOf(each['tools']),
    ...listOf(each['functionDeclarations']),
    ...listOf(each['function_declarations']),
  ]);
  return offered.flatMap((each) => {
    const own = 'function' in each ? fieldsOf(each['function']) : each;
    const isMessage = 'role' in each || 'call_id' in each;
    const schema =
      own['parameters'] ?? own['input_schema'] ?? own['parametersJsonSchema'] ?? undefined;
    const name = textOf(own['name']);
    return name === '' || isMessage ? [] : [{ name, schema: fieldsOf(schema) }];
  });
}

const shells = [
  ...['Bash', 'bash', 'run_shell_command', 'terminal', 'execute_bash'],
  ...['exec_command', 'shell_command', 'shell', 'local_shell'],
];
const readers = ['Read', 'read', 'read_file'];
const writers = ['Write', 'write', 'write_file'];

/** A move as a call of the tools that the agent offers. */
function callOf(move: Exclude<Move, { do: 'say' }>, tools: readonly Tool[]): Call {
  const named = (names: readonly string[]): Tool | undefined =>
    names.flatMap((name) => tools.filter((tool) => tool.name === name))[0];
  const editor = named(['file_editor', 'str_replace_editor']);
  if (move.do === 'read') {
    const tool = named(readers);
    if (tool !== undefined) return { name: tool.name, input: filled(tool, { path: move.path }) };
    if (editor !== undefined) {
      return { name: editor.name, input: filled(editor, { command: 'view', path: move.path }) };
    }
    return shellCall(tools, named(shells), `cat ${move.path}`);
  }
  if (move.do === 'write') {
    const { path, content } = move;
    const tool = named(writers);
    if (tool !== undefined) return { name: tool.name, input: filled(tool, { path, content }) };
    if (editor !== undefined) {
      const input = { command: 'create', path, file_text: content };
      return { name: editor.name, input: filled(editor, input) };
    }
    const patch = named(['apply_patch']);
    if (patch !== undefined) {
      const text = `*** Begin Patch\n*** Add File: ${path}\n${content.replace(/^/gm, '+')}\n*** End Patch\n`;
      return { name: patch.name, input: filled(patch, { patch: text }), text };
    }
    return shellCall(tools, named(shells), `cat > ${path} <<'EOF'\n${content}\nEOF`);
  }
  return shellCall(tools, named(shells), move.command);
}

function shellCall(tools: readonly Tool[], tool: Tool | undefined, command: string): Call {
  if (tool === undefined) {
    throw new Error(`no shell among ${tools.map(({ name }) => name).join(', ')}`);
  }
  return { name: tool.name, input: filled(tool, { command }) };
}

/** Names that agents have for one thing. */
const spellings: Readonly<Record<string, readonly string[]>> = {
  path: ['file_path', 'filePath', 'absolute_path', 'path'],
  command: ['command', 'cmd'],
  patch: ['patchText', 'input'],
};

/** The input of a call by the tool's schema, with what else it requires. */
function filled({ schema }: Tool, given: Readonly<Record<string, string>>): object {
  const properties = fieldsOf(schema['properties']);
  const input: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(given)) {
    const known = spellings[name] ?? [name];
    const spelled = known.find((each) => each in properties) ?? name;
    const isList = fieldsOf(properties[spelled])['type'] === 'array';
    input[spelled] = isList ? ['bash', '-lc', value] : value;
  }
  for (const name of (schema['required'] ?? []) as readonly string[]) {
    if (name in input) continue;
    const { type, enum: values } = fieldsOf(properties[name]);
    const kinds = { boolean: false, number: 1, integer: 1, array: [] } as const;
    const [first] = (values ?? []) as readonly unknown[];
    input[name] = first ?? kinds[textOf(type) as keyof typeof kinds] ?? 'the next step';
  }
  return input;
}

/** Events of a streamed answer, and the whole one. */
interface Sent {
  readonly events: readonly (readonly [name: string | undefined, data: object | string])[];
  readonly whole: object;
}

interface Api {
  readonly path: RegExp;
  isStream(path: string, body: Fields): boolean;
  /** How many results of tools a request has. */
  results(body: Fields): number;
  stream(said: Said): Sent;
}

const streamField = (_path: string, body: Fields): boolean => body['stream'] === true;

const anthropic: Api = {
  path: /\/messages(\/count_tokens)?$/,
  isStream: streamField,
  results: ({ messages }) =>
    listOf(messages)
      .flatMap(({ content }) => listOf(content))
      .filter(({ type }) => type === 'tool_result').length,
  stream({ id, model, text, call, input, output }) {
    const blocks = [
      { type: 'text', text },
      ...(call === undefined
        ? []
        : [{ type: 'tool_use', id: `toolu_${id}`, name: call.name, input: call.input }]),
    ];
    const message = { id: `msg_${id}`, type: 'message', role: 'assistant', model };
    const stop = { stop_reason: call === undefined ? 'end_turn' : 'tool_use', stop_sequence: null };
    const usage = { input_tokens: input, output_tokens: output };
    const start = { ...message, content: [], stop_reason: null, stop_sequence: null };
    const events: [string, object][] = [
      ['message_start', { message: { ...start, usage: { ...usage, output_tokens: 1 } } }],
      ...blocks.flatMap((block, index): [string, object][] => [
        [
          'content_block_start',
          {
            index,
            content_block: 'text' in block ? { type: 'text', text: '' } : { ...block, input: {} },
          },
        ],
        [
          'content_block_delta',
          {
            index,
            delta:
              'text' in block
                ? { type: 'text_delta', text: block.text }
                : { type: 'input_json_delta', partial_json: JSON.stringify(block.input) },
          },
        ],
        ['content_block_stop', { index }],
      ]),
      ['message_delta', { delta: stop, usage: { output_tokens: output } }],
      ['message_stop', {}],
    ];
    return {
      events: events.map(([name, data]) => [name, { type: name, ...data }]),
      whole: { ...message, content: blocks, ...stop, usage },
    };
  },
};

const chat: Api = {
  path: /\/chat\/completions$/,
  isStream: streamField,
  results: ({ messages }) => listOf(messages).filter(({ role }) => role === 'tool').length,
  stream({ id, model, text, call, input, output }) {
    const calls = call && [
      {
        ...{ index: 0, id: `call_${id}`, type: 'function' },
        function: { name: call.name, arguments: JSON.stringify(call.input) },
      },
    ];
    const finish_reason = call === undefined ? 'stop' : 'tool_calls';
    const usage = { prompt_tokens: input, completion_tokens: output, total_tokens: input + output };
    const chunk = (more: object) => ({
      ...{ id: `chat_${id}`, object: 'chat.completion.chunk', created: 1, model, ...more },
    });
    const choice = (delta: object, reason: string | null = null) =>
      chunk({ choices: [{ index: 0, delta, finish_reason: reason }] });
    return {
      events: [
        [undefined, choice({ role: 'assistant', content: text })],
        ...(calls === undefined ? [] : [[undefined, choice({ tool_calls: calls })] as const]),
        [undefined, choice({}, finish_reason)],
        [undefined, chunk({ choices: [], usage })],
        [undefined, '[DONE]'],
      ],
      whole: {
        ...{ id: `chat_${id}`, object: 'chat.completion', created: 1, model, usage },
        choices: [
          {
            ...{ index: 0, finish_reason },
            message: { role: 'assistant', content: text, ...(calls && { tool_calls: calls }) },
          },
        ],
      },
    };
  },
};

const responses: Api = {
  path: /\/responses$/,
  isStream: streamField,
  results: ({ input }) =>
    // Some agents send an output twice.
    new Set(
      listOf(input)
        .filter(({ type }) => /_call_output$/.test(textOf(type)))
        .map((each) => each['call_id']),
    ).size,
  stream({ id, model, text, call, input, output }) {
    const message = {
      ...{ type: 'message', id: `item_${id}`, role: 'assistant', status: 'completed' },
      content: [{ type: 'output_text', text, annotations: [] }],
    };
    const done = call && {
      ...{ id: `fc_${id}`, call_id: `call_${id}`, name: call.name, status: 'completed' },
      ...(call.text === undefined
        ? { type: 'function_call', arguments: JSON.stringify(call.input) }
        : { type: 'custom_tool_call', input: call.text }),
    };
    const items = [message, ...(done === undefined ? [] : [done])];
    const usage = {
      ...{ input_tokens: input, output_tokens: output, total_tokens: input + output },
      input_tokens_details: { cached_tokens: 0 },
      output_tokens_details: { reasoning_tokens: 0 },
    };
    const whole = { id: `resp_${id}`, object: 'response', created_at: 1, model };
    const events: [string, object][] = [
      ['response.created', { response: { ...whole, status: 'in_progress', output: [] } }],
      ...items.flatMap((item, output_index): [string, object][] => [
        ['response.output_item.added', { output_index, item: { ...item, status: 'in_progress' } }],
        ...(item === message
          ? [
              [
                'response.output_text.delta',
                { output_index, item_id: message.id, content_index: 0, delta: text },
              ] as [string, object],
            ]
          : []),
        ['response.output_item.done', { output_index, item }],
      ]),
      ['response.completed', { response: { ...whole, status: 'completed', output: items, usage } }],
    ];
    return {
      events: events.map(([name, data], at) => [
        name,
        { type: name, sequence_number: at, ...data },
      ]),
      whole: { ...whole, status: 'completed', output: items, usage },
    };
  },
};

const google: Api = {
  path: /\/models\/[^/]+:(generateContent|streamGenerateContent|countTokens)$/,
  isStream: (path) => path.endsWith(':streamGenerateContent'),
  results: ({ contents }) =>
    listOf(contents)
      .flatMap(({ parts }) => listOf(parts))
      .filter((part) => 'functionResponse' in part).length,
  stream({ model, text, call, input, output }) {
    const parts = [
      { text },
      ...(call === undefined ? [] : [{ functionCall: { name: call.name, args: call.input } }]),
    ];
    const whole = {
      candidates: [{ index: 0, content: { role: 'model', parts }, finishReason: 'STOP' }],
      usageMetadata: {
        ...{ promptTokenCount: input, candidatesTokenCount: output },
        totalTokenCount: input + output,
      },
      modelVersion: model,
    };
    return { events: [[undefined, whole]], whole };
  },
};

const apis: readonly Api[] = [anthropic, chat, responses, google];

function send(response: ServerResponse, { events, whole }: Sent, isStream: boolean): void {
  response.writeHead(200, { 'content-type': isStream ? 'text/event-stream' : 'application/json' });
  if (!isStream) return void response.end(JSON.stringify(whole));
  for (const [name, data] of events) {
    if (name !== undefined) response.write(`event: ${name}\n`);
    response.write(`data: ${typeof data === 'string' ? data : JSON.stringify(data)}\n\n`);
  }
  response.end();
}

async function bodyOf(request: IncomingMessage): Promise<Fields> {
  const pieces: Buffer[] = [];
  for await (const piece of request) pieces.push(piece as Buffer);
  return JSON.parse(Buffer.concat(pieces).toString()) as Fields;
}
