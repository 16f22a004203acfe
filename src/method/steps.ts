import type { z } from 'zod';
import { isFailure, type TestResult } from '../domain/outcome';
import { HumanError, type Reporter } from '../domain/work';
import { plural } from '../domain/text';
import { workerPool } from '../engine/workerPool';
import { isTestPath } from '../patch/testFiles';
import { findTests } from '../python/tests';
import { acpPromptVersion } from './acp/acpPrompt';
import { AcpRun, type AcpAgent, type AcpLimits } from './acp/acpRun';
import type { AgentKind, AgentOf, LimitProfile, ShellAgent, TextAgent } from './agents/agent';
import { AgentRun, type AgentEnd, type AgentRunParts } from './agents/agentRun';
import type { GivenContext } from './given/givenContext';
import { givenPrompt } from './given/givenPrompt';
import { embedDocuments, tokensToEmbed } from './models/embedDocuments';
import type { EmbeddingUse } from './models/embeddingUse';
import type { GoldenAnswer } from './given/goldenAnswer';
import type { ModelView, RunsOnR } from './modelView';
import { inputTokensOf } from './models/answering';
import { dollarsOf, type Budget, type Price } from './models/budget';
import {
  ContextExceeded,
  type ChatMessage,
  type ChatModel,
  type ChatRequest,
  type RequestSettings,
} from './models/chatModel';
import { writesCallsAsText } from './models/reasoning';
import type { ModelUpstream } from './models/openModel';
import type { EmbeddingModel } from './models/embeddingModel';
import { packFiles } from './pack';
import {
  candidatePrompt,
  fixPrompt,
  goingOn,
  judgePrompt,
  promptVersion,
  readJudgement,
  type CandidateFormat,
  type Exchange,
  type Prompt,
} from './prompts';
import { mostShownFailures, shownFailures } from './refining/shownFailures';
import { rankFiles } from './searchIndex';
import { shorterHistories } from './agents/shorterHistories';
import type { Oracle } from './oracle';
import type { RunOnROptions } from './runOnR';
import { tokenCounter } from './tokens';
import type { FilesOnR } from './agents/filesOnR';
import type { WorkspaceOnR } from './agents/workspaceOnR';
import { toolPromptVersion } from './toolCalls/toolPrompts';
import { ToolRun, type ToolLimits, type ToolRequest } from './toolCalls/toolRun';
import { keyOf, type StepOf, type MethodTrace } from './trace';
import type { Step } from './traceSteps';

export type AnswerStep = StepOf<'answer'>;
export type PatchStep = StepOf<'patch'>;
export type RunStep = StepOf<'run'>;
export type VerdictStep = StepOf<'verdict'>;
export type FixStep = StepOf<'fix'>;
type ActStep = StepOf<'act'>;

/** Called with what differs from R after an action of an agent, each time that it changes. */
type OnPatch = ((answer: AnswerStep, patch: PatchStep) => void) | undefined;

/** The steps of which the methods consist. A step that is in the trace is taken from there. */
export interface Steps {
  /** Asks for one candidate. */
  sample(asked: {
    readonly format: CandidateFormat;
    /** Number of the sample, from 1. */
    readonly sample: number;
    readonly temperature: number | undefined;
    /** In a setting of Table 5, what the prompt is given. */
    readonly given?: GivenContext;
    /** An earlier answer, and what is said about it, after the prompt. */
    readonly after?: Exchange;
    /** Whether there are further samples of the same prompt. */
    readonly isReused?: boolean;
  }): Promise<AnswerStep>;
  /** Asks for one candidate in a prompt of the method's own, with the files that fit the issue best. */
  sampleWith(asked: {
    /** The way of asking, which is part of the answer's key. */
    readonly method: string;
    readonly write: (files: string) => Prompt;
    /** Number of the sample, from 1. */
    readonly sample: number;
    readonly temperature: number | undefined;
  }): Promise<AnswerStep>;
  /**
   * Asks for one code patch, in a prompt with the files that fit the issue best. A prompt for a
   * unified diff has no tests, as in SWE-bench.
   */
  sampleFix(asked: Omit<Parameters<Steps['sample']>[0], 'given' | 'after'>): Promise<AnswerStep>;
  /** What a request for a candidate has, without asking. */
  foresee(asked: Omit<Parameters<Steps['sample']>[0], 'after'>): Promise<ForeseenRequest>;
  /** What a request for a fix has, and the oracle's verdict on its answer if the trace has it. */
  foreseeFix(
    asked: Parameters<Steps['fix']>[0],
  ): Promise<{ readonly request: ForeseenRequest; readonly fix: FixStep | undefined }>;
  /** The same of a request of a stage. */
  foreseeRequest(asked: StageRequest): Promise<ForeseenRequest>;
  /** The same of a request for a code patch. */
  foreseeCode(asked: Parameters<Steps['sampleFix']>[0]): Promise<ForeseenRequest>;
  /** The same of the vectors of texts, less those that are kept. */
  foreseeEmbedding(documents: readonly (readonly string[])[]): Promise<ForeseenRequest>;
  /**
   * A request whose prompt depends on answers. As many as the trace has answers count as answered.
   *
   * @param asked.method the way of asking
   * @param asked.inputTokens at most
   */
  foreseeBound(asked: {
    readonly method: string;
    readonly sample: number;
    readonly inputTokens: number;
  }): Promise<ForeseenRequest>;
  /**
   * Asks for a fix of the code as ZeroShotPlus asks for tests, and asks the oracle whether it
   * resolves the issue. Only settings of Table 5 with a wrong patch do so.
   */
  fix(asked: Omit<Parameters<Steps['sampleFix']>[0], 'format'>): Promise<FixStep>;
  /** X* and the files of T*, in a setting of Table 5 that uses them. */
  readonly golden: GoldenAnswer | undefined;
  /**
   * Turns a text into a unified diff on R, or says why it is not one.
   *
   * @param from the answer or the session that the text comes from
   */
  convert(text: string, from: Pick<AnswerStep, 'key'>): Promise<PatchStep>;
  /**
   * Sends the prompt of a stage.
   *
   * @param asked.method name of the method and the stage, which are part of the answer's key
   */
  request(asked: StageRequest): Promise<AnswerStep>;
  /**
   * The output of a stage: given to the run, or in the trace, or made now. `schema` checks what
   * comes from outside.
   *
   * @param asked.of all that the output depends on, besides R and the model
   * @throws HumanError when a given output does not fit
   */
  stage<Output>(asked: StageOf<Output>, make: () => Promise<Output>): Promise<Output>;
  /** Whether the output of a stage was given to the run, so that nothing is needed to make it. */
  isGiven(stage: string): boolean;
  /**
   * The outputs of stages that run something on R, several at once, each run in a warm sandbox. An
   * output is in the trace, or made now; it also depends on the engine and the time limit.
   *
   * @returns the outputs in the order of `stages`
   */
  stagesOnR<Output>(stages: readonly StageOnR<Output>[]): Promise<Output[]>;
  /**
   * Turns a text into a code patch, a unified diff on R without edits of tests, or says why it is
   * none.
   *
   * @param from the answer that the text comes from; undefined where it was given to the run
   */
  readCode(text: string, from: AnswerStep | undefined): Promise<PatchStep>;
  /**
   * The vectors of texts, for each document in the order of its texts. They are kept by content and
   * model, so that nothing is paid twice.
   *
   * @throws HumanError when the run has no embedding model
   */
  embed(documents: readonly (readonly string[])[]): Promise<readonly (readonly Float32Array[])[]>;
  /** Name of the embedding model; undefined where there is none. */
  readonly embeddingModel: string | undefined;
  /** Tokens of a whole prompt, at most. */
  readonly contextTokens: number;
  /** Tells the person something about this instance. */
  tell(line: string): void;
  /** What a method sees of the instance; a replay has none. */
  view(): Promise<ModelView>;
  /** The issue and repository, as every prompt has them. */
  readonly instance: Pick<ModelView, 'repo' | 'issue'>;
  /** Runs a candidate's own tests on R. */
  runOnR(patch: PatchStep): Promise<RunStep>;
  /** Asks whether a failure on R is the problem of the issue; undefined when the answer says neither. */
  judge(
    patch: PatchStep,
    run: RunStep,
    temperature: number | undefined,
  ): Promise<{ readonly matches: boolean | undefined; readonly answer: AnswerStep }>;
  /** The verdict of the oracle, which only Pass@k may ask. */
  verdict(patch: PatchStep): Promise<VerdictStep>;
  /** Lets an agent work on R until it submits or reaches a limit. */
  act(
    agent: TextAgent,
    options: {
      readonly limits: LimitProfile;
      readonly temperature: number | undefined;
      readonly onPatch?: OnPatch;
    },
  ): Promise<AgentEnd>;
  /** Lets an agent that brings its own tools and program work on R until its session ends. */
  converse(agent: AcpAgent, limits: AcpLimits): Promise<StepOf<'session'>>;
  /** Lets a model call the tools on R until it ends or reaches a limit. */
  callTools(options: {
    readonly limits: ToolLimits;
    readonly temperature: number | undefined;
    readonly onPatch?: OnPatch;
  }): Promise<AgentEnd>;
}

