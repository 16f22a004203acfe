import { availableParallelism } from 'node:os';
import PQueue from 'p-queue';
import type { Instance } from '../domain/instance';
import { Cancelled, HumanError, messageOf, throwIfAborted, type Reporter } from '../domain/work';
import type { Engine } from '../engine/engine';
import type { RunStore } from '../evaluation/testRun';
import type { PythonParser } from '../python/parser';
import { GitError } from '../repository/git';
import type { Trees } from '../repository/trees';
import type { LimitProfile } from './agents/agent';
import {
  type MethodResult,
  type Method,
  type MethodCandidate,
  type MethodOptions,
  predictionOf,
  usesAnswer,
} from './method';
import type { DeclaredRequests, FollowingRequests } from './estimate/declaredRequests';
import { foreseenGiven } from './given/foreseenGiven';
import { goldenAnswerOf } from './given/goldenAnswer';
import { seesAnswer } from './given/setting';
import { modelView, type ModelView, type ModelViewParts } from './modelView';
import { AnswersAtOnce } from './models/answersAtOnce';
import {
  BudgetSpent,
  budgetOf,
  budgetWithin,
  spentOn,
  type Budget,
  type Price,
  type Spent,
} from './models/budget';
import {
  ModelFailure,
  ModelUnusable,
  type ChatModel,
  type RequestSettings,
} from './models/chatModel';
import type { EmbeddingModel } from './models/embeddingModel';
import type { ModelUpstream } from './models/openModel';
import { oracleOf, type Oracle } from './oracle';
import {
  saysSomething,
  stepsOf,
  whyWithoutText,
  type AnswerStep,
  type ForeseenRequest,
  type Steps,
  type StepsParts,
} from './steps';
import { tokenCounter } from './tokens';
import { keyOf, paidSteps, type MethodTrace, type StepOf } from './trace';

export interface GenerationRequest extends Omit<MethodOptions, 'onCandidate'> {
  readonly instances: readonly Instance[];
  readonly method: Method;
  /** `PROVIDER/NAME`. */
  readonly model: string;
  /** Undefined for a replay, which uses the trace alone. */
  readonly live: LiveParts | undefined;
  readonly trace: MethodTrace;
  readonly budget: Budget;
  /** Dollars that one instance may cost; no limit when absent. */
  readonly instanceDollars?: number | undefined;
  /** What all requests have besides what the method says. */
  readonly settings?: RequestSettings | undefined;
  /** The limits of an agent; those of its paper when absent. */
  readonly limits?: LimitProfile | undefined;
  readonly price: Price | undefined;
  /** The embedding model; absent where there is none. */
  readonly embedding?: StepsParts['embedding'];
  /** Outputs of stages that are used instead of computed ones, by instance and stage. */
  readonly givenStages?: ReadonlyMap<string, ReadonlyMap<string, unknown>> | undefined;
  readonly storage: string;
  readonly contextTokens: number;
  readonly maxOutputTokens: number;
  /** Most tokens that the model takes; undefined when nobody says. */
  readonly maxInputTokens?: number | undefined;
  readonly testsOnly: boolean;
  /** Name of the engine. */
  readonly engine: string;
  readonly timeoutSeconds: number;
  /** Instances processed at once. */
  readonly workers: number;
  readonly hooks?: GenerationHooks;
  readonly onCandidate?: (instance: string, candidate: MethodCandidate) => void;
  /** Called with each action of an agent, done now or before. */
  readonly onAct?: StepsParts['onAct'];
  /** Called with each session of an agent that brings its own tools, held now or before. */
  readonly onSession?: StepsParts['onSession'];
  /** Called with the output of each stage of a pipeline, found now or before. */
  readonly onStage?: StepsParts['onStage'];
  /** Called with each piece of an answer as it arrives. */
  readonly onText?: StepsParts['onText'];
  readonly signal?: AbortSignal | undefined;
  readonly reporter: Reporter;
}

/** What somebody who watches a run is told. */
export interface GenerationHooks {
  /** @param spent what the instance has cost so far, at its earlier starts too */
  readonly onBegin: (instance: string, spent: () => Spent) => void;
  /** A new step, in a few words. */
  readonly onStep: (instance: string, step: string) => void;
  /** A request was answered. */
  readonly onAnswered: () => void;
}

