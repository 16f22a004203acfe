import { InvalidArgumentError, Option, type Command } from 'commander';
import { HumanError } from '../../domain/work';
import { readDockerSettings } from '../../engine/docker/readDockerSettings';
import {
  dockerOptions,
  dockerSettings,
  asArgument,
  type DockerOption,
  type DockerOptionName,
  type DockerSettings,
} from '../../engine/docker/dockerSettings';
import { engineNames, type EngineName } from '../../engine/engine';
import type { KubernetesOptionName } from '../../engine/kubernetes/kubernetesSettings';
import type { EngineRequest } from '../../engine/openEngine';
import type { CommandContext } from '../context';
import {
  kubernetesOptions,
  kubernetesSettingsOf,
  refuseKubernetesOptions,
} from './kubernetesOptions';

/** The command line's options of the engine; options of docker by their names. */
export type EngineOptions = {
  engine: EngineName;
  python?: string;
} & { [Name in DockerOptionName | KubernetesOptionName]?: unknown };

const defaults = dockerSettings.parse({});

/** Adds `--engine` and the options of each engine. */
export function withEngineOptions(command: Command): Command {
  command
    .addOption(
      new Option('--engine <name>', 'where tests run').choices(engineNames).default('local'),
    )
    .option(
      '--python <path>',
      'local: interpreter or virtual environment; auto: make one for each instance, the default where R does not fit the interpreter at hand',
    );
  for (const { key } of dockerOptions) command.addOption(optionOf(key));
  for (const option of kubernetesOptions()) command.addOption(option);
  return command;
}

export const dockerHostOption = (): Option => optionOf('host');

export const imageBudgetOption = (): Option => optionOf('budgetGb');

/**
 * An option of docker. Its default stands only in the help text, so that an option that was not
 * given stays recognisable.
 */
function optionOf(key: keyof DockerSettings): Option {
  const found = dockerOptions.find((each) => each.key === key);
  if (found === undefined) throw new Error(`${key} has no option`);
  const { flag, argument, description, writing, byDefault } = found;
  const usual = defaults[key];
  const shown =
    byDefault ?? (writing === 'size' ? `${Number(usual) / 1024}g` : asArgument(usual, writing));
  const option = new Option(`${flag} ${argument}`, `docker: ${description} (default: ${shown})`);
  const read = readers[writing];
  return read === undefined ? option : option.argParser(read);
}

/**
 * The engine that a command line asks for.
 *
 * @throws HumanError when an option is unusable, or does not belong to this engine
 */
export function engineRequest(
  options: EngineOptions & { readonly storage: string },
  context: CommandContext,
): EngineRequest & { readonly docker: DockerSettings } {
  const { engine: name, python, storage } = options;
  refuseKubernetesOptions(options);
  if (name === 'local') {
    const given = dockerOptions.find((option) => options[option.name] !== undefined);
    if (given !== undefined) {
      throw new HumanError(
        `${given.flag} is for the docker engine, but the engine is local`,
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
    isPythonNamed: python !== undefined,
    docker: dockerSettingsOf(options),
    kubernetes: kubernetesSettingsOf(options),
    signal: context.signal,
  };
}

/** @throws HumanError naming the unusable option */
export function dockerSettingsOf(options: Partial<EngineOptions>): DockerSettings {
  const given: Partial<Record<keyof DockerSettings, unknown>> = {};
  for (const { key, name, writing } of dockerOptions) {
    const value = options[name];
    if (value !== undefined)
      given[key] = writing === 'text or none' && value === 'none' ? '' : value;
  }
  return readDockerSettings(
    given,
    (key) => dockerOptions.find((option) => option.key === key)?.flag ?? key,
  );
}

/** `4g`, `512m`, or a number of MiB. */
function mebibytes(value: string): number {
  const match = /^(\d+(?:\.\d+)?)([mg]?)i?b?$/i.exec(value.trim());
  if (match === null) {
    throw new InvalidArgumentError('Write it as 4g, 512m, or as a number of MiB.');
  }
  return Math.floor(Number(match[1]) * (match[2]?.toLowerCase() === 'g' ? 1024 : 1));
}

/** Reads names separated by commas; `none` stands for the empty list. */
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

/** Parsers of an option's argument; undefined where the text is used unchanged. */
const readers: Readonly<Record<DockerOption['writing'], ((value: string) => unknown) | undefined>> =
  {
    text: undefined,
    'text or none': undefined,
    number,
    size: mebibytes,
    list: networkList,
  };
