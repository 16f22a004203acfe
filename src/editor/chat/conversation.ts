import * as vscode from 'vscode';
import { Cancelled, HumanError, throwIfAborted } from '../../domain/work';
import { redactKeys } from '../../engine/keysInUse';
import { leftOutResult, callTool, type Tool, offer, unknownTool } from '../../method/tools';
import { fenceClosing, escapeMarkdown } from '../shell/plainText';
import { noMoreCalls } from './prompts';
import { ModelProblem, type Turn } from './turn';

/** Maximum number of requests to the model in one turn. The limit ends a model that goes around in circles. */
const mostRequests = 40;
/**
 * Share of the context window that a request may fill. The rest is for the answer, and for
 * tokenizers that count differently.
 */
const shareOfContext = 0.85;

interface Said {
  readonly text: string;
  readonly calls: readonly vscode.LanguageModelToolCallPart[];
}

/**
 * The conversation of one turn. It sends requests, streams what the model writes, makes the calls
 * that the model asks for, and stays within its context window.
 */
export class Conversation {
  private readonly messages: vscode.LanguageModelChatMessage[];
  /** Token counts of messages. Messages do not change. */
  private readonly counted = new WeakMap<vscode.LanguageModelChatMessage, Promise<number>>();
  private requests = 0;

  /**
   * @param system the system prompt, sent as the first message, since VS Code has no role for it
   */
  constructor(
    private readonly turn: Turn,
    system: string,
    private readonly offered: readonly Tool[],
  ) {
    this.messages = [vscode.LanguageModelChatMessage.User(system), ...turn.before];
  }

  /**
   * Sends a message, makes the calls that the model asks for, and returns its last text.
   *
   * @throws HumanError when the conversation does not fit the context window; ModelProblem,
   * Cancelled
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
          // A message must not be empty: some providers refuse it.
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
    const tools = offer(offered);
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
          justification: vscode.l10n.t('Answers what you ask @swt.'),
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
      // A provider may ignore the cancellation token.
      await Promise.race([receive(), aborted(work.signal)]);
    } catch (error) {
      throwIfAborted(work.signal);
      throw error instanceof Cancelled ? error : new ModelProblem(error);
    } finally {
      work.signal.removeEventListener('abort', stop);
      cancel.dispose();
      // Closes a block of code that the model left open, so that later text is not part of it.
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
      return resultOf(call, `${unknownTool(call.name, this.offered)}.`);
    }
    stream.progress(tellCall(tool, call.input));
    const { text, isError } = await callTool(tool, view, call.input, work);
    tellDone(this.turn, tool, isError);
    if (!isError) tellRead(this.turn, tool, call.input);
    return resultOf(call, text);
  }

  /** Replaces results of calls, the oldest first, until the messages fit. */
  private async makeRoom(tokensOfTools: number): Promise<void> {
    const { maxInputTokens } = this.turn.model;
    if (!(maxInputTokens > 0)) return;
    const most = maxInputTokens * shareOfContext - tokensOfTools;
    const counts = await Promise.all(this.messages.map((message) => this.tokensOf(message)));
    let total = counts.reduce((sum, each) => sum + each, 0);
    for (const [at, message] of this.messages.entries()) {
      // The model still waits for the results of the last calls.
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
          'This conversation has {0} tokens, but {1} accepts {2}',
          Math.ceil(total),
          this.turn.model.name,
          Math.floor(most),
        ),
        vscode.l10n.t(
          'Start a new chat, attach less, or choose a model with a larger context window',
        ),
      );
    }
  }

  private tokensOf(message: vscode.LanguageModelChatMessage): Promise<number> {
    let counting = this.counted.get(message);
    if (counting === undefined) {
      counting = Promise.resolve(this.turn.model.countTokens(message)).catch(
        // The estimate of four characters a token keeps a request alive when the provider cannot
        // count.
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

/** What a call does, in one line while the user waits. */
function tellCall({ name }: Tool, input: object): string {
  const place =
    stringAt(input, 'path') ?? stringAt(input, 'folder') ?? vscode.l10n.t('the repository');
  switch (name) {
    case 'read_issue':
      return vscode.l10n.t('Reading the issue');
    case 'list_files':
      return vscode.l10n.t('Listing the files of {0}', place);
    case 'search_code':
      return vscode.l10n.t('Searching for {0}', stringAt(input, 'query') ?? '…');
    case 'outline_file':
      return vscode.l10n.t('Outlining {0}', place);
    case 'read_file':
      return vscode.l10n.t('Reading {0}', place);
    case 'apply_candidate':
      return vscode.l10n.t('Writing tests');
    case 'list_candidate_tests':
      return vscode.l10n.t('Listing the tests');
    case 'run_tests':
      return vscode.l10n.t('Running tests on R');
    case 'check_candidate':
      return vscode.l10n.t('Checking the tests on R');
    default:
      return escapeMarkdown(name);
  }
}

/**
 * Writes what a call changed or ran into the answer. Progress lines disappear when the call ends.
 */
function tellDone({ stream }: Turn, { name }: Tool, isError: boolean): void {
  const said = doneText(name, isError);
  if (said !== undefined) stream.markdown(`*${said}*\n\n`);
}

function doneText(name: string, isError: boolean): string | undefined {
  switch (name) {
    case 'apply_candidate':
      return isError
        ? vscode.l10n.t('The model wrote tests that do not apply to R.')
        : vscode.l10n.t('The model wrote tests.');
    case 'run_tests':
    case 'check_candidate':
      return isError ? undefined : vscode.l10n.t('Tests were run on R.');
    default:
      return undefined;
  }
}

/** Adds a file that a call read to the references of the answer. */
function tellRead({ open, stream }: Turn, { name }: Tool, input: object): void {
  if (name !== 'read_file' && name !== 'outline_file') return;
  // The call succeeded, so the path is one of R and leads nowhere else.
  const path = 'path' in input && typeof input.path === 'string' ? input.path : '';
  const relative = path
    .trim()
    .replace(/^(?:\.\/)+/, '')
    .replace(/\/+$/, '');
  if (relative === '') return;
  const uri = vscode.Uri.joinPath(open.folder.uri, relative);
  const start = lineIn(input, 'start_line');
  const end = lineIn(input, 'end_line');
  stream.reference(
    start === undefined
      ? uri
      : new vscode.Location(uri, new vscode.Range(start - 1, 0, (end ?? start) - 1, 0)),
  );
}

/** A text from the model, shortened and without markup. */
function stringAt(input: object, key: string): string | undefined {
  const value: unknown = (input as Record<string, unknown>)[key];
  if (typeof value !== 'string' || value.trim() === '') return undefined;
  const line = value.trim().replace(/\s+/g, ' ');
  return escapeMarkdown(line.length <= 80 ? line : `${line.slice(0, 80)}…`);
}

function lineIn(input: object, key: string): number | undefined {
  const written: unknown = (input as Record<string, unknown>)[key];
  // The tool also takes a number in a text.
  const value = typeof written === 'string' ? Number(written) : written;
  return typeof value === 'number' && Number.isInteger(value) && value >= 1 ? value : undefined;
}
