import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { HumanError, throwIfAborted, type Reporter } from '../../domain/work';
import { withoutControl } from '../../domain/text';
import { wordForShell } from '../../engine/programs';
import { sha256 } from '../../files/digest';
import type { CommandResult, RunningProgram } from '../../engine/engine';
import type { AgentLimits } from '../agents/agent';
import type { WorkspaceOnR } from '../agents/workspaceOnR';
import { BudgetSpent, budgetOf, budgetWithin, type Budget } from '../models/budget';
import type { ToolResult } from '../modelProxy/conversation';
import { ModelProxy, type ProxiedExchange } from '../modelProxy/modelProxy';
import type { ModelUpstream } from '../models/openModel';
import type { ModelView } from '../modelView';
import { bounded } from '../tools/tool';
import { keyOf, type ActStep, type AnswerStep, type MethodTrace, type StepOf } from '../trace';
import type { Step, AcpEnding } from '../traces/traceSteps';
import { acpPrompt } from './acpPrompt';
import type { AcpDefinition } from './acpPresets';
import { textAt, textsAt, defaultEnvironment } from './agentEnvironment';
import { AcpSession, saysFailed, type AcpAction, type AcpSessionEnd } from './acpSession';

/** An agent that is spoken to by the Agent Client Protocol, and how it is started. */
export interface AcpAgent extends AcpDefinition {
  /** Name of the method: `acp:…`. */
  readonly name: string;
  /** Digest of a definition that the name does not stand for; undefined where it does. */
  readonly definition: string | undefined;
  /** Folder of this machine with its program; undefined where the image has it. */
  readonly program: string | undefined;
  /**
   * Digest of that folder, computed once; undefined where there is none.
   *
   * @throws HumanError when the folder cannot be read, Cancelled
   */
  readonly programDigest: (signal: AbortSignal | undefined) => Promise<string | undefined>;
  /** Seconds of a session on the clock. */
  readonly seconds: number;
  /** Says how the folder is named, for errors. */
  readonly advice: string;
}

export type AcpLimits = Pick<AgentLimits, 'calls' | 'dollars'>;
type SessionStep = StepOf<'session'>;
/** What a session adds to its trace. */
type MadeSession = Omit<SessionStep, 'step' | 'key' | 'at' | 'instance'>;

interface AcpRunParts {
  readonly agent: AcpAgent;
  readonly limits: AcpLimits;
  /** Key of the session, which the keys of its steps are made from. */
  readonly key: string;
  /** Digest of the program's folder, for the trace. */
  readonly programDigest: string | undefined;
  /** With its id for the trace, which no prompt contains. */
  readonly instance: Pick<ModelView, 'repo' | 'issue'> & { readonly id: string };
  /** Name of the model in the trace. */
  readonly model: string;
  readonly upstream: ModelUpstream;
  readonly view: () => Promise<ModelView>;
  readonly trace: MethodTrace;
  readonly budget: Budget;
  readonly maxOutputTokens: number;
  readonly inTurn: <T>(request: () => Promise<T>) => Promise<T>;
  readonly onAct: ((act: ActStep) => void) | undefined;
  readonly signal: AbortSignal | undefined;
  readonly reporter: Reporter;
}

/** Seconds that an agent has to end on its own once it gets no further answer. */
const lastSeconds = 30;
/** Seconds that a program has to end once nobody speaks to it any more. */
const exitSeconds = 5;
/** Characters of the standard error of an agent that does not start, for the message about it. */
const shownOfError = 2048;
/** Characters of one message that the trace keeps, and of the outcome of an action. */
const messageLimit = 100_000;
const observationLimit = 20_000;

/**
 * One session of an agent on one instance: its container, its program, its way to the model, its
 * prompt, and what it leaves. The trace has each answer and each action; a session that is broken off
 * begins again, since nothing can be put back into an agent.
 */
export class AcpRun {
  /** Distinguishes this session from an earlier, interrupted one. */
  private readonly attempt = randomUUID();
  private readonly answers: AnswerStep[] = [];
  /** Digests of the messages that the trace has. */
  private readonly known = new Set<string>();
  private writing: Promise<void> = Promise.resolve();
  private actions = 0;
  /** Actions whose outcome only the agent's next request shows. */
  private untold: UntoldAction[] = [];
  private readonly budget: Budget;

  constructor(private readonly parts: AcpRunParts) {
    const { budget, limits } = parts;
    this.budget = budgetWithin(budget, budgetOf({ dollars: limits.dollars }, 'instance'));
  }

