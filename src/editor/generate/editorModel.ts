import * as vscode from 'vscode';
import { Cancelled, HumanError, messageOf, throwIfAborted } from '../../domain/work';
import { redactKeys } from '../../engine/keysInUse';
import {
  CallsNoTools,
  ModelFailure,
  ModelUnusable,
  type ModelAnswer,
  type ChatModel,
  type ChatMessage,
  type ChatRequest,
  type ModelWork,
  type ToolCall,
  ModelTrouble,
  retrying,
  type Retries,
  argumentsOf,
  tokenCounter,
} from '../../method/models';

interface EditorModelOptions {
  /** Time limit of one attempt, in seconds. */
  readonly timeoutSeconds: number;
  /** No retries by default, since providers of VS Code retry on their own. */
  readonly retries?: Retries;
}

/** Name of a VS Code model where models are named `PROVIDER/NAME`. */
export const editorModelName = ({
  vendor,
  id,
}: Pick<vscode.LanguageModelChat, 'vendor' | 'id'>): string => `vscode/${vendor}/${id}`;

/** Whether a model calls tools. VS Code says so since a version newer than the types used here. */
export function callsTools(model: vscode.LanguageModelChat): boolean {
  const { capabilities } = model as { readonly capabilities?: unknown };
  if (typeof capabilities !== 'object' || capabilities === null) return true;
  return !('supportsToolCalling' in capabilities && capabilities.supportsToolCalling === false);
}

/**
 * Wraps a chat model of VS Code. Create it in answer to an action of the user, since the first
 * request may ask for consent. The model's own tokenizer counts tokens. The counts remain
 * estimates, as VS Code does not say what was charged.
 */
export function editorModel(
  chat: vscode.LanguageModelChat,
  { timeoutSeconds, retries = { count: 0, firstWaitMs: 0 } }: EditorModelOptions,
): ChatModel {
  const name = editorModelName(chat);
  return {
    name,
    async complete(request, work) {
      try {
        return await retrying(() => attempt(chat, request, work, timeoutSeconds), retries, work);
      } catch (error) {
        throwIfAborted(work.signal);
        if (error instanceof ModelTrouble) throw new ModelFailure(`${name}: ${error.message}`);
        throw error;
      }
    },
  };
}

async function attempt(
  chat: vscode.LanguageModelChat,
  request: ChatRequest,
  { signal, onText }: ModelWork,
  timeoutSeconds: number,
): Promise<ModelAnswer> {
  throwIfAborted(signal);
  const cancel = new vscode.CancellationTokenSource();
  let stop: (why: Error) => void = () => undefined;
  const stopped = new Promise<never>((_, reject) => {
    stop = (why) => {
      reject(why);
      cancel.cancel();
    };
  });
  const abort = (): void => stop(new Cancelled());
  signal?.addEventListener('abort', abort, { once: true });
  const timer = setTimeout(
    () => stop(new ModelTrouble(`no whole answer within ${timeoutSeconds} s`)),
    timeoutSeconds * 1000,
  );
  try {
    // A provider may ignore the cancellation token.
    return await Promise.race([ask(chat, request, cancel, onText), stopped]);
  } catch (error) {
    throwIfAborted(signal);
    throw problemOfModel(error, editorModelName(chat));
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', abort);
    cancel.dispose();
  }
}

async function ask(
  chat: vscode.LanguageModelChat,
  request: ChatRequest,
  cancel: vscode.CancellationTokenSource,
  onText: ModelWork['onText'],
): Promise<ModelAnswer> {
  const { temperature, tools } = request;
  if (tools !== undefined && !callsTools(chat)) {
    throw new CallsNoTools(editorModelName(chat), 'VS Code says so');
  }
  const messages = messagesOf(request);
  const inputTokens = await tokensOf(chat, messages);
  if (inputTokens > chat.maxInputTokens) {
    throw new ModelFailure(
      `${editorModelName(chat)}: the prompt of ${inputTokens} tokens is longer than the ${chat.maxInputTokens} that the model takes`,
    );
  }
  const response = await chat.sendRequest(
    messages,
    {
      justification: vscode.l10n.t('Writes tests that reproduce the issue.'),
      // Names that providers share; others ignore them.
      modelOptions: {
        ...(temperature !== undefined && { temperature }),
        max_tokens: request.maxOutputTokens,
      },
      ...(tools !== undefined && { tools: [...tools] }),
    },
    cancel.token,
  );
  const { text, calls, isCut } = await received(response, request, cancel, onText);
  const said = [...(text === '' ? [] : [text]), ...calls.map(textOfCall)].join('\n');
  return {
    text,
    ...(calls.length > 0 && { calls }),
    finish: isCut ? 'length' : 'stop',
    inputTokens,
    outputTokens: said === '' ? 0 : await countTokens(chat, said),
    isEstimate: true,
  };
}

