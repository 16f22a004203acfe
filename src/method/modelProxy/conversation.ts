import type { TokenCounts } from '../models/budget';
import type { ChatMessage, Finish, ToolCall } from '../models/chatModel';
import {
  argumentsIn,
  at,
  countOf,
  fieldsOf,
  isFields,
  kindOf,
  listOf,
  stringOrEmpty,
  type JsonFields,
} from './jsonFields';
import type { ModelApi, SaidCall } from './modelApi';

/** A request in the terms of every provider, for the trace. */
export interface AskedText {
  readonly system: string;
  readonly messages: readonly ChatMessage[];
}

/** The outcome of a call of a tool, as an agent reports it to its model. Untrusted. */
export interface ToolResult {
  /** Id of the call; empty where the request has none. */
  readonly id: string;
  readonly text: string;
  readonly isError: boolean;
}

/** What a model said, as far as it has arrived. */
interface SaidByModel {
  readonly text: string;
  readonly calls: readonly ToolCall[];
  readonly finish: Finish;
  /** As the provider counts; undefined where it has not said both numbers. */
  readonly usage: TokenCounts | undefined;
}

/** The turns of a request. One text is a turn of the user. */
function turnsOf({ turns }: ModelApi, body: JsonFields): readonly JsonFields[] {
  const given = body[turns];
  return typeof given === 'string' ? [{ content: given }] : listOf(given).map(fieldsOf);
}

/** What a request says, without its tools and settings. */
export function askedText(api: ModelApi, body: JsonFields): AskedText {
  const turns = turnsOf(api, body);
  const isSystem = ({ role }: JsonFields): boolean =>
    api.systemRoles?.includes(stringOrEmpty(role)) === true;
  const system = api.system === undefined ? undefined : body[api.system];
  return {
    system: textOf(api, [system, ...turns.filter(isSystem)]),
    messages: turns
      .filter((turn) => !isSystem(turn))
      .map((turn) => ({
        role: isOfModel(turn) ? 'assistant' : 'user',
        content: textOf(api, turn),
      })),
  };
}

const isOfModel = ({ role, type }: JsonFields): boolean =>
  role === 'assistant' || role === 'model' || /^reasoning$|_call$/.test(stringOrEmpty(type));

/**
 * The results that a request adds to the conversation: those after the last answer of the model, in
 * their order.
 */
export function newToolResults(api: ModelApi, body: JsonFields): readonly ToolResult[] {
  const turns = turnsOf(api, body);
  return turns
    .slice(turns.findLastIndex(isOfModel) + 1)
    .flatMap((turn) => [turn, ...api.content.flatMap((name) => listOf(turn[name]))])
    .flatMap((part) => {
      const { id, content, isError } = api.result(fieldsOf(part)) ?? {};
      return isError === undefined
        ? []
        : [{ id: stringOrEmpty(id), text: textOfResult(api, content), isError }];
    });
}

const textOfResult = (api: ModelApi, content: unknown): string =>
  isFields(content) ? JSON.stringify(content) : textOf(api, content);

/** The text of a turn or a part of it, or what kind of part it is. */
function textOf(api: ModelApi, said: unknown): string {
  if (typeof said === 'string') return said;
  if (Array.isArray(said)) {
    return said
      .map((each) => textOf(api, each))
      .filter((text) => text !== '')
      .join('\n');
  }
  if (!isFields(said)) return '';
  const result = api.result(said);
  if (result !== undefined) return textOfResult(api, result.content);
  const call = api.call(said);
  if (call !== undefined) {
    const { name, json, input } = call;
    return [name, json ?? input]
      .map((each) => (typeof each === 'string' ? each : JSON.stringify(each)))
      .join(' ');
  }
  const own = api.content.filter((name) => name in said).map((name) => said[name]);
  return own.length > 0 ? textOf(api, own) : `[${kindOf(said)}]`;
}

/** Reads an answer: the whole of it, or its events in their order. */
export class AnswerReader {
  private text = '';
  private reason = '';
  private usage: JsonFields = {};
  private calls = new Map<number, { id: string; name: string; json: string; input: unknown }>();

  constructor(private readonly api: ModelApi) {}

