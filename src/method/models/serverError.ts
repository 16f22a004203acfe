import { retryAfter } from './retrying';

/**
 * What a server's refusal is about. `rate` and `busy` pass by waiting; `key`, `credit` and `model`
 * concern every further request.
 */
export type Matter =
  | { readonly of: 'key' | 'credit' | 'model' | 'responses' | 'tools' | 'other' }
  | { readonly of: 'rate' | 'busy'; readonly waitMs: number }
  /** The prompt is too long. Tokens by the server's own count, where it says them. */
  | { readonly of: 'context'; readonly window?: number; readonly asked?: number }
  /** The limit of the answer is above what the model writes. */
  | { readonly of: 'output'; readonly most?: number }
  /** A field of the request that the model does not take, and the one to send in its place. */
  | { readonly of: 'parameter'; readonly name: string; readonly instead?: string };

/** A refusal as the server puts it, and what it is about. */
export interface ServerError {
  /** The HTTP status, or the code of an error inside of an answer. */
  readonly status: number | undefined;
  /** One line, untrusted; empty when the server says nothing. */
  readonly said: string;
  readonly matter: Matter;
}

/** What a server answered. */
export interface Refusal {
  readonly status: number | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Text, HTML, JSON text, or a parsed value such as the event of a stream. Untrusted. */
  readonly body: unknown;
  /** Names of the fields that the request had and can do without. */
  readonly fields?: readonly string[];
}

type Fields = Readonly<Record<string, unknown>>;

/**
 * Reads a refusal of any server: OpenAI, Azure, Anthropic, Google, OpenRouter, vLLM, LM Studio,
 * Ollama, llama.cpp and others that resemble them. Garbage gives the status alone.
 *
 * @param now milliseconds since 1970
 */
export function serverErrorOf(refusal: Refusal, now: number = Date.now()): ServerError {
  const body = parsed(refusal.body);
  const error = errorIn(body);
  const said = oneLine(messageIn(error, body));
  const inside = Number(error['code'] ?? error['status_code'] ?? error['status']);
  const isFailure = refusal.status !== undefined && refusal.status >= 400;
  const status = isFailure || !(inside >= 400 && inside < 600) ? refusal.status : inside;
  const facts: Facts = {
    ...{ status, error, said, headers: refusal.headers ?? {}, now, fields: refusal.fields ?? [] },
    // Codes and reasons are words of a program, the message is one for people.
    codes: wordsOf(error, ['type', 'code', 'status', 'reason', 'param']).join(' '),
    text: `${said} ${JSON.stringify(error)}`.slice(0, longest),
  };
  return { status, said, matter: matterOf(facts) };
}

interface Facts {
  readonly status: number | undefined;
  readonly error: Fields;
  readonly said: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly now: number;
  readonly fields: readonly string[];
  readonly codes: string;
  readonly text: string;
}

/** Characters of a body that are looked at. */
const longest = 20_000;

function matterOf(facts: Facts): Matter {
  return (
    contextOf(facts) ??
    outputOf(facts) ??
    keyOrCredit(facts) ??
    apiOrTools(facts) ??
    parameterOf(facts) ??
    waitingFor(facts) ?? { of: 'other' }
  );
}

