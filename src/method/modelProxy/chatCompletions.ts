import { fieldsOf, isFields } from './jsonFields';
import type { ModelApi } from './modelApi';
import {
  anything,
  either,
  flag,
  image,
  isImageContent,
  list,
  number,
  object,
  ofType,
  oneOf,
  parts,
  record,
  scalar,
  text,
  tools,
  typed,
  when,
} from './requestShape';

const cacheControl = object({ type: oneOf('ephemeral'), ttl: oneOf('5m') });

const messagePart = ofType({
  text: { text, cache_control: cacheControl },
  refusal: { refusal: text },
  image_url: when(
    ({ image_url: of }) => isImageContent(isFields(of) ? of['url'] : of),
    image(
      typed({
        image_url: either(text, object({ url: text, detail: text })),
        cache_control: cacheControl,
      }),
    ),
  ),
});

/** Google's, which its thinking models want back. */
const extraContent = object({ google: object({ thought_signature: text }) });
const calledFunction = object({ name: text, arguments: text });

const message = object({
  role: oneOf('system', 'developer', 'user', 'assistant', 'tool', 'function'),
  content: either(
    text,
    parts(messagePart, (said) => ({ type: 'text', text: said })),
  ),
  name: text,
  refusal: text,
  tool_call_id: text,
  tool_calls: list(
    object({
      id: text,
      type: oneOf('function', 'custom'),
      index: number,
      function: calledFunction,
      custom: object({ name: text, input: text }),
      extra_content: extraContent,
    }),
  ),
  function_call: calledFunction,
  extra_content: extraContent,
  cache_control: cacheControl,
  // Reasoning that servers want back: of DeepSeek, Qwen and others, of vLLM, and of OpenRouter.
  reasoning_content: text,
  reasoning: text,
  reasoning_details: list(record(scalar)),
  // The beginning of the answer, of DeepSeek and Mistral, and of Moonshot.
  prefix: flag,
  partial: flag,
});

const offeredFunction = object({
  name: text,
  description: text,
  parameters: anything,
  strict: flag,
});

const namedTool = {
  function: { function: object({ name: text }), name: text },
  custom: { custom: object({ name: text }), name: text },
};

/** Settings of the answer's text, of OpenAI and of the servers that have taken over its API. */
const sampling = {
  temperature: number,
  top_p: number,
  top_k: number,
  min_p: number,
  seed: number,
  stop: either(text, list(text)),
  presence_penalty: number,
  frequency_penalty: number,
  repetition_penalty: number,
  logit_bias: record(number),
  logprobs: flag,
  top_logprobs: number,
  n: oneOf(1),
  modalities: list(oneOf('text')),
  response_format: ofType({ text: {}, json_object: {}, json_schema: { json_schema: anything } }),
};

/** How much a model thinks: of OpenAI, OpenRouter, DeepSeek and GLM, Qwen, and vLLM. */
const thinking = {
  reasoning_effort: text,
  verbosity: text,
  reasoning: object({ effort: text, enabled: flag, exclude: flag, summary: text }),
  thinking: object({
    type: oneOf('enabled', 'disabled', 'auto', 'adaptive'),
    clear_thinking: flag,
  }),
  enable_thinking: flag,
  chat_template_kwargs: record(scalar),
};

/** https://platform.openai.com/docs/api-reference/chat */
export const chatCompletions: ModelApi = {
  providers: ['openai', 'openai-compatible'],
  paths: [{ path: '/chat/completions', action: 'generate' }],
  headers: {},
  request: object({
    ...sampling,
    ...thinking,
    model: text,
    messages: list(message),
    max_tokens: number,
    max_completion_tokens: number,
    stream: flag,
    stream_options: object({ include_usage: flag, include_obfuscation: flag }),
    tools: tools(
      ofType({
        function: { function: offeredFunction, cache_control: cacheControl },
        custom: { custom: object({ name: text, description: text, format: anything }) },
      }),
    ),
    tool_choice: either(
      oneOf('none', 'auto', 'required'),
      ofType({
        ...namedTool,
        allowed_tools: { allowed_tools: object({ mode: text, tools: list(ofType(namedTool)) }) },
      }),
    ),
    parallel_tool_calls: flag,
    functions: tools(offeredFunction),
    function_call: either(text, object({ name: text })),
    store: oneOf(false),
    user: text,
    metadata: record(scalar),
    safety_identifier: text,
    prompt_cache_key: text,
    prompt_cache_retention: text,
  }),
  modelField: 'model',
  // Every model of OpenAI takes the newer name. Other servers may not know it.
  limitFields: (provider) =>
    provider === 'openai'
      ? ['max_completion_tokens', 'max_tokens']
      : ['max_tokens', 'max_completion_tokens'],
  // Without it a stream ends with no numbers.
  always: ({ stream, stream_options: options }) =>
    stream === true ? { stream_options: { ...fieldsOf(options), include_usage: true } } : {},
  // The dearest way in which OpenAI counts one: a small model, and details of each tile.
  imageTokens: 50_000,
  turns: 'messages',
  systemRoles: ['system', 'developer'],
  content: ['content', 'text', 'tool_calls'],
  call({ id, function: called, custom }) {
    if (called === undefined && custom === undefined) return undefined;
    const { name, arguments: json, input = json } = fieldsOf(called ?? custom);
    return { id, name, json: input };
  },
  result: ({ role, tool_call_id: id, content }) =>
    role === 'tool' ? { id, content, isError: false } : undefined,
  answer: {
    pieces: ['delta', 'message'].flatMap((of) =>
      ['content', 'refusal', 'tool_calls'].map((name) => `choices.0.${of}.${name}`),
    ),
    reason: ['choices.0.finish_reason'],
    finishes: {
      stop: ['stop', 'tool_calls', 'function_call'],
      length: ['length'],
      refused: ['content_filter'],
    },
    usage: ['usage'],
    input: ['prompt_tokens'],
    output: ['completion_tokens'],
    cached: 'prompt_tokens_details.cached_tokens',
    reasoning: 'completion_tokens_details.reasoning_tokens',
  },
  error: (message) => ({ error: { message, type: 'invalid_request_error', code: null } }),
};
