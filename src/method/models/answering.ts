import type { CallWarning, FinishReason, LanguageModel, LanguageModelUsage } from 'ai';
import { Cancelled, HumanError, messageOf, throwIfAborted, whatOf } from '../../domain/humanError';
import { redactKeys } from '../../engine/keysInUse';
import { tokenCounter } from '../tokens';
import { dollarsOf, type Price } from './budget';
import {
  CallsNoTools,
  ModelFailure,
  ModelUnusable,
  type ModelAnswer,
  type ChatModel,
  type ChatRequest,
  type Finish,
  type ModelWork,
  type ToolCall,
} from './chatModel';
import { statedRates } from './rateHeaders';
import { TooManyRequests, type RateLimiter } from './rateLimiter';
import { ModelTrouble, retryAfter, retrying, type Retries } from './retrying';
import { callOf, messageForAi, refusesTools, textOfMessage, toolsForAi } from './toolMessages';

/** A model of the `ai` package that sends its requests with this function. */
export type ModelBy = (fetch: typeof globalThis.fetch) => LanguageModel;

export interface AnsweringOptions {
  readonly price?: Price | undefined;
  /** Seconds for one try as a whole. */
  readonly timeoutSeconds: number;
  readonly retries: Retries;
  /** The rate limits that this model's requests share. */
  readonly limiter: RateLimiter;
  /** Stream the answer piece by piece, so that no proxy times out on a long one. */
  readonly stream: boolean;
  /** Removes secrets from a text, such as a key that a server repeats. */
  readonly withoutSecrets: (text: string) => string;
}

/** The result of one try, before tokens are counted. */
interface Spoken {
  readonly text: string;
  readonly calls: readonly ToolCall[];
  readonly reason: FinishReason;
  /** The server's own word for it; undefined when it never reported the end of the answer. */
  readonly rawReason: string | undefined;
  readonly usage: LanguageModelUsage;
  readonly warnings: readonly CallWarning[];
}

/**
 * Wraps a model of the `ai` package as a `ChatModel`: one request, retried while that makes sense.
 */
export function answering(name: string, modelBy: ModelBy, options: AnsweringOptions): ChatModel {
  const warned = new Set<string>();
  return {
    name,
    async complete(request, work) {
      const { signal, reporter } = work;
      const tokens = work.mostTokens ?? (await inputTokensOf(request)) + request.maxOutputTokens;
      let spoken: Spoken;
      try {
        const limited = (): Promise<Spoken> =>
          options.limiter.run(
            {
              tokens,
              send: (stated) =>
                attempt(
                  modelBy(async (address, init) => {
                    const answer = await globalThis.fetch(address, withBody(init, request.body));
                    stated(statedRates((header) => answer.headers.get(header), Date.now()));
                    return answer;
                  }),
                  ...([request, work, options] as const),
                ),
              used: ({ usage }) => usage.totalTokens ?? tokens,
            },
            work,
          );
        spoken = await retrying(limited, options.retries, work);
      } catch (error) {
        throwIfAborted(signal);
        if (refusesTools(request, error)) throw new CallsNoTools(name, whatOf(error));
        if (error instanceof ModelTrouble) throw new ModelFailure(`${name}: ${error.message}`);
        throw error;
      }
      for (const warning of spoken.warnings) {
        const text = warningText(warning);
        if (!warned.has(text)) reporter.log(`${name}: ${text}`);
        warned.add(text);
      }
      return counted(request, spoken, options.price);
    },
  };
}

async function attempt(
  model: LanguageModel,
  request: ChatRequest,
  { signal, onText }: ModelWork,
  { timeoutSeconds, stream, withoutSecrets }: AnsweringOptions,
): Promise<Spoken> {
  // The package would write warnings to the console; they go to the reporter instead.
  (globalThis as { AI_SDK_LOG_WARNINGS?: boolean }).AI_SDK_LOG_WARNINGS = false;
  const late = AbortSignal.timeout(timeoutSeconds * 1000);
  const abortSignal = signal === undefined ? late : AbortSignal.any([signal, late]);
  const call = { ...(await callFor(model, request)), abortSignal };
  try {
    const spoken = await (stream ? streamedAnswer : wholeAnswer)(call, onText);
    if (spoken !== undefined) return spoken;
    throwIfAborted(signal);
    throw new ModelTrouble('the connection ended before the answer did');
  } catch (error) {
    throwIfAborted(signal);
    if (late.aborted) throw new ModelTrouble(tooLate(timeoutSeconds));
    throw await modelTroubleOf(error, withoutSecrets);
  }
}

