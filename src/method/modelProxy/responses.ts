import type { ToolCall } from '../models/chatModel';
import { countsOf, textOfPart } from './chatCompletions';
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
  image,
  isImageContent,
  list,
  matching,
  number,
  object,
  ofType,
  oneOf,
  parts,
  record,
  refused,
  scalar,
  text,
  tools,
  typed,
  when,
} from './requestShape';

const seenPart = ofType({
  input_text: { text },
  output_text: { text, annotations: list(anything), logprobs: list(anything) },
  refusal: { refusal: text },
  input_image: when(
    ({ image_url: of }) => isImageContent(of),
    image(typed({ image_url: text, detail: text })),
  ),
  encrypted_content: { encrypted_content: text },
});
const seen = either(
  text,
  parts(seenPart, (said) => ({ type: 'input_text', text: said })),
);

/** What an agent does itself. */
const agentTool = ofType({
  function: {
    name: text,
    description: text,
    parameters: anything,
    strict: flag,
    defer_loading: flag,
  },
  custom: { name: text, description: text, format: anything, defer_loading: flag },
  local_shell: {},
  apply_patch: {},
});
const toolGroup = ofType({
  namespace: when(
    ({ tools: members }) => Array.isArray(members),
    typed({ name: text, description: text, tools: list(agentTool) }),
  ),
  // A search among tools that the agent has.
  tool_search: when(isOfAgent, typed({ execution: text, description: text, parameters: anything })),
});
const offeredTools = tools(either(agentTool, toolGroup));

function isOfAgent({ execution }: JsonFields): boolean {
  return execution === 'client';
}

const named = { name: text };
const item = { id: text, status: text };
const call = { ...item, call_id: text, name: text, namespace: text };
const message = { ...item, role: text, content: seen, phase: text };
const result = { ...call, output: seen };

const stored = refused(
  'Nothing that is stored at the provider can be asked for from here, since nobody knows what it costs. Send the whole conversation, with "store": false.',
);

/** The conversation: its items, and tools that are offered among them. */
const inputItem = either(
  ofType({
    message,
    agent_message: { ...item, author: text, recipient: text, content: seen },
    // One that has no content of its own stands for a stored answer.
    reasoning: when(
      ({ encrypted_content: encrypted, content }) =>
        typeof encrypted === 'string' || (Array.isArray(content) && content.length > 0),
      typed({
        ...item,
        summary: list(ofType({ summary_text: { text } })),
        content: list(ofType({ reasoning_text: { text }, text: { text } })),
        encrypted_content: text,
      }),
    ),
    function_call: { ...call, arguments: text },
    function_call_output: result,
    custom_tool_call: { ...call, input: text },
    custom_tool_call_output: result,
    local_shell_call: { ...call, action: anything },
    local_shell_call_output: result,
    apply_patch_call: { ...call, operation: anything },
    apply_patch_call_output: result,
    tool_search_call: when(isOfAgent, typed({ ...call, execution: text, arguments: anything })),
    tool_search_output: when(isOfAgent, typed({ ...call, execution: text, tools: offeredTools })),
    additional_tools: { ...item, role: text, tools: offeredTools },
    compaction: { ...item, encrypted_content: text },
    context_compaction: { ...item, encrypted_content: text },
    item_reference: stored,
  }),
  when(({ type }) => type === undefined, object(message)),
);

/** https://platform.openai.com/docs/api-reference/responses */
export const responses: ModelApi = {
  providers: ['openai', 'openai-compatible'],
  asked: (path) => (path.endsWith('/responses') ? { action: 'generate' } : undefined),
  pathOf: () => '/responses',
  headers: {},
  request: object({
    model: text,
    instructions: text,
    input: either(text, list(inputItem)),
    previous_response_id: stored,
    conversation: stored,
    prompt: stored,
    tools: offeredTools,
    tool_choice: either(
      oneOf('none', 'auto', 'required'),
      ofType({
        function: named,
        custom: named,
        allowed_tools: { mode: text, tools: list(ofType({ function: named, custom: named })) },
      }),
    ),
    parallel_tool_calls: flag,
    max_tool_calls: number,
    max_output_tokens: number,
    temperature: number,
    top_p: number,
    top_logprobs: number,
    truncation: text,
    reasoning: object({ effort: text, summary: text, generate_summary: text, context: text }),
    text: object({
      verbosity: text,
      format: ofType({
        text: {},
        json_object: {},
        json_schema: { name: text, description: text, schema: anything, strict: flag },
      }),
    }),
    include: list(matching(/^(?:reasoning\.encrypted_content|message\.output_text\.logprobs)$/)),
    store: oneOf(false),
    stream: flag,
    stream_options: object({ include_obfuscation: flag }),
    user: text,
    metadata: record(scalar),
    client_metadata: record(scalar),
    safety_identifier: text,
    prompt_cache_key: text,
    prompt_cache_retention: text,
  }),
  modelField: 'model',
  limitFields: () => ['max_output_tokens'],
  // What is stored is paid for with each request that refers to it.
  always: () => ({ store: false }),
  imageTokens: 50_000,
  askedText,
  reader: () => new ResponsesReader(),
  error: (message) => ({ error: { message, type: 'invalid_request_error', code: null } }),
};

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
