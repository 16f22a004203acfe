import type { Finish } from '../models/chatModel';
import type { Provider } from '../models/providers';
import { at, countOf, fieldsOf, type JsonFields } from './jsonFields';
import { passing, type Shape } from './requestShape';

/** A call of a tool, or a piece of one, where it is in a request or an answer. Untrusted. */
export interface SaidCall {
  readonly id: unknown;
  readonly name: unknown;
  /** Its arguments as a text, which streams send in pieces. */
  readonly json?: unknown;
  readonly input?: unknown;
}

/** What an agent asks of a provider. */
export interface AskedOfApi {
  /** The path below the provider's address, which is that of the provider's own clients. */
  readonly path: string;
  readonly query?: string;
  /** `count` counts the tokens of a request, which costs nothing. */
  readonly action: 'generate' | 'count';
}

/**
 * One of the ways in which agents ask models: where everything is in its requests and answers.
 * What a request may be is described in `request`: the configured model, a limit of the answer,
 * nothing that the provider would do on a network, nothing that costs more than the price table
 * says, and nothing whose cost has no bound. Whatever is not described there does not pass.
 *
 * Places are names of fields, or paths such as `choices.0.delta`.
 */
export interface ModelApi {
  /** The providers that have it. */
  readonly providers: readonly Provider[];
  /** What can be asked for. `{model}` stands for the model. */
  readonly paths: readonly [AskedOfApi, ...AskedOfApi[]];
  /** The request headers that go to the provider, and which of their values, cut at commas. */
  readonly headers: Readonly<Record<string, RegExp>>;
  /** What of a request may pass. */
  readonly request: Shape;
  /** What of a request that counts tokens may pass, which has no answer. */
  readonly countRequest?: Shape;
  /** The field with the name of the model; undefined where the path has it. */
  readonly modelField?: string;
  /** The object of the request that has the limits; undefined for the request itself. */
  readonly settingsField?: string;
  /** The fields with the limit of the answer. The first is sent where an agent names none. */
  limitFields(provider: Provider): readonly [string, ...string[]];
  /** Tokens for thinking that the provider may allow beside the limit. */
  readonly thinking?: string;
  /** What every request has, whatever the agent says. */
  always?(body: JsonFields): JsonFields;
  /** The most tokens that an image costs. */
  readonly imageTokens: number;
  /** The system prompt of a request. */
  readonly system?: string;
  /** The conversation of a request, turn by turn. */
  readonly turns: string;
  /** The roles of turns that belong to the system prompt. */
  readonly systemRoles?: readonly string[];
  /** Fields of a turn, and of its parts, with what they say: a text, or parts. */
  readonly content: readonly string[];
  /** The call that a part of a turn or of an answer is; undefined for another part. */
  call(part: JsonFields): SaidCall | undefined;
  /** The result of a call that a turn or a part of it is; undefined for another part. */
  result(
    part: JsonFields,
  ): { readonly id: unknown; readonly content: unknown; readonly isError: boolean } | undefined;
  readonly answer: AnswerPlaces;
  /** An error in the provider's form. */
  error(message: string): JsonFields;
}

/** Where everything is in an answer, or in an event of its stream. */
interface AnswerPlaces {
  /** All parts, which replace those of the events before. */
  readonly whole?: readonly string[];
  /** Parts that begin on a line of their own. */
  readonly blocks?: readonly string[];
  /** Parts that continue those before. */
  readonly pieces: readonly string[];
  /** Parts of which only calls count, since their text came before. */
  readonly calls?: readonly string[];
  /** Why the answer ended; of several places the last that says it. */
  readonly reason: readonly string[];
  /** The reasons of each way to end. All others are `other`. */
  readonly finishes: Readonly<Record<Exclude<Finish, 'other'>, readonly string[]>>;
  /** The objects with the counts of tokens. */
  readonly usage: readonly string[];
  /** Whether counts grow with the stream, so that those without an end are none. */
  readonly isUsageGrowing?: boolean;
  /** Counts of `usage` whose sum is the input. */
  readonly input: readonly string[];
  /** Counts of `usage` whose sum is the output. */
  readonly output: readonly string[];
  readonly cached: string;
  readonly cacheWrite?: string;
  readonly reasoning?: string;
}

/** A request that may be sent. */
export interface PassedRequest {
  readonly body: JsonFields;
  /** What was taken out, in words. */
  readonly removed: readonly string[];
  /** The most tokens that the answer can have. */
  readonly mostOutput: number;
  /** The field with that limit. */
  readonly limitField: string;
  /** The objects with an image. */
  readonly images: ReadonlySet<object>;
}

/**
 * What of an agent's request is sent.
 *
 * @param given.limitField the field with the limit that the server wants, once it has said so
 * @throws RequestRefused
 */
export function passedRequest(
  api: ModelApi,
  asked: JsonFields,
  given: {
    readonly provider: Provider;
    readonly model: string;
    readonly mostOutput: number;
    readonly limitField?: string | undefined;
  },
): PassedRequest {
  const { body, found } = passing(api.request, asked);
  if (api.modelField !== undefined) body[api.modelField] = given.model;
  Object.assign(body, api.always?.(body));
  if ('tools' in asked && !('tools' in body)) {
    // Providers refuse a choice among no tools.
    for (const name of ['tool_choice', 'parallel_tool_calls']) delete body[name];
  }
  const settings = api.settingsField === undefined ? body : fieldsOf(body[api.settingsField]);
  const names = api.limitFields(given.provider);
  const limitField = given.limitField ?? names.find((name) => name in settings) ?? names[0];
  const thinking = countOf(at(body, [api.thinking ?? ''])[0]) ?? 0;
  // One limit is sent, which the server cannot read otherwise than we do: none is 0 or negative.
  const named = Math.max(...names.map((name) => countOf(settings[name]) ?? 0));
  const limit = named > 0 ? named : given.mostOutput + thinking;
  for (const name of names) delete settings[name];
  settings[limitField] = limit;
  if (api.settingsField !== undefined) body[api.settingsField] = settings;
  const mostOutput = Math.max(limit, thinking);
  return { body, removed: found.removed, mostOutput, limitField, images: found.images };
}