export interface LiveParts {
  readonly model: ChatModel;
  readonly embedding?: EmbeddingModel | undefined;
  /** Where the requests of agents go that send their own. */
  readonly upstream?: ModelUpstream | undefined;
  /** Requests in flight at once. */
  readonly requests: number;
  /** The number to which these may grow while answers do not take longer for it. */
  readonly mostRequests?: number | undefined;
  /** Runs of tests at once; no limit when absent. */
  readonly runs?: number | undefined;
  readonly python: PythonParser;
  /** The trees of R and R∘X*, for a view and the oracle; called once for an instance. */
  readonly trees: (
    instance: Instance,
    work: Pick<GenerationRequest, 'signal' | 'reporter'>,
  ) => Promise<Trees>;
  readonly store: RunStore;
  /** Opens the engine when something has to run; the caller disposes of it. */
  readonly engine: () => Promise<Engine>;
  /** As in `ModelViewParts`; also called before runs on R∘X*. */
  readonly permit: ModelViewParts['permit'];
}

/** The cost of one instance's answers, whether they were paid in this run or before. */
export interface Cost {
  readonly requests: number;
  readonly inputTokens: number;
  /** Those of the input that an embedding model turned into vectors. */
  readonly embeddedTokens: number;
  readonly outputTokens: number;
  /** Those of the output that are reasoning, as far as providers say. */
  readonly reasoningTokens: number;
  /** Those of the input that came from a cache, as far as providers say. */
  readonly cachedInputTokens: number;
  /** Answers without a text, which were asked again. */
  readonly emptyAnswers: number;
  /** Undefined where no price is known. */
  readonly dollars: number | undefined;
  /** Whether a server did not count, and the numbers come from our tokenizer. */
  readonly isEstimate: boolean;
}

/** The result for one instance: a choice, or why there is none. */
export type GenerationEntry =
  | {
      readonly instance: string;
      readonly choice: MethodResult;
      /** The candidate, for a predictions file. */
      readonly prediction: string;
      readonly cost: Cost;
    }
  | { readonly instance: string; readonly failure: string };

/**
 * After this number of instances in a row without an answer of the model, and after no fewer than
 * work at once, no more are tried.
 */
const fewestFailures = 3;

/**
 * Runs a method on instances, several at once. Steps in the trace are not repeated. Entries come in
 * the order of the instances. A failure of one does not affect the others.
 *
 * @param onEntry called as each is done
 * @throws Cancelled, ModelUnusable
 */
export async function generate(
  request: GenerationRequest,
  onEntry: (entry: GenerationEntry) => Promise<void>,
): Promise<GenerationEntry[]> {
  const { instances, signal, reporter } = request;
  const entries = new Array<GenerationEntry | undefined>(instances.length);
  const queues = queuesOf(request.live, request.hooks);
  const workers = Math.max(1, Math.min(request.workers, instances.length));
  // As many are under way at once, and fail together.
  const mostFailures = Math.max(fewestFailures, workers);
  let next = 0;
  let failures = 0;
  let stopped: string | undefined;
  let fatal: ModelUnusable | undefined;

  const work = async (): Promise<void> => {
    for (let index = next++; index < instances.length; index = next++) {
      const instance = instances[index];
      if (instance === undefined || fatal !== undefined) continue;
      throwIfAborted(signal);
      let entry: GenerationEntry;
      try {
        if (stopped !== undefined) entry = { instance: instance.id, failure: stopped };
        else {
          entry = await generateOne(instance, request, queues);
          failures = 0;
        }
      } catch (error) {
        if (error instanceof Cancelled || signal?.aborted === true) throw new Cancelled();
        if (error instanceof ModelUnusable) {
          fatal = error;
          throw error;
        }
        if (error instanceof BudgetSpent && error.of === 'run')
          stopped ??= `not asked: ${error.message}`;
        if (error instanceof ModelFailure) {
          failures += 1;
          if (failures >= mostFailures) {
            stopped ??= `not asked: there was no answer for ${failures} instances in a row`;
          }
        }
        const isKnown = [HumanError, GitError, BudgetSpent, ModelFailure].some(
          (kind) => error instanceof kind,
        );
        const said = isKnown ? messageOf(error) : `internal error: ${messageOf(error)}`;
        if (!isKnown && error instanceof Error) reporter.log(error.stack ?? error.message);
        entry = { instance: instance.id, failure: said };
      }
      entries[index] = entry;
      await onEntry(entry);
    }
  };
  const ends = await Promise.allSettled(Array.from({ length: workers }, work));
  if (fatal !== undefined) throw fatal;
  const failed = ends.find((end) => end.status === 'rejected');
  if (failed !== undefined) throw failed.reason;
  return entries.filter((entry) => entry !== undefined);
}

interface Queues extends Pick<
  NonNullable<StepsParts['live']>,
  'inTurn' | 'inEmbedding' | 'inSandbox' | 'inBuilding' | 'runs'
