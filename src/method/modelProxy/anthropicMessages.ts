import { fieldsOf, stringOrEmpty, type JsonFields } from './jsonFields';
import type { ModelApi } from './modelApi';
import {
  anything,
  either,
  flag,
  list,
  matching,
  number,
  object,
  ofType,
  oneOf,
  parts,
  image,
  text,
  tools,
  typed,
  when,
  type Shape,
} from './requestShape';

/** Five minutes are the default. An hour costs more than the price table says. */
const cacheControl = object({ type: oneOf('ephemeral'), ttl: oneOf('5m'), scope: text });

const textPart = typed({ text, cache_control: cacheControl });
const note = (said: string): JsonFields => ({ type: 'text', text: said });
const textOrParts = (part: Shape): Shape => either(text, parts(part, note));

const sourceType = ({ source }: JsonFields): string => stringOrEmpty(fieldsOf(source)['type']);

const imagePart = when(
  (part) => sourceType(part) === 'base64',
  image(
    typed({
      source: typed({ media_type: matching(/^image\//), data: text }),
      cache_control: cacheControl,
    }),
  ),
);

/** A document of text. What a PDF costs depends on its pages, which its bytes do not tell. */
const documentPart = when(
  (part) => ['text', 'content'].includes(sourceType(part)),
  typed({
    source: ofType({
      text: { media_type: text, data: text },
      content: { content: textOrParts(ofType({ text: textPart, image: imagePart })) },
    }),
    title: text,
    context: text,
    citations: object({ enabled: flag }),
    cache_control: cacheControl,
  }),
);

const seenParts = { text: textPart, image: imagePart, document: documentPart };

const messagePart = ofType({
  ...seenParts,
  thinking: { thinking: text, signature: text },
  redacted_thinking: { data: text },
  tool_use: { id: text, name: text, input: anything, cache_control: cacheControl },
  tool_result: {
    tool_use_id: text,
    content: textOrParts(ofType({ ...seenParts, tool_reference: { tool_name: text } })),
    is_error: flag,
    cache_control: cacheControl,
  },
});

const toolFields = {
  name: text,
  cache_control: cacheControl,
  strict: flag,
  defer_loading: flag,
  input_examples: anything,
};

/** The agent's own tools, which have no type, and those of Anthropic that an agent does itself. */
const tool = either(
  when(
    ({ type }) => type === undefined || type === 'custom',
    typed({
      ...toolFields,
      description: text,
      input_schema: anything,
      eager_input_streaming: flag,
    }),
  ),
  when(
    ({ type }) => /^(?:bash|text_editor|memory|computer)_\d{8}$/.test(stringOrEmpty(type)),
    typed({
      ...toolFields,
      max_characters: number,
      display_width_px: number,
      display_height_px: number,
      display_number: number,
      enable_zoom: flag,
    }),
  ),
);

/** Edits that leave parts of the conversation out. To compact it is another answer, which costs. */
const contextEdit = when(
  ({ type }) => /^clear_\w+$/.test(stringOrEmpty(type)),
  typed({
    trigger: anything,
    keep: anything,
    clear_at_least: anything,
    exclude_tools: list(text),
    clear_tool_inputs: anything,
  }),
);

const counted = {
  model: text,
  system: textOrParts(ofType({ text: textPart })),
  messages: list(
    object({ role: oneOf('user', 'assistant', 'system'), content: textOrParts(messagePart) }),
  ),
  tools: tools(tool),
  tool_choice: ofType({
    auto: { disable_parallel_tool_use: flag },
    any: { disable_parallel_tool_use: flag },
    tool: { name: text, disable_parallel_tool_use: flag },
    none: {},
  }),
  thinking: ofType({
    enabled: { budget_tokens: number, display: text },
    adaptive: { display: text },
    disabled: {},
  }),
  context_management: object({ edits: list(contextEdit) }),
  output_config: object({ effort: text, format: anything, task_budget: anything }),
  output_format: anything,
  cache_control: cacheControl,
};

/**
 * The betas of what is described above. Others stand for tools and servers at Anthropic, dearer
 * answers, a cache of one hour, or a longer and dearer context.
 */
const betas =
  /^(?:claude-code|interleaved-thinking|redact-thinking|thinking-token-count|context-management|prompt-caching|prompt-caching-scope|effort|task-budgets|structured-outputs|fine-grained-tool-streaming|token-efficient-tools|tool-examples|tool-search-tool|advanced-tool-use|mid-conversation-system|computer-use|output-128k)-\d{4}-?\d\d-?\d\d$/;

/** https://docs.anthropic.com/en/api/messages and .../streaming */
export const anthropicMessages: ModelApi = {
  providers: ['anthropic'],
  paths: [
    { path: '/messages', action: 'generate' },
    { path: '/messages/count_tokens', action: 'count' },
  ],
  headers: { 'anthropic-version': /^\d{4}-\d\d-\d\d$/, 'anthropic-beta': betas },
  request: object({
    ...counted,
    max_tokens: number,
    stream: flag,
    temperature: number,
    top_p: number,
    top_k: number,
    stop_sequences: list(text),
    metadata: object({ user_id: text }),
  }),
  countRequest: object(counted),
  modelField: 'model',
  limitFields: () => ['max_tokens'],
  thinking: 'thinking.budget_tokens',
  imageTokens: 5000,
  system: 'system',
  turns: 'messages',
  content: ['content', 'text', 'thinking'],
  call: ({ type, id, name, input, partial_json: json }) =>
    type === 'tool_use' || type === 'input_json_delta' ? { id, name, input, json } : undefined,
  result: ({ type, tool_use_id: id, content, is_error: isError }) =>
    type === 'tool_result' ? { id, content, isError: isError === true } : undefined,
  answer: {
    blocks: ['content', 'content_block'],
    pieces: ['delta'],
    reason: ['stop_reason', 'delta.stop_reason'],
    finishes: {
      stop: ['end_turn', 'stop_sequence', 'tool_use'],
      length: ['max_tokens'],
      refused: ['refusal'],
    },
    // A stream begins with one token of output; its end has the number.
    usage: ['message.usage', 'usage'],
    isUsageGrowing: true,
    input: ['input_tokens', 'cache_read_input_tokens', 'cache_creation_input_tokens'],
    output: ['output_tokens'],
    cached: 'cache_read_input_tokens',
    cacheWrite: 'cache_creation_input_tokens',
  },
  error: (message) => ({ type: 'error', error: { type: 'invalid_request_error', message } }),
};