  /**
   * @throws HumanError where there is no workspace or the agent does not start, ModelFailure and
   *   ModelUnusable where it got no answer, BudgetSpent, Cancelled
   */
  async toEnd(): Promise<MadeSession> {
    const { agent, view: open, signal, reporter, instance } = this.parts;
    const view = await open();
    const began = performance.now();
    const command = await view.testCommand({ signal, reporter });
    const workspace = await view.openWorkspace({ signal, reporter, program: agent.program });
    try {
      const { folder } = workspace;
      const prompt = acpPrompt({ ...instance, folder, command });
      await this.notePrompt({ system: '', messages: [{ role: 'user', content: prompt }] });
      return await this.inWorkspace(workspace, prompt, began);
    } finally {
      await workspace.dispose();
    }
  }

  private async inWorkspace(
    workspace: WorkspaceOnR,
    prompt: string,
    began: number,
  ): Promise<MadeSession> {
    const { signal } = this.parts;
    let session: AcpSession | undefined;
    const proxy = this.proxy(() => {
      // The agent has read that it gets no answer, and may still write a file.
      const seconds = proxy.unusable === undefined ? lastSeconds : 0;
      void sleep(seconds * 1000, undefined, { ref: false }).then(() =>
        session?.end(endingOfProxy(proxy)),
      );
    });
    const ending = new AbortController();
    try {
      const { port } = await workspace.listen((connection) => proxy.serve(connection));
      const running = await this.start(workspace, port, ending.signal);
      session = this.session(running, workspace.folder, prompt);
      const end = await this.untilEnd(session, running, ending);
      await proxy.close();
      await this.write(() => this.tellOutcomes([]));
      if (signal?.aborted === true) await this.noteCancelled(end, began);
      throwIfAborted(signal);
      if (proxy.unusable !== undefined) throw proxy.unusable;
      return await this.made(workspace, proxy, end, began);
    } finally {
      ending.abort();
      await proxy.close();
      await this.writing.catch(() => undefined);
    }
  }

  private proxy(onEnd: () => void): ModelProxy {
    const { upstream, limits, maxOutputTokens: mostOutput, inTurn, signal, reporter } = this.parts;
    return new ModelProxy({
      ...{ upstream, limits, budget: this.budget, mostOutput, inTurn, onEnd, signal, reporter },
      record: (exchange) => this.write(() => this.noteExchange(exchange)),
    });
  }

  private async start(
    workspace: WorkspaceOnR,
    port: number,
    end: AbortSignal,
  ): Promise<RunningProgram> {
    const { agent, upstream, signal } = this.parts;
    const { provider, model } = upstream;
    const place = { origin: `http://127.0.0.1:${port}`, provider, model };
    for (const [path, text] of Object.entries(textsAt(agent.files ?? {}, place))) {
      await workspace.write(`${workspace.home}/${path}`, Buffer.from(text));
    }
    return workspace.start({
      argv: agent.argv.map((word) => textAt(word, place)),
      env: { ...defaultEnvironment(place), ...textsAt(agent.env, place) },
      // The session ends before, and tells the agent.
      timeoutSeconds: agent.seconds + 60,
      ...{ keptBytes: 64 << 10, end, signal },
    });
  }

  private session({ stdio }: RunningProgram, cwd: string, prompt: string): AcpSession {
    const { authMethod } = this.parts.agent;
    const onAction = (action: AcpAction): void => {
      void this.write(() => this.noteAction(action)).catch(() => undefined);
    };
    return new AcpSession({ stdio, cwd, prompt, authMethod, onAction });
  }

  /** The end of the session, and of the program. Nothing of the agent runs after it. */
  private async untilEnd(
    session: AcpSession,
    running: RunningProgram,
    ending: AbortController,
  ): Promise<SessionAndProgram> {
    const { agent, signal } = this.parts;
    const cancel = (): void => session.end('cancelled');
    const timer = setTimeout(() => session.end('time'), agent.seconds * 1000);
    signal?.addEventListener('abort', cancel, { once: true });
    if (signal?.aborted === true) cancel();
    try {
      const spoken = await session.run();
      running.stdio.end();
      const late = setTimeout(() => ending.abort(), exitSeconds * 1000);
      const program = await running.done.finally(() => clearTimeout(late));
      return { spoken, program, isStopped: ending.signal.aborted };
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener('abort', cancel);
      running.stdio.destroy();
    }
  }

