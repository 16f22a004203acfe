import type { CallWarning, FinishReason, LanguageModel, LanguageModelUsage } from 'ai';
import { Cancelled, HumanError, messageOf, throwIfAborted } from '../../domain/work';
import { redactKeys } from '../../engine/keysInUse';
import { tokenCounter } from '../prompt/tokens';
import { dollarsOf, type Price } from './budget';
import {
  CallsNoTools,
  ContextExceeded,
  ModelFailure,
  ModelUnusable,
  type ModelAnswer,
  type ChatModel,
  type ChatRequest,
  type Finish,
  type ModelWork,
  type ToolCall,
} from './chatModel';
import { fetchWithoutLimits } from './fetchWithoutLimits';
import { fieldsOfBody, type LearnedModel } from './learnedModel';
import { statedRates } from './rateHeaders';
import { TooManyRequests, type RateLimiter } from './rateLimiter';
import { withoutThinking, type Reasoning } from './reasoning';
import { errorInBody } from './errorInBody';
import { ModelTrouble, retrying, type Retries } from './retrying';
import { serverErrorOf, type Matter, type Refusal, type ServerError } from './serverError';
import { callOf, messageForAi, textOfMessage, toolsForAi } from './toolMessages';

/** A model of the `ai` package that sends its requests with this function. */
export type ModelBy = (fetch: typeof globalThis.fetch) => LanguageModel;

export interface AnsweringOptions {
  /** What is learnt of the model's server. */
  readonly learned: LearnedModel;
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
  readonly reasoning: readonly Reasoning[];
  readonly calls: readonly ToolCall[];
  readonly reason: FinishReason;
  /** The server's own word for it; undefined when it never reported the end of the answer. */
  readonly rawReason: string | undefined;
  readonly usage: LanguageModelUsage;
  readonly warnings: readonly CallWarning[];
}

/** The ways to a model of the `ai` package. */
export interface ModelWays {
  readonly default: ModelBy;
  /** By the Responses API, for a model of OpenAI that has no other. */
  readonly responses?: (() => Promise<ModelBy>) | undefined;
}

/** A refused request is sent again with what was learnt, at most as often. */
const mostChanges = 6;

/**
 * Wraps a model of the `ai` package as a `ChatModel`: one request, retried while that makes sense,
 * and changed where the server says what it does not take.
 */
export function answering(name: string, ways: ModelWays, options: AnsweringOptions): ChatModel {
  const { learned } = options;
  const logged = new Set<string>();
  return {
    name,
    room: (maxOutputTokens) => learned.room(maxOutputTokens),
    get ratio() {
      return learned.ratio;
    },
    async complete(request, work) {
      const once = (text: string): void => {
        if (!logged.has(text)) work.reporter.log(`${name}: ${text}`);
        logged.add(text);
      };
      const own = await inputTokensOf(request);
      for (let changes = 0; ; changes += 1) {
        const output = learned.outputWithin(request.maxOutputTokens);
        try {
          const spoken = await sent(ways, { ...request, maxOutputTokens: output }, work, {
            ...options,
            tokens: work.mostTokens ?? own + output,
          });
          for (const warning of spoken.warnings) once(warningText(warning));
          const { inputTokens } = spoken.usage;
          if (inputTokens !== undefined && inputTokens > 0 && learned.counted(inputTokens, own)) {
            once(
              `the server read only ${inputTokens} of about ${own} prompt tokens, because it truncates prompts to its context length. Raise the context length (num_ctx or OLLAMA_CONTEXT_LENGTH in Ollama), or lower --context-tokens`,
            );
          }
          return {
            ...(await counted(request, spoken, options.price)),
            ...(learned.changes.length > 0 && { changes: learned.changes }),
            ...(output !== request.maxOutputTokens && { sentMaxOutputTokens: output }),
          };
        } catch (error) {
          throwIfAborted(work.signal);
          if (error instanceof ModelTrouble) throw new ModelFailure(`${name}: ${error.message}`);
          if (!(error instanceof Refused)) throw error;
          const isNew = learned.refused(error.matter, { tokens: own, output });
          await learned.saved();
          if (!isNew || changes >= mostChanges) throw endOf(name, error, request, learned);
          once(`${error.message}; sent ${learned.changes.join(', ') || 'with less'} from now on`);
        }
      }
    },
  };
}