  /** @param data JSON of the answer, or of an event of its stream. Untrusted. */
  take(data: unknown): void {
    // Without `alt=sse` a stream of Google is one list.
    if (Array.isArray(data)) return data.forEach((each) => this.take(each));
    const { whole, blocks, pieces, calls, reason, usage } = this.api.answer;
    for (const each of at(data, whole)) {
      this.text = '';
      this.calls.clear();
      this.takeParts(data, each, '\n');
    }
    for (const each of at(data, blocks)) this.takeParts(data, each, '\n');
    for (const each of at(data, pieces)) this.takeParts(data, each, '');
    for (const each of at(data, calls)) this.takeCall(this.api.call(fieldsOf(each)));
    for (const each of at(data, reason)) this.reason = stringOrEmpty(each) || this.reason;
    // Counts are cumulative: later ones replace those of the beginning.
    for (const each of at(data, usage)) {
      const known = Object.entries(fieldsOf(each)).filter(([, count]) => count !== null);
      this.usage = { ...this.usage, ...Object.fromEntries(known) };
    }
  }

  private takeParts(event: unknown, said: unknown, separator: string): void {
    for (const each of Array.isArray(said) ? (said as unknown[]) : [said]) {
      const part = fieldsOf(each);
      const call = this.api.call(part);
      if (call !== undefined) {
        this.takeCall(call, countOf(part['index']) ?? countOf(fieldsOf(event)['index']));
        continue;
      }
      const text = typeof each === 'string' ? each : spoken(part);
      if (text !== undefined) this.text += (this.text === '' ? '' : separator) + text;
    }
  }

  /** @param index undefined where a call with a name is another one, and a piece without the last */
  private takeCall(call: SaidCall | undefined, index?: number): void {
    if (call === undefined) return;
    const { id, name, json, input } = call;
    const isNew = stringOrEmpty(id) !== '' || stringOrEmpty(name) !== '';
    const key = index ?? Math.max(0, this.calls.size - (isNew ? 0 : 1));
    const known = this.calls.get(key) ?? { id: '', name: '', json: '', input: undefined };
    known.id ||= stringOrEmpty(id);
    known.name += stringOrEmpty(name);
    known.json += stringOrEmpty(json);
    known.input ??= input;
    this.calls.set(key, known);
  }

  get said(): SaidByModel {
    const calls = [...this.calls.values()].map(({ id, name, json, input }, place): ToolCall => ({
      id: id || String(place + 1),
      name,
      input: json === '' ? (input ?? {}) : argumentsIn(json),
    }));
    const { finishes } = this.api.answer;
    const finish = (['stop', 'length', 'refused'] as const).find((each) =>
      finishes[each].includes(this.reason),
    );
    return { text: this.text, calls, finish: finish ?? 'other', usage: this.counts() };
  }

  private counts(): SaidByModel['usage'] {
    const { answer } = this.api;
    const of = (...names: readonly string[]): number =>
      at(this.usage, names).reduce<number>((sum, each) => sum + (countOf(each) ?? 0), 0);
    const [inputTokens, outputTokens] = [of(...answer.input), of(...answer.output)];
    const isWithoutOutput = outputTokens === 0 && (this.text !== '' || this.calls.size > 0);
    const isUnended = answer.isUsageGrowing === true && this.reason === '';
    if (inputTokens === 0 || isWithoutOutput || isUnended) return undefined;
    const counts: Record<string, number> = { inputTokens, outputTokens };
    const parts = {
      reasoningTokens: answer.reasoning,
      cachedInputTokens: answer.cached,
      cacheWriteTokens: answer.cacheWrite,
    };
    for (const [name, path] of Object.entries(parts)) {
      const count = path === undefined ? 0 : of(path);
      if (count > 0) counts[name] = count;
    }
    return { inputTokens, outputTokens, ...counts };
  }
}

/** What a part says to its reader; undefined for a thought and what else is no text. */
function spoken({ type, text, refusal = text, thought, content }: JsonFields): string | undefined {
  if (thought === true || type === 'reasoning') return undefined;
  if (typeof refusal === 'string') return refusal;
  if (!Array.isArray(content)) return undefined;
  return content.map((part) => spoken(fieldsOf(part)) ?? '').join('\n');
}
