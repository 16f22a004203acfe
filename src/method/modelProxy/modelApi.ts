import type { TokenCounts } from '../models/budget';
import type { ChatMessage, Finish, ToolCall } from '../models/chatModel';
import type { Provider } from '../models/providers';

/** A JSON object of which nothing is known. */
export type JsonFields = Record<string, unknown>;

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

/** One of the ways in which agents ask models. */
export interface ModelApi {
  /** The providers that have it. */
  readonly providers: readonly Provider[];
  /** What a path asks for, which is that of the provider's own clients; undefined for another. */
  asked(path: string): AskedOfApi | undefined;
  /** The path below the provider's address, with its query. */
  pathOf(model: string, asked: Required<AskedOfApi>): string;
  /** The request headers that go to the provider. */
  readonly headers: readonly string[];
  /**
   * Makes a request one that may be sent: the configured model, a limit of the answer, nothing that
   * the provider would do on a network, and nothing that costs more than the price table says.
   *
   * @returns what was taken out, in words
   */
  restrict(
    body: JsonFields,
    asked: { readonly model: string; readonly mostOutput: number },
  ): string[];
  /** Tokens that the answer may have, of a request that is restricted. */
  mostOutput(body: JsonFields): number;
  askedText(body: JsonFields): AskedText;
  reader(): AnswerReader;
  /** An error in the provider's form. */
  error(message: string): JsonFields;
}

export const isFields = (value: unknown): value is JsonFields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

export const fieldsOf = (value: unknown): JsonFields => (isFields(value) ? value : {});

export const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

export const stringOrEmpty = (value: unknown): string => (typeof value === 'string' ? value : '');

/** A whole number that is not negative; undefined for anything else. */
export const countOf = (value: unknown): number | undefined =>
  typeof value === 'number' && Number.isFinite(value) && value >= 0 ? Math.floor(value) : undefined;

/** The arguments of a call; undefined where they are no JSON. */
export function argumentsIn(text: string): unknown {
  try {
    return JSON.parse(text === '' ? '{}' : text) as unknown;
  } catch {
    return undefined;
  }
}

/** Removes fields, and says which there were. */
export function withoutFields(body: JsonFields, names: readonly string[]): string[] {
  const there = names.filter((name) => name in body);
  for (const name of there) delete body[name];
  return there;
}

/**
 * Keeps the tools that the agent itself does, and says which others there were: those a provider does
 * on its side could reach a network.
 */
export function keepTools(
  body: JsonFields,
  field: string,
  keep: (tool: JsonFields) => JsonFields | undefined,
): string[] {
  if (!(field in body)) return [];
  const removed: string[] = [];
  const kept = listOf(body[field]).flatMap((tool) => {
    const found = isFields(tool) ? keep(tool) : undefined;
    if (found === undefined) removed.push(nameOfTool(tool));
    return found === undefined ? [] : [found];
  });
  if (kept.length > 0) body[field] = kept;
  else delete body[field];
  return removed;
}

function nameOfTool(tool: unknown): string {
  const { type, name } = fieldsOf(tool);
  const said = stringOrEmpty(type) || stringOrEmpty(name) || Object.keys(fieldsOf(tool)).join(', ');
  return `the tool ${said.slice(0, 60) || 'without a name'}`;
}

/** Stands where a part of a message made the provider fetch something. */
const notFollowed = '[a link that is not followed]';

/** Objects deeper than this are no message. */
const deepest = 64;

/**
 * Replaces the parts of messages that name an address or a stored file instead of having the content.
 *
 * @param isLink whether an object is such a part
 * @param replacement what stands there instead, with a text
 * @returns how often, in words
 */
export function withoutFollowedLinks(
  body: JsonFields,
  fields: readonly string[],
  isLink: (part: JsonFields) => boolean,
  replacement: (text: string) => JsonFields,
): string[] {
  let count = 0;
  const cleaned = (value: unknown, depth: number): unknown => {
    if (depth > deepest) return undefined;
    if (Array.isArray(value)) return value.map((each) => cleaned(each, depth + 1));
    if (!isFields(value)) return value;
    if (isLink(value)) {
      count += 1;
      return replacement(notFollowed);
    }
    return Object.fromEntries(
      Object.entries(value).map(([name, each]) => [name, cleaned(each, depth + 1)]),
    );
  };
  for (const field of fields) if (field in body) body[field] = cleaned(body[field], 0);
  return count === 0 ? [] : [`links that the provider would follow: ${count}`];
}
