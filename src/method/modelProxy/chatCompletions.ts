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

const limits = ['max_completion_tokens', 'max_tokens'] as const;

/** https://platform.openai.com/docs/api-reference/chat */
export const chatCompletions: ModelApi = {
  providers: ['openai', 'openai-compatible'],
  asked: (path) => (path.endsWith('/chat/completions') ? { action: 'generate' } : undefined),
  pathOf: () => '/chat/completions',
  headers: [],
  restrict(body, { model, mostOutput }) {
    body['model'] = model;
    if (!limits.some((name) => countOf(body[name]) !== undefined)) {
      // OpenAI's reasoning models refuse the older name, and other servers may not know the newer.
      body[/^(?:o\d|gpt-)/.test(model) ? limits[0] : limits[1]] = mostOutput;
    }
    // Without it a stream ends with no numbers.
    if (body['stream'] === true) {
      body['stream_options'] = { ...fieldsOf(body['stream_options']), include_usage: true };
    }
    return [
      ...withoutFields(body, ['web_search_options', 'n', 'best_of', 'service_tier', 'store']),
      ...keepTools(body, 'tools', (tool) =>
        tool['type'] === 'function' || tool['type'] === 'custom' ? tool : undefined,
      ),
      ...withoutFollowedLinks(body, ['messages'], isLink, (text) => ({ type: 'text', text })),
    ];
  },
  mostOutput: (body) => Math.max(...limits.map((name) => countOf(body[name]) ?? 0)),
  askedText,
  reader: () => new ChatReader(),
  error: (message) => ({ error: { message, type: 'invalid_request_error', code: null } }),
};

const isLink = ({ type, image_url: image, file }: JsonFields): boolean =>
  (type === 'image_url' && !isContent(isFields(image) ? image['url'] : image)) ||
  (type === 'file' && !isContent(fieldsOf(file)['file_data']));

/** Whether an address has the content itself. */
export const isContent = (address: unknown): boolean => /^data:/i.test(stringOrEmpty(address));

function askedText({ messages }: JsonFields): AskedText {
  const all = listOf(messages).map(fieldsOf);
  const isSystem = ({ role }: JsonFields): boolean => role === 'system' || role === 'developer';
  return {
    system: all.filter(isSystem).map(textOfMessage).join('\n'),
    messages: all
      .filter((message) => !isSystem(message))
      .map((message) => ({
        role: message['role'] === 'assistant' ? 'assistant' : 'user',
        content: textOfMessage(message),
      })),
  };
}

function textOfMessage({ content, tool_calls: calls }: JsonFields): string {
  const said = typeof content === 'string' ? content : listOf(content).map(textOfPart).join('\n');
  const called = listOf(calls).map((call) => {
    const { name, arguments: given } = fieldsOf(fieldsOf(call)['function']);
    return `${stringOrEmpty(name)} ${stringOrEmpty(given)}`;
  });
  return [...(said === '' ? [] : [said]), ...called].join('\n');
}

/** The text of a part of a message, or what kind of part it is. */
export function textOfPart(part: unknown): string {
  const { text, type } = fieldsOf(part);
  return typeof text === 'string' ? text : `[${stringOrEmpty(type)}]`;
}

class ChatReader implements AnswerReader {
  private text = '';
  private reason = '';
  private usage: JsonFields = {};
  private readonly calls: { id: string; name: string; given: string }[] = [];

  take(data: unknown): void {
    const { choices, usage } = fieldsOf(data);
    if (isFields(usage)) this.usage = usage;
    const choice = fieldsOf(listOf(choices)[0]);
    const { content, refusal, tool_calls: calls } = fieldsOf(choice['delta'] ?? choice['message']);
    this.text += stringOrEmpty(content) + stringOrEmpty(refusal);
    this.reason = stringOrEmpty(choice['finish_reason']) || this.reason;
    listOf(calls).forEach((each, at) => this.takeCall(fieldsOf(each), at));
  }

  private takeCall(call: JsonFields, at: number): void {
    const index = countOf(call['index']) ?? at;
    if (index > this.calls.length) return;
    const known = (this.calls[index] ??= { id: '', name: '', given: '' });
    const { name, arguments: given } = fieldsOf(call['function'] ?? call['custom']);
    known.id ||= stringOrEmpty(call['id']);
    known.name += stringOrEmpty(name);
    known.given += stringOrEmpty(given);
  }

  get said(): SaidByModel {
    const calls = this.calls.map(({ id, name, given }): ToolCall => ({
      id,
      name,
      input: argumentsIn(given),
    }));
    const { prompt_tokens: input, completion_tokens: output } = this.usage;
    const cached = countOf(fieldsOf(this.usage['prompt_tokens_details'])['cached_tokens']) ?? 0;
    const thought =
      countOf(fieldsOf(this.usage['completion_tokens_details'])['reasoning_tokens']) ?? 0;
    return {
      ...{ text: this.text, calls, finish: this.finish() },
      usage: countsOf(input, output, cached, thought),
    };
  }

  private finish(): SaidByModel['finish'] {
    if (['stop', 'tool_calls', 'function_call'].includes(this.reason)) return 'stop';
    if (this.reason === 'length') return 'length';
    return this.reason === 'content_filter' ? 'refused' : 'other';
  }
}

/** The numbers of a provider; undefined where it does not say both. */
export function countsOf(
  input: unknown,
  output: unknown,
  cached: number,
  thought: number,
): SaidByModel['usage'] {
  const [inputTokens, outputTokens] = [countOf(input), countOf(output)];
  if (inputTokens === undefined || outputTokens === undefined) return undefined;
  if (inputTokens + outputTokens === 0) return undefined;
  return {
    inputTokens,
    outputTokens,
    ...(cached > 0 && { cachedInputTokens: cached }),
    ...(thought > 0 && { reasoningTokens: thought }),
  };
}