> {
  /** Limits how many trees are made at once. */
  readonly inTrees: <T>(work: () => Promise<T>) => Promise<T>;
}

/** Trees that are made at once, even where there are fewer cores. */
const fewestTrees = 8;

/** The queues that all instances share. */
function queuesOf(live: LiveParts | undefined, hooks: GenerationHooks | undefined): Queues {
  const { requests = 1, mostRequests = requests, runs = Infinity } = live ?? {};
  const atOnce = new AnswersAtOnce(requests, mostRequests);
  const turns = new PQueue({ concurrency: requests });
  const embeddings = new PQueue({ concurrency: requests });
  const sandboxes = new PQueue({ concurrency: runs });
  // Trees mostly wait for git and the disk. Prompts take the memory of a whole tree.
  const trees = new PQueue({ concurrency: Math.max(fewestTrees, availableParallelism()) });
  const builders = new PQueue({ concurrency: availableParallelism() });
  return {
    inTurn: (work) =>
      turns.add(async () => {
        const started = performance.now();
        const answer = await work();
        atOnce.answered(performance.now() - started);
        turns.concurrency = atOnce.number;
        hooks?.onAnswered();
        return answer;
      }),
    inEmbedding: (work) => embeddings.add(work),
    inSandbox: (work) => sandboxes.add(work),
    runs: Number.isFinite(runs) ? runs : availableParallelism(),
    inTrees: (work) => trees.add(work),
    inBuilding: (work) => builders.add(work),
  };
}

/** The steps of an instance, with all that they open. */
function openSteps(
  instance: Instance,
  request: GenerationRequest,
  queues: Queues,
  more: Pick<StepsParts, 'onAnswer' | 'onEmbedding'> & { readonly budget: Budget },
): { readonly steps: Steps; readonly dispose: () => Promise<void> } {
  const { live, method, trace, model, settings, price, storage } = request;
  const { contextTokens, maxOutputTokens, maxInputTokens, testsOnly } = request;
  const { engine, timeoutSeconds, signal, onText, onAct, onSession, onStage } = request;
  const { id, repo, issue } = instance;
  const reporter = reporterOf(id, request);
  const opened =
    live === undefined ? undefined : openParts(instance, live, queues, { ...request, reporter });
  const steps = stepsOf({
    instance: { id, repo, issue },
    ...(method.given !== undefined &&
      seesAnswer(method.given) && { golden: goldenAnswerOf(instance) }),
    live:
      live === undefined || opened === undefined
        ? undefined
        : {
            ...{ model: live.model, embedding: live.embedding, upstream: live.upstream },
            ...{ view: opened.view, oracle: opened.oracle, ...queues },
          },
    embedding: request.embedding,
    givenStages: request.givenStages?.get(id),
    ...{ trace, model, settings, price, storage, contextTokens, maxOutputTokens, maxInputTokens },
    ...{ testsOnly, engine, timeoutSeconds, signal, reporter, onText, onAct, onSession, onStage },
    ...more,
  });
  return { steps, dispose: async () => opened?.dispose() };
}

/** What an instance would ask a model, or why its prompt cannot be made. */
export type Foreseen = { readonly instance: string } & (
  | { readonly requests: readonly StageForeseen[] }
  | { readonly failure: string }
);

/** The requests of an instance that do not follow from what answers and runs say. */
async function foreseenOf(
  declared: readonly DeclaredRequests[],
  request: GenerationRequest,
  steps: Steps,
): Promise<StageForeseen[]> {
  const { given } = request.method;
  if (given !== undefined) {
    const all = await foreseenGiven(given, steps, request);
    return all.map((each, at) => ({
      ...each,
      stage: at < all.length - 1 ? 'wrong patches' : 'candidates',
    }));
  }
  const requests: StageForeseen[] = [];
  for (const each of declared) {
    if ('follows' in each) continue;
    const { stage, count, isAtMost, isEmbedding } = each;
    const of = { stage, ...(isEmbedding && { isEmbedding }) };
    for (let sample = 1; sample <= count; sample += 1) {
      const found = await each.foresee(steps, sample);
      if (found !== undefined) requests.push({ ...of, ...found, ...(isAtMost && { isAtMost }) });
    }
  }
  return requests;
}

/** A request that was not sent, with what it is for. */
interface StageForeseen extends ForeseenRequest {
  readonly stage: string;
  /** Whether it goes to the embedding model, which gives no text. */
  readonly isEmbedding?: true;
}

/**
 * Makes the prompts of a method on instances, several at once, and asks for nothing.
 *
 * @throws Cancelled
 */
