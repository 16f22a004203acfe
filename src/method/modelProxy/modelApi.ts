import type { TokenCounts } from '../models/budget';
import type { ChatMessage, Finish, ToolCall } from '../models/chatModel';
import type { Provider } from '../models/providers';
import { countOf, fieldsOf, type JsonFields } from './jsonFields';
import { passing, type Shape } from './requestShape';

/** What an agent asks of a provider. */
export interface AskedOfApi {
  /** `count` counts the tokens of a request, which costs nothing. */
  readonly action: 'generate' | 'count';
  /** Undefined where the body says it. */
  readonly isStream?: boolean;
}

/** What a model said, as far as it has arrived. */
export interface SaidByModel {
  readonly text: string;
  readonly calls: readonly ToolCall[];
  readonly finish: Finish;
  /** As the provider counts; undefined where it has not said both numbers. */
  readonly usage: TokenCounts | undefined;
}

/** Reads an answer: the whole of it, or its events in their order. */
export interface AnswerReader {
  /** @param data JSON of the answer, or of an event of its stream. Untrusted. */
  take(data: unknown): void;
  readonly said: SaidByModel;
}

/** A request in the terms of every provider, for the trace. */
export interface AskedText {
  readonly system: string;
  readonly messages: readonly ChatMessage[];
}

/**
 * One of the ways in which agents ask models. What a request may be is described once, in `request`:
 * the configured model, a limit of the answer, nothing that the provider would do on a network,
 * nothing that costs more than the price table says, and nothing whose cost has no bound. Whatever is
 * not described there does not pass.
 */
export interface ModelApi {
  /** The providers that have it. */
  readonly providers: readonly Provider[];
  /** What a path asks for, which is that of the provider's own clients; undefined for another. */
  asked(path: string): AskedOfApi | undefined;
  /** The path below the provider's address, with its query. */
  pathOf(model: string, asked: Required<AskedOfApi>): string;
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
  thinkingOf?(body: JsonFields): unknown;
  /** What every request has, whatever the agent says. */
  always?(body: JsonFields): JsonFields;
  /** The most tokens that an image costs. */
  readonly imageTokens: number;
  askedText(body: JsonFields): AskedText;
  reader(): AnswerReader;
  /** An error in the provider's form. */
  error(message: string): JsonFields;
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
  const thinking = countOf(api.thinkingOf?.(body)) ?? 0;
  // One limit is sent, which the server cannot read otherwise than we do: none is 0 or negative.
  const named = Math.max(...names.map((name) => countOf(settings[name]) ?? 0));
  const limit = named > 0 ? named : given.mostOutput + thinking;
  for (const name of names) delete settings[name];
  settings[limitField] = limit;
  if (api.settingsField !== undefined) body[api.settingsField] = settings;
  const mostOutput = Math.max(limit, thinking);
  return { body, removed: found.removed, mostOutput, limitField, images: found.images };
}
