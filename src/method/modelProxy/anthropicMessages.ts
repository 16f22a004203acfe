import type { ToolCall } from '../models/chatModel';
import {
  argumentsIn,
  countOf,
  fieldsOf,
  listOf,
  stringOrEmpty,
  type JsonFields,
} from './jsonFields';
import type { AnswerReader, AskedText, ModelApi, SaidByModel } from './modelApi';
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
  asked: (path) =>
    path.endsWith('/messages')
      ? { action: 'generate' }
      : path.endsWith('/messages/count_tokens')
        ? { action: 'count', isStream: false }
        : undefined,
  pathOf: (_model, { action }) => (action === 'count' ? '/messages/count_tokens' : '/messages'),
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
  thinkingOf: ({ thinking }) => fieldsOf(thinking)['budget_tokens'],
  imageTokens: 5000,
  askedText,
  reader: () => new MessagesReader(),
  error: (message) => ({ type: 'error', error: { type: 'invalid_request_error', message } }),
};

function askedText({ system, messages }: JsonFields): AskedText {
  return {
    system: textOfContent(system),
    messages: listOf(messages).map((each) => {
      const { role, content } = fieldsOf(each);
      return {
        role: role === 'assistant' ? ('assistant' as const) : ('user' as const),
        content: textOfContent(content),
      };
    }),
  };
}

function textOfContent(content: unknown): string {
  if (typeof content === 'string') return content;
  return listOf(content)
    .map((each) => {
      const part = fieldsOf(each);
      switch (part['type']) {
        case 'tool_use':
          return `${stringOrEmpty(part['name'])} ${JSON.stringify(part['input'])}`;
        case 'tool_result':
          return textOfContent(part['content']);
        case 'thinking':
          return stringOrEmpty(part['thinking']);
        case 'text':
          return stringOrEmpty(part['text']);
        default:
          return `[${stringOrEmpty(part['type'])}]`;
      }
    })
    .join('\n');
}

/** A part of an answer that arrives in pieces. */
interface Block {
  readonly type: string;
  readonly id: string;
  readonly name: string;
  text: string;
  /** The arguments of a call, where they came as a whole. */
  input: unknown;
}

class MessagesReader implements AnswerReader {
  private readonly blocks: Block[] = [];
  private usage: JsonFields = {};
  private reason = '';

  take(data: unknown): void {
    const event = fieldsOf(data);
    switch (event['type']) {
      case 'message':
        for (const block of listOf(event['content'])) this.begin(this.blocks.length, block);
        return this.end(event);
      case 'message_start':
        return this.end(fieldsOf(event['message']));
      case 'content_block_start':
        return this.begin(countOf(event['index']) ?? 0, event['content_block']);
      case 'content_block_delta':
        return this.addTo(countOf(event['index']) ?? 0, fieldsOf(event['delta']));
      case 'message_delta':
        return this.end({ ...fieldsOf(event['delta']), usage: event['usage'] });
      default:
        return undefined;
    }
  }

  get said(): SaidByModel {
    const calls = this.blocks.flatMap(({ type, id, name, text, input }): ToolCall[] =>
      type === 'tool_use' ? [{ id, name, input: text === '' ? input : argumentsIn(text) }] : [],
    );
    const text = this.blocks.filter(({ type }) => type === 'text').map((block) => block.text);
    return { text: text.join('\n'), calls, finish: this.finish(), usage: this.counts() };
  }

  private begin(index: number, data: unknown): void {
    const { type, id, name, text, input } = fieldsOf(data);
    // An index far beyond the others is none.
    if (index > this.blocks.length) return;
    this.blocks[index] = {
      ...{
        type: stringOrEmpty(type),
        id: stringOrEmpty(id),
        name: stringOrEmpty(name),
        text: stringOrEmpty(text),
        input,
      },
    };
  }

  private addTo(index: number, { text, partial_json: json }: JsonFields): void {
    const block = this.blocks[index];
    if (block !== undefined) block.text += stringOrEmpty(text) + stringOrEmpty(json);
  }

  /** Counts of the stream's end replace those of its beginning; they are cumulative. */
  private end({ usage, stop_reason: reason }: JsonFields): void {
    const known = Object.entries(fieldsOf(usage)).filter(
      ([, count]) => countOf(count) !== undefined,
    );
    this.usage = { ...this.usage, ...Object.fromEntries(known) };
    this.reason = stringOrEmpty(reason) || this.reason;
  }

  private finish(): SaidByModel['finish'] {
    switch (this.reason) {
      case 'end_turn':
      case 'stop_sequence':
      case 'tool_use':
        return 'stop';
      case 'max_tokens':
        return 'length';
      case 'refusal':
        return 'refused';
      default:
        return 'other';
    }
  }

  private counts(): SaidByModel['usage'] {
    const of = (name: string): number => countOf(this.usage[name]) ?? 0;
    const [plain, output] = [of('input_tokens'), of('output_tokens')];
    const [cached, written] = [of('cache_read_input_tokens'), of('cache_creation_input_tokens')];
    // A stream begins with one token of output; its end has the number.
    if (plain + cached + written === 0 || output === 0 || this.reason === '') return undefined;
    return {
      inputTokens: plain + cached + written,
      outputTokens: output,
      ...(cached > 0 && { cachedInputTokens: cached }),
      ...(written > 0 && { cacheWriteTokens: written }),
    };
  }
}
