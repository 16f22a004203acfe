import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as vscode from 'vscode';
import { sha256 } from '../../files/digest';
import type { Instance } from '../../domain/instance';
import { HumanError, silent, type Reporter } from '../../domain/work';
import { runStore } from '../../evaluation/testRun';
import { generate, type Cost, type GenerationEntry } from '../../method/generation';
import type { GenerationRequest, LiveParts } from '../../method/generating';
import type { LimitProfile } from '../../method/agents';
import type { Method, MethodCandidate } from '../../method/method';
import { budgetOf, type Budget } from '../../method/models';
import { type StepOf, type MethodTrace, openTrace } from '../../method/trace';
import type { PythonParser } from '../../python/parser';
import { withLock } from '../../repository/lock';
import { instanceFolder } from '../../repository/storage';
import { writeWholeFile } from '../../files/wholeFile';
import type { InstanceSource, TestsOfInstance } from '../instance/instanceRoles';
import { inTermsOfSettings } from '../shell/inTermsOfSettings';
import { afterAWhile } from '../shell/progress';
import { engineSettings, storageFolder, timeoutSeconds } from '../shell/settings';
import { requireTestsOfModels } from '../tools/testsOfModels';
import {
  withoutStepsOf,
  recordedLimits,
  embeddingOfRecord,
  readGenerationRecords,
  recordedAgent,
  recordId,
  spentSince,
  type GenerationRecord,
} from './records';
import type { AgentlessNumbers } from './settings';
import type { ChosenEmbedding, ChosenModel } from './choosableModels';
import { generateSettings, type GenerateSettings } from './settings';
import { confirm } from '../shell/confirm';

/** A run of a method on the open instance: under way, done, or interrupted. */
export interface Generation {
  readonly id: string;
  readonly record: GenerationRecord;
  /** Known candidates by sample. */
  readonly candidates: ReadonlyMap<number, MethodCandidate>;
  /** What an agent has done, in its order; empty for other methods. */
  readonly acts: readonly StepOf<'act'>[];
  /** What the stages of a pipeline have found, in their order; empty for other methods. */
  readonly stages: readonly StepOf<'stage'>[];
  /** Sessions of an agent that brings its own tools; empty for other methods. */
  readonly sessions: readonly StepOf<'session'>[];
  /** Characters received of unfinished answers, by sample. */
  readonly writing: ReadonlyMap<number, number>;
  readonly state: 'running' | 'done' | 'partial';
  /** The method's choice, once the run is done. */
  readonly chosen: { readonly sample: number | undefined; readonly why: string } | undefined;
  /** Why there is no choice. */
  readonly failure: string | undefined;
  /** What its answers and vectors have cost, once the run is done. */
  readonly cost: Cost | undefined;
}

interface Mutable extends Generation {
  readonly candidates: Map<number, MethodCandidate>;
  readonly acts: StepOf<'act'>[];
  readonly stages: StepOf<'stage'>[];
  readonly sessions: StepOf<'session'>[];
  readonly writing: Map<number, number>;
  state: Generation['state'];
  chosen: Generation['chosen'];
  failure: Generation['failure'];
  cost: Generation['cost'];
}

/** What a person asks for. */
export interface AskedRun {
  readonly method: Method;
  readonly model: ChosenModel;
  /** Counts for agents. */
  readonly limits: LimitProfile;
  /** Numbers that the settings change; only Agentless has some. */
  readonly numbers?: AgentlessNumbers;
  /** Undefined where there is none, or the method needs none. */
  readonly embedding?: ChosenEmbedding | undefined;
}

/** What the runs of one view write. */
export interface GenerationKind {
  /** Names their records and the folder of their trace. */
  readonly kept: 'generate' | 'repair';
  /**
   * The method of a record, with what a person wants to see beyond what it needs itself.
   *
   * @param chosen the method that was chosen; absent where the trace is read
   */
  readonly methodOf: (record: GenerationRecord, reporter: Reporter, chosen?: Method) => Method;
  /** Refuses a second run at once. */
  readonly busy: () => HumanError;
}

/** The result of a run. */
export interface FinishedGeneration {
  readonly generation: Generation;
  readonly entry: GenerationEntry;
  /** Answers requested in this run; the others were already in the trace. */
  readonly asked: number;
}

/** Most runs that are stored. */
const most = 50;
/** Concurrent requests. */
const requests = 4;
/** Milliseconds between two updates of unfinished answers. */
const pause = 200;

