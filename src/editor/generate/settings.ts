import * as vscode from 'vscode';
import { configurationKeys, everyModel } from '../../configuration/keys';
import { HumanError } from '../../domain/work';
import { type LimitProfile, acpAgent, type AcpAgent } from '../../method/agents';
import { agentlessNumbers, type AgentlessNumber } from '../../method/agentless';
import { refiningOption } from '../../method/generating';
import { windowConfiguration } from '../shell/configurationFile';
import { settingKeys } from '../shell/names';
import {
  type EmbeddingUse,
  embeddingProviders,
  parseModelName,
  type Retries,
  retriesOf,
} from '../../method/models';
import { limitProfileOf } from './records';
import { readAgentSettings, withAgentsOfFile, type ConfiguredAgent } from './agentSettings';
import {
  readEmbeddingSettings,
  readModelSettings,
  withModelsOfFile,
  type ConfiguredModel,
  type KeyHolder,
} from './modelSettings';

/** The settings of generating tests. */
export interface GenerateSettings {
  /** Maximum number of tokens of a whole prompt. */
  readonly contextTokens: number;
  readonly maxOutputTokens: number;
  /** Time limit of one request, in seconds. */
  readonly requestSeconds: number;
  /** Maximum number of tokens of one run, input and output together; undefined for no limit. */
  readonly tokenBudget: number | undefined;
  readonly dollarBudget: number | undefined;
  /** The limits of an agent. */
  readonly agentLimits: LimitProfile;
  /** Times that a sample is sent back with an error of its own. */
  readonly refine: number;
}

/** @throws HumanError naming the fault of the configuration file */
export function generateSettings(): GenerateSettings {
  windowConfiguration.check();
  const tokens = numberOf(settingKeys.tokenBudget, 500_000, ['budgets', 'tokens']);
  const dollars = numberOf(settingKeys.dollarBudget, 0, ['budgets', 'dollars']);
  const ofModels = (key: string): readonly string[] => ['models', everyModel, key];
  const most = {
    prompt: numberOf(settingKeys.contextTokens, 27_000, ofModels('contextTokens')),
    answer: numberOf(settingKeys.maxOutputTokens, 16_384, ofModels('maxOutputTokens')),
    seconds: numberOf(settingKeys.requestTimeout, 600, ['retries', 'requestTimeout']),
    refine: numberOf(settingKeys.refine, refiningOption.default, ['generate', 'refine']),
  };
  const limits = windowConfiguration.setting(settingKeys.agentLimits, ['generate', 'limits']);
  return {
    contextTokens: Math.max(1000, Math.floor(most.prompt)),
    maxOutputTokens: Math.max(1, Math.floor(most.answer)),
    requestSeconds: Math.max(1, most.seconds),
    tokenBudget: tokens > 0 ? tokens : undefined,
    dollarBudget: dollars > 0 ? dollars : undefined,
    agentLimits: limitProfileOf(limits),
    refine: Math.floor(most.refine),
  };
}

/**
 * The agents of settings and configuration file that can be started, and the faults of faulty
 * entries.
 */
export function configuredAgents(): ReturnType<typeof readAgentSettings> {
  const set: unknown = vscode.workspace.getConfiguration().get(settingKeys.agents);
  return readAgentSettings(withAgentsOfFile(set, windowConfiguration.values));
}

/** The models of settings and configuration file, and the faults of faulty entries. */
export function configuredModels(): ReturnType<typeof readModelSettings> {
  const set: unknown = vscode.workspace.getConfiguration().get(settingKeys.models);
  return readModelSettings(withModelsOfFile(set, windowConfiguration.values));
}

/** How often a request is sent again after a temporary failure. */
export const requestRetries = (): Retries =>
  retriesOf(
    Number(
      windowConfiguration.at('retries', 'count') ?? configurationKeys['retries.count'].default,
    ),
  );

/**
 * The embedding model of the settings; undefined where there is none.
 *
 * @throws HumanError when a setting is faulty
 */
export function configuredEmbedding(): EmbeddingUse | undefined {
  const of = (key: string, ...path: readonly string[]): unknown =>
    windowConfiguration.setting(key, path);
  const model = of(settingKeys.embeddingModel, 'repair', 'embeddingModel');
  const found = readEmbeddingSettings({
    model,
    baseUrl: of(settingKeys.embeddingBaseUrl, 'models', String(model), 'baseUrl'),
    price: of(settingKeys.embeddingPrice, 'prices', String(model), 'input'),
  });
  if (found === undefined || !('why' in found)) return found;
  throw new HumanError(
    vscode.l10n.t(
      'The setting {0} is not an embedding model: {1}',
      settingKeys.embeddingModel,
      found.why,
    ),
    vscode.l10n.t(
      'Use PROVIDER/NAME, where the provider is one of {0}',
      embeddingProviders.join(', '),
    ),
  );
}

/** Numbers of Agentless that differ from those of the paper. */
export type AgentlessNumbers = Readonly<Partial<Record<AgentlessNumber, number>>>;

/**
 * The numbers of Agentless that the configuration file changes.
 *
 * @throws HumanError naming file, line and key of a fault
 */
export function configuredNumbers(): AgentlessNumbers {
  windowConfiguration.check();
  const given: Readonly<Record<string, unknown>> = { ...windowConfiguration.values.agentless };
  return Object.fromEntries(
    (Object.keys(agentlessNumbers) as AgentlessNumber[]).flatMap((name) => {
      const value = given[name];
      return typeof value === 'number' && value !== agentlessNumbers[name].default
        ? [[name, value]]
        : [];
    }),
  );
}

/** Everything in the settings that may have a key: the models, and the embedding model. */
export function configuredKeyHolders(): readonly KeyHolder[] {
  const { models } = configuredModels();
  let embedding: EmbeddingUse | undefined;
  try {
    embedding = configuredEmbedding();
  } catch (error) {
    if (!(error instanceof HumanError)) throw error;
  }
  if (embedding === undefined) return models;
  const { provider } = parseModelName(embedding.name);
  // Without an address it has that of a model of the list.
  const hasOwn = embedding.baseUrl !== undefined || provider !== 'openai-compatible';
  return hasOwn ? [...models, { ...embedding, provider }] : models;
}

/** @throws HumanError when the settings lack the model, or its entry is faulty */
export function configuredModel(name: string): ConfiguredModel {
  const { models, problems } = configuredModels();
  const found = models.find((each) => each.name === name);
  if (found !== undefined) return found;
  const why = problems.length === 0 ? '' : ` (${problems.join('; ')})`;
  throw new HumanError(
    vscode.l10n.t(
      'The setting {0} does not contain the model {1}{2}',
      settingKeys.models,
      name,
      why,
    ),
    vscode.l10n.t('Add it there, or choose another model'),
  );
}

function numberOf(key: string, otherwise: number, path: readonly string[]): number {
  const value = windowConfiguration.setting(key, path);
  return typeof value === 'number' && Number.isFinite(value) && value >= 0 ? value : otherwise;
}

/** The agent of an entry of the settings. */
export const agentOfSettings = ({
  name,
  program,
  seconds,
  ...definition
}: ConfiguredAgent): AcpAgent =>
  acpAgent(name, definition, {
    program,
    seconds,
    advice: vscode.l10n.t(
      'Set "program" of the agent to the folder with it and its runtime, in {0}',
      settingKeys.agents,
    ),
  });
