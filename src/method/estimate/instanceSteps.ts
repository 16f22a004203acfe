import { availableParallelism } from 'node:os';
import PQueue from 'p-queue';
import type { Instance } from '../../domain/instance';
import type { Reporter } from '../../domain/work';
import type { Engine } from '../../engine/engine';
import type { RunStore } from '../../evaluation/testRun';
import type { PythonParser } from '../../python/parser';
import type { Trees } from '../../repository/trees';
import type { LimitProfile } from '../agents/agent';
import { goldenAnswerOf } from '../given/goldenAnswer';
import { seesAnswer } from '../given/setting';
import type { Method, MethodCandidate, MethodOptions } from '../method';
import { modelView, type ModelView, type ModelViewParts } from '../modelView';
import { AnswersAtOnce } from '../models/answersAtOnce';
import { budgetOf, budgetWithin, spentOn, type Budget, type Spent } from '../models/budget';
import type { ChatModel } from '../models/chatModel';
import type { EmbeddingModel } from '../models/embeddingModel';
import type { ModelUpstream } from '../models/openModel';
import { oracleOf, type Oracle } from '../view/oracle';
import { Steps } from '../steps/steps';
import type { LiveSteps, StepsParts } from '../steps/stepsParts';
import { paidSteps } from '../trace';

/** An instance of a run, with its answer: what methods see of it is made here. */
export type InstanceOfRun = Instance;

/** A run of a method on instances. */
export interface GenerationRequest
  extends
    Omit<MethodOptions, 'onCandidate'>,
    Pick<StepsParts, 'trace' | 'budget' | 'settings' | 'price' | 'storage' | 'contextTokens'>,
    Pick<StepsParts, 'maxOutputTokens' | 'maxInputTokens' | 'testsOnly' | 'engine'>,
    Pick<StepsParts, 'timeoutSeconds' | 'signal' | 'reporter' | 'embedding'>,
    Pick<StepsParts, 'onAct' | 'onSession' | 'onStage' | 'onText'> {
  readonly instances: readonly Instance[];
  readonly method: Method;
  /** `PROVIDER/NAME`. */
  readonly model: string;
  /** Undefined for a replay, which uses the trace alone. */
  readonly live: LiveParts | undefined;
  /** Dollars that one instance may cost; no limit when absent. */
  readonly instanceDollars?: number | undefined;
  /** The limits of an agent; those of its paper when absent. */
  readonly limits?: LimitProfile | undefined;
  /** Outputs of stages that are used instead of computed ones, by instance and stage. */
  readonly givenStages?: ReadonlyMap<string, ReadonlyMap<string, unknown>> | undefined;
  /** Instances processed at once. */
  readonly workers: number;
  readonly hooks?: GenerationHooks;
  readonly onCandidate?: (instance: string, candidate: MethodCandidate) => void;
}

/** What is reported to whoever watches a run. */
export interface GenerationHooks {
  /** @param spent what the instance has cost so far, at its earlier starts too */
  readonly onBegin: (instance: string, spent: () => Spent) => void;
  /** A new step, in a few words. */
  readonly onStep: (instance: string, step: string) => void;
  /** A request was answered. */
  readonly onAnswered: () => void;
}

/** What the runs of a method on all instances work with. */
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

export interface Queues extends Pick<
  LiveSteps,
  'inTurn' | 'inEmbedding' | 'inSandbox' | 'inBuilding' | 'runs'
> {
  /** Limits how many trees are made at once. */
  readonly inTrees: <T>(work: () => Promise<T>) => Promise<T>;
}

/** Trees that are made at once, even where there are fewer cores. */
const fewestTrees = 8;

/** The queues that all instances share. */
export function queuesOf(live: LiveParts | undefined, hooks: GenerationHooks | undefined): Queues {
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
export function openSteps(
  instance: Instance,
  request: GenerationRequest,
  queues: Queues,
  more: Pick<StepsParts, 'budget'> &
    Partial<Pick<StepsParts, 'onAnswer' | 'onEmbedding' | 'walk' | 'trace'>>,
): { readonly steps: Steps; readonly dispose: () => Promise<void> } {
  const { live, method, trace, model, settings, price, storage } = request;
  const { contextTokens, maxOutputTokens, maxInputTokens, testsOnly } = request;
  const { engine, timeoutSeconds, signal, onText, onAct, onSession, onStage } = request;
  const { id, repo, issue } = instance;
  const reporter = reporterOf(id, request);
  const opened =
    live === undefined ? undefined : openParts(instance, live, queues, { ...request, reporter });
  const steps = new Steps({
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

/** What a method is asked for, without its progress reports. */
export const optionsOf = (request: GenerationRequest): MethodOptions => ({
  samples: request.samples,
  tries: request.tries,
  temperature: request.temperature,
  limits: request.limits,
  mode: request.mode,
});

/** Tells the hooks the steps of an instance, which need not name it there. */
const reporterOf = (instance: string, { reporter, hooks }: GenerationRequest): Reporter => ({
  log: (line) => reporter.log(line),
  progress: (step) => {
    reporter.progress(step);
    hooks?.onStep(instance, step.replace(`${instance}: `, ''));
  },
});

/** The budget of an instance, less what its earlier starts have spent. */
export function budgetFor(
  instance: string,
  { budget, instanceDollars, trace, price }: GenerationRequest,
): Budget {
  const own = budgetOf({ dollars: instanceDollars }, 'instance');
  const before = trace.steps.filter((step) => step.instance === instance);
  own.add(spentOn(paidSteps(before), price));
  return budgetWithin(budget, own);
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