/**
 * What models have written for the open instance. A trace in the storage of the workspace, outside
 * its folder, records each run. The next window reads it back, so that no answer is requested
 * twice.
 */
export class Generations implements vscode.Disposable {
  private readonly changed = new vscode.EventEmitter<void>();
  readonly onDidChange = this.changed.event;
  private all: Mutable[] = [];
  private timer: NodeJS.Timeout | undefined;
  private readonly folder: string;

  constructor(
    private readonly context: vscode.ExtensionContext,
    private readonly open: InstanceSource & TestsOfInstance,
    private readonly reporter: Reporter,
    private readonly kind: GenerationKind,
  ) {
    this.folder = join(
      context.storageUri?.fsPath ?? instanceFolder(storageFolder(), open.marker.id),
      kind.kept,
    );
  }

  private get recordsKey(): string {
    return this.kind.kept === 'generate' ? 'generations' : 'repairs';
  }

  /** The latest begun first. */
  get list(): readonly Generation[] {
    return this.all;
  }

  get running(): Generation | undefined {
    return this.all.find(({ state }) => state === 'running');
  }

  /** Reads back the runs of earlier windows. */
  async load(): Promise<void> {
    const records = readGenerationRecords(this.context.workspaceState.get(this.recordsKey));
    if (records.length === 0) return;
    const instance = await this.open.instance();
    const trace = await this.openTrace({ readOnly: true }).catch(() => undefined);
    if (trace === undefined) return;
    try {
      for (const record of records) {
        const generation = begun(record, 'partial');
        await this.replay(generation, instance, trace);
        // The prompts of this version may differ, and answers to other prompts are of no use.
        if (hasResults(generation)) this.all.push(generation);
      }
    } finally {
      await trace.close();
    }
    this.changed.fire();
  }

  /** Loads a run from the trace. */
  private async replay(generation: Mutable, instance: Instance, trace: MethodTrace): Promise<void> {
    const request = this.requestOf(generation, instance, {
      ...{ live: undefined, trace, budget: budgetOf({}) },
      ...{ signal: undefined, reporter: silent },
    });
    const [entry] = await generate(request, async () => undefined);
    if (entry !== undefined) finish(generation, entry);
    if ('failure' in (entry ?? {})) generation.failure = undefined;
  }

  /**
   * Runs a method with a model, or resumes an interrupted run with the same settings.
   *
   * @throws HumanError, Cancelled; answers are kept
   */
  async start(run: AskedRun, signal: AbortSignal, reporter: Reporter): Promise<FinishedGeneration> {
    const settings = generateSettings();
    const { agent } = run.method.asksItself ?? {};
    const asked: GenerationRecord = {
      ...this.recordOf(run, settings),
      ...(agent !== undefined && { agent: await recordedAgent(agent, signal) }),
    };
    if (this.running !== undefined) throw this.kind.busy();
    const before = this.all.find(({ id }) => id === recordId(asked));
    const generation = begun(
      before === undefined ? asked : { ...asked, startedAt: before.record.startedAt },
      'running',
    );
    this.all = [generation, ...this.all.filter((each) => each !== before)];
    this.changed.fire();
    try {
      return await this.produce(generation, run, settings, signal, reporter);
    } finally {
      await this.settle(generation, before);
    }
  }

  /** What a run is about: its method and model, with the settings of this moment. */
  private recordOf(
    { method, model, limits, numbers = {}, embedding }: AskedRun,
    settings: GenerateSettings,
  ): GenerationRecord {
    const longest = Math.floor((model.maxInputTokens ?? Infinity) * 0.9);
    return {
      method: (method.refined?.of ?? method).name,
      ...(method.refined !== undefined && { refine: method.refined.times }),
      model: model.name,
      samples: method.samples,
      contextTokens: Math.min(settings.contextTokens, longest),
      maxOutputTokens: settings.maxOutputTokens,
      ...(method.needsTools === true &&
        model.maxInputTokens !== undefined && { maxInputTokens: model.maxInputTokens }),
      ...recordedLimits(method, limits),
      ...(Object.keys(numbers).length > 0 && { agentless: numbers }),
      ...(embedding !== undefined && { embedding: recordedEmbedding(embedding) }),
      engine: engineSettings(this.open.folder.uri).name,
      timeoutSeconds: timeoutSeconds(this.open.folder.uri),
      ...(model.price !== undefined && { price: model.price }),
      startedAt: new Date().toISOString(),
    };
  }

