import { HumanError } from '../../domain/work';
import { plural } from '../../domain/text';
import type { TypicalTokens } from '../estimate/walk';
import { isUnknown } from '../estimate/unknownText';
import { inputTokensOf } from '../models/answering';
import { dollarsOf, type Price } from '../models/budget';
import { ContextExceeded, type ChatModel, type ChatRequest } from '../models/chatModel';
import { writesCallsAsText } from '../models/reasoning';
import type { ModelView } from '../modelView';
import { isUsable, hasContent, whyWithoutText } from './emptyAnswers';
import type { LiveSteps, Queue, StepsParts } from './stepsParts';
import type { ToolRequest } from '../toolCalls/toolRun';
import { keyOf, type AnswerStep, type StepOf } from '../trace';
import type { Step } from '../traces/traceSteps';

/** How an answer is asked for. */
export interface Asked {
  /** The way of asking, which is part of the answer's key. */
  readonly method: string;
  /** Number of the sample, from 1. */
  readonly sample: number;
  readonly temperature: number | undefined;
  /** Of the method; a run may say otherwise. */
  readonly topP?: number | undefined;
  /** Whether there are further samples of the same prompt. */
  readonly isReused?: boolean | undefined;
  /** For an estimate. */
  readonly typical?: TypicalTokens;
}

/** What is asked. */
type Asking = Omit<ToolRequest, 'tools'> &
  Partial<Pick<ToolRequest, 'tools'>> &
  Pick<ChatRequest, 'answerSchema'> &
  Pick<StepOf<'prompt'>, 'prompt' | 'oracle'> &
  Partial<Pick<StepOf<'prompt'>, 'tokens'>>;

/** The fields of a step beyond those that every step has. */
export type Made<Kind extends Step['step']> = Omit<
  StepOf<Kind>,
  'step' | 'key' | 'at' | 'instance'
>;

interface Recalling<Kind extends Step['step']> {
  /** Whether a step from the trace is still valid. */
  readonly isGood?: (step: StepOf<Kind>) => boolean;
  /** Delays making the step until there is capacity. */
  readonly within?: Queue | undefined;
  /** What a walk takes for a step that only a run can make. */
  readonly supposed?: Made<Kind>;
}

/** Times that a prompt is made shorter for one answer. */
const mostShortened = 5;
/** Times that a request is sent while its answer has no text. */
const mostTries = 3;
/** How much more an answer may have whose reasoning has taken all. */
const largerOutput = 4;

/**
 * What methods are made of: recall a step from the trace, ask a model, look at R. A step that is in
 * the trace is taken from there; any other is made, and is in the trace before another begins that
 * depends on it.
 */
export class Steps {
  /** What the trace has of an agent's interrupted run; undefined once it was reported. */
  private recalled: { answers: number; actions: number } | undefined = { answers: 0, actions: 0 };
  private readonly underWay = new Map<string, Promise<Step>>();
  private digestOfR: Promise<string> | undefined;
  /** Keys of what is paid for while stages are made; a set for each stage under way. */
  private readonly origins = new Set<Set<string>>();

  constructor(readonly parts: StepsParts) {}

  /** The issue and repository, as every prompt has them. */
  get instance(): StepsParts['instance'] {
    return this.parts.instance;
  }

  /** Tokens of a whole prompt, at most. */
  get contextTokens(): number {
    return Math.min(this.parts.contextTokens, this.room() ?? Infinity);
  }

  /** Shows the user a message about this instance. */
  tell(line: string): void {
    this.parts.reporter.log(`${this.instance.id}: ${line}`);
  }

  progress(text: string): void {
    this.parts.reporter.progress(`${this.instance.id}: ${text}`);
  }

  /** What a method sees of the instance; a replay has none. */
  view(): Promise<ModelView> {
    const { live } = this.parts;
    if (live === undefined) throw new Error('a replay has no view of an instance');
    return live.view();
  }

  /** Identifies the tree of R. */
  tree(): Promise<string> {
    this.digestOfR ??= this.recallTree();
    return this.digestOfR;
  }

  private async recallTree(): Promise<string> {
    const { instance, live } = this.parts;
    const now = live === undefined ? undefined : (await live.view()).tree.digest;
    const make = async () => ({ tree: now ?? '' });
    const isGood = (step: StepOf<'tree'>): boolean => step.tree === now;
    return (await this.recall('tree', keyOf('tree', instance), make, { isGood })).tree;
  }

  /** Whether a text stands for one that nobody has written yet, which only a walk meets. */
  supposes(text: string): boolean {
    return this.parts.walk !== undefined && isUnknown(text);
  }

  /** The most tokens of a prompt, by our tokenizer; undefined where the window is unknown. */
  room(): number | undefined {
    const { live, maxInputTokens, maxOutputTokens } = this.parts;
    // What a model of the editor takes is in its own tokens.
    const stated = maxInputTokens === undefined ? undefined : Math.floor(0.85 * maxInputTokens);
    const learned = live?.model.room?.(maxOutputTokens);
    return stated === undefined || learned === undefined
      ? (stated ?? learned)
      : Math.min(stated, learned);
  }

