import type { Reporter } from '../../domain/work';
import type { AgentLimits } from '../agents/agent';
import type { AgentEnd, AgentEnding, MadeAct } from '../agents/agentRun';
import { AgentUse } from '../agents/agentUse';
import type { ModelView } from '../modelView';
import {
  ContextExceeded,
  ModelFailure,
  type ChatMessage,
  type OfferedTool,
  type ToolCall,
  type ToolCallResult,
} from '../models/chatModel';
import { TestsCannotRun } from '../testsOfModels';
import { tokenCounter } from '../prompt/tokens';
import type { ActStep, AnswerStep } from '../trace';
import { callTool, candidateInMemory, type ToolAnswer } from '../tools/tool';
import { readIssue } from '../tools/readIssue';
import { offer, tools, unknownTool } from '../tools/tools';
import { ToolHistory } from './toolHistory';
import { firstMessage, noCandidate, notWhole, systemPrompt, tooManyCalls } from './toolPrompts';

/** What a model that calls tools may use on one instance. */
export type ToolLimits = Pick<AgentLimits, 'calls' | 'dollars' | 'contextTokens'>;

/** Answers in a row without a whole call, and without an end, that end the run. */
const mostWithoutCall = 3;
/** Maximum number of calls of one answer that are made. */
const mostCallsOfAnswer = 20;

/** One request of the loop. */
export interface ToolRequest {
  readonly system: string;
  readonly messages: readonly ChatMessage[];
  readonly tools: readonly OfferedTool[];
}

interface ToolRunParts {
  readonly repo: string;
  /** Untrusted. */
  readonly issue: string;
  readonly limits: ToolLimits;
  /** Asks the model, or takes the answer from the trace. */
  readonly ask: (request: ToolRequest, attempt: number) => Promise<AnswerStep>;
  /**
   * Does what `make` does, or takes it from the trace.
   *
   * @param number the place of the call in the answer, from 1
   * @param before the act before it
   */
  readonly act: (
    answer: AnswerStep,
    number: number,
    before: ActStep | undefined,
    make: () => Promise<MadeAct>,
  ) => Promise<ActStep>;
  /** Opens the view of the instance; called for the first act that the trace lacks. */
  readonly view: () => Promise<ModelView>;
  /** Limit of one run of tests. */
  readonly timeoutSeconds: number;
  readonly signal?: AbortSignal | undefined;
  readonly reporter: Reporter;
}

/**
 * One run of a model that calls the tools on one instance. The trace holds each answer and each call
 * before the next one begins, so that a killed run resumes there. The model ends it by an answer
 * without a call.
 */
export class ToolRun {
  private readonly use: AgentUse;
  private readonly history: ToolHistory;
  private readonly system: string;
  // The first message has the issue.
  private readonly offered = offer(tools.filter((tool) => tool !== readIssue));
  private readonly candidate = candidateInMemory();
  private opened: Promise<ModelView> | undefined;
  private unrunnable: TestsCannotRun | undefined;
  private last: ActStep | undefined;
  private answer: AnswerStep | undefined;

  constructor(private readonly parts: ToolRunParts) {
    this.use = new AgentUse(parts.limits);
    this.history = new ToolHistory(firstMessage(parts));
    this.system = systemPrompt(parts.limits.calls);
  }

  /**
   * @throws HumanError where there is no view, or its tests cannot run; ModelFailure, ModelUnusable,
   *   BudgetSpent, Cancelled
   */
  async toEnd(): Promise<AgentEnd> {
    const ending = await this.untilEnding();
    const { answer, use } = this;
    const patch = await this.candidate.read();
    return { ending, calls: use.calls, answer, patch, leftOut: [] };
  }

  private async untilEnding(): Promise<AgentEnding> {
    for (let without = 0; without < mostWithoutCall;) {
      const reached = await this.limitReached();
      if (reached !== undefined) return reached;
      const { system, offered, history } = this;
      const request = { system, messages: history.messages, tools: offered };
      const answer = await this.nextAnswer(request);
      if (answer === undefined) return 'context';
      this.answer = answer;
      this.use.add(answer);
      const { calls, problem } = wholeCalls(answer);
      const results = await this.makeAll(answer, calls);
      const note = problem ?? (calls.length === 0 ? await this.whyNotTheEnd(answer) : undefined);
      if (calls.length === 0 && note === undefined) return 'stopped';
      history.add(answer, calls, results, note);
      without = calls.length === 0 ? without + 1 : 0;
    }
    if (this.answer?.hasCallsAsText === true && (await this.candidate.read()) === '') {
      throw new ModelFailure(
        `${this.answer.model} writes its calls as text: the server lacks a tool-call parser. Start it with one (vLLM: --enable-auto-tool-choice and --tool-call-parser), or choose a method that exchanges text`,
      );
    }
    return 'format';
  }