  /** Runs the method, and records its answers in the trace. */
  private async produce(
    generation: Mutable,
    { method, model, embedding }: AskedRun,
    settings: GenerateSettings,
    signal: AbortSignal,
    reporter: Reporter,
  ): Promise<FinishedGeneration> {
    const options = { timeoutSeconds: settings.requestSeconds };
    const opened = {
      model: await model.open(options),
      embedding: await embedding?.open(options),
      upstream: method.asksItself && (await model.openUpstream?.(options)),
    };
    let asked = 0;
    const instance = await this.open.instance();
    const python = await this.open.python();
    await this.keepRecords();
    return this.locked(signal, reporter, async (still) => {
      const trace = await this.openTrace({ readOnly: false });
      try {
        const live = this.liveParts(opened, python);
        const budget = budgetLeft(generation.record, settings, trace);
        const request = this.requestOf(generation, instance, {
          ...{ live, method, trace, budget, reporter },
          onAnswered: () => (asked += 1),
          signal: still,
        });
        const [entry] = await generate(request, async () => undefined);
        if (entry === undefined) throw new Error('no entry for the instance');
        finish(generation, entry);
        return { generation, entry, asked };
      } finally {
        await trace.close();
      }
    });
  }

  private liveParts(
    models: Pick<LiveParts, 'model' | 'embedding' | 'upstream'>,
    python: PythonParser,
  ): LiveParts {
    return {
      ...models,
      requests,
      python,
      trees: () => this.open.trees(),
      store: runStore(storageFolder()),
      engine: () => this.open.engine(),
      permit: (engine) => requireTestsOfModels(this.open.folder, engine),
    };
  }

  /** Ends a run on every path. `before` is the interrupted run that it resumed. */
  private async settle(generation: Mutable, before: Mutable | undefined): Promise<void> {
    if (generation.state === 'running') generation.state = 'partial';
    generation.writing.clear();
    if (!hasResults(generation)) {
      // Without results the run is removed; a resumed one is restored as it was.
      this.all = this.all.flatMap((each) =>
        each !== generation ? [each] : before === undefined ? [] : [before],
      );
      await this.keepRecords();
    }
    this.tell();
  }

  private requestOf(
    generation: Mutable,
    instance: Instance,
    more: {
      readonly live: LiveParts | undefined;
      /** The method that was chosen; absent where the trace is read. */
      readonly method?: Method;
      /** Called with each request that is answered. */
      readonly onAnswered?: () => void;
      readonly trace: MethodTrace;
      readonly budget: Budget;
      readonly signal: AbortSignal | undefined;
      readonly reporter: Reporter;
    },
  ): GenerationRequest {
    const { model, samples, contextTokens, maxOutputTokens, price } = generation.record;
    const { engine, timeoutSeconds, maxInputTokens, limits } = generation.record;
    const { method, onAnswered = () => undefined, ...parts } = more;
    const tellOf = <Step>(known: Step[], step: Step): void => {
      known.push(step);
      if (more.live !== undefined) this.tell();
    };
    return {
      ...parts,
      hooks: { onBegin: () => undefined, onStep: () => undefined, onAnswered },
      embedding: embeddingOfRecord(generation.record),
      ...{ model, samples, contextTokens, maxOutputTokens, maxInputTokens, price },
      ...{ engine, timeoutSeconds, limits },
      instances: [instance],
      method: this.kind.methodOf(generation.record, more.reporter, method),
      storage: storageFolder(),
      // A candidate applies with one click, so it must not change the code under test.
      testsOnly: true,
      workers: 1,
      onCandidate: (_instance, candidate) => {
        generation.writing.delete(candidate.sample);
        // Candidates arrive in several steps. A late listener still needs the earlier ones.
        const known = generation.candidates.get(candidate.sample);
        generation.candidates.set(candidate.sample, { ...known, ...candidate });
        if (more.live !== undefined) this.tell();
      },
      onAct: (act) => tellOf(generation.acts, act),
      onStage: (stage) => tellOf(generation.stages, stage),
      onSession: (session) => tellOf(generation.sessions, session),
      onText: ({ purpose, sample }, piece) => {
        if (purpose !== 'tests') return;
        generation.writing.set(sample, (generation.writing.get(sample) ?? 0) + piece.length);
        this.tellSoon();
      },
    };
  }

  /**
   * Deletes a run if the user confirms it.
   *
   * @param what names the run
   */
  async askToForget(generation: Generation, what: string): Promise<void> {
    const isConfirmed = await confirm(
      vscode.l10n.t('This deletes {0}, with its answers and stage results.', what),
      vscode.l10n.t('Delete'),
      vscode.l10n.t('Generating them again costs money again.'),
    );
    if (!isConfirmed) return;
    // Another window may write to the trace.
    await afterAWhile(vscode.l10n.t('Deleting {0}', what), (signal) =>
      this.forget(generation, signal),
    );
  }

