import { isAbsolute } from 'node:path';
import { agentEntry, type ConfigurationValues } from '../../configuration/schema';
import { HumanError } from '../../domain/work';
import {
  acpPrefix,
  acpPresets,
  defaultAcpSeconds,
  type AcpDefinition,
  wordsOfCommand,
} from '../../method/agents';
import { providers } from '../../method/models';

/** An agent of the setting `swt-bench.generate.agents`. */
export interface ConfiguredAgent extends AcpDefinition {
  /** Name of its method: `acp:…`. */
  readonly name: string;
  /** Folder with its program; undefined where the image has it. */
  readonly program: string | undefined;
  /** Maximum number of seconds of a session. */
  readonly seconds: number;
}

/** Names that make no other command of the command line. */
const agentName = /^[a-z0-9][a-z0-9._-]*$/i;

/**
 * The agents that can be started: the built-in ones and those of a setting, whose program is named. A
 * faulty entry does not affect the others, and one that is `null` is left out.
 *
 * @returns also the names of agents without a program, and the fault of each faulty entry
 */
export function readAgentSettings(value: unknown): {
  readonly agents: readonly ConfiguredAgent[];
  readonly withoutProgram: readonly string[];
  readonly problems: readonly string[];
} {
  const agents: ConfiguredAgent[] = [];
  const withoutProgram: string[] = [];
  const problems: string[] = [];
  const isObject = typeof value === 'object' && !Array.isArray(value);
  if (value !== undefined && !isObject) problems.push('it is no object');
  const given: Readonly<Record<string, unknown>> = isObject ? { ...value } : {};
  for (const name of new Set([...acpPresets.map((preset) => preset.name), ...Object.keys(given)])) {
    const each = withPreset(name, given[name]);
    if (each === null) continue;
    const read = readAgent(name, each);
    if ('why' in read) problems.push(`${name}: ${read.why}`);
    else if ('agent' in read) agents.push(read.agent);
    else withoutProgram.push(read.title);
  }
  return { agents, withoutProgram, problems };
}

/** The value of the setting with the agents of the configuration file, whose entries it completes. */
export function withAgentsOfFile(
  value: unknown,
  { agents = {} }: Pick<ConfigurationValues, 'agents'>,
): unknown {
  if (value !== undefined && (typeof value !== 'object' || Array.isArray(value))) return value;
  const given: Readonly<Record<string, unknown>> = { ...value };
  const merged = Object.entries(agents).map(([name, ofFile]) => {
    const own = given[name] === undefined ? {} : given[name];
    const isEntry = typeof own === 'object' && own !== null;
    return [name, isEntry ? { ...ofFile, ...own } : own] as const;
  });
  return { ...given, ...Object.fromEntries(merged) };
}

/** The entry of an agent, where it is a built-in one with what the user left out. */
function withPreset(name: string, value: unknown = {}): unknown {
  const preset = acpPresets.find((each) => each.name === name);
  if (preset === undefined || typeof value !== 'object' || value === null) return value;
  const { argv, name: _, ...rest } = preset;
  const known: Readonly<Record<string, unknown>> = { ...rest, command: argv.join(' ') };
  const given = Object.entries(value).map(([key, each]: [string, unknown]) => {
    const before = known[key];
    // Variables and files are added to those of the preset; what is no object is a fault of its own.
    return [key, isRecord(before) && isRecord(each) ? { ...before, ...each } : each];
  });
  return { ...known, ...Object.fromEntries(given) };
}

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** @returns the agent, its title where it has no program, or the fault of the entry */
function readAgent(
  name: string,
  value: unknown,
): { readonly agent: ConfiguredAgent } | { readonly title: string } | { readonly why: string } {
  if (!agentName.test(name)) return { why: 'its name has other than letters, digits, . _ -' };
  const parsed = agentEntry.safeParse(value);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    return issue?.code === 'unrecognized_keys'
      ? { why: `${issue.keys.join(', ')} is not known` }
      : { why: `${issue?.path.join('.') ?? ''}: ${issue?.message ?? 'not an entry'}` };
  }
  const { title = name, command, program, authMethod, env = {}, files } = parsed.data;
  if (command === undefined) return { why: 'command: an agent that is not built in needs one' };
  if (program === undefined) return { title };
  if (program !== '' && !isAbsolute(program)) return { why: 'program is no absolute path' };
  let argv: readonly string[];
  try {
    argv = wordsOfCommand(command);
  } catch (error) {
    if (error instanceof HumanError) return { why: error.what };
    throw error;
  }
  return {
    agent: {
      name: `${acpPrefix}${name}`,
      title,
      argv,
      env,
      seconds: parsed.data.timeout ?? defaultAcpSeconds,
      providers: parsed.data.providers ?? providers,
      ...(authMethod !== undefined && { authMethod }),
      ...(files !== undefined && { files }),
      program: program === '' ? undefined : program,
    },
  };
}
