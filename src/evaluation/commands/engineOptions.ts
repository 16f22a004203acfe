import { InvalidArgumentError, Option, type Command } from 'commander';
import { HumanError } from '../../domain/problem';
import { readDockerSettings } from '../../engine/docker/readSettings';
import { dockerSettings, type DockerSettings } from '../../engine/docker/settings';
import { engineNames, type EngineName } from '../../engine/engine';
import type { EngineRequest } from '../../engine/openEngine';
import type { CommandContext } from './context';

/** What a command line says of the engine. */
export interface EngineOptions {
  engine: EngineName;
  python?: string;
  dockerHost?: string;
  baseImage?: string;
  prebuilt?: string;
  /** MiB. */
  memory?: number;
  cpus?: number;
  network?: string[];
  /** GiB. */
  imageBudget?: number;
}

/** The settings of the docker engine that have an option. */
const optionOf = {
  host: 'dockerHost',
  baseImage: 'baseImage',
  prebuilt: 'prebuilt',
  memoryMb: 'memory',
  cpus: 'cpus',
  network: 'network',
  budgetGb: 'imageBudget',
} as const satisfies Partial<Record<keyof DockerSettings, keyof EngineOptions>>;

const defaults = dockerSettings.parse({});

/** Adds `--engine` and what belongs to one engine or the other. */
export function withEngineOptions(command: Command): Command {
  return command
    .addOption(
      new Option('--engine <name>', 'where tests run').choices(engineNames).default('local'),
    )
    .option('--python <path>', 'local: interpreter or virtual environment')
    .addOption(dockerHostOption())
    .addOption(
      docker('--base-image <name>', 'image that environments are built on', defaults.baseImage),
    )
    .addOption(
      docker(
        '--prebuilt <namespace>',
        'where prebuilt images are pulled from, `none` for nowhere',
        defaults.prebuilt,
      ),
    )
    .addOption(
      docker(
        '--memory <size>',
        'memory of each sandbox, such as 4g',
        `${defaults.memoryMb / 1024}g`,
      ).argParser(mebibytes),
    )
    .addOption(docker('--cpus <n>', 'processors of each sandbox', 'no limit').argParser(number))
    .addOption(
      docker(
        '--network <a,b>',
        'instances and repositories whose tests may use the network, or `none`',
        defaults.network.join(','),
      ).argParser(networkList),
    )
    .addOption(imageBudgetOption());
}

export const dockerHostOption = (): Option =>
  docker(
    '--docker-host <address>',
    'address of the engine (unix, tcp, ssh, npipe)',
    '$DOCKER_HOST, else the current docker context, else the usual sockets',
  );

export const imageBudgetOption = (): Option =>
  docker(
    '--image-budget <GiB>',
    'what images built here may take; the least recently used go first',
    String(defaults.budgetGb),
  ).argParser(number);

/** The default is only told: an option that was not given is to be told from one that was. */
const docker = (flags: string, description: string, byDefault: string): Option =>
  new Option(flags, `docker: ${description} (default: ${byDefault})`);

/**
 * The engine that a command line asks for.
 *
 * @throws HumanError when an option cannot be used, or not with this engine
 */
export function engineRequest(
  options: EngineOptions & { readonly storage: string },
  context: CommandContext,
): EngineRequest & { readonly docker: DockerSettings } {
  const { engine: name, python, storage } = options;
  if (name === 'local') {
    const given = Object.values(optionOf).find((option) => options[option] !== undefined);
    if (given !== undefined) {
      throw new HumanError(
        `${flagOf(given)} is for the docker engine, and this is the local one`,
        'Add --engine docker, or leave it out',
      );
    }
  } else if (python !== undefined) {
    throw new HumanError(
      '--python is for the local engine: with docker, tests run with the Python of their image',
      'Leave it out',
    );
  }
  return {
    name,
    storage,
    assets: context.assets,
    python,
    docker: dockerSettingsOf(options),
    signal: context.signal,
  };
}

/** @throws HumanError naming the option that cannot be used */
export function dockerSettingsOf(options: Partial<EngineOptions>): DockerSettings {
  const given: Partial<Record<keyof DockerSettings, unknown>> = {};
  for (const [key, option] of Object.entries(optionOf)) {
    const value = options[option];
    if (value !== undefined) given[key as keyof typeof optionOf] = value;
  }
  if (given.prebuilt === 'none') given.prebuilt = '';
  return readDockerSettings(given, (key) =>
    key in optionOf ? flagOf(optionOf[key as keyof typeof optionOf]) : key,
  );
}

const flagOf = (option: string): string =>
  `--${option.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;

/** `4g`, `512m`, or a number of MiB. */
function mebibytes(value: string): number {
  const match = /^(\d+(?:\.\d+)?)([mg]?)i?b?$/i.exec(value.trim());
  if (match === null) {
    throw new InvalidArgumentError('Write it as 4g, 512m, or as a number of MiB.');
  }
  return Math.floor(Number(match[1]) * (match[2]?.toLowerCase() === 'g' ? 1024 : 1));
}

/** `none` stands for the empty list. */
function networkList(value: string): string[] {
  const names = value.split(',').map((name) => name.trim());
  if (names.some((name) => name === '')) {
    throw new InvalidArgumentError('Write ids and names of repositories separated by commas.');
  }
  return names.length === 1 && names[0] === 'none' ? [] : names;
}

function number(value: string): number {
  const read = Number(value);
  if (value.trim() === '' || !Number.isFinite(read)) {
    throw new InvalidArgumentError('Write a number.');
  }
  return read;
}