export async function foresee(request: GenerationRequest): Promise<Foreseen[]> {
  const { instances, method, signal } = request;
  const queues = queuesOf(request.live, undefined);
  const work = new PQueue({ concurrency: Math.max(1, request.workers) });
  const one = async (instance: Instance): Promise<Foreseen> => {
    throwIfAborted(signal);
    const budget = budgetFor(instance.id, request);
    const { steps, dispose } = openSteps(instance, request, queues, { budget });
    try {
      const issueTokens = (await tokenCounter())(instance.issue);
      const declared = method.requests?.(request, { ...request, issueTokens }) ?? [];
      const requests = await foreseenOf(declared, request, steps);
      for (const each of declared) {
        if (!('follows' in each)) continue;
        requests.push(
          ...(await foreseenFollowing(instance, request, queues, { ...each, requests })),
        );
      }
      return { instance: instance.id, requests };
    } catch (error) {
      throwIfAborted(signal);
      return { instance: instance.id, failure: messageOf(error) };
    } finally {
      await dispose();
    }
  };
  return Promise.all(instances.map((instance) => work.add(() => one(instance))));
}

/**
 * The requests that follow from answers and runs: those that the trace has, and a bound of the others.
 *
 * @param following.requests those that depend on nothing. Those for candidates are in a replay as well.
 */
async function foreseenFollowing(
  instance: Instance,
  request: GenerationRequest,
  queues: Queues,
  {
    stage,
    count: most,
    inputTokens,
    follows,
    requests,
  }: FollowingRequests & { readonly requests: readonly StageForeseen[] },
): Promise<StageForeseen[]> {
  const { keys, isWhole } = await answersInTrace(instance, request, queues, follows);
  const known = requests.filter(({ isAnswered, stage: of }) => isAnswered && of === 'candidates');
  const answered = Math.min(most, Math.max(0, keys - known.length));
  const left = isWhole ? 0 : most - answered;
  const of = (length: number, isAnswered: boolean): StageForeseen[] =>
    Array.from({ length }, () => ({
      ...{ stage, isAnswered, isAtMost: true as const },
      inputTokens: isAnswered ? 0 : inputTokens,
    }));
  return [...of(answered, true), ...of(left, false)];
}

/**
 * How many answers of the trace a run would use, of those for some purposes, and whether it would need
 * no other.
 */
async function answersInTrace(
  instance: Instance,
  request: GenerationRequest,
  queues: Queues,
  purposes: FollowingRequests['follows'],
): Promise<{ readonly keys: number; readonly isWhole: boolean }> {
  const { method } = request;
  const used = new Set<string>();
  const onAnswer = ({ key, purpose }: AnswerStep): void => {
    if (purposes.includes(purpose)) used.add(key);
  };
  const replay = { ...request, live: undefined };
  const budget = budgetFor(instance.id, request);
  const { steps, dispose } = openSteps(instance, replay, queues, { budget, onAnswer });
  try {
    await method.produce(steps, optionsOf(request));
    return { keys: used.size, isWhole: true };
  } catch {
    // The trace has not everything: nothing else can go wrong in a replay.
    throwIfAborted(request.signal);
    return { keys: used.size, isWhole: false };
  } finally {
    await dispose();
  }
}

/** What a method is asked for, without what is told meanwhile. */
const optionsOf = (request: GenerationRequest): MethodOptions => ({
  samples: request.samples,
  tries: request.tries,
  temperature: request.temperature,
  limits: request.limits,
  mode: request.mode,
});

async function generateOne(
  instance: Instance,
  request: GenerationRequest,
  queues: Queues,
): Promise<GenerationEntry> {
  const { live, method, trace } = request;
  const { id } = instance;
  const used = new Set<string>();
  const budget = budgetFor(id, request);
  request.hooks?.onBegin(id, () => budget.spent);
  const { steps, dispose } = openSteps(instance, request, queues, {
    budget,
    onAnswer: (answer) => used.add(answer.key),
    onEmbedding: (step) => used.add(step.key),
  });
  try {
    const choice = await method.produce(steps, {
      ...optionsOf(request),
      ...(request.onCandidate !== undefined && {
        onCandidate: (candidate) => request.onCandidate?.(id, candidate),
      }),
    });
    if (
      choice.candidates.length > 0 &&
      !choice.candidates.some(({ answer }) => answer === undefined || saysSomething(answer))
    ) {
      const [{ answer } = { answer: undefined }] = choice.candidates;
      const why = answer === undefined ? '' : whyWithoutText(answer);
      throw new ModelFailure(`no answer of ${request.model} has a text: ${why}`);
    }
    const prediction = predictionOf(choice);
    if (live !== undefined && choice.until === undefined) {
      await noteChoice(request, id, choice, prediction);
    }
    // Also those that were asked again, which have the key of the answer that came in the end.
    const paid = trace.steps.filter((step) => step.instance === id && used.has(step.key));
    const answers = paid.filter((step) => step.step === 'answer');
    const embeddings = paid.filter((step) => step.step === 'embedding');
    const cost = costOf(answers, embeddings, request.price);
    return { instance: id, choice, prediction, cost };
  } finally {
    await dispose();
  }
}