  /**
   * Deletes a run, and in the trace its answers and what stages found with them, unless another run
   * has the same.
   */
  private async forget(generation: Generation, signal: AbortSignal): Promise<void> {
    if (generation.state === 'running') return;
    const others = this.all.filter((each) => each !== generation);
    await this.locked(signal, this.reporter, async () => {
      const text = await readFile(this.tracePath, 'utf8').catch(() => '');
      await writeWholeFile(this.tracePath, withoutStepsOf(text, generation, others));
    });
    this.all = others;
    await this.keepRecords();
    this.tell();
  }

  /** What the agent did whose answer is a candidate's; empty for other methods. */
  actsOf(answer: string): readonly StepOf<'act'>[] {
    const of = this.all.find(({ candidates }) =>
      [...candidates.values()].some((candidate) => candidate.answer?.key === answer),
    );
    return of?.acts ?? [];
  }

  /** The prompt of an answer; undefined when the trace does not contain it. */
  async promptOf(answer: StepOf<'answer'>): Promise<StepOf<'prompt'> | undefined> {
    const trace = await this.openTrace({ readOnly: true }).catch(() => undefined);
    await trace?.close();
    return trace?.steps.find(
      (step): step is StepOf<'prompt'> => step.step === 'prompt' && step.prompt === answer.prompt,
    );
  }

  /** The file with all steps of the methods that ran on the open instance. */
  get tracePath(): string {
    return join(this.folder, 'trace.jsonl');
  }

  private async openTrace({ readOnly }: { readonly readOnly: boolean }): Promise<MethodTrace> {
    try {
      return await openTrace(this.tracePath, {
        readOnly,
        told: (line) => this.reporter.log(line),
      });
    } catch (error) {
      // The original advice is for the command line.
      if (!(error instanceof HumanError)) throw error;
      throw new HumanError(error.what, vscode.l10n.t('Check whether the disk is full'));
    }
  }

  /** Does work while no other window can write to the trace. */
  private locked<T>(
    signal: AbortSignal,
    reporter: Reporter,
    work: (signal: AbortSignal) => Promise<T>,
  ): Promise<T> {
    const digest = sha256(this.tracePath).slice(0, 16);
    const path = join(storageFolder(), 'locks', `generate-${digest}`);
    return withLock(path, { signal, reporter, what: 'works with a model' }, work);
  }

  private async keepRecords(): Promise<void> {
    const records = this.all.slice(0, most).map(({ record }) => record);
    await this.context.workspaceState.update(this.recordsKey, records);
  }

  private tell(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    this.changed.fire();
  }

  private tellSoon(): void {
    this.timer ??= setTimeout(() => this.tell(), pause);
  }

  dispose(): void {
    clearTimeout(this.timer);
    this.changed.dispose();
  }
}

const begun = (record: GenerationRecord, state: Generation['state']): Mutable => ({
  ...{ id: recordId(record), record, state, candidates: new Map(), acts: [] },
  ...{ stages: [], sessions: [], writing: new Map() },
  ...{ chosen: undefined, failure: undefined, cost: undefined },
});

const hasResults = ({ candidates, acts, stages, sessions }: Generation): boolean =>
  candidates.size > 0 || [acts, stages, sessions].some(({ length }) => length > 0);

/** The budget of a run without what it had spent before it was interrupted. */
function budgetLeft(
  record: GenerationRecord,
  { tokenBudget: tokens, dollarBudget }: GenerateSettings,
  trace: MethodTrace,
): Budget {
  const dollars = record.price === undefined ? undefined : dollarBudget;
  const budget = budgetOf({ tokens, dollars });
  budget.add(spentSince(trace.steps, record));
  return budget;
}

function finish(generation: Mutable, entry: GenerationEntry): void {
  if ('failure' in entry) {
    generation.state = 'partial';
    generation.failure = inTermsOfSettings(entry.failure);
    return;
  }
  generation.state = 'done';
  generation.chosen = { sample: entry.choice.chosen?.sample, why: entry.choice.why };
  generation.cost = entry.cost;
}

const recordedEmbedding = ({
  use: { name, baseUrl, price },
}: ChosenEmbedding): NonNullable<GenerationRecord['embedding']> => ({
  name,
  ...(baseUrl !== undefined && { baseUrl }),
  ...(price !== undefined && { price }),
});