  /** The next answer; undefined where the history no longer fits into the model's window. */
  private async nextAnswer(request: ToolRequest): Promise<AnswerStep | undefined> {
    try {
      return await this.parts.ask(request, this.use.calls + 1);
    } catch (error) {
      if (error instanceof ContextExceeded && this.answer !== undefined) return undefined;
      throw error;
    }
  }

  private async limitReached(): Promise<AgentEnding | undefined> {
    const { use, system, offered, history } = this;
    if (use.reached !== undefined) return use.reached;
    const count = await tokenCounter();
    const rest = count(system) + count(JSON.stringify(offered));
    return history.makeRoom(this.parts.limits.contextTokens - rest, count) ? undefined : 'context';
  }

  /** What is said to an answer without a call; undefined when it is the end. */
  private async whyNotTheEnd({ finish }: AnswerStep): Promise<string | undefined> {
    const isEnd = finish === 'refused' || (await this.candidate.read()) !== '';
    return isEnd ? undefined : noCandidate;
  }

  /** Makes the calls of an answer one after the other, since `run_tests` runs what was applied before it. */
  private async makeAll(
    answer: AnswerStep,
    calls: readonly ToolCall[],
  ): Promise<readonly ToolCallResult[]> {
    const results: ToolCallResult[] = [];
    for (const [at, call] of calls.entries()) {
      this.tell(call);
      const thought = at === 0 ? answer.text.trim() : '';
      const act = await this.parts.act(answer, at + 1, this.last, () =>
        this.make(thought, call, at),
      );
      this.last = act;
      await this.candidate.apply(act.patch);
      const { id, name } = call;
      const isError = act.call?.isError === true;
      results.push({ id, name, text: act.observation, isError });
    }
    return results;
  }

  private async make(thought: string, call: ToolCall, at: number): Promise<MadeAct> {
    const started = performance.now();
    const { text, isError } =
      at < mostCallsOfAnswer
        ? await this.observe(call)
        : { text: tooManyCalls(mostCallsOfAnswer), isError: true };
    // Nothing that a run does not show counts: a method that runs tests needs an engine that can.
    if (this.unrunnable !== undefined) throw this.unrunnable;
    return {
      thought,
      action: actionText(call),
      call: { name: call.name, input: call.input, isError },
      observation: text,
      isSubmission: false,
      seconds: (performance.now() - started) / 1000,
      patch: await this.candidate.read(),
      leftOut: [],
    };
  }

  private async observe({ name, input }: ToolCall): Promise<ToolAnswer> {
    const { timeoutSeconds, signal, reporter } = this.parts;
    const tool = tools.find((each) => each.name === name);
    if (tool === undefined) return { text: `${unknownTool(name, tools)}.`, isError: true };
    const { candidate } = this;
    const view = await (this.opened ??= this.openView());
    return callTool(tool, view, input, { candidate, timeoutSeconds, signal, reporter });
  }

  /** The view, which remembers that tests cannot run, since the tool reports this to the model, not to its caller. */
  private async openView(): Promise<ModelView> {
    const view = await this.parts.view();
    return {
      ...view,
      runOnR: (...asked) =>
        view.runOnR(...asked).catch((error: unknown): never => {
          if (error instanceof TestsCannotRun) this.unrunnable = error;
          throw error;
        }),
    };
  }

  private tell(call: ToolCall): void {
    const { limits, reporter } = this.parts;
    const what = actionText(call).replace(/\s+/g, ' ').slice(0, 80);
    reporter.progress(`answer ${this.use.calls} of at most ${limits.calls}: ${what}`);
  }
}

/** The calls of an answer that can be made, and what is wrong with the others. */
function wholeCalls({ calls = [], finish, parameters }: AnswerStep): {
  readonly calls: readonly ToolCall[];
  readonly problem: string | undefined;
} {
  const whole = calls.filter(({ input }) => input !== undefined);
  const others = calls.filter(({ input }) => input === undefined).map(({ name }) => name);
  const isCut = finish === 'length';
  const isWhole = others.length === 0 && (whole.length > 0 || !isCut);
  const tokens = parameters.maxOutputTokens;
  return { calls: whole, problem: isWhole ? undefined : notWhole(others, { isCut, tokens }) };
}

/** A call as the user reads it: the name, and each argument with its text as it is. */
function actionText({ name, input }: ToolCall): string {
  if (typeof input !== 'object' || input === null || Array.isArray(input)) {
    return `${name} ${JSON.stringify(input)}`;
  }
  const shown = Object.entries(input).map(([key, value]: [string, unknown]) => {
    const text = typeof value === 'string' ? value : JSON.stringify(value);
    return text.includes('\n') ? `${key}:\n${text}` : `${key}: ${text}`;
  });
  return [name, ...shown].join('\n');
}