  private async made(
    workspace: WorkspaceOnR,
    proxy: ModelProxy,
    end: SessionAndProgram,
    began: number,
  ): Promise<MadeSession> {
    const { patch, leftOut } = await workspace.done(this.parts.signal);
    const { ending, why } = howItEnded(end, proxy);
    const made = this.step(end, { ending, why, proxy, patch, leftOut: [...leftOut] }, began);
    if (proxy.calls === 0 && patch === '') {
      try {
        this.mustHaveWorked(end, made, proxy);
      } catch (error) {
        await this.add({ step: 'session', key: this.keyOf('failed'), ...made });
        throw error;
      }
    }
    return made;
  }

  /** @throws what keeps an agent from working, where it has done nothing: the next run tries again */
  private mustHaveWorked(
    { program: { output } }: SessionAndProgram,
    { ending, why }: MadeSession,
    proxy: ModelProxy,
  ): void {
    const { agent } = this.parts;
    if (proxy.end === 'run cost') {
      throw new BudgetSpent("the budget is too small for the agent's first request", 'run');
    }
    if (proxy.failure !== undefined) throw proxy.failure;
    if (ending === 'finished' || ending === 'refused') return;
    const what = ending === 'cost' ? 'its first request could exceed the budget' : why;
    const next =
      agent.program === undefined
        ? agent.advice
        : `Check whether ${agent.argv.map(wordForShell).join(' ')} starts with the program in ${agent.program}`;
    const said = output.trimEnd().slice(-shownOfError).split('\n').map(withoutControl).join('\n');
    throw new HumanError(
      `${agent.title} did nothing (${ending}${what === '' ? '' : `: ${what}`})`,
      said === '' ? next : `${next}. Its standard error ends:\n${said}`,
    );
  }

  private step(
    { spoken, program }: SessionAndProgram,
    of: {
      readonly ending: AcpEnding;
      readonly why: string;
      readonly proxy?: ModelProxy;
      readonly patch: string;
      readonly leftOut: [string, string][];
    },
    began: number,
  ): MadeSession {
    const { agent, model, programDigest } = this.parts;
    const { ending, why, proxy, patch, leftOut } = of;
    const refused = [...(proxy?.refused ?? [])];
    return {
      ...{ agent: agent.name, model, ending, why, patch, leftOut },
      ...(spoken.program !== undefined && { program: spoken.program }),
      ...(programDigest !== undefined && { programDigest }),
      answers: this.answers.map(({ key }) => key),
      output: bounded(program.output, 4000),
      ...(refused.length > 0 && { refused }),
      seconds: (performance.now() - began) / 1000,
    };
  }

  /** A session that the user ends is in the trace, and begins again. */
  private async noteCancelled(end: SessionAndProgram, began: number): Promise<void> {
    const made = this.step(end, { ending: 'cancelled', why: '', patch: '', leftOut: [] }, began);
    await this.add({ step: 'session', key: this.keyOf('cancelled'), ...made });
  }

  /** Adds to the trace, one thing after the other. The end of the session throws what goes wrong. */
  private write(work: () => Promise<void>): Promise<void> {
    const written = this.writing.then(work);
    this.writing = written;
    written.catch(() => undefined);
    return written;
  }

  private keyOf(...of: readonly unknown[]): string {
    return keyOf(this.parts.key, this.attempt, ...of);
  }

  private async add(step: object): Promise<Step> {
    const { trace, instance } = this.parts;
    const whole = { ...step, at: new Date().toISOString(), instance: instance.id } as Step;
    await trace.add(whole);
    return whole;
  }

  private async notePrompt(
    { system, messages }: ProxiedExchange['asked'],
    exchange?: ProxiedExchange,
  ): Promise<string> {
    const isNew = (text: string): boolean => {
      const digest = sha256(text);
      if (text === '' || this.known.has(digest)) return false;
      this.known.add(digest);
      return true;
    };
    const shown = messages
      .filter(({ role, content }) => isNew(`${role} ${content}`))
      .map(({ role, content }) => ({ role, content: bounded(content, messageLimit) }));
    const key = this.keyOf('prompt', this.answers.length, randomUUID());
    const { removed = [], tools, inputEstimate: tokens = 0 } = exchange ?? {};
    await this.add({
      ...{ step: 'prompt', key, purpose: 'act', prompt: keyOf(system, messages) },
      ...{ system: isNew(system) ? bounded(system, messageLimit) : '', messages: shown },
      ...{ files: [], tokens },
      ...(removed.length > 0 && { removed: [...removed] }),
      ...(tools !== undefined && { offeredTools: tools }),
    });
    return key;
  }

