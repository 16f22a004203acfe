import type { Shard } from '../../domain/work';
import { join } from 'node:path';
import type { Instance } from '../../domain/instance';
import type { Engine } from '../../engine/engine';
import { runStore } from '../../evaluation/testRun';
import type { LimitProfile } from '../../method/agents';
import type { GenerationRequest, LiveParts } from '../../method/generating';
import type { Method } from '../../method/method';
import {
  type Price,
  embeddingBeside,
  type EmbeddingUse,
  openEmbeddingModel,
  openModel,
  openUpstream,
  retriesOf,
} from '../../method/models';
import { mayRunTestsOfModels, refusedLocally } from '../../method/testsOfModels';
import { createPythonParser } from '../../python/parser';
import { sourceOf, parseSources } from '../../repository/source';
import { prepareTrees } from '../../repository/trees';
import type { ProgramContext } from '../registerCommand';
import { sourcesFor } from '../options/openDatasetOption';
import type { GenerationWidth } from '../options/generationWidth';
import type { EngineOptions } from '../options/engineOptions';
import type { AcpOptions } from '../options/acpOptions';
import type { SurrogateOptions } from '../options/surrogateOptions';
import type { GivenOptions } from '../options/givenOptions';
import type { SelectingOptions } from '../options/selectingOptions';

export interface GenerateOptions
  extends SelectingOptions, EngineOptions, GivenOptions, SurrogateOptions, AcpOptions {
  method: string;
  model: string;
  dataset: string;
  out: string;
  source: string[];
  /** The name of the model in the predictions. */
  name?: string;
  samples?: number;
  /** Times that an attempt is sent back. */
  tries?: number;
  /** Times that a sample is sent back with an error of its own; only of `generate`. */
  refine?: number;
  /** Of agents. */
  limits: LimitProfile;
  /** What the candidates are; only some methods write scripts. */
  mode?: 'unit-test' | 'reproduction-script';
  /** Null for the server's default. */
  temperature?: number | null;
  baseUrl?: string;
  contextTokens: number;
  maxOutputTokens: number;
  budgetTokens?: number;
  budget?: number;
  instanceBudget?: number;
  limit?: number;
  shard?: Shard;
  /** The seed, or true for the default. */
  shuffle?: string | true;
  header?: Record<string, string>;
  body?: Record<string, unknown>;
  topP?: number;
  reasoningEffort?: string;
  price?: Price;
  embeddingModel?: string;
  embeddingBaseUrl?: string;
  /** Dollars for a million tokens. */
  embeddingPrice?: number;
  /** Outputs of stages by instance and stage. */
  givenStages?: GenerationRequest['givenStages'];
  concurrency?: number;
  requestsPerMinute?: number;
  tokensPerMinute?: number;
  requestTimeout: number;
  modelWindow?: number;
  retries: number;
  stream: boolean;
  workers?: number;
  timeout: number;
  testsOnly?: boolean;
  runTestsLocally?: boolean;
  replay?: boolean;
  dryRun?: boolean;
  /** Folder for the results of an evaluation. */
  evaluate?: string;
  /** Folder for trajectories as ATIF. */
  atif?: string;
  storage: string;
  json?: boolean;
}

/** What a run of `generate` is made of. */
export interface GenerationParts {
  readonly options: GenerateOptions;
  readonly context: ProgramContext;
  readonly method: Method;
  readonly instances: readonly Instance[];
  readonly width: GenerationWidth;
}

/** What a run and a dry run ask of a method. */
export function requestOf({ options, context, method, instances, width }: GenerationParts) {
  return {
    ...{ instances, method },
    model: options.model,
    samples: options.samples ?? method.samples,
    tries: options.tries,
    temperature: options.temperature,
    price: options.price,
    instanceDollars: options.instanceBudget,
    embedding: embeddingUse(options),
    givenStages: options.givenStages,
    settings: {
      topP: options.topP,
      reasoningEffort: options.reasoningEffort,
      body: options.body,
    },
    storage: options.storage,
    contextTokens: options.contextTokens,
    maxOutputTokens: options.maxOutputTokens,
    testsOnly: options.testsOnly === true,
    limits: options.limits,
    mode: options.mode,
    engine: options.engine,
    timeoutSeconds: options.timeout,
    workers: width.instances,
    signal: context.signal,
  };
}

/** The embedding model that the options name; undefined for none. */
function embeddingUse(options: GenerateOptions): EmbeddingUse | undefined {
  const { embeddingModel: name, embeddingBaseUrl: baseUrl, embeddingPrice: price } = options;
  if (name === undefined) return undefined;
  return embeddingBeside({ name, price, baseUrl }, { ...options, name: options.model });
}

/** Opens the models that the options name; no request is sent. @throws HumanError */
export async function openModels(options: GenerateOptions): Promise<OpenedModels> {
  const { model: name, baseUrl, price, stream, header } = options;
  const common = {
    timeoutSeconds: options.requestTimeout,
    retries: retriesOf(options.retries),
    limits: options,
    storage: options.storage,
  };
  const use = embeddingUse(options);
  // Headers are secrets of the provider of answers.
  const headers = use !== undefined && use.baseUrl === baseUrl ? header : undefined;
  return {
    model: await openModel({
      ...{ name, baseUrl, price, stream, headers: header, window: options.modelWindow },
      ...common,
    }),
    upstream: openUpstream({ ...{ name, baseUrl, price, headers: header }, ...common }),
    embedding:
      use === undefined ? undefined : await openEmbeddingModel({ ...common, ...use, headers }),
  };
}

type OpenedModels = Pick<LiveParts, 'model' | 'embedding' | 'upstream'>;

/** What a method works with. @param engine opens the engine on first use */
export async function liveParts(
  { options, context, method, width }: GenerationParts,
  models: OpenedModels,
  engine: () => Promise<Engine>,
): Promise<LiveParts> {
  const sources = parseSources(sourcesFor(options, context));
  return {
    ...models,
    requests: width.requests,
    mostRequests: width.mostRequests,
    runs: width.runs,
    python: await createPythonParser((file) => join(context.assets, file)),
    trees: async (instance, work) =>
      prepareTrees(instance, await sourceOf(instance, sources), options.storage, work),
    store: runStore(options.storage),
    engine,
    permit: () => {
      if (!mayRunTestsOfModels(options)) throw refusedLocally(method.title);
    },
  };
}
