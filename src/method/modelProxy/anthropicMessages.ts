import type { ToolCall } from '../models/chatModel';
import {
  argumentsIn,
  countOf,
  fieldsOf,
  isFields,
  keepTools,
  listOf,
  stringOrEmpty,
  withoutFields,
  withoutFollowedLinks,
  type AnswerReader,
  type AskedText,
  type JsonFields,
  type ModelApi,
  type SaidByModel,
} from './modelApi';

/** Tools that the agent itself does; without a type it is one of the agent's own. */
const ownTools = /^(?:custom|(?:bash|text_editor|memory|computer)_\d{8}|tool_search_tool_\w+)$/;

/** Betas of tools and servers on Anthropic's side, and of what costs more. */
const refusedBetas = /^(?:web-|mcp-|code-execution|files-api|skills|fast-mode|container)/;

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
  headers: ['anthropic-version', 'anthropic-beta'],
  restrict(body, { model, mostOutput }) {
    body['model'] = model;
    body['max_tokens'] ??= mostOutput;
    const isLink = ({ type, source }: JsonFields): boolean =>
      (type === 'image' || type === 'document' || type === 'container_upload') &&
      !(isFields(source) && ['base64', 'text', 'content'].includes(stringOrEmpty(source['type'])));
    return [
      ...withoutFields(body, [
        'mcp_servers',
        'container',
        'service_tier',
        'speed',
        'inference_geo',
      ]),
      ...keepTools(body, 'tools', (tool) =>
        tool['type'] === undefined || ownTools.test(stringOrEmpty(tool['type'])) ? tool : undefined,
      ),
      ...withoutFollowedLinks(body, ['system', 'messages'], isLink, (text) => ({
        type: 'text',
        text,
      })),
    ];
  },
  mostOutput: (body) => countOf(body['max_tokens']) ?? 0,
  askedText,
  reader: () => new MessagesReader(),
  error: (message) => ({ type: 'error', error: { type: 'invalid_request_error', message } }),
};

/** The betas that a request may name. */
export const allowedBetas = (header: string): string =>
  header
    .split(',')
    .map((each) => each.trim())
    .filter((each) => each !== '' && !refusedBetas.test(each))
    .join(',');

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