/** Sends a request under the limits of the run, and again after a failure that passes. */
async function sent(
  { default: byDefault, responses }: ModelWays,
  request: ChatRequest,
  work: ModelWork,
  options: AnsweringOptions & { readonly tokens: number },
): Promise<Spoken> {
  const { learned, tokens, limiter, retries } = options;
  const isOther = learned.hasResponsesOnly && responses !== undefined;
  const modelBy = isOther ? await responses() : byDefault;
  const limited = (): Promise<Spoken> =>
    limiter.run(
      {
        tokens,
        send: (stated) => attempt(modelBy, { request, work, options, stated }),
        used: ({ usage }) => usage.totalTokens ?? tokens,
      },
      work,
    );
  return retrying(limited, retries, work);
}

/** The server refuses a request for a reason that concerns what was sent. */
export class Refused extends ModelFailure {
  constructor(
    message: string,
    readonly matter: Matter,
  ) {
    super(message);
  }
}

/** The error for a request that cannot be changed so that the server takes it. */
function endOf(
  name: string,
  { matter, message }: Refused,
  { tools, messages }: ChatRequest,
  learned: LearnedModel,
): Error {
  if (matter.of === 'context') {
    const known = learned.window === undefined ? '' : ` The window is ${learned.window} tokens`;
    const advice = 'lower --context-tokens or --max-output-tokens, or set --model-window';
    return new ContextExceeded(`${name}: ${message}.${known}; ${advice}`);
  }
  // A later request of a conversation shows that the server has taken tools.
  if (matter.of === 'tools' && tools !== undefined && messages.length === 1) {
    return new CallsNoTools(name, message);
  }
  return new ModelFailure(`${name}: ${message}`);
}

/** One try of a request, and where the server's limits go. */
interface Try {
  readonly request: ChatRequest;
  readonly work: ModelWork;
  readonly options: AnsweringOptions;
  readonly stated: (rates: ReturnType<typeof statedRates>) => void;
}

async function attempt(modelBy: ModelBy, { request, work, options, stated }: Try): Promise<Spoken> {
  const { signal, onText } = work;
  const { timeoutSeconds, learned, withoutSecrets } = options;
  // The package would write warnings to the console; they go to the reporter instead.
  (globalThis as { AI_SDK_LOG_WARNINGS?: boolean }).AI_SDK_LOG_WARNINGS = false;
  const late = AbortSignal.timeout(timeoutSeconds * 1000);
  const abortSignal = signal === undefined ? late : AbortSignal.any([signal, late]);
  let fields: readonly string[] = [];
  let inside: (() => Refusal | undefined) | undefined;
  const model = modelBy(async (address, init) => {
    const body = learned.adjusted(bodyOf(init, request.body));
    fields = fieldsOfBody(body);
    const init2 = body === undefined ? init : { ...init, body: JSON.stringify(body) };
    const answer = await fetchWithoutLimits(address, init2);
    stated(statedRates((header) => answer.headers.get(header), Date.now()));
    const looked = errorInBody(answer);
    inside = looked.refusal;
    return looked.answer;
  });
  const call = { ...(await callFor(model, request)), abortSignal };
  try {
    const streams = options.stream && learned.streams;
    const spoken = await (streams ? streamedAnswer : wholeAnswer)(call, onText);
    const refusal = inside?.();
    if (refusal !== undefined) throw errorOf(serverErrorOf({ ...refusal, fields }), withoutSecrets);
    if (spoken !== undefined) return spoken;
    throwIfAborted(signal);
    throw new ModelTrouble('the connection closed before the answer was complete');
  } catch (error) {
    throwIfAborted(signal);
    if (late.aborted) throw new ModelTrouble(tooLate(timeoutSeconds));
    const refusal = inside?.();
    throw refusal === undefined
      ? await modelTroubleOf(error, withoutSecrets, fields)
      : errorOf(serverErrorOf({ ...refusal, fields }), withoutSecrets);
  }
}

