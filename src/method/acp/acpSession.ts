import type * as Protocol from '@agentclientprotocol/sdk';
import type {
  ClientContext,
  ContentBlock,
  RequestPermissionRequest,
  RequestPermissionResponse,
  SessionUpdate,
  StopReason,
  ToolCallContent,
} from '@agentclientprotocol/sdk';
import { once } from 'node:events';
import { Readable, type Duplex } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { Nesting } from '../../files/json';
import { messageOf } from '../../domain/work';
import { bounded } from '../tools/tool';
import type { AcpEnding } from '../traces/traceSteps';

/** An action of an agent, as it reports it. Untrusted. */
export interface AcpAction {
  /** Id of the call; absent for what is said last. */
  readonly id?: string | undefined;
  /** What it said since the action before. */
  readonly thought: string;
  readonly action: string;
  readonly call: { readonly name: string; readonly input: unknown; readonly isError: boolean };
  readonly observation: string;
  /** Whether the agent itself shows its outcome. Some show it only to their model. */
  readonly isShown: boolean;
  readonly seconds: number;
}

interface AcpSessionParts {
  readonly stdio: Duplex;
  /** Folder that the agent works in. */
  readonly cwd: string;
  readonly prompt: string;
  /** The authentication method to select; none by default. */
  readonly authMethod?: string | undefined;
  readonly onAction: (action: AcpAction) => void;
}

export interface AcpSessionEnd {
  readonly ending: AcpEnding;
  /** More about it, such as the error of the agent. Untrusted. */
  readonly why?: string | undefined;
  /** Name and version, as the agent says. Untrusted. */
  readonly program?: string | undefined;
}

/** Bytes that an agent may write, and those of one message. */
const outputLimit = 64 << 20;
const messageLimit = 8 << 20;
/** Lines that an agent may write. */
const mostLines = 200_000;
/** Actions that are kept; more are counted. */
const mostActions = 5000;
/** Characters of what is kept of an action. */
const kept = 20_000;
/** Seconds for an agent to end its turn when asked to. */
const graceSeconds = 10;

class OutputFlood extends Error {}

/**
 * One session with an agent: one prompt, whose end is awaited. The agent is offered neither files nor
 * terminals, since its tools work where it runs, and every permission is granted there.
 * https://agentclientprotocol.com/protocol/overview
 */
export class AcpSession {
  private readonly calls = new Map<string, OpenCall>();
  private actions = 0;
  private said = '';
  private program: string | undefined;
  private stopped: AcpEnding | undefined;
  private stop: (ending: AcpEnding) => void = () => undefined;
  private readonly stopping = new Promise<AcpEnding>((resolve) => (this.stop = resolve));

  constructor(private readonly parts: AcpSessionParts) {}

  /** Ends the session for a reason of ours. The agent is told, and has a few seconds. */
  end(ending: AcpEnding): void {
    this.stopped ??= ending;
    this.stop(this.stopped);
  }

  /** Never throws. */
  async run(): Promise<AcpSessionEnd> {
    let failure: unknown;
    const input = linesOf(this.parts.stdio, (error) => (failure ??= error));
    const { client, ndJsonStream, methods } = await import('@agentclientprotocol/sdk');
    const stream = ndJsonStream(
      writableTo(this.parts.stdio),
      Readable.toWeb(input) as ReadableStream<Uint8Array>,
      {
        maxMessageBytes: 2 * messageLimit,
      },
    );
    const connection = client({ name: 'client' })
      .onRequest(methods.client.session.requestPermission, ({ params }) => permission(params))
      .onNotification(methods.client.session.update, ({ params }) => this.take(params.update))
      .connect(stream);
    const lost = connection.closed.then(() => {
      throw new Error('the agent closed the connection');
    });
    lost.catch(() => undefined);
    try {
      return this.ended(await Promise.race([this.converse(connection.agent, methods), lost]));
    } catch (error) {
      if (this.stopped !== undefined) return this.ended({ ending: this.stopped });
      const isFlood = failure instanceof OutputFlood;
      return this.ended({ ending: isFlood ? 'output' : 'crashed', why: saidIn(failure ?? error) });
    } finally {
      this.flush();
      connection.close();
    }
  }