  /** Writes an answer down before the agent can continue from it. */
  private async noteExchange(exchange: ProxiedExchange): Promise<void> {
    const { agent, model, reporter, instance } = this.parts;
    const { asked, answer, mostOutput, seconds } = exchange;
    // A request beside the conversation, such as one for a title, tells nothing of the actions.
    if (exchange.tools > 0 || exchange.results.length > 0) {
      await this.tellOutcomes(exchange.results);
    }
    const prompt = await this.notePrompt(asked, exchange);
    const step = await this.add({
      ...{ step: 'answer', key: this.keyOf('answer', this.answers.length, prompt) },
      ...{ purpose: 'act', method: agent.name, model, sample: 1 },
      parameters: { temperature: null, maxOutputTokens: mostOutput },
      ...{ prompt, ...answer, text: bounded(answer.text, messageLimit), seconds },
    });
    this.answers.push(step as AnswerStep);
    reporter.progress(`${instance.id}: ${agent.title}, answer ${this.answers.length}`);
  }

  private async noteAction(action: AcpAction): Promise<void> {
    const noted = { ...action, answer: this.answers.at(-1)?.key ?? '' };
    if (action.isShown && this.untold.length === 0) await this.addAction(noted);
    else this.untold.push(noted);
  }

  /** Adds the actions that waited for their outcome, in their order. */
  private async tellOutcomes(results: readonly ToolResult[]): Promise<void> {
    const actions = this.untold;
    this.untold = [];
    const rest = results.filter(({ id }) => !actions.some((action) => isOf(id, action)));
    for (const action of actions) {
      const result = results.find(({ id }) => isOf(id, action)) ?? rest.shift();
      await this.addAction(action.isShown ? action : withOutcome(action, result));
    }
  }

  private async addAction({ id: _, isShown: _shown, ...action }: UntoldAction): Promise<void> {
    const { agent, model, onAct } = this.parts;
    const step = await this.add({
      ...{ step: 'act', key: this.keyOf('act', this.actions++), agent: agent.name, model },
      ...action,
      // What the files are meanwhile is not known: the agent may be writing them.
      ...{ isSubmission: false, patch: '', leftOut: [] },
    });
    onAct?.(step as ActStep);
  }
}

/** An action with the key of the answer that it comes from. */
type UntoldAction = AcpAction & { readonly answer: string };

/** Whether a result is that of an action: agents put more around the ids of calls. */
const isOf = (id: string, action: AcpAction): boolean =>
  id !== '' && action.id?.includes(id) === true;

function withOutcome(action: UntoldAction, result: ToolResult | undefined): UntoldAction {
  if (result === undefined) return action;
  const { call } = action;
  return {
    ...action,
    observation: bounded(result.text, observationLimit),
    call: {
      ...call,
      isError: call.isError || result.isError || saysFailed(call.name, result.text),
    },
  };
}

interface SessionAndProgram {
  readonly spoken: AcpSessionEnd;
  readonly program: CommandResult;
  /** Whether the program had to be stopped after its session. */
  readonly isStopped: boolean;
}

const endingOfProxy = ({ end, unusable }: ModelProxy): AcpEnding =>
  unusable !== undefined ? 'crashed' : end === 'calls' ? 'calls' : 'cost';

/** How a session ended: a limit that was reached says more than what the agent made of it. */
function howItEnded(
  { spoken, program, isStopped }: SessionAndProgram,
  proxy: ModelProxy,
): { readonly ending: AcpEnding; readonly why: string } {
  const lastLine = program.output.trim().split('\n').at(-1)?.slice(0, 300) ?? '';
  const details = [
    spoken.why,
    ...program.remarks,
    // An agent that did nothing is shown with more of its standard error.
    ...(spoken.ending === 'crashed' && proxy.calls > 0 ? [lastLine] : []),
  ];
  const why = details.filter((each) => each !== undefined && each !== '').join('; ');
  const of = (ending: AcpEnding) => ({ ending, why });
  if (program.ending === 'disk full') return of('disk');
  if (program.ending === 'out of memory') return of('memory');
  if (program.ending === 'too many processes') return of('processes');
  if (program.ending === 'too much output' || spoken.ending === 'output') return of('output');
  if (program.ending === 'timed out' && !isStopped) return of('time');
  if (proxy.end !== undefined) return of(endingOfProxy(proxy));
  if (spoken.ending === 'crashed' && program.remarks.some((each) => each.includes('memory'))) {
    return of('memory');
  }
  return of(spoken.ending);
}
