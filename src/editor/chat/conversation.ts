import * as vscode from 'vscode';
import { Cancelled, HumanError, throwIfAborted } from '../../domain/humanError';
import { redactKeys } from '../../engine/keysInUse';
import { callTool, inputSchema, type Tool } from '../../method/tools/tool';
import { fenceClosing } from './fences';
import { leftOutResult, noMoreCalls } from './prompts';
import { tellCall, tellDone, tellRead } from './tellCalls';
import { ModelProblem, type Turn } from './turn';

/** Requests to the model in one turn, so that one that goes round in circles comes to an end. */
const mostRequests = 40;
/** Of what a model takes; the rest is for its answer, and for tokenizers that count in other ways. */
const shareOfContext = 0.85;

interface Said {
  readonly text: string;
  readonly calls: readonly vscode.LanguageModelToolCallPart[];
}

/**
 * What is said between a person and a model in one turn: asks, streams what the model writes, makes the
 * calls that it asks for, and keeps within what it takes.
 */
export class Conversation {
  private readonly messages: vscode.LanguageModelChatMessage[];
  /** Tokens of messages, which do not change. */
  private readonly counted = new WeakMap<vscode.LanguageModelChatMessage, Promise<number>>();
  private requests = 0;

  /** @param system what the model is told first; VS Code has no other role for it */
  constructor(
    private readonly turn: Turn,
    system: string,
    private readonly offered: readonly Tool[],
  ) {
    this.messages = [vscode.LanguageModelChatMessage.User(system), ...turn.before];
  }

  /**
   * Says something and gives what the model writes at last, when it makes no more calls.
   *
   * @throws HumanError when the conversation is longer than the model takes; ModelProblem, Cancelled
   */
  async say(content: string): Promise<string> {
    this.messages.push(vscode.LanguageModelChatMessage.User(redactKeys(content)));
    for (;;) {
      const isLast = this.requests >= mostRequests - 1;
      const { text, calls } = await this.request(isLast ? [] : this.offered);
      this.messages.push(
        vscode.LanguageModelChatMessage.Assistant([
          ...(text === '' ? [] : [new vscode.LanguageModelTextPart(text)]),
          ...calls,
          // No message is empty: some providers refuse it.
          ...(text === '' && calls.length === 0 ? [new vscode.LanguageModelTextPart(' ')] : []),
        ]),
      );
      if (calls.length === 0 || isLast) return text;
      const results: vscode.LanguageModelToolResultPart[] = [];
      for (const call of calls) results.push(await this.call(call));
      this.messages.push(vscode.LanguageModelChatMessage.User(results));
      if (this.requests === mostRequests - 1) {
        this.messages.push(vscode.LanguageModelChatMessage.User(noMoreCalls));
      }
    }
  }

  private async request(offered: readonly Tool[]): Promise<Said> {
    const { model, stream, work } = this.turn;
    throwIfAborted(work.signal);
    const tools = offered.map((tool) => ({
      name: tool.name,
      description: tool.description,
      inputSchema: inputSchema(tool),
    }));
    await this.makeRoom(Math.ceil(JSON.stringify(tools).length / 4));
    this.requests += 1;
    const cancel = new vscode.CancellationTokenSource();
    const stop = (): void => cancel.cancel();
    work.signal.addEventListener('abort', stop, { once: true });
    let text = '';
    const calls: vscode.LanguageModelToolCallPart[] = [];
    const receive = async (): Promise<void> => {
      const response = await model.sendRequest(
        this.messages,
        {
          justification: vscode.l10n.t('It answers what you ask @swt.'),
          ...(tools.length > 0 && { tools }),
        },
        cancel.token,
      );
      for await (const part of response.stream) {
        throwIfAborted(work.signal);
        if (part instanceof vscode.LanguageModelTextPart) {
          text += part.value;
          stream.markdown(part.value);
        } else if (part instanceof vscode.LanguageModelToolCallPart) {
          calls.push(part);
        }
      }
    };
    try {
      // Who serves the model may not listen to the token.
      await Promise.race([receive(), aborted(work.signal)]);
    } catch (error) {
      throwIfAborted(work.signal);
      throw error instanceof Cancelled ? error : new ModelProblem(error);
    } finally {
      work.signal.removeEventListener('abort', stop);
      cancel.dispose();
      // What follows is no part of a block that the model has not closed.
      if (text !== '') stream.markdown(`${fenceClosing(text)}\n\n`);
    }
    throwIfAborted(work.signal);
    return { text, calls };
  }