/** Sentences of servers about a prompt that is too long: the window first, then what was asked. */
const windows: readonly RegExp[] = [
  /(?:maximum|max) (?:model |context |model context )?length (?:is|of) (?:only )?(\d+)/i,
  /context length of (?:only )?(\d+)/i,
  /context (?:size|window|length|limit)[^.\d]{0,40}?\(?(\d{3,})/i,
  /(?:> |up to |maximum number of tokens allowed \(?)(\d+)(?: maximum|\))?/i,
  /with (\d+) maximum context/i,
  /must be <= (\d+)/i,
];
const askedTokens: readonly RegExp[] = [
  /requested (?:about )?(\d+) tokens/i,
  /prompt is too long: (\d+)/i,
  /resulted in (\d+) tokens/i,
  /request has (\d+) input tokens/i,
  /(?:first |contains |request \(|\(length |count \()(\d+)/i,
  /Given: (\d+)/i,
];
const tooLong =
  /context_length_exceeded|exceed_context_size|context (?:length|size|window|limit)|prompt is too long|input (?:length|token count)[^.]{0,80}exceed|too large for model|maximum (?:model|input) length|tokens? (?:in|of) (?:the|your) (?:prompt|input)[^.]{0,60}(?:exceed|long)|inputs` tokens \+|reduce the length of the (?:messages|prompt)|when context the overflows|model_max_prompt_tokens_exceeded/i;

function contextOf({ status, codes, text, error }: Facts): Matter | undefined {
  if (status === 429 || (status !== undefined && status < 400 && !tooLong.test(codes))) return;
  if (!tooLong.test(codes) && !tooLong.test(text)) return undefined;
  const window = countIn(error['n_ctx']) ?? firstCount(windows, text);
  const asked = countIn(error['n_prompt_tokens']) ?? firstCount(askedTokens, text);
  return {
    of: 'context',
    ...(window !== undefined && { window }),
    ...(asked !== undefined && asked !== window && { asked }),
  };
}

const longOutput =
  /max(?:_completion|_output)?_tokens[^.]{0,30}(?:too large|> \d)|at most (\d+) (?:completion|output) tokens|maximum allowed number of output tokens/i;

function outputOf({ text }: Facts): Matter | undefined {
  if (!longOutput.test(text)) return undefined;
  const most = firstCount([/at most (\d+)/i, /> (\d+)/, /(?:is|of) (\d+)\b/i], text);
  return { of: 'output', ...(most !== undefined && { most }) };
}

const noKey =
  /invalid_api_key|API_KEY_INVALID|authentication_error|api key (?:not valid|expired|not found)|(?:incorrect|invalid) api key|no auth credentials/i;
const noCredit =
  /insufficient_quota|insufficient_credits|billing_(?:hard_limit|not_active)|credit balance is too low|insufficient (?:balance|credits?|funds)|out of credits|can only afford/i;
/** A limit that waiting for minutes does not lift. */
const forTheDay = /PerDay|per[- ]day|daily (?:limit|quota)|"quotaValue":"0"/i;

function keyOrCredit(facts: Facts): Matter | undefined {
  const { status, text } = facts;
  if (noCredit.test(text) || status === 402) return { of: 'credit' };
  const isQuota = status === 429 || /RESOURCE_EXHAUSTED/.test(text);
  if (isQuota && forTheDay.test(text)) return { of: 'credit' };
  if (isQuota && /check your plan and billing/i.test(text) && waitOf(facts) === 0) {
    return { of: 'credit' };
  }
  if (status === 401 || noKey.test(text)) return { of: 'key' };
  if (status === 403 && !/moderation|flagged|policy/i.test(text)) return { of: 'key' };
  return undefined;
}

const otherApi =
  /only supported in v1\/responses|use the (?:v1\/)?responses (?:api|endpoint)|not a chat model[^.]*\bresponses\b/i;
const aboutTools = /\b(?:tools?|functions?)\b|tool[_-]/i;
const refusing =
  /support|requires?|enable|unknown|unrecogni[sz]ed|unexpected|extra|not (?:permitted|allowed|available)/i;

function apiOrTools({ status, said, error }: Facts): Matter | undefined {
  if (otherApi.test(said)) return { of: 'responses' };
  const isRefusal = status !== undefined && status >= 400 && status < 500 && status !== 429;
  const isOfTools = /^tools?$/.test(textOf(error['param']));
  if (isRefusal && (isOfTools || aboutTools.test(said)) && refusing.test(said)) {
    return { of: 'tools' };
  }
  return status === 404 ? { of: 'model' } : undefined;
}

const refusesField =
  /unsupported|not support|unrecogni[sz]ed|unknown|unexpected|extra|not (?:permitted|allowed|compatible)|invalid|deprecated|cannot (?:both )?be|may only|must be|no longer|not available|does(?:n't| not) (?:accept|take)/i;

function parameterOf({ status, said, error, text, fields }: Facts): Matter | undefined {
  if (status !== 400 && status !== 422 && status !== 501) return undefined;
  if (!refusesField.test(text)) return undefined;
  const stated = typeof error['param'] === 'string' ? error['param'] : '';
  const names = [
    stated,
    stated.split('.').at(-1) ?? '',
    stated.split('.')[0] ?? '',
    ...placesIn(error),
  ];
  const name =
    names.find((each) => fields.includes(each)) ??
    fields
      .map((field) => ({ field, at: positionOf(field, said) }))
      .filter(({ at }) => at >= 0)
      .sort((one, other) => one.at - other.at)
      .at(0)?.field;
  if (name === undefined) return undefined;
  const instead = /use ['"`]?(\w+)['"`]? instead/i.exec(said)?.[1];
  return { of: 'parameter', name, ...(instead !== undefined && { instead }) };
}

/** Where a message names a field, also in the spelling of an SDK, such as topP for top_p. */
function positionOf(field: string, said: string): number {
  const words = field.split(/_|(?=[A-Z])/).map((word) => word.replace(/[^\w]/g, ''));
  return said.search(new RegExp(`(?<![\\w-])${words.join('_?')}(?![\\w-])`, 'i'));
}

/** The places that pydantic names, as in vLLM's and Mistral's `detail: [{loc: ["body", "top_p"]}]`. */
const placesIn = (error: Fields): string[] =>
  [error['detail'], error['errors']]
    .flatMap(listOf)
    .flatMap((each) => listOf(fieldsOf(each)['loc']))
    .filter((each) => typeof each === 'string');

const overloaded =
  /overloaded|server_error|api_error|internal_error|UNAVAILABLE|timeout|try again/i;
/** One request alone exceeds the limit of a minute, as OpenAI says with status 429. */
const tooLarge = /request too large/i;

function waitingFor(facts: Facts): Matter | undefined {
  const { status, codes, said } = facts;
  const waitMs = waitOf(facts);
  if (tooLarge.test(said)) return undefined;
  if (status === 429 || /rate_limit|RESOURCE_EXHAUSTED/i.test(codes)) return { of: 'rate', waitMs };
  if (status !== undefined && (status >= 500 || status === 408 || status === 409)) {
    return { of: 'busy', waitMs };
  }
  const isInside = status === undefined || status < 400;
  return isInside && overloaded.test(`${codes} ${said}`) ? { of: 'busy', waitMs } : undefined;
}

/**
 * How long the server asks clients to wait, in milliseconds; 0 when it does not say. It sends a
 * header, a `RetryInfo` (Google), or says it in a sentence.
 */
function waitOf({ headers, error, said, now }: Facts): number {
  const asked = retryAfter(headers, now);
  if (asked > 0) return asked;
  const delays = listOf(error['details']).map((each) => fieldsOf(each)['retryDelay']);
  const stated = /^(\d+(?:\.\d+)?)s$/.exec(textOf(delays.find((each) => each !== undefined)));
  if (stated !== null) return Number(stated[1]) * 1000;
  const sentence =
    /(?:retry|try again) (?:in|after) (?:(\d+)m)?(\d+(?:\.\d+)?) ?(ms|s|sec|m|min)?/i;
  const [, minutes = '0', count, unit = 's'] = sentence.exec(said) ?? [];
  if (count === undefined) return 0;
  const factor = unit === 'ms' ? 1 : unit.startsWith('m') ? 60_000 : 1000;
  return Number(minutes) * 60_000 + Number(count) * factor;
}

/** The object that describes the error, wherever the server puts it. */
function errorIn(body: unknown): Fields {
  const first = fieldsOf(Array.isArray(body) ? body[0] : body);
  const { error } = first;
  const inner = isFields(error) ? error : first;
  // OpenRouter passes on what the provider behind it said, as text.
  const raw = fieldsOf(parsed(fieldsOf(inner['metadata'])['raw']));
  const behind = fieldsOf(raw['error'] ?? raw);
  return Object.keys(behind).length === 0
    ? inner
    : { ...behind, ...inner, message: `${textOf(inner['message'])}: ${textOf(behind['message'])}` };
}

function messageIn(error: Fields, body: unknown): string {
  for (const name of ['message', 'error', 'detail', 'msg', 'error_description', 'title']) {
    const found = textOf(error[name]);
    if (found !== '') return found;
  }
  return typeof body === 'string' ? withoutTags(body) : '';
}

function textOf(value: unknown): string {
  if (typeof value === 'string') return value;
  if (Array.isArray(value))
    return value
      .map((each) => textOf(each))
      .filter(Boolean)
      .join('; ');
  const { message, msg, loc } = fieldsOf(value);
  if (typeof message === 'string') return message;
  return typeof msg === 'string' ? [...listOf(loc).slice(-1), msg].join(': ') : '';
}

/** The text of a page of a proxy: its title, or else its words. */
function withoutTags(text: string): string {
  const shown = text.slice(0, longest);
  const title = /<title[^>]*>([^<]*)/i.exec(shown)?.[1]?.trim();
  if (title !== undefined && title !== '') return title;
  return /<\w/.test(shown) ? shown.replace(/<[^>]*>/g, ' ') : shown;
}

/** JSON of a text, or the text itself. */
function parsed(body: unknown): unknown {
  if (typeof body !== 'string') return body;
  try {
    return JSON.parse(body) as unknown;
  } catch {
    // An error inside of a stream is an event.
    const event = /^(?:event:[^\n]*\n)?data: *(\{[^\n]*)/m.exec(body)?.[1];
    return event === undefined ? body : parsed(event);
  }
}

const wordsOf = (error: Fields, names: readonly string[]): string[] => [
  ...names.map((name) => error[name]).filter((each) => typeof each === 'string'),
  ...listOf(error['details'])
    .map((each) => fieldsOf(each)['reason'])
    .filter((each) => typeof each === 'string'),
];

const firstCount = (patterns: readonly RegExp[], text: string): number | undefined =>
  patterns
    .map((pattern) => Number(pattern.exec(text.replaceAll(/(\d),(?=\d{3})/g, '$1'))?.[1]))
    .find((count) => count > 0);

const countIn = (value: unknown): number | undefined =>
  typeof value === 'number' && value > 0 ? value : undefined;

const oneLine = (text: string): string => text.replace(/\s+/g, ' ').trim().slice(0, 400);

const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const fieldsOf = (value: unknown): Fields => (isFields(value) ? value : {});
const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
