import assert from 'node:assert/strict';
import fc from 'fast-check';
import { passedRequest, type ModelApi } from '../../../../src/method/modelProxy/modelApi';
import { anthropicMessages } from '../../../../src/method/modelProxy/anthropicMessages';
import { chatCompletions } from '../../../../src/method/modelProxy/chatCompletions';
import { googleContent } from '../../../../src/method/modelProxy/googleContent';
import { RequestRefused } from '../../../../src/method/modelProxy/requestShape';
import { responses } from '../../../../src/method/modelProxy/responses';
import type { Provider } from '../../../../src/method/models/providers';
import { everydayRuns } from '../../../everyday';

type Json = Record<string, unknown>;

const schema = { type: 'object', properties: { path: { type: 'string' } } };
const png = 'data:image/png;base64,AA==';
const cached = { cache_control: { type: 'ephemeral' } };

/** A request of each API as agents make it, with what the provider would do itself. */
interface Case {
  readonly api: ModelApi;
  readonly provider: Provider;
  readonly request: Json;
  /** Tools that run at the provider. Each has a mark. */
  readonly tools: readonly Json[];
  /** Fields with data that no provider acts on. */
  readonly data: readonly string[];
}

const mark = 'https://provider.example/';

const cases: readonly Case[] = [
  {
    api: anthropicMessages,
    provider: 'anthropic',
    request: {
      model: 'm',
      max_tokens: 32_000,
      stream: true,
      temperature: 1,
      metadata: { user_id: 'u' },
      thinking: { type: 'adaptive', display: 'summarized' },
      output_config: { effort: 'high' },
      context_management: { edits: [{ type: 'clear_thinking_20251015', keep: 'all' }] },
      system: [{ type: 'text', text: 'You are', ...cached }],
      tools: [
        { name: 'Bash', description: 'd', input_schema: schema, ...cached },
        { type: 'text_editor_20250728', name: 'edit', max_characters: 10 },
      ],
      tool_choice: { type: 'auto', disable_parallel_tool_use: true },
      messages: [
        { role: 'user', content: [{ type: 'text', text: 'Go on.', ...cached }] },
        {
          role: 'assistant',
          content: [
            { type: 'thinking', thinking: 'hm', signature: 's' },
            { type: 'redacted_thinking', data: 'x' },
            { type: 'tool_use', id: 't', name: 'Bash', input: { command: 'ls' } },
          ],
        },
        {
          role: 'user',
          content: [
            {
              type: 'tool_result',
              tool_use_id: 't',
              is_error: false,
              content: [
                { type: 'text', text: 'a.py' },
                {
                  type: 'image',
                  source: { type: 'base64', media_type: 'image/png', data: 'AA==' },
                },
              ],
            },
          ],
        },
        { role: 'system', content: 'Mind the budget.' },
      ],
    },
    tools: [
      { type: 'web_search_20250305', of: mark },
      { type: 'web_fetch_20250910', of: mark },
      { type: 'code_execution_20250825', of: mark },
      { type: 'tool_search_tool_regex_20251119', of: mark },
      { type: 'advisor_20260301', of: mark },
      { type: 'mcp_toolset', mcp_server_name: mark },
      { type: 'container_upload', file_id: mark },
      { type: 'image', source: { type: 'url', url: mark } },
      { type: 'document', source: { type: 'file', file_id: mark } },
      { type: 'document', source: { type: 'base64', media_type: 'application/pdf', data: mark } },
    ],
    data: ['input_schema', 'input', 'keep', 'format'],
  },
  {
    api: chatCompletions,
    provider: 'openai-compatible',
    request: {
      model: 'm',
      max_tokens: 8000,
      stream: true,
      stream_options: { include_usage: true },
      reasoning_effort: 'high',
      tools: [
        { type: 'function', function: { name: 'shell', description: 'd', parameters: schema } },
        { type: 'custom', custom: { name: 'patch', description: 'd' } },
      ],
      tool_choice: {
        type: 'allowed_tools',
        allowed_tools: { mode: 'auto', tools: [{ type: 'function', function: { name: 'shell' } }] },
      },
      messages: [
        { role: 'system', content: 'You are' },
        {
          role: 'user',
          content: [
            { type: 'text', text: 'Go on.' },
            { type: 'image_url', image_url: { url: png, detail: 'low' } },
          ],
        },
        {
          role: 'assistant',
          content: null,
          reasoning_content: 'hm',
          reasoning_details: [{ type: 'reasoning.text', text: 'hm', index: 0 }],
          tool_calls: [
            { id: 'c', type: 'function', function: { name: 'shell', arguments: '{"a": 1}' } },
          ],
        },
        { role: 'tool', tool_call_id: 'c', content: 'a.py' },
      ],
    },
    tools: [
      { type: 'web_search', of: mark },
      { type: 'builtin_function', function: { name: '$web_search' }, of: mark },
      { type: 'openrouter:web_search', of: { engine: mark } },
      { type: 'mcp', server_url: mark },
      { googleSearch: { of: mark } },
      { type: 'image_url', image_url: { url: mark } },
      { type: 'file', file: { file_id: mark } },
      { type: 'video_url', video_url: { url: mark } },
    ],
    data: ['parameters', 'reasoning_details'],
  },
  {
    api: responses,
    provider: 'openai',
    request: {
      model: 'm',
      instructions: 'You are',
      max_output_tokens: 9000,
      store: false,
      stream: true,
      include: ['reasoning.encrypted_content'],
      reasoning: { effort: 'high', summary: 'auto', context: 'all_turns' },
      text: { verbosity: 'low' },
      prompt_cache_key: 'k',
      client_metadata: { session_id: 's' },
      tools: [
        { type: 'function', name: 'shell', description: 'd', parameters: schema, strict: false },
        { type: 'namespace', name: 'n', tools: [{ type: 'custom', name: 'exec' }] },
      ],
      tool_choice: { type: 'allowed_tools', mode: 'auto', tools: [{ type: 'custom', name: 'e' }] },
      input: [
        {
          type: 'additional_tools',
          role: 'developer',
          tools: [
            { type: 'namespace', name: 'n', tools: [{ type: 'function', name: 'f' }] },
            { type: 'custom', name: 'exec', format: { type: 'grammar', syntax: 'lark' } },
          ],
        },
        {
          type: 'message',
          role: 'user',
          content: [
            { type: 'input_text', text: 'Go on.' },
            { type: 'input_image', image_url: png },
          ],
        },
        {
          type: 'reasoning',
          id: 'r',
          summary: [{ type: 'summary_text', text: 'hm' }],
          content: null,
          encrypted_content: 'x',
        },
        { type: 'function_call', call_id: 'c', name: 'shell', arguments: '{}' },
        { type: 'function_call_output', call_id: 'c', output: 'a.py' },
        { type: 'custom_tool_call', call_id: 'd', name: 'exec', input: 'text(1)' },
        {
          type: 'custom_tool_call_output',
          call_id: 'd',
          output: [{ type: 'input_text', text: '1' }],
        },
        { type: 'tool_search_call', call_id: 'e', execution: 'client', arguments: { query: 'a' } },
        {
          type: 'tool_search_output',
          call_id: 'e',
          execution: 'client',
          tools: [{ type: 'function', name: 'found' }],
        },
      ],
    },
    tools: [
      { type: 'web_search', filters: { allowed_domains: [mark] } },
      { type: 'web_search_preview', of: mark },
      { type: 'mcp', server_label: 'x', server_url: mark },
      { type: 'code_interpreter', container: { type: 'auto', file_ids: [mark] } },
      { type: 'file_search', vector_store_ids: [mark] },
      { type: 'shell', environment: { type: 'container_auto', of: mark } },
      { type: 'tool_search', of: mark },
      { type: 'tool_search', execution: 'server', of: mark },
      { type: 'namespace', name: 'n', tools: [{ type: 'mcp', server_url: mark }] },
      {
        type: 'tool_search_output',
        execution: 'server',
        tools: [{ type: 'mcp', server_url: mark }],
      },
      { type: 'additional_tools', tools: [{ type: 'mcp', server_url: mark }] },
      { type: 'mcp_list_tools', server_label: mark, tools: [] },
      { type: 'input_image', image_url: mark },
      { type: 'input_file', file_url: mark },
      { type: 'compaction_trigger', of: mark },
    ],
    data: ['parameters', 'format', 'arguments', 'client_metadata'],
  },
  {
    api: googleContent,
    provider: 'google',
    request: {
      systemInstruction: { role: 'user', parts: [{ text: 'You are' }] },
      tools: [{ functionDeclarations: [{ name: 'shell', parametersJsonSchema: schema }] }],
      toolConfig: { functionCallingConfig: { mode: 'AUTO', allowedFunctionNames: ['shell'] } },
      safetySettings: [{ category: 'HARM', threshold: 'OFF' }],
      generationConfig: {
        temperature: 1,
        topP: 0.95,
        maxOutputTokens: 9000,
        thinkingConfig: { includeThoughts: true, thinkingBudget: 8192 },
      },
      contents: [
        { role: 'user', parts: [{ text: 'Go on.' }] },
        {
          role: 'model',
          parts: [
            { text: 'hm', thought: true },
            { functionCall: { id: 'f', name: 'shell', args: { a: 1 } }, thoughtSignature: 's' },
          ],
        },
        {
          role: 'user',
          parts: [
            { functionResponse: { id: 'f', name: 'shell', response: { output: 'a.py' } } },
            { inlineData: { mimeType: 'image/png', data: 'AA==' } },
          ],
        },
      ],
    },
    tools: [
      { googleSearch: { of: mark } },
      { google_search_retrieval: { of: mark } },
      { url_context: { of: mark } },
      { codeExecution: { of: mark } },
      { mcpServers: [{ url: mark }] },
      { fileSearch: { stores: [mark] } },
      { fileData: { fileUri: mark } },
      { file_data: { file_uri: mark } },
      { inlineData: { mimeType: 'application/pdf', data: mark } },
    ],
    data: ['parametersJsonSchema', 'args', 'response'],
  },
];