/** A request of a stage. */
export interface StageRequest {
  readonly method: string;
  readonly prompt: Prompt;
  /** Number of the sample, from 1. */
  readonly sample: number;
  readonly temperature: number | undefined;
  /** Whether there are further samples of the same prompt. */
  readonly isReused?: boolean;
}

export interface StageOf<Output> {
  readonly stage: string;
  readonly of: readonly unknown[];
  readonly schema: z.ZodType<Output>;
}

/** A stage that runs something on R. */
export interface StageOnR<Output> extends StageOf<Output> {
  run(
    on: RunsOnR,
    options: Pick<RunOnROptions, 'timeoutSeconds' | 'signal' | 'reporter'>,
  ): Promise<Output>;
}

/** A request that was not sent. */
export interface ForeseenRequest {
  /** By our tokenizer. */
  readonly inputTokens: number;
  /** Whether the trace has its answer. */
  readonly isAnswered: boolean;
  /** Whether it may have fewer tokens or not be needed, since that depends on answers. */
  readonly isAtMost?: true;
}

export interface StepsParts {
  /** With its id for the trace and for people, which no prompt contains. */
  readonly instance: Pick<ModelView, 'repo' | 'issue'> & { readonly id: string };
  /** Only in a setting of Table 5 that uses it. */
  readonly golden?: GoldenAnswer;
  /** Undefined for a replay, which only reads the trace. */
  readonly live:
    | {
        readonly model: ChatModel;
        readonly embedding?: EmbeddingModel | undefined;
        /** Where the requests of agents go that send their own. */
        readonly upstream?: ModelUpstream | undefined;
        readonly view: () => Promise<ModelView>;
        readonly oracle: () => Promise<Oracle>;
        /** Limits how many requests run at once. */
        readonly inTurn: <T>(request: () => Promise<T>) => Promise<T>;
        /** Limits how many requests for vectors run at once. */
        readonly inEmbedding: <T>(request: () => Promise<T>) => Promise<T>;
        /** Limits how many runs of tests there are at once. */
        readonly inSandbox: <T>(run: () => Promise<T>) => Promise<T>;
        /** How many runs of tests there are at once. */
        readonly runs: number;
        /** Limits how many prompts are made at once. */
        readonly inBuilding: <T>(work: () => Promise<T>) => Promise<T>;
      }
    | undefined;
  /** Name of the model, which is part of the key of a request. */
  readonly model: string;
  readonly trace: MethodTrace;
  readonly budget: Budget;
  /** What all requests have besides what the method says. */
  readonly settings?: RequestSettings | undefined;
  readonly price: Price | undefined;
  /** The embedding model, and its price. */
  readonly embedding?: EmbeddingUse | undefined;
  /** Outputs of stages that are used instead of computed ones, by the name of the stage. */
  readonly givenStages?: ReadonlyMap<string, unknown> | undefined;
  /** Where indexes are kept. */
  readonly storage: string;
  /** Tokens of the whole prompt. */
  readonly contextTokens: number;
  readonly maxOutputTokens: number;
  /** Most tokens that the model takes; undefined when nobody says. */
  readonly maxInputTokens?: number | undefined;
  /** Leave out edits outside test files. */
  readonly testsOnly: boolean;
  /** The engine of the tests, as far as it changes their results. */
  readonly engine: string;
  readonly timeoutSeconds: number;
  readonly signal?: AbortSignal | undefined;
  readonly reporter: Reporter;
  /** Called with each answer that is used, paid now or before. */
  readonly onAnswer?: (answer: AnswerStep) => void;
  /** Called with each request for vectors that are used, sent now or before. */
  readonly onEmbedding?: (step: StepOf<'embedding'>) => void;
  /** Called with each action of an agent, done now or before. */
  readonly onAct?: ((act: ActStep) => void) | undefined;
  /** Called with each session of an agent that brings its own tools, held now or before. */
  readonly onSession?: ((session: StepOf<'session'>) => void) | undefined;
  /** Called with the output of each stage, found now or before. */
  readonly onStage?: ((stage: StepOf<'stage'>) => void) | undefined;
  /** Called with each piece of an answer as it arrives; a retry starts the answer anew. */
  readonly onText?:
    | ((asked: Pick<AnswerStep, 'instance' | 'purpose' | 'sample'>, piece: string) => void)
    | undefined;
}

