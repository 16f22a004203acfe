import { resolve } from 'node:path';
import { z } from 'zod';
import { HumanError } from '../../domain/work';
import { layOut, jsonText, withoutControl } from '../../domain/text';
import {
  connect,
  type DockerConnection,
  pullImage,
  tryProgram,
  dockerSettings,
} from '../../engine/docker';
import {
  acpPrefix,
  acpPresets,
  type AcpPreset,
  textsAt,
  agentPrograms,
  installAgent,
} from '../../method/agents';
import { EXIT, terminalReporter, type CommandContext } from '../context';
import { dockerHostOption } from '../options/dockerOptions';
import { valuesOf } from '../options/engineOptions';
import { jsonOption } from '../options/sharedOptions';
import type { RegisterCommand } from '../registerCommand';

interface InstallOptions {
  out?: string;
  image: string;
  python?: string;
  check: boolean;
  dockerHost?: string;
}

/** Registers the commands `agents list` and `agents install`. */
export const registerAgents: RegisterCommand = (command, context, finish) => {
  command
    .command('list')
    .description('list built-in agents and the versions to install')
    .addOption(jsonOption())
    .action((options: { json?: boolean }) => finish(listAgents(options, context)));
  command
    .command('install')
    .argument('<name>', `one of ${acpPresets.map(({ name }) => name).join(', ')}`)
    .description(
      'create the folder with an agent and its runtime for --agent-program, and test it in an image',
    )
    .option('--out <dir>', 'new folder (default: agent-NAME)')
    .option(
      '--image <name>',
      'image in which to start the agent once as a test',
      'python:3.11-bookworm',
    )
    .option('--no-check', "do not start a container; assume this machine's processor")
    .option(
      '--python <program>',
      "interpreter to copy for an agent from PyPI (default: uv's, or python3 on PATH)",
    )
    .addOption(dockerHostOption())
    .action(async (name: string, options: InstallOptions) =>
      finish(await installCommand(name, options, context)),
    );
};

function listAgents({ json }: { readonly json?: boolean }, context: CommandContext): number {
  const rows = acpPresets.map(({ name, title, providers }) => {
    const { registry, package: of, version } = programOf(name);
    return {
      method: `${acpPrefix}${name}`,
      name,
      title,
      registry,
      package: of,
      version,
      providers,
    };
  });
  if (json === true) context.data(jsonText(rows));
  else
    context.stdout(
      `${layOut([
        ['name', 'agent', 'program', 'models'],
        ...rows.map((row) => [
          row.name,
          row.title,
          `${row.registry} ${row.package} ${row.version}`,
          row.providers.join(', '),
        ]),
      ])}\n`,
    );
  return EXIT.done;
}

/** `swt-bench agents install NAME`. */
async function installCommand(
  name: string,
  options: InstallOptions,
  context: CommandContext,
): Promise<number> {
  const preset = acpPresets.find((each) => each.name === name);
  if (preset === undefined) {
    const known = acpPresets.map((each) => each.name).join(', ');
    throw new HumanError(`There is no agent named ${name}`, `Use one of ${known}`);
  }
  const { assets, signal } = context;
  const reporter = terminalReporter(context);
  const out = resolve(options.out ?? `agent-${name}`);
  const connection = options.check
    ? await connect({ host: valuesOf(dockerSettings, options).host, signal })
    : undefined;
  try {
    const cpu = connection === undefined ? process.arch : cpuOf(connection);
    await installAgent({ name, out, cpu, python: options.python, assets }, { signal, reporter });
    const said = connection && (await check(connection, preset, { ...options, out }, context));
    reporter.clear();
    context.stdout(`${out}${said === undefined ? '' : `: ${said}`}\n`);
    context.stdout(`Use it with: --method ${acpPrefix}${name} --agent-program ${out}\n`);
    return EXIT.done;
  } finally {
    await connection?.close();
  }
}

function programOf(name: string) {
  const program = agentPrograms[name];
  if (program === undefined) throw new Error(`${name} has no program to install`);
  return program;
}

/** The engine's processor by Node's name. */
const cpuOf = ({ architecture }: DockerConnection): string =>
  ({ x86_64: 'x64', aarch64: 'arm64' })[architecture] ?? architecture;

const initialize = {
  ...{ jsonrpc: '2.0', id: 1, method: 'initialize' },
  params: { protocolVersion: 1, clientCapabilities: {} },
};
/** Made when it is needed, and not for `--help`. */
const initialized = () =>
  z.object({
    id: z.literal(1),
    result: z.object({
      agentInfo: z.object({ name: z.string(), version: z.string() }).nullish(),
    }),
  });

/** Seconds that an agent has to answer: OpenHands loads for half a minute on a slow machine. */
const answerSeconds = 180;

/**
 * Starts the agent in a container.
 *
 * @returns what it records about itself
 * @throws HumanError when it does not answer, with the end of its standard error
 */
async function check(
  connection: DockerConnection,
  preset: AcpPreset,
  { out: folder, image }: InstallOptions & { readonly out: string },
  context: CommandContext,
): Promise<string> {
  const { signal } = context;
  const reporter = terminalReporter(context);
  const isThere = await connection.docker
    .getImage(image)
    .inspect()
    .then(
      () => true,
      () => false,
    );
  if (!isThere) await pullImage(connection, image, { signal, reporter });
  reporter.progress(`Starting ${preset.title} in ${image}`);
  const [provider = 'openai'] = preset.providers;
  const place = { origin: 'http://127.0.0.1:9', provider, model: 'model' };
  const { answer, complaint } = await tryProgram(
    connection,
    {
      ...{ folder, image, argv: preset.argv, env: textsAt(preset.env, place) },
      line: JSON.stringify(initialize),
      isAnswer: (line) => answerIn(line) !== undefined,
      seconds: answerSeconds,
    },
    signal,
  );
  const agent = answer === undefined ? undefined : answerIn(answer);
  if (agent !== undefined) return withoutControl(agent);
  const said = complaint.split('\n').map(withoutControl).join('\n');
  throw new HumanError(
    `${preset.title} was installed to ${folder} but does not start in ${image}`,
    `Use an image that has what it names${said === '' ? '' : `:\n${said}`}`,
  );
}

/** Name and version in the answer to `initialize`; undefined for any other line. */
function answerIn(line: string): string | undefined {
  if (!line.startsWith('{')) return undefined;
  try {
    const { agentInfo } = initialized().parse(JSON.parse(line)).result;
    return agentInfo ? `${agentInfo.name} ${agentInfo.version}` : 'it responds';
  } catch {
    return undefined;
  }
}
