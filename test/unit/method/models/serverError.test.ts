import assert from 'node:assert/strict';
import fc from 'fast-check';
import {
  serverErrorOf,
  type Matter,
  type Refusal,
} from '../../../../src/method/models/serverError';

const fields = [
  'temperature',
  'top_p',
  'max_tokens',
  'stream',
  'stream_options',
  'reasoning_effort',
];

/** What servers have answered, with what it is about. */
const cases: readonly (readonly [string, Omit<Refusal, 'fields'>, Matter, RegExp?])[] = [
  [
    'OpenAI: context',
    {
      status: 400,
      body: '{"error":{"message":"This model\'s maximum context length is 8192 tokens. However, your messages resulted in 9001 tokens. Please reduce the length of the messages.","type":"invalid_request_error","param":"messages","code":"context_length_exceeded"}}',
    },
    { of: 'context', window: 8192, asked: 9001 },
  ],
  [
    'vLLM of before: context',
    {
      status: 400,
      body: {
        object: 'error',
        message:
          "This model's maximum context length is 8192 tokens. However, you requested 9000 tokens (8000 in the messages, 1000 in the completion).",
        type: 'BadRequestError',
        param: null,
        code: 400,
      },
    },
    { of: 'context', window: 8192, asked: 9000 },
    /maximum context length/,
  ],
  [
    'vLLM of today: context',
    {
      status: 400,
      body: {
        error: {
          message:
            "'max_tokens' or 'max_completion_tokens' is too large: 1000. This model's maximum context length is 8192 tokens and your request has 8000 input tokens (1000 > 8192 - 8000).",
          type: 'BadRequestError',
          code: 400,
        },
      },
    },
    { of: 'context', window: 8192, asked: 8000 },
  ],
  [
    'vLLM: decoder prompt',
    {
      status: 400,
      body: {
        error: {
          message:
            'The decoder prompt (length 9000) is longer than the maximum model length of 8192. Make sure that `max_model_len` is no smaller than the number of text tokens.',
        },
      },
    },
    { of: 'context', window: 8192, asked: 9000 },
  ],
  [
    'Anthropic: context',
    {
      status: 400,
      body: {
        type: 'error',
        error: {
          type: 'invalid_request_error',
          message: 'prompt is too long: 205616 tokens > 200000 maximum',
        },
      },
    },
    { of: 'context', window: 200000, asked: 205616 },
  ],
  [
    'Google: context',
    {
      status: 400,
      body: {
        error: {
          code: 400,
          message:
            'The input token count (1200001) exceeds the maximum number of tokens allowed (1048576).',
          status: 'INVALID_ARGUMENT',
        },
      },
    },
    { of: 'context', window: 1048576, asked: 1200001 },
  ],
  [
    'LM Studio: context',
    {
      status: 400,
      body: {
        error:
          'Trying to keep the first 9000 tokens when context the overflows. However, the model is loaded with context length of only 4096 tokens, which is not enough.',
      },
    },
    { of: 'context', window: 4096, asked: 9000 },
  ],
  [
    'llama.cpp: context',
    {
      status: 400,
      body: {
        error: {
          code: 400,
          message: 'the request exceeds the available context size, try increasing it',
          type: 'exceed_context_size_error',
          n_prompt_tokens: 9000,
          n_ctx: 4096,
        },
      },
    },
    { of: 'context', window: 4096, asked: 9000 },
  ],
  [
    'Mistral: context',
    {
      status: 400,
      body: {
        object: 'error',
        message:
          'Prompt contains 40000 tokens and 0 draft tokens, too large for model with 32768 maximum context length',
      },
    },
    { of: 'context', window: 32768, asked: 40000 },
  ],
  [
    'Anthropic: limit of the answer',
    {
      status: 400,
      body: {
        error: {
          message:
            'max_tokens: 100000 > 64000, which is the maximum allowed number of output tokens for claude',
        },
      },
    },
    { of: 'output', most: 64000 },
  ],
  [
    'OpenAI: limit of the answer',
    {
      status: 400,
      body: {
        error: {
          message:
            'max_tokens is too large: 100000. This model supports at most 16384 completion tokens, whereas you provided 100000.',
          param: 'max_tokens',
        },
      },
    },
    { of: 'output', most: 16384 },
  ],
  [
    'Google: limit of a minute',
    {
      status: 429,
      body: {
        error: {
          code: 429,
          status: 'RESOURCE_EXHAUSTED',
          message:
            'You exceeded your current quota, please check your plan and billing details. Please retry in 6.2s.',
          details: [
            {
              '@type': 'type.googleapis.com/google.rpc.QuotaFailure',
              violations: [
                {
                  quotaId: 'GenerateRequestsPerMinutePerProjectPerModel-FreeTier',
                  quotaValue: '10',
                },
              ],
            },
            { '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: '6s' },
          ],
        },
      },
    },
    { of: 'rate', waitMs: 6000 },
  ],
  [
    'Google: limit of a day',
    {
      status: 429,
      body: {
        error: {
          status: 'RESOURCE_EXHAUSTED',
          message: 'You exceeded your current quota. Please retry in 40s.',
          details: [
            { violations: [{ quotaId: 'GenerateRequestsPerDayPerProjectPerModel-FreeTier' }] },
            { retryDelay: '40s' },
          ],
        },
      },
    },
    { of: 'credit' },
  ],
  [
    'OpenAI: quota',
    {
      status: 429,
      body: {
        error: {
          message: 'You exceeded your current quota, please check your plan and billing details.',
          type: 'insufficient_quota',
          code: 'insufficient_quota',
        },
      },
    },
    { of: 'credit' },
  ],
  [
    'OpenAI: limit of a minute',
    {
      status: 429,
      body: {
        error: {
          message: 'Rate limit reached for gpt-4o on tokens per min. Please try again in 1m2.5s.',
          code: 'rate_limit_exceeded',
        },
      },
    },
    { of: 'rate', waitMs: 62_500 },
  ],
  [
    'OpenAI: one request above the limit',
    {
      status: 429,
      body: { error: { message: 'Request too large for gpt-4o: Limit 30000, Requested 40000.' } },
    },
    { of: 'other' },
  ],
  [
    'Anthropic: credit',
    {
      status: 400,
      body: {
        type: 'error',
        error: {
          type: 'invalid_request_error',
          message: 'Your credit balance is too low to access the Anthropic API.',
        },
      },
    },
    { of: 'credit' },
  ],
  [
    'Anthropic: overloaded',
    {
      status: 529,
      body: { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } },
    },
    { of: 'busy', waitMs: 0 },
  ],
  [
    'Google: key',
    {
      status: 400,
      body: {
        error: {
          code: 400,
          status: 'INVALID_ARGUMENT',
          message: 'API key not valid. Please pass a valid API key.',
          details: [{ reason: 'API_KEY_INVALID' }],
        },
      },
    },
    { of: 'key' },
  ],
  [
    'DeepSeek: credit',
    { status: 402, body: '{"error":{"message":"Insufficient Balance"}}' },
    { of: 'credit' },
  ],
  [
    'OpenAI: a parameter',
    {
      status: 400,
      body: {
        error: {
          type: 'invalid_request_error',
          code: 'unsupported_parameter',
          param: 'top_p',
          message: "Unsupported parameter: 'top_p' is not supported with this model.",
        },
      },
    },
    { of: 'parameter', name: 'top_p' },
  ],
  [
    'OpenAI: another name',
    {
      status: 400,
      body: {
        error: {
          param: 'max_tokens',
          code: 'unsupported_parameter',
          message:
            "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
        },
      },
    },
    { of: 'parameter', name: 'max_tokens', instead: 'max_completion_tokens' },
  ],
  [
    'Anthropic: two at once',
    {
      status: 400,
      body: {
        error: {
          type: 'invalid_request_error',
          message:
            '`temperature` and `top_p` cannot both be specified for this model. Please use only one.',
        },
      },
    },
    { of: 'parameter', name: 'temperature' },
  ],
  [
    'Anthropic: an input that is not permitted',
    { status: 400, body: { error: { message: 'top_p: Extra inputs are not permitted' } } },
    { of: 'parameter', name: 'top_p' },
  ],
  [
    'xAI: the spelling of an SDK',
    {
      status: 400,
      body: { code: 'invalid', error: 'Argument not supported on this model: reasoningEffort' },
    },
    { of: 'parameter', name: 'reasoning_effort' },
  ],
  [
    'Azure: an argument of before',
    {
      status: 400,
      body: { error: { message: 'Unrecognized request argument supplied: stream_options' } },
    },
    { of: 'parameter', name: 'stream_options' },
  ],
  [
    'pydantic, as in Mistral',
    {
      status: 422,
      body: {
        detail: [
          {
            type: 'extra_forbidden',
            loc: ['body', 'top_p'],
            msg: 'Extra inputs are not permitted',
          },
        ],
      },
    },
    { of: 'parameter', name: 'top_p' },
    /top_p: Extra inputs/,
  ],
  [
    'vLLM: tools',
    {
      status: 400,
      body: {
        object: 'error',
        message:
          '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set',
        type: 'BadRequestError',
        code: 400,
      },
    },
    { of: 'tools' },
  ],
  [
    'Ollama: tools',
    { status: 400, body: { error: { message: 'registry.ollama.ai/x does not support tools' } } },
    { of: 'tools' },
  ],
  [
    'OpenAI: the Responses API alone',
    {
      status: 404,
      body: {
        error: {
          message: 'This model is only supported in v1/responses and not in v1/chat/completions.',
          type: 'invalid_request_error',
          param: 'model',
        },
      },
    },
    { of: 'responses' },
  ],
  [
    'OpenRouter: an error inside of an answer',
    { status: 200, body: { error: { code: 502, message: 'Provider returned error' } } },
    { of: 'busy', waitMs: 0 },
    /^Provider returned error$/,
  ],
  [
    'OpenRouter: what the provider behind it said',
    {
      status: 400,
      body: {
        error: {
          code: 400,
          message: 'Provider returned error',
          metadata: {
            raw: '{"error":{"message":"prompt is too long: 9000 tokens > 8000 maximum"}}',
          },
        },
      },
    },
    { of: 'context', window: 8000, asked: 9000 },
  ],
  [
    'a page of a proxy',
    { status: 502, body: '<html><head><title>502 Bad Gateway</title></head><body>x</body></html>' },
    { of: 'busy', waitMs: 0 },
    /^502 Bad Gateway$/,
  ],
  ['nothing', { status: 500, body: '' }, { of: 'busy', waitMs: 0 }, /^$/],
  [
    'a header',
    { status: 429, headers: { 'retry-after': '7' }, body: 'slow down' },
    { of: 'rate', waitMs: 7000 },
  ],
];

describe('what a server says when it refuses', () => {
  for (const [name, refusal, matter, said] of cases) {
    it(name, () => {
      const found = serverErrorOf({ ...refusal, fields });
      assert.deepEqual(found.matter, matter, found.said);
      if (said !== undefined) assert.match(found.said, said);
    });
  }
  it('garbage gives the status, in one line', () => {
    fc.assert(
      fc.property(
        fc.option(fc.integer({ min: 100, max: 599 }), { nil: undefined }),
        fc.oneof(fc.string(), fc.json(), fc.object(), fc.anything()),
        (status, body) => {
          const { said } = serverErrorOf({ status, body, fields });
          assert.doesNotMatch(said, /\n/);
          assert.ok(said.length <= 400);
        },
      ),
    );
  });
});