type Live = NonNullable<StepsParts['live']>;

/** How an answer is asked for. */
interface Asked {
  /** The way of asking. */
  readonly method: string;
  readonly sample: number;
  readonly temperature: number | undefined;
  /** Of the method; a run may say otherwise. */
  readonly topP?: number | undefined;
  readonly isReused?: boolean | undefined;
}

/** What is asked. */
type Asking = Omit<ToolRequest, 'tools'> &
  Partial<Pick<ToolRequest, 'tools'>> &
  Pick<ChatRequest, 'answerSchema'> &
  Pick<StepOf<'prompt'>, 'prompt' | 'oracle'>;

interface Recalling<Kind extends Step['step']> {
  /** Whether a step from the trace is still valid. */
  readonly isGood?: (step: StepOf<Kind>) => boolean;
  /** Delays making the step until there is capacity. */
  readonly within?: (<T>(work: () => Promise<T>) => Promise<T>) | undefined;
}

/** Characters of a failure that a prompt shows: its end is more informative than its beginning. */
const failureLength = 4000;
/** Tokens of the failures that a prompt shows, at three characters each. */
export const mostFailureTokens = Math.ceil((mostShownFailures * failureLength) / 3);
/** The way of asking a judge. */
export const judgeMethod = 'libro-judge';

/** The fields of a step beyond those that every step has. */
type Made<Kind extends Step['step']> = Omit<StepOf<Kind>, 'step' | 'key' | 'at' | 'instance'>;

export const stepsOf = (parts: StepsParts): Steps => new TracedSteps(parts);

class TracedSteps implements Steps {
  /** What the trace has of an agent's interrupted run; undefined once the person is told. */
  private kept: { answers: number; actions: number } | undefined = { answers: 0, actions: 0 };
  private readonly underWay = new Map<string, Promise<Step>>();
  private digestOfR: Promise<string> | undefined;
  /** Numbers of answers that the trace has, by the way of asking. */
  private readonly answered = new Map<string, number>();
  /** Keys of what is paid for while stages are made; a set for each stage under way. */
  private readonly origins = new Set<Set<string>>();

  constructor(private readonly parts: StepsParts) {}

  get golden(): GoldenAnswer | undefined {
    return this.parts.golden;
  }

  async sample(asked: Parameters<Steps['sample']>[0]) {
    const { format, sample, temperature, given, after, isReused } = asked;
    const way = wayOfAsking(format, given);
    const method = after === undefined ? way : `${way}+refine`;
    return this.askFitting(
      'tests',
      (contextTokens) => this.promptFor(format, given, { after, contextTokens }),
      { method, sample, temperature, isReused },
    );
  }

  async sampleWith({ write, ...asked }: Parameters<Steps['sampleWith']>[0]) {
    // Without the files, a prompt tells all that it is made of.
    const name = keyOf(write(''));
    return this.askFitting(
      'tests',
      (contextTokens) => this.filesPrompt('tests', name, write, { contextTokens }),
      asked,
    );
  }