  private ended(end: AcpSessionEnd): AcpSessionEnd {
    const { program } = this;
    const more = this.actions - mostActions;
    const why = [end.why, more > 0 ? `${more} more actions are not recorded` : undefined]
      .filter((each) => each !== undefined)
      .join('; ');
    return {
      ending: end.ending,
      ...(why !== '' && { why: why.slice(0, 2000) }),
      ...(program !== undefined && { program }),
    };
  }

  private async converse(agent: ClientContext, methods: Methods): Promise<AcpSessionEnd> {
    const { cwd, prompt } = this.parts;
    const started = this.begin(agent, methods, cwd);
    started.catch(() => undefined);
    const sessionId = await Promise.race([started, this.stopping.then(() => undefined)]);
    if (sessionId === undefined || this.stopped !== undefined) {
      // Time that passes before the prompt is no time of work.
      return this.stopped === 'time'
        ? { ending: 'silent', why: 'it was not ready for the prompt in time' }
        : { ending: this.stopped ?? 'cancelled' };
    }
    const answered = agent
      .request(methods.agent.session.prompt, {
        sessionId,
        prompt: [{ type: 'text', text: prompt }],
      })
      .then(({ stopReason }) => endingOf(stopReason));
    answered.catch(() => undefined);
    const ending = await Promise.race([answered, this.stopping.then(() => undefined)]);
    if (ending !== undefined) return { ending };
    await agent.notify(methods.agent.session.cancel, { sessionId }).catch(() => undefined);
    await Promise.race([answered.catch(() => undefined), this.grace()]);
    return { ending: this.stopped ?? 'cancelled' };
  }

  /** Waits in vain for an agent that does not end its turn. */
  private async grace(): Promise<void> {
    await sleep(graceSeconds * 1000, undefined, { ref: false });
  }

  /** @returns the id of a new session */
  private async begin(agent: ClientContext, methods: Methods, cwd: string): Promise<string> {
    const { agentInfo } = await agent.request(methods.agent.initialize, {
      protocolVersion: 1,
      clientCapabilities: { fs: { readTextFile: false, writeTextFile: false }, terminal: false },
      clientInfo: { name: 'client', version: '1' },
    });
    if (agentInfo) this.program = `${agentInfo.name} ${agentInfo.version}`.slice(0, 200);
    const { authMethod: methodId } = this.parts;
    if (methodId !== undefined) await agent.request(methods.agent.authenticate, { methodId });
    const made = await agent.request(methods.agent.session.new, { cwd, mcpServers: [] });
    return made.sessionId;
  }

  private take(update: SessionUpdate): void {
    const { sessionUpdate: kind } = update;
    if (kind === 'agent_message_chunk' || kind === 'agent_thought_chunk') {
      if (this.said.length < kept) this.said += textOfBlock(update.content);
    } else if (kind === 'tool_call' || kind === 'tool_call_update') this.takeCall(update);
  }

  private takeCall(update: CallUpdate): void {
    const id = update.toolCallId;
    if (!this.calls.has(id) && this.calls.size > mostActions) return;
    const { fields, printed, began, thought } = this.calls.get(id) ?? this.newCall();
    const known = Object.entries(update).filter(
      ([, value]) => value !== undefined && value !== null,
    );
    const call = {
      fields: { ...fields, ...Object.fromEntries(known) },
      printed: bounded(printed + printedIn(update), kept),
      began,
      thought,
    };
    this.calls.set(id, call);
    if (update.status !== 'completed' && update.status !== 'failed') return;
    this.calls.delete(id);
    this.tell(call);
  }

  private newCall(): OpenCall {
    const thought = this.said;
    this.said = '';
    return { fields: {}, printed: '', began: performance.now(), thought };
  }