/** The body of a request with the fields that a run adds; undefined where it is no JSON. */
function bodyOf(init: RequestInit | undefined, more: ChatRequest['body']): unknown {
  if (typeof init?.body !== 'string') return undefined;
  const body = JSON.parse(init.body) as unknown;
  return more === undefined ? body : merged(body, more);
}

/** A request as the package takes it, without keys in use. */
async function callFor(model: LanguageModel, request: ChatRequest) {
  return {
    model,
    system: redactKeys(request.system),
    messages: request.messages.map((message, index) => ({
      ...messageForAi(message),
      // Anthropic caches up to a mark; other providers cache on their own, or not at all.
      ...(request.isReused === true &&
        index === request.messages.length - 1 && { providerOptions: cacheMark }),
    })),
    ...(request.tools !== undefined && { tools: await toolsForAi(request.tools) }),
    ...(request.answerSchema !== undefined && { output: await outputOf(request.answerSchema) }),
    providerOptions: optionsOf(request.reasoningEffort),
    ...(request.temperature !== undefined && { temperature: request.temperature }),
    ...(request.topP !== undefined && { topP: request.topP }),
    maxOutputTokens: request.maxOutputTokens,
    maxRetries: 0,
  };
}

/** Holds an answer to a schema. A server that refuses it is asked without. */
async function outputOf(schema: NonNullable<ChatRequest['answerSchema']>) {
  const { jsonSchema, Output } = await import('ai');
  return Output.object({ schema: jsonSchema(schema) });
}

type Call = Awaited<ReturnType<typeof callFor>> & { readonly abortSignal: AbortSignal };