  /**
   * Asks with a prompt that has room in the model's window. A prompt that the server refuses as too
   * long is made once more with fewer files. An answer to a longer prompt in the trace stays.
   */
  private async askFitting(
    purpose: AnswerStep['purpose'],
    promptOf: (contextTokens: number) => Promise<StepOf<'prompt'>>,
    asked: Asked,
  ): Promise<AnswerStep> {
    let { contextTokens } = this.parts;
    for (let tries = 1; ; tries += 1) {
      const prompt = await promptOf(contextTokens);
      const room = this.room();
      const isTooLong = room !== undefined && prompt.tokens > room && contextTokens > room;
      if (isTooLong && this.knownAnswer(purpose, prompt, asked) === undefined) {
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

  /** The most tokens of a prompt, by our tokenizer; undefined where the window is unknown. */
  private room(): number | undefined {
    const { live, maxInputTokens, maxOutputTokens } = this.parts;
    // What a model of the editor takes is in its own tokens.
    const stated = maxInputTokens === undefined ? undefined : Math.floor(0.85 * maxInputTokens);
    const learned = live?.model.room?.(maxOutputTokens);
    return stated === undefined || learned === undefined
      ? (stated ?? learned)
      : Math.min(stated, learned);
  }

  async fix(asked: Parameters<Steps['fix']>[0]): Promise<FixStep> {
    const { instance, reporter } = this.parts;
    const { text } = await this.sampleFix({ ...asked, format: 'custom' });
    return this.recall(
      'fix',
      await this.keyOfFix(text),
      async ({ oracle }) => {
        reporter.progress(`${instance.id}: running the golden tests on R with a fix`);
        return (await oracle()).judgeFix(text);
      },
      { isGood: isJudged },
    );
  }

  async foreseeRequest({ prompt, ...asked }: StageRequest) {
    const step = await this.stagePrompt(prompt);
    const answer = this.knownAnswer('stage', step, asked);
    return { inputTokens: step.tokens, isAnswered: answer !== undefined };
  }

  private promptForFix(
    format: CandidateFormat,
    contextTokens = this.parts.contextTokens,
  ): Promise<StepOf<'prompt'>> {
    const { instance } = this.parts;
    // The name that the prompt of Table 5's fixes has in earlier traces.
    const name = format === 'custom' ? 'fix' : `fix ${format}`;
    const write = (files: string): Prompt => fixPrompt({ ...instance, files, format });
    const fits = format === 'custom' ? () => true : (path: string) => !isTestPath(path);
    return this.filesPrompt('fix', name, write, { fits, contextTokens });
  }

  /** The key of the oracle's verdict on the text of a fix. */
  private async keyOfFix(text: string): Promise<string> {
    const { golden, engine, timeoutSeconds } = this.parts;
    return keyOf('fix', await this.tree(), text, golden?.digest, engine, timeoutSeconds);
  }

  async foresee({ format, sample, temperature, given }: Parameters<Steps['foresee']>[0]) {
    const prompt = await this.promptFor(format, given);
    const asked = { method: wayOfAsking(format, given), sample, temperature };
    const answer = this.knownAnswer('tests', prompt, asked);
    return { inputTokens: prompt.tokens, isAnswered: answer !== undefined };
  }

  async foreseeCode({ format, ...asked }: Parameters<Steps['sampleFix']>[0]) {
    const prompt = await this.promptForFix(format);
    const answer = this.knownAnswer('fix', prompt, { method: wayOfFixing(format), ...asked });
    return { inputTokens: prompt.tokens, isAnswered: answer !== undefined };
  }

  async foreseeEmbedding(documents: readonly (readonly string[])[]) {
    const { embedding, storage } = this.parts;
    if (embedding === undefined) return { inputTokens: 0, isAnswered: true };
    const inputTokens = await tokensToEmbed(documents, { ...embedding, storage });
    return { inputTokens, isAnswered: inputTokens === 0, isAtMost: true as const };
  }

  async foreseeBound({ method, sample, inputTokens }: Parameters<Steps['foreseeBound']>[0]) {
    const { trace, model, instance } = this.parts;
    let answered = this.answered.get(method);
    if (answered === undefined) {
      const known = trace.steps.filter(
        (step) =>
          step.step === 'answer' &&
          step.instance === instance.id &&
          step.method === method &&
          step.model === model &&
          saysSomething(step),
      );
      answered = new Set(known.map(({ key }) => key)).size;
      this.answered.set(method, answered);
    }
    return { inputTokens, isAnswered: sample <= answered, isAtMost: true as const };
  }

  async foreseeFix(asked: Parameters<Steps['foreseeFix']>[0]) {
    const prompt = await this.promptForFix('custom');
    const answer = this.knownAnswer('fix', prompt, { method: wayOfFixing('custom'), ...asked });
    const known =
      answer === undefined
        ? undefined
        : this.parts.trace.find('fix', await this.keyOfFix(answer.text));
    return {
      request: { inputTokens: prompt.tokens, isAnswered: answer !== undefined },
      fix: known !== undefined && isJudged(known) ? known : undefined,
    };
  }

  /** The answer to a request that says something, if the trace has it. */
  private knownAnswer(
    purpose: AnswerStep['purpose'],
    prompt: Pick<StepOf<'prompt'>, 'prompt' | 'oracle'>,
    asked: Asked,
  ): AnswerStep | undefined {
    const known = this.parts.trace.find('answer', this.identify(purpose, prompt, asked).key);
    return known !== undefined && saysSomething(known) ? known : undefined;
  }

  async sampleFix({ format, ...asked }: Parameters<Steps['sampleFix']>[0]): Promise<AnswerStep> {
    return this.askFitting('fix', (contextTokens) => this.promptForFix(format, contextTokens), {
      method: wayOfFixing(format),
      ...asked,
    });
  }

  async convert(text: string, from: Pick<AnswerStep, 'key'>): Promise<PatchStep> {
    const { testsOnly, signal } = this.parts;
    const tree = await this.tree();
    const key = keyOf('patch', tree, text, testsOnly, from.key);
    const make = async ({ view: open }: Live): Promise<Made<'patch'>> => {
      const view = await open();
      let read = await view.read(text, { testsOnly, signal });
      if (!read.applies) {
        // As in the paper: each hunk goes where its context fits best.
        const placed = await view.read(text, { testsOnly, signal, format: 'fuzzy' });
        if (placed.applies) read = placed;
      }
      const isEmpty = text.trim() === '';
      return {
        answer: from.key,
        applies: read.applies && !isEmpty,
        ...(read.problem !== undefined && { problem: read.problem }),
        patch: read.patch,
        ownTests: [...read.ownTests],
        diagnostics: read.diagnostics.map(({ severity, line, message }) => ({
          severity,
          line,
          message,
        })),
      };
    };
    return this.recall('patch', key, make);
  }

  get instance() {
    return this.parts.instance;
  }

  get embeddingModel() {
    return this.parts.embedding?.name;
  }

  get contextTokens() {
    return Math.min(this.parts.contextTokens, this.room() ?? Infinity);
  }

  tell(line: string): void {
    this.parts.reporter.log(`${this.parts.instance.id}: ${line}`);
  }

  embed(documents: readonly (readonly string[])[]) {
    const { live, embedding, ...parts } = this.parts;
    if (live?.embedding === undefined || embedding === undefined) {
      throw new HumanError('There is no embedding model', 'Name one with --embedding-model');
    }
    const onEmbedding = (step: StepOf<'embedding'>): void => {
      parts.onEmbedding?.(step);
      for (const origin of this.origins) origin.add(step.key);
    };
    return embedDocuments(documents, {
      ...parts,
      ...embedding,
      model: live.embedding,
      inTurn: live.inEmbedding,
      onEmbedding,
    });
  }

  view(): Promise<ModelView> {
    return this.viewOf();
  }

  async request({ prompt, ...asked }: StageRequest): Promise<AnswerStep> {
    return this.ask('stage', await this.stagePrompt(prompt), asked);
  }

  private stagePrompt(prompt: Prompt): Promise<StepOf<'prompt'>> {
    return this.recall('prompt', keyOf('prompt', prompt), async () =>
      promptStep('stage', prompt, [], await tokensOf(prompt)),
    );
  }

  async stage<Output>(
    { stage, of, schema }: StageOf<Output>,
    make: () => Promise<Output>,
  ): Promise<Output> {
    const { givenStages, instance, model } = this.parts;
    const { repo, issue } = instance;
    const isGiven = this.isGiven(stage);
    const given = givenStages?.get(stage);
    const key = keyOf('stage', stage, await this.tree(), repo, issue, model, of, isGiven, given);
    const found = await this.recall(
      'stage',
      key,
      async () => ({
        stage,
        ...(isGiven
          ? { output: checkedOutput(stage, schema, given), isGiven }
          : await this.withOrigin(make)),
      }),
      { isGood: ({ output }) => schema.safeParse(output).success },
    );
    this.useAgain(found.from ?? []);
    this.parts.onStage?.(found);
    return schema.parse(found.output);
  }

  /** The output of a stage, with the keys of what was paid for while it was made. */
  private async withOrigin(make: () => Promise<unknown>) {
    const from = new Set<string>();
    this.origins.add(from);
    try {
      const output = await make();
      return { output, ...(from.size > 0 && { from: [...from] }) };
    } finally {
      this.origins.delete(from);
    }
  }

  /** Tells of answers and vectors that an output of the trace comes from: they are used, too. */
  private useAgain(keys: readonly string[]): void {
    const { trace, onAnswer, onEmbedding } = this.parts;
    for (const key of keys) {
      const answer = trace.find('answer', key);
      const embedding = trace.find('embedding', key);
      if (answer !== undefined) onAnswer?.(answer);
      if (embedding !== undefined) onEmbedding?.(embedding);
      for (const origin of this.origins) origin.add(key);
    }
  }

  isGiven(stage: string): boolean {
    return this.parts.givenStages?.has(stage) === true;
  }

  async stagesOnR<Output>(stages: readonly StageOnR<Output>[]): Promise<Output[]> {
    const { live, instance, engine, timeoutSeconds, signal, reporter } = this.parts;
    const outputs: Output[] = [];
    let next = 0;
    let done = 0;
    /** Makes one stage after the other, in one sandbox, as long as there are any. */
    const work = async (stop: AbortSignal | undefined): Promise<void> => {
      let on: RunsOnR | undefined;
      const options = { timeoutSeconds, signal: stop, reporter };
      try {
        for (let at = next++; at < stages.length; at = next++) {
          const asked = stages[at] as StageOnR<Output>;
          const of = [asked.of, engine, timeoutSeconds];
          outputs[at] = await this.stage({ ...asked, of }, async () => {
            reporter.progress(`${instance.id}: ${asked.stage}, ${done} of ${stages.length} done`);
            return asked.run((on ??= await (await this.viewOf()).openRuns()), options);
          });
          done += 1;
        }
      } finally {
        await on?.dispose();
      }
    };
    if (live === undefined) await work(signal);
    else {
      // A worker has its place among the runs of all instances as long as its sandbox is open.
      const workers = [...stages.slice(0, live.runs).keys()];
      const { signal: whole = new AbortController().signal } = this.parts;
      await workerPool(workers, workers.length, whole, (_, stop) =>
        live.inSandbox(() => work(stop)),
      );
    }
    return outputs;
  }

  async readCode(text: string, from: AnswerStep | undefined): Promise<PatchStep> {
    const { signal } = this.parts;
    const key = keyOf('code', await this.tree(), text, from?.key);
    return this.recall('patch', key, async ({ view: open }) => {
      const patch = await (await open()).readCode(text, signal);
      const isPatch = typeof patch === 'string';
      return {
        ...(from !== undefined && { answer: from.key }),
        applies: isPatch,
        ...(!isPatch && { problem: patch.failure }),
        patch: isPatch ? patch : '',
        ownTests: [],
        diagnostics: [],
      };
    });
  }

  async runOnR({ patch }: PatchStep): Promise<RunStep> {
    const { instance, engine, timeoutSeconds, signal, reporter } = this.parts;
    const key = keyOf('run', await this.tree(), patch, engine, timeoutSeconds);
    return this.recall(
      'run',
      key,
      async ({ view: open }) => {
        const view = await open();
        const options = { timeoutSeconds, signal, reporter };
        reporter.progress(`${instance.id}: running a candidate on R`);
        const run = await view.runOnR(patch, { ...options, format: 'unified' });
        const failing = run.tests.filter(isFailure).map(({ test }) => test);
        const known = await knownToR(view, failing);
        const before =
          known.length === 0 ? [] : (await view.runOnR('', { ...options, tests: known })).tests;
        return {
          ...(run.problem !== undefined && { problem: run.problem }),
          tests: run.tests.map(keptResult),
          failingBefore: before.filter(isFailure).map(({ test }) => test),
          seconds: run.seconds,
        };
      },
      { isGood: ({ problem }) => problem === undefined, within: this.parts.live?.inSandbox },
    );
  }

  async judge(patch: PatchStep, run: RunStep, temperature: number | undefined) {
    const prompt = judgePrompt({
      ...this.parts.instance,
      patch: patch.patch,
      failures: shownFailures(run.tests),
      failingBefore: run.failingBefore,
    });
    const step = await this.recall('prompt', keyOf('prompt', prompt), async () =>
      promptStep('judge', prompt, [], await tokensOf(prompt)),
    );
    const answer = await this.ask('judge', step, { method: judgeMethod, sample: 1, temperature });
    return { matches: readJudgement(answer.text), answer };
  }

  async verdict({ patch }: PatchStep): Promise<VerdictStep> {
    const { instance, engine, timeoutSeconds, reporter } = this.parts;
    const key = keyOf('verdict', await this.tree(), patch, engine, timeoutSeconds);
    return this.recall(
      'verdict',
      key,
      async ({ oracle }) => {
        reporter.progress(`${instance.id}: asking the oracle`);
        return (await oracle()).judge(patch);
      },
      { isGood: ({ reason }) => reason !== 'could not run', within: this.parts.live?.inSandbox },
    );
  }

  async act(agent: TextAgent, options: Parameters<Steps['act']>[1]): Promise<AgentEnd> {
    if (agent.needs === 'shell') return this.actInShell(agent, options);
    const { instance, storage, signal } = this.parts;
    const { id, repo, issue } = instance;
    const task = { repo, issue, limits: agent.limits[options.limits] };
    const open = async (): Promise<FilesOnR> =>
      (await this.viewOf()).openFiles({ storage, instance: id });
    const place = keyOf('files', await this.tree());
    const key = keyOf('begin', agent.name, agent.version, task, place);
    const { state } = await this.recall('begin', key, async () => ({
      agent: agent.name,
      state: await agent.begin({ workspace: await open(), task, signal }),
    }));
    return this.actIn(agent, options, { task, first: state, place, open, losesOnRestart: false });
  }

  private async actInShell(
    agent: ShellAgent,
    options: Parameters<Steps['act']>[1],
  ): Promise<AgentEnd> {
    const { instance, engine, signal, reporter } = this.parts;
    const { repo, issue } = instance;
    let opened: WorkspaceOnR | undefined;
    const open = async (): Promise<WorkspaceOnR> => {
      const first = opened;
      opened = undefined;
      return first ?? (await this.viewOf()).openWorkspace({ signal, reporter });
    };
    const place = keyOf('workspace', await this.tree(), engine);
    try {
      const { folder } = await this.recall('workspace', place, async () => {
        opened = await open();
        return { folder: opened.folder };
      });
      const task = { repo, issue, folder, limits: agent.limits[options.limits] };
      return await this.actIn(agent, options, {
        ...{ task, place, open, losesOnRestart: true },
        first: { cwd: folder },
      });
    } finally {
      await opened?.dispose();
    }
  }

  async converse(agent: AcpAgent, limits: AcpLimits): Promise<StepOf<'session'>> {
    const { instance, model, engine, maxOutputTokens } = this.parts;
    const { trace, budget, signal, reporter, onAnswer, onAct } = this.parts;
    const { repo, issue } = instance;
    // Another version of a program is another agent.
    const programDigest = await agent.programDigest(signal);
    const of = [agent.name, acpPromptVersion, repo, issue, limits, agent.seconds, engine];
    const made = [programDigest, await this.tree(), model, maxOutputTokens];
    const defined = agent.definition === undefined ? [] : [agent.definition];
    const key = keyOf('session', ...of, ...made, ...defined);
    let isLive = false;
    const session = await this.recall('session', key, ({ upstream, view, inTurn }) => {
      if (upstream === undefined) throw new Error('the run has no way to a model for agents');
      isLive = true;
      return new AcpRun({
        ...{ agent, limits, key, programDigest, instance, model, upstream, view, trace, budget },
        ...{ maxOutputTokens, inTurn, signal, reporter, onAct },
      }).toEnd();
    });
    for (const each of session.answers) {
      const answer = trace.find('answer', each);
      if (answer !== undefined) onAnswer?.(answer);
    }
    if (!isLive) for (const act of actsOf(session, trace)) onAct?.(act);
    this.parts.onSession?.(session);
    return session;
  }

  async callTools({ limits, temperature, onPatch }: Parameters<Steps['callTools']>[0]) {
    const { instance, model, engine, timeoutSeconds, signal, reporter } = this.parts;
    const { id, repo, issue } = instance;
    const place = [await this.tree(), engine, timeoutSeconds];
    const whose = keyOf('tools', toolPromptVersion, repo, issue, limits, place, model, temperature);
    return new ToolRun({
      ...{ repo, issue, limits, timeoutSeconds, signal },
      ask: ({ system, tools, messages: all }, call) =>
        this.askWithin(all, { system, tools }, (messages) => {
          const request = { system, messages, tools };
          const asking = { prompt: keyOf('prompt', whose, call, request), ...request };
          return [asking, { method: 'tools', sample: 1, temperature, isReused: true }];
        }),
      act: async (answer, number, before, make) => {
        const key = keyOf('act', whose, before?.key, answer.key, number);
        const act = await this.recall('act', key, async () => ({
          ...{ agent: 'tools', model, answer: answer.key },
          ...(await make()),
        }));
        return this.told(answer, before, act, onPatch);
      },
      view: () => this.viewOf(),
      reporter: {
        log: (line) => reporter.log(`${id}: ${line}`),
        progress: (text) => reporter.progress(`${id}: ${text}`),
      },
    }).toEnd();
  }

  /** Tells of an act, and of the candidate that there is after it. @returns the act */
  private async told(
    answer: AnswerStep,
    before: ActStep | undefined,
    act: ActStep,
    onPatch: OnPatch,
  ): Promise<ActStep> {
    this.parts.onAct?.(act);
    const isNew = act.patch !== '' && act.patch !== before?.patch;
    if (isNew && onPatch !== undefined) onPatch(answer, await this.convert(act.patch, answer));
    return act;
  }

  /** @param place digest of where the agent works */
  private actIn<Kind extends AgentKind>(
    agent: AgentOf<Kind>,
    { temperature, onPatch }: Parameters<Steps['act']>[1],
    {
      place,
      ...work
    }: Pick<AgentRunParts<Kind>, 'task' | 'first' | 'open' | 'losesOnRestart'> & {
      readonly place: string;
    },
  ): Promise<AgentEnd> {
    const { instance, model, signal, reporter } = this.parts;
    const whose = keyOf(agent.name, agent.version, work.task, place, model, temperature);
    return new AgentRun<Kind>({
      ...{ agent, ...work, signal },
      ask: (system, all, call, answerSchema) =>
        this.askWithin(all, { system }, (messages) => {
          const prompt = keyOf('prompt', whose, call, system, messages);
          const { name: method, topP } = agent;
          // The next request has the same history, and more.
          const asked = { method, sample: 1, temperature, topP, isReused: true };
          return [{ prompt, system, messages: [...messages], answerSchema }, asked];
        }),
      act: async (answer, before, make) => {
        const key = keyOf('act', whose, before?.key, answer.key);
        const act = await this.recall('act', key, async () => ({
          ...{ agent: agent.name, model, answer: answer.key },
          ...(await make()),
        }));
        return this.told(answer, before, act, onPatch);
      },
      reporter: { progress: (text) => reporter.progress(`${instance.id}: ${text}`) },
    }).toEnd();
  }

  /**
   * Asks with a history that has room in the model's window: with all of it, or else with the
   * latest observations alone. A history that the trace has an answer to is sent as it was then.
   *
   * @throws ContextExceeded when not even the latest one fits
   */
  private async askWithin(
    messages: readonly ChatMessage[],
    rest: Pick<ChatRequest, 'system' | 'tools'>,
    asking: (messages: readonly ChatMessage[]) => readonly [Asking, Asked],
  ): Promise<AnswerStep> {
    const histories = shorterHistories(messages);
    for (const each of histories) {
      const [request, asked] = asking(each);
      if (this.knownAnswer('act', request, asked) !== undefined) {
        return this.ask('act', request, asked);
      }
    }
    let refused: ContextExceeded | undefined;
    for (const each of histories) {
      const room = this.room();
      const request = { ...rest, messages: each, temperature: undefined, maxOutputTokens: 0 };
      if (room !== undefined && (await inputTokensOf(request)) > room) continue;
      try {
        return await this.ask('act', ...asking(each));
      } catch (error) {
        if (!(error instanceof ContextExceeded)) throw error;
        refused = error;
      }
    }
    const room = this.room();
    throw (
      refused ??
      new ContextExceeded(`the history does not fit into the ${room ?? 0} tokens that there are`)
    );
  }

  private viewOf(): Promise<ModelView> {
    const { live } = this.parts;
    if (live === undefined) throw new Error('a replay has no view of an instance');
    return live.view();
  }

  private async promptFor(
    format: CandidateFormat,
    given: GivenContext | undefined,
    {
      after,
      contextTokens = this.parts.contextTokens,
    }: { readonly after?: Exchange | undefined; readonly contextTokens?: number } = {},
  ): Promise<StepOf<'prompt'>> {
    const { instance } = this.parts;
    if (given === undefined) {
      const first = (files: string): Prompt => candidatePrompt({ ...instance, files, format });
      if (after === undefined) return this.filesPrompt('tests', format, first, { contextTokens });
      const write = (files: string): Prompt => goingOn(first(files), after);
      return this.filesPrompt('tests', `${format} after ${keyOf(after)}`, write, { contextTokens });
    }
    const on = after === undefined ? [] : [after];
    const of = [promptVersion, instance, await this.tree(), format, contextTokens, given, ...on];
    const make = async ({ view: open }: Live) => {
      const view = await open();
      const { prompt, files } = await givenPrompt({
        ...{ instance, view, given, format, after, contextTokens, tokensOf },
        ranked: await this.rankedFiles(view),
        count: await tokenCounter(),
      });
      const step = promptStep('tests', prompt, files, await tokensOf(prompt));
      return { ...step, ...(given.oracle === true && { oracle: true as const }) };
    };
    const { live } = this.parts;
    return this.recall('prompt', keyOf('prompt', ...of), make, { within: live?.inBuilding });
  }

  /** A prompt with as many of the best ranked files as it has room for. */
  private async filesPrompt(
    purpose: 'tests' | 'fix',
    name: string,
    write: (files: string) => Prompt,
    {
      contextTokens,
      fits = () => true,
    }: { readonly contextTokens: number; readonly fits?: (path: string) => boolean },
  ): Promise<StepOf<'prompt'>> {
    const { instance } = this.parts;
    const key = keyOf('prompt', promptVersion, instance, await this.tree(), name, contextTokens);
    const make = async ({ view: open }: Live) => {
      const view = await open();
      // The line is no file: it stands for the words around files.
      const budget = contextTokens - (await tokensOf(write('\n')));
      const ranked = (await this.rankedFiles(view)).filter(fits);
      const { tree, python } = view;
      const of = { tree, python, issue: instance.issue, isForTests: purpose === 'tests' };
      const packed = await packFiles(of, ranked, budget, await tokenCounter());
      const prompt = write(packed.text);
      return promptStep(purpose, prompt, packed.paths, await tokensOf(prompt));
    };
    return this.recall('prompt', key, make, { within: this.parts.live?.inBuilding });
  }

  /** Paths of the files of R, best first for the issue. */
  private async rankedFiles({ tree }: ModelView): Promise<readonly string[]> {
    const { instance, storage, signal, reporter } = this.parts;
    reporter.progress(`${instance.id}: ranking the files`);
    return rankFiles(tree, instance.issue, { storage, instance: instance.id }, signal);
  }

  private async ask(
    purpose: AnswerStep['purpose'],
    asking: Asking,
    asked: Asked,
  ): Promise<AnswerStep> {
    const { live, onAnswer } = this.parts;
    const { prompt, system, messages, tools, answerSchema } = asking;
    const { key, of } = this.identify(purpose, asking, asked);
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
        async (live) => {
          const { sentMaxOutputTokens: sent, ...said } = await this.complete(
            live.model,
            request,
            of,
          );
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
        { within: live?.inTurn, isGood: isUsable },
      );
      const isOnlyReasoning = !saysSomething(answer) && answer.finish === 'length';
      // The same limit would end in the same place, so there is one more try, with more room.
      const mostHere = isOnlyReasoning ? 2 : mostTries;
      if (saysSomething(answer) || live === undefined || tries >= mostHere) {
        onAnswer?.(answer);
        for (const origin of this.origins) origin.add(answer.key);
        return answer;
      }
      if (isOnlyReasoning) {
        request = { ...request, maxOutputTokens: largerOutput * request.maxOutputTokens };
      }
    }
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
    const { id } = this.parts.instance;
    const most = await mostOf(request, price, model.ratio ?? 1);
    const settle = await budget.reserve(most);
    let cost = { tokens: 0, dollars: 0 };
    try {
      const started = performance.now();
      reporter.progress(`${id}: asking ${this.parts.model} (${method}, sample ${sample})`);
      const said = await model.complete(request, {
        ...{ signal, reporter, mostTokens: most.tokens },
        onText: (piece) => onText?.({ instance: id, purpose, sample }, piece),
      });
      cost = { tokens: said.inputTokens + said.outputTokens, dollars: said.dollars ?? 0 };
      if (!saysSomething(said)) reporter.log(`${id}: ${whyWithoutText(said)}`);
      else if (said.finish === 'length') {
        reporter.log(`${id}: the answer was cut off at ${request.maxOutputTokens} tokens`);
      } else if (said.finish === 'refused') {
        reporter.log(`${id}: the model refuses to answer`);
      }
      return { ...said, seconds: (performance.now() - started) / 1000 };
    } finally {
      settle(cost);
    }
  }

  private tree(): Promise<string> {
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

  /** Counts what an agent has from the trace of an interrupted run. */
  private countOf(known: Step): void {
    if (this.kept === undefined) return;
    if (known.step === 'act') this.kept.actions += 1;
    if (known.step === 'answer' && known.purpose === 'act') this.kept.answers += 1;
  }

  /** Says once, before the first new step, that the run of an agent goes on. */
  private tellGoingOn(): void {
    const { answers = 0, actions = 0 } = this.kept ?? {};
    if (answers === 0) return;
    this.kept = undefined;
    const { instance, reporter } = this.parts;
    const has = `${plural(answers, 'answer')} and ${plural(actions, 'action')}`;
    reporter.log(`${instance.id}: goes on from its trace, which has ${has}`);
  }

  /** Returns the step from the trace. Otherwise calls `make` and adds its result to the trace. */
  private async recall<Kind extends Step['step']>(
    kind: Kind,
    key: string,
    make: (live: Live) => Promise<Made<Kind>>,
    { isGood = () => true, within = (work) => work() }: Recalling<Kind> = {},
  ): Promise<StepOf<Kind>> {
    const { instance, live, trace } = this.parts;
    const known = trace.find(kind, key);
    if (known !== undefined && (live === undefined || isGood(known))) {
      this.countOf(known);
      return known;
    }
    if (live === undefined) {
      throw new HumanError(
        `${instance.id}: the trace has no ${nameOf[kind]} for this request`,
        'Replay with the method, model and options of the run, or run it without --replay',
      );
    }
    const name = `${kind} ${key}`;
    const waiting = this.underWay.get(name);
    if (waiting !== undefined) return waiting as Promise<StepOf<Kind>>;
    this.tellGoingOn();
    const making = within(async () => {
      const made = await make(live);
      const at = new Date().toISOString();
      const step = { step: kind, key, at, instance: instance.id, ...made };
      await trace.add(step as unknown as Step);
      return step as unknown as StepOf<Kind>;
    });
    this.underWay.set(name, making);
    try {
      return await making;
    } finally {
      this.underWay.delete(name);
    }
  }
}

/** Times that a prompt is made shorter for one answer. */
const mostShortened = 5;

/** Times that a request is sent while its answer has no text. */
const mostTries = 3;

/** Whether an answer calls a tool or says anything besides its reasoning. */
export const saysSomething = ({ text, calls = [] }: Pick<AnswerStep, 'text' | 'calls'>): boolean =>
  calls.length > 0 || text.trim() !== '';

/**
 * Whether an agent went on after an answer without a text. A resumed run then keeps it, because
 * everything after it depends on it.
 */
const isPartOfHistory = ({ purpose, attempt = 1 }: AnswerStep): boolean =>
  purpose === 'act' && attempt % mostTries === 0;

/** How much more an answer may have whose reasoning has taken all. */
const largerOutput = 4;

/** Whether an answer of the trace is used again, and not asked for anew. */
const isUsable = (known: AnswerStep): boolean =>
  known.hasCallsAsText !== true && (saysSomething(known) || isPartOfHistory(known));

/** Why an answer has no text, as far as the model says. */
export function whyWithoutText({
  finish,
  reasoning = [],
  reasoningTokens = 0,
  outputTokens,
}: Pick<AnswerStep, 'finish' | 'reasoning' | 'reasoningTokens' | 'outputTokens'>): string {
  if (finish === 'refused') return 'the model refuses to answer';
  const isReasoning = reasoning.length > 0 || reasoningTokens > 0;
  if (finish !== 'length') {
    return isReasoning ? 'the answer has only reasoning' : 'the answer has no text';
  }
  const what = isReasoning
    ? `all ${outputTokens} tokens of the answer went to reasoning`
    : `the answer has no text within ${outputTokens} tokens`;
  return `${what}: raise --max-output-tokens`;
}

/** Methods with the same way of asking share their answers. */
function wayOfAsking(format: CandidateFormat, given: GivenContext | undefined): string {
  const plain = format === 'unified' ? 'zero-shot' : 'zero-shot-plus';
  return given === undefined ? plain : `${plain}+${given.setting}`;
}

const wayOfFixing = (format: CandidateFormat): string => `${wayOfAsking(format, undefined)}-fix`;

/** Whether the oracle could judge a fix, or it is none. */
const isJudged = ({ problem, resolved }: FixStep): boolean =>
  problem !== undefined || resolved !== undefined;

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

/** A test of a run as the trace keeps it. */
function keptResult(result: TestResult): RunStep['tests'][number] {
  const { test, outcome, exception, message, details, phase, frames } = result;
  return {
    test,
    outcome,
    ...(exception !== undefined && { exception }),
    ...(message !== undefined && { message }),
    ...(details !== undefined && { details: details.slice(-failureLength) }),
    ...(isFailure(result) && phase !== undefined && { phase }),
    ...(isFailure(result) && frames !== undefined && { frames }),
  };
}

/** Whether a test fails on R with the candidate that does not fail without it. */
export function failsOnR({ tests, failingBefore }: RunStep): boolean {
  return tests.some((each) => isFailure(each) && !failingBefore.includes(each.test));
}

/** What an agent did in a session after its first answer, in its order. */
function actsOf({ answers }: StepOf<'session'>, { steps }: MethodTrace): ActStep[] {
  const keys = new Set(answers);
  return steps.filter((step): step is ActStep => step.step === 'act' && keys.has(step.answer));
}

/** The given tests that R has under the same id. */
async function knownToR(view: ModelView, tests: readonly string[]): Promise<string[]> {
  const functions = [...new Set(tests.map((test) => test.replace(/\[.*$/s, '')))];
  const known: string[] = [];
  for (const path of new Set(functions.map((test) => test.split('::')[0] ?? ''))) {
    const source = path.endsWith('.py') ? await view.tree.read(path) : undefined;
    if (source === undefined) continue;
    const ids = new Set(findTests(view.python, source, { path }).map((test) => test.id));
    known.push(...functions.filter((test) => ids.has(test)));
  }
  return known;
}

const promptStep = (
  purpose: 'tests' | 'judge' | 'fix' | 'stage',
  { system, messages }: Prompt,
  files: readonly string[],
  tokens: number,
): Made<'prompt'> => ({
  purpose,
  prompt: keyOf(system, messages),
  system,
  messages: [...messages],
  files: [...files],
  tokens,
});

/** @throws HumanError when an output that was given does not fit the stage */
function checkedOutput<Output>(stage: string, schema: z.ZodType<Output>, given: unknown): Output {
  const { success, data, error } = schema.safeParse(given);
  if (success) return data;
  const [issue] = error.issues;
  throw new HumanError(
    `The given output of the stage ${stage} does not fit (${issue?.path.join('.') ?? ''}: ${issue?.message ?? ''})`,
    'Take the line of that stage from a trace as a pattern',
  );
}

const tokensOf = (prompt: Prompt): Promise<number> =>
  inputTokensOf({ ...prompt, temperature: undefined, maxOutputTokens: 0 });

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