  private tell({ fields, printed, began, thought }: OpenCall): void {
    this.actions += 1;
    if (this.actions > mostActions) return;
    const { toolCallId: id, title, rawInput, rawOutput, content } = fields;
    const kind = fields.kind ?? 'other';
    const told = (content ?? []).map(textOfContent).filter((text) => text !== '');
    const shown = told.length > 0 ? told.join('\n') : printed;
    const output = typeof rawOutput === 'string' ? rawOutput : jsonOf(rawOutput);
    const observation = shown === '' ? output : shown;
    this.parts.onAction({
      id,
      thought,
      action: bounded(actionOf(title ?? '', rawInput), kept),
      call: {
        name: kind,
        input: smallOnly(rawInput),
        isError: fields.status === 'failed' || exitCodeIn(rawOutput) > 0 || saysFailed(kind, shown),
      },
      observation: bounded(observation, kept),
      isShown: shown !== '' || typeof rawOutput === 'string' || id === undefined,
      seconds: (performance.now() - began) / 1000,
    });
  }

  /** Reports calls that never ended, and the last message. */
  private flush(): void {
    for (const call of this.calls.values()) this.tell(call);
    this.calls.clear();
    if (this.said.trim() === '') return;
    const call = this.newCall();
    this.tell({ ...call, fields: { title: '(no further action)', kind: 'other' } });
  }
}

/** What an error says, with the details that an agent gives of its own. */
function saidIn(error: unknown): string {
  const { data } = error as { readonly data?: unknown };
  return `${messageOf(error)}${data === undefined ? '' : ` ${jsonOf(data).slice(0, 500)}`}`;
}

type Methods = typeof Protocol.methods;
type CallUpdate = Extract<SessionUpdate, { sessionUpdate: 'tool_call' | 'tool_call_update' }>;

interface OpenCall {
  readonly fields: Partial<CallUpdate>;
  /** What its command printed, as far as that comes in pieces. */
  readonly printed: string;
  /** Milliseconds since 1970. */
  readonly began: number;
  readonly thought: string;
}

function endingOf(reason: StopReason): AcpEnding {
  switch (reason) {
    case 'end_turn':
      return 'finished';
    case 'refusal':
      return 'refused';
    case 'cancelled':
      return 'cancelled';
    case 'max_tokens':
    case 'max_turn_requests':
      return 'cut off';
  }
}

/** Allows, once if that is offered: what the agent does stays in its sandbox. */
function permission({
  options,
}: Pick<RequestPermissionRequest, 'options'>): RequestPermissionResponse {
  const chosen =
    options.find(({ kind }) => kind === 'allow_once') ??
    options.find(({ kind }) => kind === 'allow_always');
  return {
    outcome:
      chosen === undefined
        ? { outcome: 'cancelled' }
        : { outcome: 'selected', optionId: chosen.optionId },
  };
}

/** What was done, as the user reads it: a command as it is, or a title with its arguments. */
function actionOf(title: string, input: unknown): string {
  const { command, cmd, ...others } = (input ?? {}) as Record<string, unknown>;
  const run = command ?? cmd;
  // Agents give the words of a command, of which the last is often the line of a shell.
  if (Array.isArray(run)) return run.map(String).join(' ');
  if (typeof run === 'string' && !('path' in others)) return run;
  const lines = Object.entries(input ?? {}).map(([name, value]: [string, unknown]) => {
    const text = typeof value === 'string' ? value : jsonOf(value);
    return text.includes('\n') ? `${name}:\n${text}` : `${name}: ${text}`;
  });
  return [title, ...lines].join('\n');
}

/**
 * What a command printed since the update before. Codex tells it beside the fields of the protocol
 * (`_meta`), as Zed shows it.
 */
function printedIn({ _meta: meta }: CallUpdate): string {
  const { terminal_output_delta: delta, terminal_output: whole } = meta ?? {};
  const data = ((delta ?? whole) as { readonly data?: unknown } | undefined)?.data;
  return typeof data === 'string' ? data : '';
}