/** Tells the hooks the steps of an instance, which need not name it there. */
const reporterOf = (instance: string, { reporter, hooks }: GenerationRequest): Reporter => ({
  log: (line) => reporter.log(line),
  progress: (step) => {
    reporter.progress(step);
    hooks?.onStep(instance, step.replace(`${instance}: `, ''));
  },
});

/** The budget of an instance, less what its earlier starts have spent. */
function budgetFor(
  instance: string,
  { budget, instanceDollars, trace, price }: GenerationRequest,
): Budget {
  const own = budgetOf({ dollars: instanceDollars }, 'instance');
  const before = trace.steps.filter((step) => step.instance === instance);
  own.add(spentOn(paidSteps(before), price));
  return budgetWithin(budget, own);
}

async function noteChoice(
  { method, model, trace }: GenerationRequest,
  instance: string,
  { chosen, why }: MethodResult,
  patch: string,
): Promise<void> {
  const sample = chosen?.sample;
  const key = keyOf('choice', method.name, model, instance, sample, why, patch);
  if (trace.find('choice', key) !== undefined) return;
  await trace.add({
    step: 'choice',
    key,
    at: new Date().toISOString(),
    instance,
    method: method.name,
    model,
    ...(sample !== undefined && { sample }),
    why,
    patch,
    ...(usesAnswer(method) && { oracle: true as const }),
  });
}

interface OpenParts {
  readonly view: () => Promise<ModelView>;
  readonly oracle: () => Promise<Oracle>;
  readonly dispose: () => Promise<void>;
}

/** Trees, view and oracle of an instance, each made on first use. */
function openParts(
  instance: Instance,
  { python, trees: treesOf, store, engine, permit }: LiveParts,
  { inTrees }: Queues,
  { timeoutSeconds, signal, reporter }: GenerationRequest,
): OpenParts {
  let trees: Promise<Trees> | undefined;
  let view: Promise<ModelView> | undefined;
  let oracle: Oracle | undefined;
  const prepare = (): Promise<Trees> =>
    (trees ??= inTrees(async () => {
      reporter.progress(`${instance.id}: preparing R`);
      return treesOf(instance, { signal, reporter });
    }));
  return {
    view: () =>
      (view ??= prepare().then((made) =>
        modelView(instance, { trees: made, python, engine, store, permit }),
      )),
    oracle: async () => {
      permit((await engine()).name);
      return (oracle ??= oracleOf({
        ...{ instance, trees: prepare, python, engine, store },
        ...{ timeoutSeconds, signal, reporter },
      }));
    },
    async dispose() {
      await oracle?.dispose();
      await (await view?.catch(() => undefined))?.dispose();
    },
  };
}

function costOf(
  answers: readonly AnswerStep[],
  embeddings: readonly StepOf<'embedding'>[],
  price: Price | undefined,
): Cost {
  const sum = (of: (answer: AnswerStep) => number): number =>
    answers.reduce((total, answer) => total + of(answer), 0);
  const arePriced = answers.length > 0 && answers.every(({ dollars }) => dollars !== undefined);
  const paid = paidSteps([...answers, ...embeddings]);
  const embedded = embeddings.reduce((total, { inputTokens }) => total + inputTokens, 0);
  return {
    requests: answers.length,
    inputTokens: sum(({ inputTokens }) => inputTokens) + embedded,
    embeddedTokens: embedded,
    outputTokens: sum(({ outputTokens }) => outputTokens),
    reasoningTokens: sum(({ reasoningTokens = 0 }) => reasoningTokens),
    cachedInputTokens: sum(({ cachedInputTokens = 0 }) => cachedInputTokens),
    emptyAnswers: answers.filter((answer) => !saysSomething(answer)).length,
    dollars: price !== undefined || arePriced ? spentOn(paid, price).dollars : undefined,
    isEstimate: [...answers, ...embeddings].some(({ isEstimate }) => isEstimate === true),
  };
}