  private async call(
    call: vscode.LanguageModelToolCallPart,
  ): Promise<vscode.LanguageModelToolResultPart> {
    const { stream, view, work } = this.turn;
    const tool = this.offered.find(({ name }) => name === call.name);
    if (tool === undefined) {
      const names = this.offered.map(({ name }) => name).join(', ');
      return resultOf(call, `There is no tool ${JSON.stringify(call.name)}. Call one of ${names}.`);
    }
    stream.progress(tellCall(tool, call.input));
    const { text, isError } = await callTool(tool, view, call.input, work);
    tellDone(this.turn, tool, isError);
    if (!isError) tellRead(this.turn, tool, call.input);
    return resultOf(call, text);
  }

  /** Leaves out results of calls, the oldest first, until what is said fits. */
  private async makeRoom(tokensOfTools: number): Promise<void> {
    const { maxInputTokens } = this.turn.model;
    if (!(maxInputTokens > 0)) return;
    const most = maxInputTokens * shareOfContext - tokensOfTools;
    const counts = await Promise.all(this.messages.map((message) => this.tokensOf(message)));
    let total = counts.reduce((sum, each) => sum + each, 0);
    for (const [at, message] of this.messages.entries()) {
      // Those of the last calls are what the model waits for.
      if (total <= most || at === this.messages.length - 1) break;
      const results = message.content.filter(
        (part) => part instanceof vscode.LanguageModelToolResultPart,
      );
      if (results.length === 0) continue;
      const short = vscode.LanguageModelChatMessage.User(
        results.map(({ callId }) => resultOf({ callId }, leftOutResult)),
      );
      total += (await this.tokensOf(short)) - (counts[at] ?? 0);
      this.messages[at] = short;
    }
    if (total > most) {
      throw new HumanError(
        vscode.l10n.t(
          'What is said here has {0} tokens, and {1} takes {2}',
          Math.ceil(total),
          this.turn.model.name,
          Math.floor(most),
        ),
        vscode.l10n.t('Begin a new chat, attach less, or choose a model that takes more'),
      );
    }
  }

  private tokensOf(message: vscode.LanguageModelChatMessage): Promise<number> {
    let counting = this.counted.get(message);
    if (counting === undefined) {
      counting = Promise.resolve(this.turn.model.countTokens(message)).catch(
        // A request does not fail since nobody counts it: some four characters are a token.
        () => Math.ceil(JSON.stringify(message.content).length / 4),
      );
      this.counted.set(message, counting);
    }
    return counting;
  }
}

/** Rejects when work is cancelled. */
function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    signal.addEventListener('abort', () => reject(new Cancelled()), { once: true });
  });
}

const resultOf = (
  { callId }: Pick<vscode.LanguageModelToolCallPart, 'callId'>,
  text: string,
): vscode.LanguageModelToolResultPart =>
  new vscode.LanguageModelToolResultPart(callId, [new vscode.LanguageModelTextPart(text)]);

/** Whether a model calls tools; VS Code tells it since versions newer than its types here. */
export function callsTools(model: vscode.LanguageModelChat): boolean {
  const { capabilities } = model as { readonly capabilities?: unknown };
  if (typeof capabilities !== 'object' || capabilities === null) return true;
  return !('supportsToolCalling' in capabilities && capabilities.supportsToolCalling === false);
}