async function wholeAnswer(call: Call, onText: ModelWork['onText']): Promise<Spoken> {
  const { generateText } = await import('ai');
  const result = await generateText(call);
  if (onText !== undefined && result.text !== '') onText(result.text);
  return {
    text: result.text,
    reasoning: result.reasoning.map(({ text, providerMetadata }) =>
      reasoningOf(text, providerMetadata),
    ),
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
  const thoughts = new Map<string, { text: string; metadata: object }>();
  let warnings: readonly CallWarning[] = [];
  // Errors also come as parts; by default the package would write them to the console.
  for await (const part of streamText({ ...call, onError: () => undefined }).fullStream) {
    if (part.type === 'text-delta') {
      text += part.text;
      onText?.(part.text);
    } else if (part.type === 'tool-call') {
      calls.push(callOf(part));
    } else if (
      part.type === 'reasoning-start' ||
      part.type === 'reasoning-delta' ||
      part.type === 'reasoning-end'
    ) {
      const known = thoughts.get(part.id) ?? { text: '', metadata: {} };
      thoughts.set(part.id, {
        text: known.text + ('text' in part ? part.text : ''),
        metadata: { ...known.metadata, ...part.providerMetadata },
      });
    } else if (part.type === 'start-step') {
      warnings = part.warnings;
    } else if (part.type === 'error') {
      throw part.error;
    } else if (part.type === 'finish') {
      const { finishReason: reason, rawFinishReason: rawReason, totalUsage: usage } = part;
      if (rawReason === undefined && (reason === 'other' || reason === 'error')) return undefined;
      const reasoning = [...thoughts.values()].map((each) => reasoningOf(each.text, each.metadata));
      return { text, reasoning, calls, reason, rawReason, usage, warnings };
    }
  }
  return undefined;
}

const reasoningOf = (text: string, metadata: object | undefined): Reasoning => ({
  text,
  ...(metadata !== undefined &&
    Object.keys(metadata).length > 0 && {
      metadata: metadata as NonNullable<Reasoning['metadata']>,
    }),
});

const cacheMark = { anthropic: { cacheControl: { type: 'ephemeral' } } };

/**
 * Options of each provider, which ignores those of others. OpenAI's Responses API gives reasoning
 * that can be sent back only where nothing is stored there.
 */
const optionsOf = (effort: string | undefined) => ({
  openai: {
    store: false,
    include: ['reasoning.encrypted_content'],
    ...(effort !== undefined && { reasoningEffort: effort }),
  },
  ...(effort !== undefined && {
    openaiCompatible: { reasoningEffort: effort },
    anthropic: { effort },
    google: { thinkingConfig: { thinkingLevel: effort } },
  }),
});

/** Objects are merged field by field; anything else is replaced. */
function merged(before: unknown, after: unknown): unknown {
  if (!isObject(before) || !isObject(after)) return after;
  const fields = Object.entries(after).map(([name, value]) => [name, merged(before[name], value)]);
  return { ...before, ...(Object.fromEntries(fields) as object) };
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const tooLate = (seconds: number): string => `no complete answer within ${seconds} s`;

/**
 * Classifies a failed try: worth a retry, the end of this request, or the end of all requests.
 *
 * @param fields names of the parameters of the request
 */
export async function modelTroubleOf(
  error: unknown,
  withoutSecrets: (text: string) => string,
  fields: readonly string[] = [],
): Promise<Error> {
  const isKnown = [ModelTrouble, Cancelled, HumanError, ModelFailure, TooManyRequests].some(
    (kind) => error instanceof kind,
  );
  if (isKnown) return error as Error;
  const { APICallError, LoadAPIKeyError } = await import('ai');
  const said = withoutSecrets(firstLine(messageOf(error)));
  if (LoadAPIKeyError.isInstance(error))
    return new ModelUnusable(said, 'Set the variable and try again');
  if (!APICallError.isInstance(error)) return new ModelTrouble(saidInStream(error, withoutSecrets));
  const { statusCode: status, responseHeaders: headers, responseBody: body, cause } = error;
  if (status === undefined) {
    const why = cause instanceof Error ? withoutSecrets(firstLine(messageOf(cause))) : '';
    return new ModelTrouble(why || said);
  }
  // An answer that is no JSON of the API, such as a page of a proxy.
  if (status < 400) return new ModelTrouble(`the answer cannot be read: ${said}`);
  return errorOf(serverErrorOf({ status, headers, body, fields }), withoutSecrets);
}

/** The error for a refusal, by what it is about. */
function errorOf(
  { status, said, matter }: ServerError,
  withoutSecrets: (text: string) => string,
): Error {
  const words = withoutSecrets(said);
  const kind = status === undefined || status < 400 ? 'an error' : `status ${status}`;
  const answer = `the server responded with ${kind}${words === '' ? '' : `: ${words}`}`;
  switch (matter.of) {
    case 'key':
      return new ModelUnusable(answer, "Check the API key in the provider's environment variable");
    case 'credit':
      return new ModelUnusable(
        answer,
        'The account has no credit or quota left; finished answers are saved',
      );
    case 'model':
      return new ModelUnusable(answer, 'Check the model name and --base-url');
    case 'rate':
      return new TooManyRequests(answer, matter.waitMs);
    case 'busy':
      return new ModelTrouble(answer, matter.waitMs);
    case 'context':
    case 'output':
    case 'parameter':
    case 'responses':
    case 'tools':
    case 'other':
      return new Refused(answer, matter);
  }
}

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
  { text: whole, reasoning: given, calls, reason, usage }: Spoken,
  price: Price | undefined,
): Promise<ModelAnswer> {
  const { text, reasoning: tagged } = withoutThinking(whole);
  const reasoning = [...given, ...tagged].filter(
    ({ text: thought, metadata }) => thought !== '' || metadata !== undefined,
  );
  let { inputTokens, outputTokens } = usage;
  const isEstimate =
    inputTokens === undefined || outputTokens === undefined || inputTokens + outputTokens === 0;
  if (isEstimate) {
    inputTokens = await inputTokensOf(request);
    const written = calls.length === 0 ? whole : `${whole}${JSON.stringify(calls)}`;
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
    ...(reasoning.length > 0 && { reasoning }),
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
    : `${warning.feature} is not supported as requested${warning.details === undefined ? '' : ` (${warning.details})`}`;
