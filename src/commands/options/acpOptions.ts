import { resolve } from 'node:path';
import type { Command } from 'commander';
import { HumanError } from '../../domain/humanError';
import {
  acpAgent,
  acpMethod,
  acpNamed,
  acpPrefix,
  isAcp,
  usualAcpSeconds,
} from '../../method/acp/acpMethod';
import { acpPresets } from '../../method/acp/acpPresets';
import type { Method } from '../../method/method';
import { parseModelName } from '../../method/models/openModel';
import { positive } from './optionValues';

/** The options of `generate` for agents of the Agent Client Protocol. */
export interface AcpOptions {
  agentProgram?: string;
  /** Seconds. */
  agentTimeout?: number;
}

/** The methods that are agents of the protocol, for the help. */
export const acpNames: readonly string[] = [
  ...acpPresets.map(({ name }) => `${acpPrefix}${name}`),
  `${acpPrefix}COMMAND`,
];

export const withAcpOptions = (command: Command): Command =>
  command
    .option(
      '--agent-program <dir>',
      'acp: folder with the agent and its runtime, which its container reads at /agent',
    )
    .option(
      '--agent-timeout <seconds>',
      `acp: limit for the session of an agent (default: ${usualAcpSeconds})`,
      positive,
    );

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
    if (agentProgram === undefined && seconds === undefined) return undefined;
    const given = agentProgram === undefined ? '--agent-timeout' : '--agent-program';
    throw new HumanError(
      `${given} is for agents of the Agent Client Protocol, not for ${name}`,
      `Write --method ${acpNames.join(', ')}, or leave ${given} out`,
    );
  }
  const program = agentProgram === undefined ? undefined : resolve(agentProgram);
  const advice = 'Name a folder that has the agent and its runtime with --agent-program';
  const method = acpMethod(acpAgent(name, acpNamed(name), { program, seconds, advice }));
  const own = ofRequests.find((each) => options[each] !== undefined);
  if (own !== undefined) {
    const option = `--${own.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
    throw new HumanError(
      `${method.title} makes its own requests, so ${option} does not reach them`,
      `Leave ${option} out`,
    );
  }
  const { provider } = parseModelName(options.model);
  const { providers = [] } = method.asksItself ?? {};
  if (!providers.includes(provider)) {
    throw new HumanError(
      `${method.title} cannot ask a model of ${provider}`,
      `Name a model of ${providers.join(' or ')} with --model`,
    );
  }
  return method;
}