const passed = ({ api, provider }: Case, request: Json) =>
  passedRequest(api, structuredClone(request), { provider, model: 'm', mostOutput: 500 });

/** Each object and list of a request that a provider may act on. */
function placesIn(value: unknown, data: readonly string[]): (Json | unknown[])[] {
  if (typeof value !== 'object' || value === null) return [];
  const below = Array.isArray(value)
    ? value
    : Object.entries(value).flatMap(([name, each]: [string, unknown]) =>
        data.includes(name) ? [] : [each],
      );
  return [value as Json, ...below.flatMap((each) => placesIn(each, data))];
}

/** Fields by which providers are asked to do more, and some that nobody knows. */
const fieldNames = [
  ...['plugins', 'search_parameters', 'enable_search', 'web_search_options', 'mcp_servers'],
  ...['models', 'route', 'provider', 'extra_body', 'transforms', 'fallbacks', 'service_tier'],
  ...['speed', 'container', 'background', 'n', 'best_of', 'candidateCount', 'store', 'prediction'],
  ...['Tools', 'tools ', 'tools', 'mcp', 'file_id', 'fileData', 'file_data', '__proto__', 'x'],
];

describe('a request that is passed on', () => {
  for (const one of cases) {
    const { request, tools, data, api } = one;

    it(`of ${api.paths[0].path} is as the agent made it, with nothing to take out`, () => {
      const { body, removed } = passed(one, request);
      assert.deepEqual(body, request);
      assert.deepEqual(removed, []);
    });

    it(`of ${api.paths[0].path} offers nothing that runs at the provider, wherever it stands`, () => {
      const insertion = fc.record({
        at: fc.nat(),
        name: fc.oneof(fc.constantFrom(...fieldNames), fc.string()),
        what: fc.oneof(
          fc.constantFrom(...tools),
          fc.constantFrom(...tools).map((each) => [each]),
          fc.constantFrom(mark, { of: mark }, [{ of: mark }], { type: mark }, [
            [{ type: 'x', url: mark }],
          ]),
        ),
        isReplaced: fc.boolean(),
      });
      fc.assert(
        fc.property(fc.array(insertion, { minLength: 1, maxLength: 4 }), (insertions) => {
          const changed = structuredClone(request);
          for (const { at, name, what, isReplaced } of insertions) {
            const places = placesIn(changed, data);
            const place = places[at % places.length] ?? changed;
            const own = Object.keys(place);
            const field = isReplaced ? (own[at % own.length] ?? name) : name;
            // A text may say anything, and so may data.
            if (typeof what === 'string' && (Array.isArray(place) || own.includes(field))) continue;
            if (Array.isArray(place))
              place.splice(at % (place.length + 1), 0, structuredClone(what));
            else if (!data.includes(field)) {
              Object.defineProperty(place, field, {
                ...{ value: structuredClone(what), enumerable: true },
                ...{ configurable: true, writable: true },
              });
            }
          }
          const { body, removed } = passed(one, changed);
          const sent = JSON.stringify(body);
          assert.ok(!sent.includes(mark), sent);
          if (JSON.stringify(changed) !== JSON.stringify(request)) assert.ok(removed.length > 0);
        }),
        { numRuns: everydayRuns(2000) },
      );
    });
  }

  const of = (api: ModelApi): Case => cases.find((each) => each.api === api)!;

  it('is refused where it asks for something stored, whose cost nobody knows', () => {
    const stored: readonly (readonly [ModelApi, Json])[] = [
      [responses, { previous_response_id: 'r' }],
      [responses, { conversation: { id: 'c' } }],
      [responses, { prompt: { id: 'p' } }],
      [responses, { input: [{ type: 'item_reference', id: 'i' }] }],
      [googleContent, { cachedContent: 'cachedContents/1' }],
      [googleContent, { cached_content: 'cachedContents/1' }],
    ];
    for (const [api, more] of stored) {
      const { request } = of(api);
      assert.throws(() => passed(of(api), { ...request, ...more }), RequestRefused);
    }
    const { input } = responsesRequest();
    const reasoning = { type: 'reasoning', id: 'r', summary: [] };
    const { body, removed } = passed(of(responses), { input: [reasoning, ...input], store: true });
    assert.deepEqual([body['input'], body['store']], [input, false]);
    assert.deepEqual(removed, ['input (reasoning)', 'store']);
  });

  const responsesRequest = () => of(responses).request as { readonly input: readonly Json[] };

  it('has one limit, which is a number of tokens', () => {
    const limits: readonly (readonly [Provider, ModelApi, Json, Json])[] = [
      ['openai', chatCompletions, {}, { max_completion_tokens: 500 }],
      ['openai-compatible', chatCompletions, {}, { max_tokens: 500 }],
      [
        'openai',
        chatCompletions,
        { max_tokens: 0, max_completion_tokens: -1 },
        { max_completion_tokens: 500 },
      ],
      ['openai', chatCompletions, { max_tokens: 7.5 }, { max_tokens: 7 }],
      [
        'openai-compatible',
        chatCompletions,
        { max_tokens: 7, max_completion_tokens: 9 },
        { max_tokens: 9 },
      ],
      ['openai', chatCompletions, { max_tokens: '1e9' }, { max_completion_tokens: 500 }],
      ['openai', responses, { max_output_tokens: -1, store: false }, { max_output_tokens: 500 }],
      ['anthropic', anthropicMessages, { max_tokens: 0 }, { max_tokens: 500 }],
      [
        'google',
        googleContent,
        { generation_config: { max_output_tokens: 0 } },
        { generationConfig: { maxOutputTokens: 500 } },
      ],
    ];
    for (const [provider, api, request, limit] of limits) {
      const { body, mostOutput } = passed({ ...of(api), provider }, request);
      const { model: _model, store: _store, ...sent } = body;
      assert.deepEqual(sent, limit);
      assert.equal(mostOutput, Object.values(limit['generationConfig'] ?? limit)[0]);
    }
    const thinking = { type: 'enabled', budget_tokens: 90_000 };
    const { mostOutput } = passed(of(anthropicMessages), { max_tokens: 10, thinking });
    assert.equal(mostOutput, 90_000, 'thinking between calls of tools may exceed the limit');
  });

  it('costs what the price table says: no cache of an hour, no second answer, no other model', () => {
    const hour = { type: 'ephemeral', ttl: '1h' };
    const anthropic = passed(of(anthropicMessages), {
      system: [{ type: 'text', text: 'a', cache_control: hour }],
      cache_control: hour,
      context_management: { edits: [{ type: 'compact_20260112' }] },
      fallbacks: [{ model: 'dear' }],
    });
    assert.deepEqual(anthropic.removed, [
      'system.cache_control.ttl',
      'cache_control.ttl',
      'context_management.edits (compact_20260112)',
      'fallbacks',
    ]);
    const chat = { n: 8, models: ['dear'], prediction: {}, modalities: ['text', 'audio'] };
    const { removed, body } = passed(of(chatCompletions), chat);
    assert.deepEqual(removed, ['n', 'models', 'prediction', 'modalities']);
    assert.deepEqual(body['modalities'], ['text']);
  });

  it('names what was taken out in few and short words, whatever an agent calls it', () => {
    const many = Object.fromEntries(Array.from({ length: 1000 }, (_, at) => [`x${at}`, 1]));
    const names = ['\u001b[31m', 'a'.repeat(5000), '<b>'];
    const more = Object.fromEntries(names.map((name) => [name, 1]));
    const { removed } = passed(of(chatCompletions), { ...more, ...many });
    assert.equal(removed.length, 101);
    assert.match(removed.at(-1) ?? '', /^others ×\d+$/);
    for (const each of removed) assert.match(each, /^[\w .()×$-]{1,106}$/);
  });
});
