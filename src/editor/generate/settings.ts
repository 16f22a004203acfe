import { homedir } from 'node:os';
import { join } from 'node:path';
import * as vscode from 'vscode';
import { readConfiguration } from '../../configuration/configuration';
import { HumanError } from '../../domain/work';
import { type LimitProfile, acpAgent, type AcpAgent } from '../../method/agents';
import { agentlessNumbers, type AgentlessNumber } from '../../method/agentless';
import { refiningOption } from '../../method/generating';
import { settingKeys } from '../shell/names';
import { type EmbeddingUse, embeddingProviders, parseModelName } from '../../method/models';
import { limitProfileOf } from './records';
import { readAgentSettings, type ConfiguredAgent } from './agentSettings';
import {
  readEmbeddingSettings,
  readModelSettings,
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

export function generateSettings(): GenerateSettings {
  const tokens = numberOf(settingKeys.tokenBudget, 500_000);
  const dollars = numberOf(settingKeys.dollarBudget, 0);
  return {
    contextTokens: Math.max(1000, Math.floor(numberOf(settingKeys.contextTokens, 27_000))),
    maxOutputTokens: Math.max(1, Math.floor(numberOf(settingKeys.maxOutputTokens, 16_384))),
    requestSeconds: Math.max(1, numberOf(settingKeys.requestTimeout, 600)),
    tokenBudget: tokens > 0 ? tokens : undefined,
    dollarBudget: dollars > 0 ? dollars : undefined,
    agentLimits: limitProfileOf(vscode.workspace.getConfiguration().get(settingKeys.agentLimits)),
    refine: Math.floor(numberOf(settingKeys.refine, refiningOption.default)),
  };
}

/** The agents of the settings that can be started, and the faults of faulty entries. */
export function configuredAgents(): ReturnType<typeof readAgentSettings> {
  return readAgentSettings(vscode.workspace.getConfiguration().get(settingKeys.agents));
}

/** The models of the settings, and the faults of faulty entries. */
export function configuredModels(): ReturnType<typeof readModelSettings> {
  return readModelSettings(vscode.workspace.getConfiguration().get(settingKeys.models));
}

/**
 * The embedding model of the settings; undefined where there is none.
 *
 * @throws HumanError when a setting is faulty
 */
export function configuredEmbedding(): EmbeddingUse | undefined {
  const configuration = vscode.workspace.getConfiguration();
  const found = readEmbeddingSettings({
    model: configuration.get(settingKeys.embeddingModel),
    baseUrl: configuration.get(settingKeys.embeddingBaseUrl),
    price: configuration.get(settingKeys.embeddingPrice),
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
 * The numbers of Agentless that the configuration file changes: the file of the setting, else the
 * nearest one above the workspace. The workspace has to be trusted.
 *
 * @throws HumanError naming file, line and key of a fault
 */
export async function configuredNumbers(folder: vscode.Uri): Promise<AgentlessNumbers> {
  const set: unknown = vscode.workspace.getConfiguration().get(settingKeys.configurationFile);
  const path = typeof set === 'string' && set.trim() !== '' ? absolutePath(set.trim()) : undefined;
  const { values } = await readConfiguration({ folder: folder.fsPath, file: path });
  const given: Readonly<Record<string, unknown>> = { ...values.agentless };
  return Object.fromEntries(
    (Object.keys(agentlessNumbers) as AgentlessNumber[]).flatMap((name) => {
      const value = given[name];
      return typeof value === 'number' && value !== agentlessNumbers[name].default
        ? [[name, value]]
        : [];
    }),
  );
}

const absolutePath = (path: string): string =>
  path.startsWith('~/') ? join(homedir(), path.slice(2)) : path;

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

function numberOf(key: string, otherwise: number): number {
  const value: unknown = vscode.workspace.getConfiguration().get(key);
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