/** A request as the package takes it, without keys in use. */
async function callFor(model: LanguageModel, request: ChatRequest) {
  return {
    model,
    system: redactKeys(request.system),
    messages: request.messages.map((message, index) => ({
      ...messageForAi(message),
      // Anthropic caches up to a mark; other providers cache by themselves, or not at all.
      ...(request.isReused === true &&
        index === request.messages.length - 1 && { providerOptions: cacheMark }),
    })),
    ...(request.tools !== undefined && { tools: await toolsForAi(request.tools) }),
    ...(request.reasoningEffort !== undefined && {
      providerOptions: effortOptions(request.reasoningEffort),
    }),
    ...(request.temperature !== undefined && { temperature: request.temperature }),
    ...(request.topP !== undefined && { topP: request.topP }),
    maxOutputTokens: request.maxOutputTokens,
    maxRetries: 0,
  };
}

type Call = Awaited<ReturnType<typeof callFor>> & { readonly abortSignal: AbortSignal };

async function wholeAnswer(call: Call, onText: ModelWork['onText']): Promise<Spoken> {
  const { generateText } = await import('ai');
  const result = await generateText(call);
  if (onText !== undefined && result.text !== '') onText(result.text);
  return {
    text: result.text,
    calls: result.toolCalls.map(callOf),
    reason: result.finishReason,
    rawReason: result.rawFinishReason,
    usage: result.usage,
    warnings: result.warnings ?? [],
  };
}

/** @returns undefined when the stream ends before the answer does */
async function streamedAnswer(
  call: Call,
  onText: ModelWork['onText'],
): Promise<Spoken | undefined> {
  const { streamText } = await import('ai');
  let text = '';
  const calls: ToolCall[] = [];
  let warnings: readonly CallWarning[] = [];
  // Errors also come as parts; by default the package would write them to the console.
  for await (const part of streamText({ ...call, onError: () => undefined }).fullStream) {
    if (part.type === 'text-delta') {
      text += part.text;
      onText?.(part.text);
    } else if (part.type === 'tool-call') {
      calls.push(callOf(part));
    } else if (part.type === 'start-step') {
      warnings = part.warnings;
    } else if (part.type === 'error') {
      throw part.error;
    } else if (part.type === 'finish') {
      const { finishReason: reason, rawFinishReason: rawReason, totalUsage: usage } = part;
      if (rawReason === undefined && (reason === 'other' || reason === 'error')) return undefined;
      return { text, calls, reason, rawReason, usage, warnings };
    }
  }
  return undefined;
}

const cacheMark = { anthropic: { cacheControl: { type: 'ephemeral' } } };

/** The effort where each provider has it; a provider ignores the options of others. */
const effortOptions = (effort: string) => ({
  openai: { reasoningEffort: effort },
  openaiCompatible: { reasoningEffort: effort },
  anthropic: { effort },
  google: { thinkingConfig: { thinkingLevel: effort } },
});

/** A request with further fields in its body, which is JSON. */
function withBody(
  init: RequestInit | undefined,
  more: ChatRequest['body'],
): RequestInit | undefined {
  if (more === undefined || typeof init?.body !== 'string') return init;
  return { ...init, body: JSON.stringify(merged(JSON.parse(init.body), more)) };
}

