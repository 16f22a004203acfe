import type { ToolCall } from '../models/chatModel';
import { countsOf, isContent, textOfPart } from './chatCompletions';
import {
  argumentsIn,
  countOf,
  fieldsOf,
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

/** Tools that the agent itself does. */
const ownTools = new Set(['function', 'custom', 'local_shell', 'apply_patch']);

/** https://platform.openai.com/docs/api-reference/responses */
export const responses: ModelApi = {
  providers: ['openai', 'openai-compatible'],
  asked: (path) => (path.endsWith('/responses') ? { action: 'generate' } : undefined),
  pathOf: () => '/responses',
  headers: [],
  restrict(body, { model, mostOutput }) {
    body['model'] = model;
    if (countOf(body['max_output_tokens']) === undefined) body['max_output_tokens'] = mostOutput;
    return [
      ...withoutFields(body, ['background', 'prompt', 'conversation', 'service_tier']),
      ...keepTools(body, 'tools', ownTool),
      ...withoutFollowedLinks(body, ['input'], isLink, (text) => ({ type: 'input_text', text })),
    ];
  },
  mostOutput: (body) => countOf(body['max_output_tokens']) ?? 0,
  askedText,
  reader: () => new ResponsesReader(),
  error: (message) => ({ error: { message, type: 'invalid_request_error', code: null } }),
};

/** A group of tools keeps those of its members that may stay. */
function ownTool(tool: JsonFields): JsonFields | undefined {
  if (tool['type'] === 'namespace') {
    const group = { ...tool };
    keepTools(group, 'tools', ownTool);
    return 'tools' in group ? group : undefined;
  }
  return ownTools.has(stringOrEmpty(tool['type'])) ? tool : undefined;
}

const isLink = (part: JsonFields): boolean =>
  (part['type'] === 'input_image' && !isContent(part['image_url'])) ||
  (part['type'] === 'input_file' && !('file_data' in part)) ||
  part['type'] === 'item_reference';

function askedText({ instructions, input }: JsonFields): AskedText {
  if (typeof input === 'string') {
    return { system: stringOrEmpty(instructions), messages: [{ role: 'user', content: input }] };
  }
  const all = listOf(input).map(fieldsOf);
  const isSystem = ({ role }: JsonFields): boolean => role === 'system' || role === 'developer';
  return {
    system: [stringOrEmpty(instructions), ...all.filter(isSystem).map(textOfItem)]
      .join('\n')
      .trim(),
    messages: all
      .filter((item) => !isSystem(item))
      .map((item) => ({ role: isOfModel(item) ? 'assistant' : 'user', content: textOfItem(item) })),
  };
}

const isOfModel = ({ role, type }: JsonFields): boolean =>
  role === 'assistant' || type === 'reasoning' || /_call$/.test(stringOrEmpty(type));

function textOfItem(item: JsonFields): string {
  const { content, output, name, arguments: given, input, summary } = item;
  if (typeof content === 'string') return content;
  if (Array.isArray(content)) return content.map(textOfPart).join('\n');
  if (typeof output === 'string') return output;
  if (Array.isArray(output)) return output.map(textOfPart).join('\n');
  if (Array.isArray(summary)) return summary.map(textOfPart).join('\n');
  if (item['type'] === 'local_shell_call') return JSON.stringify(item['action']);
  return `${stringOrEmpty(name)} ${stringOrEmpty(given) || stringOrEmpty(input)}`.trim();
}

/** Events of the end of an answer, which have the whole of it. */
const lastEvents = new Set(['response.completed', 'response.incomplete', 'response.failed']);

class ResponsesReader implements AnswerReader {
  private whole: JsonFields | undefined;
  /** What has arrived, for an answer whose end does not. */
  private text = '';
  private readonly items: JsonFields[] = [];

  take(data: unknown): void {
    const event = fieldsOf(data);
    const type = stringOrEmpty(event['type']);
    if (event['object'] === 'response') this.whole = event;
    else if (lastEvents.has(type)) this.whole = fieldsOf(event['response']);
    else if (type === 'response.output_item.done') this.items.push(fieldsOf(event['item']));
    else if (/\.delta$/.test(type)) this.text += stringOrEmpty(event['delta']);
  }

  get said(): SaidByModel {
    const { output, usage, status, incomplete_details: why } = this.whole ?? {};
    const { input_tokens: input, output_tokens: written, ...details } = fieldsOf(usage);
    const of = (name: string, field: string): number =>
      countOf(fieldsOf(details[name])[field]) ?? 0;
    const items = output === undefined ? this.items : listOf(output).map(fieldsOf);
    const text = items.filter(({ type }) => type === 'message').map(textOfItem);
    const isLong = fieldsOf(why)['reason'] === 'max_output_tokens';
    return {
      text: this.whole === undefined && text.length === 0 ? this.text : text.join('\n'),
      calls: items.flatMap(callOf),
      finish: status === 'completed' ? 'stop' : isLong ? 'length' : 'other',
      usage: countsOf(
        input,
        written,
        of('input_tokens_details', 'cached_tokens'),
        of('output_tokens_details', 'reasoning_tokens'),
      ),
    };
  }
}

function callOf(item: JsonFields): ToolCall[] {
  const { call_id: id, name, arguments: given, input, action } = item;
  const of = { id: stringOrEmpty(id), name: stringOrEmpty(name) };
  switch (item['type']) {
    case 'function_call':
      return [{ ...of, input: argumentsIn(stringOrEmpty(given)) }];
    case 'custom_tool_call':
      return [{ ...of, input: stringOrEmpty(input) }];
    case 'local_shell_call':
      return [{ ...of, name: 'local_shell', input: action }];
    default:
      return [];
  }
}
