import { SandboxUnusable } from '../../engine/engine';
import type { Reporter } from '../../domain/work';
import { tokenCounter } from '../prompt/tokens';
import type { ActStep, AnswerStep } from '../trace';
import { BudgetSpent } from '../models/budget';
import { ContextExceeded, type ChatMessage } from '../models/chatModel';
import type { AgentKind, AgentObservation, AgentOf, AgentTurn } from './agent';
import { AgentUse } from './agentUse';

/**
 * How the run of an agent ended: it submitted, called no tool any more, had no try left, or reached a
 * limit.
 */
export type AgentEnding =
  | 'submitted'
  | 'stopped'
  | 'given up'
  | 'calls'
  | 'cost'
  | 'context'
  | 'format';

/** What an act adds to its trace. */
export type MadeAct = Pick<
  ActStep,
  | 'thought'
  | 'action'
  | 'call'
  | 'observation'
  | 'isSubmission'
  | 'state'
  | 'seconds'
  | 'patch'
  | 'leftOut'
> & { readonly isGivenUp?: boolean; readonly isRestarted?: boolean };

/** The outcome of a whole run. */
export interface AgentEnd {
  readonly ending: AgentEnding;
  readonly calls: number;
  /** The last answer; undefined when there was none. */
  readonly answer: AnswerStep | undefined;
  /** What differs from R at the end, as a unified diff. */
  readonly patch: string;
  /** Paths that the diff does not hold, with the reason. */
  readonly leftOut: readonly (readonly [string, string])[];
}

export interface AgentRunParts<Kind extends AgentKind> {
  readonly agent: AgentOf<Kind>;
  readonly task: Kind['task'];
  /** The state before the first turn. */
  readonly first: Kind['state'];
  /** Asks the model, or takes the answer from the trace. */
  readonly ask: (
    system: string,
    messages: readonly ChatMessage[],
    attempt: number,
    answerSchema?: Readonly<Record<string, unknown>>,
  ) => Promise<AnswerStep>;
  /** Does what `make` does, or takes it from the trace. `before` is the act before it. */
  readonly act: (
    answer: AnswerStep,
    before: ActStep | undefined,
    make: () => Promise<MadeAct>,
  ) => Promise<ActStep>;
  /** Opens a workspace on R. */
  readonly open: () => Promise<Kind['workspace']>;
  /**
   * Whether variables and processes are lost with a workspace, of which the agent is told when it is made
   * again.
   */
  readonly losesOnRestart: boolean;
  readonly signal?: AbortSignal | undefined;
  readonly reporter: Pick<Reporter, 'progress'>;
}

/** Losses of the workspace that a run continues after: a command may end its container each time. */
const mostLosses = 3;

/**
 * One run of an agent on one instance: budget, calls, format errors, history, ending. The trace holds
 * each answer and each act before the next one begins, so that a killed run resumes there. The workspace
 * is opened for the first act that the trace lacks.
 */
export class AgentRun<Kind extends AgentKind> {
  private readonly turns: AgentTurn<Kind['state']>[] = [];
  private last: ActStep | undefined;
  private answer: AnswerStep | undefined;
  private readonly use: AgentUse;
  private losses = 0;
  private workspace: Kind['workspace'] | undefined;

  constructor(private readonly parts: AgentRunParts<Kind>) {
    this.use = new AgentUse(parts.task.limits);
  }

  /** @throws HumanError where there is no workspace, ModelFailure, BudgetSpent, Cancelled */
  async toEnd(): Promise<AgentEnd> {
    try {
      return this.end(await this.untilEnding());
    } finally {
      await this.workspace?.dispose();
    }
  }

  private async untilEnding(): Promise<AgentEnding> {
    for (;;) {
      const said = await this.nextAnswer();
      if (typeof said === 'string') return said;
      const { answer, thought, action } = said;
      const { last } = this;
      this.tell(action);
      this.last = await this.parts.act(answer, last, () => this.make(thought, action));
      const { observation, isSubmission, isGivenUp } = this.last;
      this.turns.push({ answer: answer.text, observation, state: this.state() });
      if (isSubmission) return 'submitted';
      if (isGivenUp === true) return 'given up';
    }
  }

  private end(ending: AgentEnding): AgentEnd {
    const { last, answer, use } = this;
    return {
      ending,
      calls: use.calls,
      answer,
      patch: last?.patch ?? '',
      leftOut: last?.leftOut ?? [],
    };
  }