/** Objects are merged field by field; anything else is replaced. */
function merged(before: unknown, after: unknown): unknown {
  if (!isObject(before) || !isObject(after)) return after;
  const fields = Object.entries(after).map(([name, value]) => [name, merged(before[name], value)]);
  return { ...before, ...(Object.fromEntries(fields) as object) };
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const tooLate = (seconds: number): string => `no whole answer within ${seconds} s`;

/** Classifies a failed try: worth a retry, the end of this request, or the end of all requests. */
export async function modelTroubleOf(
  error: unknown,
  withoutSecrets: (text: string) => string,
): Promise<Error> {
  if (error instanceof ModelTrouble || error instanceof Cancelled || error instanceof HumanError) {
    return error;
  }
  const { APICallError, LoadAPIKeyError } = await import('ai');
  const said = withoutSecrets(firstLine(messageOf(error)));
  if (LoadAPIKeyError.isInstance(error))
    return new ModelUnusable(said, 'Set the variable and try again');
  if (!APICallError.isInstance(error)) return new ModelTrouble(saidInStream(error, withoutSecrets));
  const { statusCode: status, responseHeaders, responseBody = '', isRetryable } = error;
  if (status === undefined) {
    const { cause } = error;
    return new ModelTrouble(
      cause instanceof Error ? withoutSecrets(firstLine(messageOf(cause))) || said : said,
    );
  }
  const answer = `the server answers with status ${status}${said === '' ? '' : `: ${said}`}`;
  if (status === 401 || status === 403) {
    return new ModelUnusable(answer, 'Check the key in the environment variable of the provider');
  }
  if (status === 404) {
    return new ModelUnusable(answer, 'Check the name of the model and --base-url');
  }
  if (status === 402 || (status === 429 && /insufficient_quota|billing/.test(responseBody))) {
    return new ModelUnusable(answer, 'The account has no credit left; finished answers are kept');
  }
  if (status === 429 && !isTooLarge(said)) {
    return new TooManyRequests(answer, retryAfter(responseHeaders));
  }
  return isRetryable && status !== 429
    ? new ModelTrouble(answer, retryAfter(responseHeaders))
    : new ModelFailure(answer);
}

/** Whether the limit of tokens is below this one request, as OpenAI says with status 429. */
const isTooLarge = (said: string): boolean => /request too large/i.test(said);

/**
 * The text of an error in the middle of a stream, which the server sent as a text or as an object
 * with a message.
 */
function saidInStream(error: unknown, withoutSecrets: (text: string) => string): string {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : undefined;
  const message =
    cause !== undefined
      ? `${messageOf(error)} (${messageOf(cause)})`
      : error instanceof Error || typeof error !== 'object'
        ? messageOf(error)
        : JSON.stringify(error);
  return `the connection failed: ${withoutSecrets(firstLine(message))}`;
}

const firstLine = (text: string): string => (text.trim().split('\n')[0] ?? '').slice(0, 300);

async function counted(
  request: ChatRequest,
  { text, calls, reason, usage }: Spoken,
  price: Price | undefined,
): Promise<ModelAnswer> {
  let { inputTokens, outputTokens } = usage;
  const isEstimate =
    inputTokens === undefined || outputTokens === undefined || inputTokens + outputTokens === 0;
  if (isEstimate) {
    inputTokens = await inputTokensOf(request);
    const written = calls.length === 0 ? text : `${text}${JSON.stringify(calls)}`;
    outputTokens = (await tokenCounter())(written);
  }
  const counts = {
    inputTokens: inputTokens ?? 0,
    outputTokens: outputTokens ?? 0,
    ...positiveOf('reasoningTokens', usage.outputTokenDetails.reasoningTokens),
    ...positiveOf('cachedInputTokens', usage.inputTokenDetails.cacheReadTokens),
    ...positiveOf('cacheWriteTokens', usage.inputTokenDetails.cacheWriteTokens),
  };
  return {
    text,
    ...(calls.length > 0 && { calls }),
    finish: finishOf(reason),
    ...counts,
    ...(isEstimate && { isEstimate }),
    ...(price !== undefined && { dollars: dollarsOf(price, counts) }),
  };
}

/** A field for a count, where the provider says more than zero. */
const positiveOf = <Name extends string>(name: Name, count: number | undefined) =>
  count === undefined || count <= 0 ? {} : ({ [name]: count } as Record<Name, number>);

/** Tokens of a request by our tokenizer, plus a few for the frame of each message. */
export async function inputTokensOf({ system, messages, tools }: ChatRequest): Promise<number> {
  const count = await tokenCounter();
  const offered = tools === undefined ? 0 : count(JSON.stringify(tools));
  return messages.reduce(
    (sum, message) => sum + count(textOfMessage(message)) + 8,
    count(system) + offered + 8,
  );
}

function finishOf(reason: FinishReason): Finish {
  switch (reason) {
    case 'stop':
    case 'length':
      return reason;
    case 'tool-calls':
      return 'stop';
    case 'content-filter':
      return 'refused';
    case 'error':
    case 'other':
      return 'other';
  }
}

const warningText = (warning: CallWarning): string =>
  warning.type === 'other'
    ? warning.message
    : `${warning.feature} is not supported as asked${warning.details === undefined ? '' : ` (${warning.details})`}`;
