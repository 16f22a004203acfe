import { stringOrEmpty, type JsonFields } from './jsonFields';
import type { ModelApi } from './modelApi';
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
  'References to content stored at the provider are not allowed, because their cost is unknown. Send the whole conversation, with "store": false.',
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
  paths: [{ path: '/responses', action: 'generate' }],
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
  system: 'instructions',
  turns: 'input',
  systemRoles: ['system', 'developer'],
  content: ['content', 'text', 'summary'],
  call({ type, call_id: id, name, arguments: json, input, action }) {
    switch (type) {
      case 'function_call':
        return { id, name, json };
      case 'custom_tool_call':
        return { id, name, input };
      case 'local_shell_call':
        return { id, name: 'local_shell', input: action };
      default:
        return undefined;
    }
  },
  result: ({ type, call_id: id, output: content }) =>
    /_call_output$/.test(stringOrEmpty(type)) ? { id, content, isError: false } : undefined,
  answer: {
    // The end has the whole of it.
    whole: ['output', 'response.output'],
    pieces: ['delta'],
    calls: ['item'],
    reason: [
      ...['status', 'incomplete_details.reason'],
      ...['response.status', 'response.incomplete_details.reason'],
    ],
    finishes: { stop: ['completed'], length: ['max_output_tokens'], refused: [] },
    usage: ['usage', 'response.usage'],
    input: ['input_tokens'],
    output: ['output_tokens'],
    cached: 'input_tokens_details.cached_tokens',
    reasoning: 'output_tokens_details.reasoning_tokens',
  },
  error: (message) => ({ error: { message, type: 'invalid_request_error', code: null } }),
};