/** What arrives of an answer, up to the limit of the request. @throws Cancelled */
async function received(
  { stream }: vscode.LanguageModelChatResponse,
  { maxOutputTokens }: ChatRequest,
  cancel: vscode.CancellationTokenSource,
  onText: ModelWork['onText'],
): Promise<{
  readonly text: string;
  readonly calls: readonly ToolCall[];
  readonly isCut: boolean;
}> {
  const count = await tokenCounter();
  let text = '';
  const calls: ToolCall[] = [];
  let written = 0;
  for await (const part of stream) {
    if (cancel.token.isCancellationRequested) throw new Cancelled();
    if (part instanceof vscode.LanguageModelTextPart) {
      text += part.value;
      onText?.(part.value);
      written += count(part.value);
    } else if (part instanceof vscode.LanguageModelToolCallPart) {
      const { callId: id, name, input } = part;
      calls.push({ id, name, input });
      written += count(textOfCall(part));
    }
    // Some providers exceed the limit, and a budget relies on it.
    if (written > maxOutputTokens) {
      cancel.cancel();
      return { text, calls, isCut: true };
    }
  }
  if (cancel.token.isCancellationRequested) throw new Cancelled();
  return { text, calls, isCut: false };
}

/** VS Code has no role for a system prompt. It goes first, as the documentation of VS Code says. */
const messagesOf = ({ system, messages }: ChatRequest): vscode.LanguageModelChatMessage[] => [
  ...(system === '' ? [] : [vscode.LanguageModelChatMessage.User(redactKeys(system))]),
  ...messages.map(chatMessageOf),
];

function chatMessageOf({
  role,
  content,
  calls,
  results,
}: ChatMessage): vscode.LanguageModelChatMessage {
  const text = redactKeys(content);
  if (results !== undefined) {
    return vscode.LanguageModelChatMessage.User(
      results.map((each) => {
        const part = new vscode.LanguageModelTextPart(redactKeys(each.text));
        return new vscode.LanguageModelToolResultPart(each.id, [part]);
      }),
    );
  }
  if (role === 'user') return vscode.LanguageModelChatMessage.User(text);
  if (calls === undefined) return vscode.LanguageModelChatMessage.Assistant(text);
  return vscode.LanguageModelChatMessage.Assistant([
    ...(text === '' ? [] : [new vscode.LanguageModelTextPart(text)]),
    ...calls.map(
      (call) => new vscode.LanguageModelToolCallPart(call.id, call.name, argumentsOf(call)),
    ),
  ]);
}

const textOfCall = ({ name, input }: Pick<ToolCall, 'name' | 'input'>): string =>
  `${name} ${JSON.stringify(input)}`;

async function tokensOf(
  chat: vscode.LanguageModelChat,
  messages: readonly vscode.LanguageModelChatMessage[],
): Promise<number> {
  const counts = await Promise.all(messages.map((message) => countTokens(chat, message)));
  return counts.reduce((sum, each) => sum + each, 0);
}

/**
 * Counts with the model's tokenizer, else with an estimate, so that a request does not fail when
 * the provider cannot count.
 */
async function countTokens(
  chat: vscode.LanguageModelChat,
  what: string | vscode.LanguageModelChatMessage,
): Promise<number> {
  const counted = await Promise.resolve(chat.countTokens(what)).catch(() => undefined);
  if (counted !== undefined && Number.isFinite(counted) && counted >= 0) return Math.ceil(counted);
  const text = typeof what === 'string' ? what : what.content.map(textOfPart).join('');
  return (await tokenCounter())(text);
}

function textOfPart(part: vscode.LanguageModelInputPart): string {
  if (part instanceof vscode.LanguageModelTextPart) return part.value;
  return JSON.stringify(
    part instanceof vscode.LanguageModelToolCallPart ? part.input : part.content,
  );
}

/**
 * Classifies an error of VS Code's language models: no request will succeed, this one has no
 * answer, or it has none for now.
 *
 * @param name of the model, for messages
 */
export function problemOfModel(error: unknown, name: string): Error {
  if (
    error instanceof HumanError ||
    error instanceof Cancelled ||
    error instanceof ModelFailure ||
    error instanceof ModelTrouble
  ) {
    return error;
  }
  if (error instanceof vscode.CancellationError) return new Cancelled();
  const said = firstLine(messageOf(error));
  const code = error instanceof vscode.LanguageModelError ? error.code : '';
  switch (code) {
    case vscode.LanguageModelError.NoPermissions().code:
      return new ModelUnusable(
        vscode.l10n.t('SWT-Bench may not use {0}', name),
        vscode.l10n.t('Allow it when VS Code asks, or choose another model'),
      );
    case vscode.LanguageModelError.NotFound().code:
      return new ModelUnusable(
        vscode.l10n.t('{0} is no longer available', name),
        vscode.l10n.t('Choose another model'),
      );
    case vscode.LanguageModelError.Blocked().code:
      return new ModelUnusable(
        vscode.l10n.t('{0} stopped answering ({1})', name, said),
        vscode.l10n.t('Its quota may be exhausted. Try again later, or choose another model'),
      );
    default:
      return new ModelTrouble(said === '' ? 'the model gives no answer' : said);
  }
}

const firstLine = (text: string): string => (text.trim().split('\n')[0] ?? '').slice(0, 300);