  /** The next answer that keeps the format, or the ending that there is instead. */
  private async nextAnswer(): Promise<
    AgentEnding | { readonly answer: AnswerStep; readonly thought: string; readonly action: string }
  > {
    const { agent, task } = this.parts;
    const state = this.state();
    const system = agent.system(task, state);
    // Format errors are at the end of one request and never in the history.
    const asked = await agent.messages(task, this.turns, state);
    for (let errors = 0; ;) {
      const reached = await this.limitReached(system, asked);
      if (reached !== undefined) return reached;
      const answer = await this.askWithinLimits(system, asked);
      if (typeof answer === 'string') return answer;
      this.answer = answer;
      this.use.add(answer);
      const parsed = agent.parse(answer.text, state);
      if (!('problem' in parsed)) return { answer, ...parsed };
      errors += 1;
      if (errors >= agent.formatErrors) return 'format';
      asked.push(
        // Providers refuse messages without a text.
        { role: 'assistant', content: answer.text.trim() === '' ? '(no text)' : answer.text },
        { role: 'user', content: parsed.problem },
      );
    }
  }

  /** The next answer, or the limit of the instance or of the model's window that is in its way. */
  private async askWithinLimits(
    system: string,
    messages: readonly ChatMessage[],
  ): Promise<AnswerStep | 'cost' | 'context'> {
    try {
      const schema = this.parts.agent.answerSchema?.(this.state());
      return await this.parts.ask(system, messages, this.use.calls + 1, schema);
    } catch (error) {
      if (error instanceof BudgetSpent && error.of === 'instance') return 'cost';
      if (error instanceof ContextExceeded && this.answer !== undefined) return 'context';
      throw error;
    }
  }

  private async limitReached(
    system: string,
    messages: readonly ChatMessage[],
  ): Promise<AgentEnding | undefined> {
    const { limits } = this.parts.task;
    if (this.use.reached !== undefined) return this.use.reached;
    const count = await tokenCounter();
    const tokens = [system, ...messages.map(({ content }) => content)].reduce(
      (total, text) => total + count(text),
      0,
    );
    return tokens > limits.contextTokens ? 'context' : undefined;
  }

  private tell(action: string): void {
    const { agent, task, reporter } = this.parts;
    const [line = ''] = action.split('\n');
    reporter.progress(
      `${agent.title}, call ${this.use.calls} of at most ${task.limits.calls}: ${line.slice(0, 80)}`,
    );
  }

  private async make(thought: string, action: string): Promise<MadeAct> {
    const started = performance.now();
    const isRestart =
      this.parts.losesOnRestart && this.workspace === undefined && this.last !== undefined;
    const observation = await this.observe(action);
    const note = isRestart ? `${restarted('The workspace')}\n` : '';
    const { patch, leftOut } = await this.opened().then((workspace) =>
      workspace.done(this.parts.signal),
    );
    return {
      thought,
      action,
      observation: note + observation.text,
      isSubmission: observation.isSubmission === true,
      state: observation.state,
      seconds: (performance.now() - started) / 1000,
      patch,
      leftOut: [...leftOut],
      ...(observation.isGivenUp === true && { isGivenUp: true }),
      ...(isRestart && { isRestarted: true }),
    };
  }

  private async observe(action: string): Promise<AgentObservation<Kind['state']>> {
    const { agent, task, signal } = this.parts;
    const state = this.state();
    try {
      return await agent.act(action, { workspace: await this.opened(), task, state, signal });
    } catch (error) {
      if (!(error instanceof SandboxUnusable) || ++this.losses > mostLosses) throw error;
      await this.workspace?.dispose();
      this.workspace = undefined;
      await this.opened();
      return { text: restarted('The command ended the workspace, which'), state };
    }
  }

  /** The state after the last act. The key of an act has its agent, so its state is of this kind. */
  private state(): Kind['state'] {
    return this.last?.state ?? this.parts.first;
  }

  /** The workspace, with the files and the folder of the last act. */
  private async opened(): Promise<Kind['workspace']> {
    if (this.workspace !== undefined) return this.workspace;
    const { open, signal } = this.parts;
    const workspace = await open();
    this.workspace = workspace;
    if (this.last !== undefined) await workspace.restore(this.last.patch, this.state(), signal);
    return workspace;
  }
}

const restarted = (what: string): string =>
  `[${what} has been restarted. The files of the repository are as they were before this command. Variables, background processes and files elsewhere are gone.]`;