/** The exit code in what a tool returned, by the names that agents have for it; 0 where there is none. */
function exitCodeIn(rawOutput: unknown): number {
  if (typeof rawOutput !== 'object' || rawOutput === null) return 0;
  const fields = rawOutput as Readonly<Record<string, unknown>>;
  const metadata = (fields['metadata'] ?? {}) as Readonly<Record<string, unknown>>;
  const codes = [fields['exit_code'], fields['exitCode'], metadata['exit']];
  return codes.find((code) => typeof code === 'number') ?? 0;
}

/** Whether a text says that a call failed: an exit code other than 0, or the mark of OpenHands. */
export const saysFailed = (kind: string, text: string): boolean =>
  /^(?:Tool: \w+\nResult:\n)?❌ /.test(text) ||
  (kind === 'execute' && /\bexit(?:ed with)? code:? (?!0\b)\d+/i.test(text.slice(-1000)));

const jsonOf = (value: unknown): string => (value === undefined ? '' : JSON.stringify(value));

/** The input of a call, unless it is long: the action has its beginning and its end. */
const smallOnly = (input: unknown): unknown =>
  jsonOf(input).length > kept ? undefined : (input ?? {});

function textOfContent(content: ToolCallContent): string {
  switch (content.type) {
    case 'content':
      return textOfBlock(content.content);
    case 'diff':
      return `${content.path}\n${content.newText}`;
    case 'terminal':
      return '';
  }
}

function textOfBlock(block: ContentBlock): string {
  return block.type === 'text' ? block.text : `[${block.type}]`;
}

/** What may be written to an agent, which need not read it. */
function writableTo(stdio: Duplex): WritableStream<Uint8Array> {
  return new WritableStream({
    async write(chunk) {
      if (stdio.destroyed || stdio.writableEnded) throw new Error('the agent is gone');
      if (!stdio.write(chunk)) {
        await Promise.race([once(stdio, 'drain'), once(stdio, 'close')]);
      }
    },
    close: () => void stdio.end(),
    abort: () => void stdio.destroy(),
  });
}

/**
 * The lines of an agent that may be messages. Others, such as those of a log, are left out: each would
 * be answered. Ends when the agent writes too much.
 *
 * @param fail called with the reason before that end
 */
function linesOf(stdio: Duplex, fail: (error: Error) => void): Readable {
  const flood = new OutputCounter();
  async function* lines(): AsyncGenerator<Buffer> {
    for await (const piece of stdio as AsyncIterable<Buffer>) {
      for (let at = 0; at < piece.length;) {
        const end = piece.indexOf(10, at);
        const part = piece.subarray(at, end < 0 ? piece.length : end + 1);
        const why = flood.add(part, end >= 0);
        if (why !== undefined) {
          fail(new OutputFlood(why));
          return;
        }
        if (flood.isMessage) yield part;
        at += part.length;
      }
    }
  }
  const readable = Readable.from(lines(), { objectMode: false });
  readable.on('error', fail);
  return readable;
}

/** Counts what an agent writes, line by line. */
class OutputCounter {
  /** Whether the line may be a message. */
  isMessage = false;
  private bytes = 0;
  private lines = 0;
  private ofLine = 0;
  private nesting = new Nesting();
  private isEnded = true;

  /** @returns why it is too much; undefined when it is not */
  add(part: Buffer, isEnd: boolean): string | undefined {
    if (this.isEnded) {
      this.isMessage = part[0] === 0x7b;
      this.lines += 1;
      this.ofLine = 0;
      this.nesting = new Nesting();
    }
    this.isEnded = isEnd;
    this.bytes += part.length;
    this.ofLine += part.length;
    if (this.bytes > outputLimit) return `it wrote more than ${outputLimit} bytes`;
    if (this.lines > mostLines) return `it wrote more than ${mostLines} lines`;
    if (this.isMessage && this.nesting.add(part)) return 'it wrote a message that nests too deeply';
    const isLong = this.isMessage && this.ofLine > messageLimit;
    return isLong ? `it wrote a message of more than ${messageLimit} bytes` : undefined;
  }
}
