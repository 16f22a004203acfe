import { resolve } from 'node:path';
import { InvalidArgumentError, Option, type Command } from 'commander';
import type { AgentEntry } from '../../configuration/schema';
import { HumanError } from '../../domain/work';
import {
  acpAgent,
  acpMethod,
  acpNamed,
  acpPrefix,
  isAcp,
  defaultAcpSeconds,
  acpPresets,
  type AcpDefinition,
  placeholders,
  variableName,
  wordsOfCommand,
} from '../../method/agents';
import type { Method } from '../../method/method';
import { parseModelName, providers as allProviders } from '../../method/models';
import { atKey, bindValue, keyOption } from './configuredOptions';

/** The options of `generate` for agents of the Agent Client Protocol. */
export interface AcpOptions {
  agentProgram?: string;
  /** Seconds. */
  agentTimeout?: number;
  agentTitle?: string;
  /** Variables by name. */
  agentEnv?: AcpDefinition['env'];
  agentAuth?: string;
  /** What the configuration file says of the agent. */
  agentEntry?: AgentEntry;
}

/** These options by the names that they have for commander. */
const acpOptions: Readonly<Record<Exclude<keyof AcpOptions, 'agentEntry'>, string>> = {
  agentProgram: '--agent-program',
  agentTimeout: '--agent-timeout',
  agentTitle: '--agent-title',
  agentEnv: '--agent-env',
  agentAuth: '--agent-auth',
};

/** The methods that are agents of the protocol, for the help. */
export const acpNames: readonly string[] = [
  ...acpPresets.map(({ name }) => `${acpPrefix}${name}`),
  `${acpPrefix}COMMAND`,
];

export const withAcpOptions = (command: Command): Command =>
  bindValue(command, 'agentEntry', 'agents.{agent}')
    .addOption(keyOption('agents.{agent}.program', { shown: true }))
    .addOption(
      keyOption('agents.{agent}.timeout', {
        description: `acp: session timeout in seconds (default: ${defaultAcpSeconds})`,
      }),
    )
    .addOption(keyOption('agents.{agent}.title'))
    .addOption(
      atKey(
        new Option(
          '--agent-env <name=value>',
          `acp: environment variable for the agent; repeatable; the value can contain ${placeholderNames}`,
        ).argParser(variable),
        'agents.{agent}.env',
      ),
    )
    .addOption(keyOption('agents.{agent}.authMethod'));

const placeholderNames = Object.keys(placeholders)
  .map((name) => `{${name}}`)
  .join(', ');

/**
 * One more variable, `NAME=VALUE`.
 *
 * @throws InvalidArgumentError
 */
function variable(
  text: string,
  former: AcpOptions['agentEnv'] = {},
): NonNullable<AcpOptions['agentEnv']> {
  const [, name, value] = /^([^=]*)=(.*)$/s.exec(text) ?? [];
  if (name === undefined || value === undefined || !variableName.test(name)) {
    throw new InvalidArgumentError('Write NAME=VALUE, with a name of letters, digits and _.');
  }
  return { ...former, [name]: value };
}

/** Options of requests that an agent makes by itself. */
const ofRequests = ['temperature', 'topP', 'reasoningEffort', 'body'] as const;

/**
 * The method of an agent of the protocol, with what the options say; undefined for another name.
 *
 * @throws HumanError when options do not fit it
 */
export function acpMethodWith(
  options: AcpOptions & {
    readonly method: string;
    readonly model: string;
  } & { readonly [Name in (typeof ofRequests)[number]]?: unknown },
): Method | undefined {
  const { method: name, agentProgram, agentTimeout: seconds } = options;
  if (!isAcp(name)) {
    const [, given] =
      Object.entries(acpOptions).find(([key]) => options[key as keyof AcpOptions] !== undefined) ??
      [];
    if (given === undefined) return undefined;
    throw new HumanError(
      `${given} applies to Agent Client Protocol agents, not to ${name}`,
      `Use --method ${acpNames.join(', ')}, or omit ${given}`,
    );
  }
  const program = agentProgram === undefined ? undefined : resolve(agentProgram);
  const advice = 'Specify a folder with the agent and its runtime with --agent-program';
  const method = acpMethod(
    acpAgent(name, definitionOf(name, options), { program, seconds, advice }),
  );
  const own = ofRequests.find((each) => options[each] !== undefined);
  if (own !== undefined) {
    const option = `--${own.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
    throw new HumanError(
      `${method.title} sends its own requests, so ${option} has no effect`,
      `Omit ${option}`,
    );
  }
  const { provider } = parseModelName(options.model);
  const { providers = [] } = method.asksItself ?? {};
  if (!providers.includes(provider)) {
    throw new HumanError(
      `${method.title} does not support models from ${provider}`,
      `Specify a model from ${providers.join(' or ')} with --model`,
    );
  }
  return method;
}

/** The agent of a name, changed as the options say. */
function definitionOf(
  name: string,
  { agentTitle, agentEnv, agentAuth, agentEntry = {} }: AcpOptions,
): AcpDefinition {
  const { command, providers, files } = agentEntry;
  const named = acpNamed(name);
  // A command of the file replaces a known agent whole.
  const definition =
    command === undefined
      ? named
      : { title: named.title, argv: wordsOfCommand(command), providers: allProviders, env: {} };
  return {
    ...definition,
    ...(providers !== undefined && { providers }),
    ...(files !== undefined && { files: { ...definition.files, ...files } }),
    title: agentTitle ?? definition.title,
    env: { ...definition.env, ...agentEnv },
    authMethod: agentAuth ?? definition.authMethod,
  };
}