  /**
   * Asks with a prompt that has room in the model's window. A prompt that the server refuses as too
   * long is made once more with fewer files. An answer to a longer prompt in the trace stays.
   */
  async askFitting(
    purpose: AnswerStep['purpose'],
    promptOf: (contextTokens: number) => Promise<StepOf<'prompt'>>,
    asked: Asked,
  ): Promise<AnswerStep> {
    let { contextTokens } = this.parts;
    for (let tries = 1; ; tries += 1) {
      const prompt = await promptOf(contextTokens);
      const room = this.room();
      const isTooLong = room !== undefined && prompt.tokens > room && contextTokens > room;
      if (isTooLong && this.known(purpose, prompt, asked) === undefined) {
        contextTokens = room;
        continue;
      }
      try {
        return await this.ask(purpose, prompt, asked);
      } catch (error) {
        if (!(error instanceof ContextExceeded) || tries === mostShortened) throw error;
        contextTokens = Math.min(this.room() ?? Infinity, Math.floor(0.75 * prompt.tokens));
      }
    }
  }

  /** The answer to a request that says something, if the trace has it. */
  known(
    purpose: AnswerStep['purpose'],
    prompt: Pick<StepOf<'prompt'>, 'prompt' | 'oracle'>,
    asked: Asked,
  ): AnswerStep | undefined {
    const known = this.parts.trace.find('answer', this.identify(purpose, prompt, asked).key);
    return known !== undefined && hasContent(known) ? known : undefined;
  }

  /** Sends a request, again where its answer says nothing. */
  async ask(purpose: AnswerStep['purpose'], asking: Asking, asked: Asked): Promise<AnswerStep> {
    const { live, walk } = this.parts;
    const { prompt, system, messages, tools, answerSchema } = asking;
    const { key, of } = this.identify(purpose, asking, asked);
    if (walk !== undefined && this.known(purpose, asking, asked) === undefined) {
      const counts = await walk.count({ ...of, ...asking, ...asked, key }, this.parts);
      const common = { step: 'answer', key, at: '', instance: this.instance.id } as const;
      return this.used({ ...common, ...of, prompt, ...counts, finish: 'stop', seconds: 0 });
    }
    const { temperature: _, ...parameters } = of.parameters;
    const { temperature, isReused } = asked;
    let request: ChatRequest = {
      ...parameters,
      ...{ system, messages, tools, answerSchema, temperature, isReused },
    };
    for (let tries = 1; ; tries += 1) {
      const attempt = (this.parts.trace.find('answer', key)?.attempt ?? 0) + 1;
      const answer = await this.recall(
        'answer',
        key,
        async ({ model }) => {
          const { sentMaxOutputTokens: sent, ...said } = await this.complete(model, request, of);
          const { maxOutputTokens } = request;
          const limits = { ...of.parameters, maxOutputTokens: sent ?? maxOutputTokens };
          const isWritten =
            tools !== undefined && said.calls === undefined && writesCallsAsText(said.text);
          return {
            ...{ ...of, parameters: limits, prompt, attempt, ...said },
            ...(isWritten && { hasCallsAsText: true }),
          };
        },
        // The turn lasts until the answer is on the disk; only then may the next request start.
        { within: live?.inTurn, isGood: (known) => isUsable(known, mostTries) },
      );
      const isOnlyReasoning = !hasContent(answer) && answer.finish === 'length';
      // The same limit would end in the same place, so there is one more try, with more room.
      const mostHere = isOnlyReasoning ? 2 : mostTries;
      if (hasContent(answer) || live === undefined || tries >= mostHere) {
        return this.used(answer);
      }
      if (isOnlyReasoning) {
        request = { ...request, maxOutputTokens: largerOutput * request.maxOutputTokens };
      }
    }
  }

  private used(answer: AnswerStep): AnswerStep {
    if (!this.supposes(answer.text)) this.parts.onAnswer?.(answer);
    this.addOrigin(answer.key);
    return answer;
  }

  /** The key of an answer, and the fields of its step that say how it was asked for. */
  private identify(
    purpose: AnswerStep['purpose'],
    { prompt, oracle }: Pick<StepOf<'prompt'>, 'prompt' | 'oracle'>,
    asked: Asked,
  ) {
    const { model, maxOutputTokens, settings = {} } = this.parts;
    const { method, sample, temperature } = asked;
    const { topP = asked.topP, reasoningEffort, body } = settings;
    const parameters = {
      temperature: temperature ?? null,
      ...(topP !== undefined && { topP }),
      maxOutputTokens,
      ...(reasoningEffort !== undefined && { reasoningEffort }),
      ...(body !== undefined && { body: { ...body } }),
    };
    const key = keyOf('answer', method, model, parameters, prompt, sample);
    const marked = oracle === true ? { oracle } : {};
    return { key, of: { purpose, method, model, sample, parameters, ...marked } };
  }

  /** Sends the request, and books its cost. */
  private async complete(
    model: ChatModel,
    request: ChatRequest,
    { purpose, method, sample }: Pick<AnswerStep, 'purpose' | 'method' | 'sample'>,
  ) {
    const { budget, price, signal, reporter, onText } = this.parts;
    const { id } = this.instance;
    const most = await mostOf(request, price, model.ratio ?? 1);
    const settle = await budget.reserve(most);
    let cost = { tokens: 0, dollars: 0 };
    try {
      const started = performance.now();
      this.progress(`requesting an answer from ${this.parts.model} (${method}, sample ${sample})`);
      const said = await model.complete(request, {
        ...{ signal, reporter, mostTokens: most.tokens },
        onText: (piece) => onText?.({ instance: id, purpose, sample }, piece),
      });
      cost = { tokens: said.inputTokens + said.outputTokens, dollars: said.dollars ?? 0 };
      if (!hasContent(said)) this.tell(whyWithoutText(said));
      else if (said.finish === 'length') {
        this.tell(`the answer was cut off at ${request.maxOutputTokens} tokens`);
      } else if (said.finish === 'refused') {
        this.tell('the model refused to answer');
      }
      return { ...said, seconds: (performance.now() - started) / 1000 };
    } finally {
      settle(cost);
    }
  }

  /** What work makes, with the keys of what is paid for meanwhile. */
  async withOrigin<Output>(make: () => Promise<Output>) {
    const from = new Set<string>();
    this.origins.add(from);
    try {
      return { output: await make(), from: [...from] };
    } finally {
      this.origins.delete(from);
    }
  }

  /** Notes that something is paid for, for all that is made meanwhile. */
  addOrigin(key: string): void {
    for (const origin of this.origins) origin.add(key);
  }

  /** Returns the step from the trace. Otherwise calls `make` and adds its result to the trace. */
  async recall<Kind extends Step['step']>(
    kind: Kind,
    key: string,
    make: (live: LiveSteps) => Promise<Made<Kind>>,
    { isGood = () => true, within = (work) => work(), supposed }: Recalling<Kind> = {},
  ): Promise<StepOf<Kind>> {
    const { instance, live, trace, walk } = this.parts;
    const known = trace.find(kind, key);
    if (known !== undefined && (live === undefined || isGood(known))) {
      this.countRecalled(known);
      return known;
    }
    const stepOf = (made: Made<Kind>, at: string): StepOf<Kind> =>
      ({ step: kind, key, at, instance: instance.id, ...made }) as unknown as StepOf<Kind>;
    if (walk !== undefined && supposed !== undefined) return stepOf(supposed, '');
    if (live === undefined) {
      throw new HumanError(
        `${instance.id}: the trace has no ${nameOf[kind]} for this request`,
        'Use the same method, model and options as the original run, or omit --replay',
      );
    }
    const name = `${kind} ${key}`;
    const waiting = this.underWay.get(name);
    if (waiting !== undefined) return waiting as Promise<StepOf<Kind>>;
    this.tellGoingOn();
    const making = within(async () => {
      const made = await make(live);
      const step = stepOf(made, new Date().toISOString());
      await trace.add(step);
      return step;
    });
    this.underWay.set(name, making);
    try {
      return await making;
    } finally {
      this.underWay.delete(name);
    }
  }

  /** Counts what an agent has from the trace of an interrupted run. */
  private countRecalled(known: Step): void {
    if (this.recalled === undefined) return;
    if (known.step === 'act') this.recalled.actions += 1;
    if (known.step === 'answer' && known.purpose === 'act') this.recalled.answers += 1;
  }

  /** Says once, before the first new step, that the run of an agent continues. */
  private tellGoingOn(): void {
    const { answers = 0, actions = 0 } = this.recalled ?? {};
    if (answers === 0) return;
    this.recalled = undefined;
    const has = `${plural(answers, 'answer')} and ${plural(actions, 'action')}`;
    this.tell(`resuming from its trace, which has ${has}`);
  }
}

const nameOf: Readonly<Record<Step['step'], string>> = {
  tree: 'tree of R',
  prompt: 'prompt',
  answer: 'answer',
  workspace: 'workspace',
  begin: 'beginning of the agent',
  act: 'action of the agent',
  session: 'session of the agent',
  patch: 'patch',
  run: 'run on R',
  verdict: 'verdict of the oracle',
  fix: 'verdict of the oracle on a fix',
  stage: 'output of the stage',
  embedding: 'request for vectors',
  choice: 'choice',
};

/** A price without the discount of a cache, and with what writing to one adds. */
const dearest = ({ input, output, cacheWrite = input }: Price): Price => ({
  input: Math.max(input, cacheWrite),
  output,
});

/**
 * The most that a request can cost, with a margin of a tenth for other tokenizers.
 *
 * @param ratio the server's tokens for one of ours
 */
async function mostOf(
  request: ChatRequest,
  price: Price | undefined,
  ratio: number,
): Promise<{ tokens: number; dollars: number }> {
  const input = Math.ceil((await inputTokensOf(request)) * Math.max(1, ratio) * 1.1);
  const counts = { inputTokens: input, outputTokens: request.maxOutputTokens };
  const dollars = price === undefined ? 0 : dollarsOf(dearest(price), counts);
  return { tokens: input + request.maxOutputTokens, dollars };
}
