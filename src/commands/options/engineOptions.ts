import { InvalidArgumentError, Option, type Command } from 'commander';
import { HumanError } from '../../domain/work';
import { settingGroupsOf, type EngineRequest } from '../../engine/sandbox';
import {
  asArgument,
  type EngineValues,
  type NamedSetting,
  type SettingGroup,
  type SettingTable,
  type ValuesOf,
  type Writing,
} from '../../engine/settings';
import type { TestingContext } from '../context';
import { atKey, keyOption } from './configuredOptions';

/** `--engine`; the options of the engines stand beside it, by their names. */
export interface EngineOptions {
  engine: string;
}

/** Adds `--engine` and the options of each engine. */
export function withEngineOptions(
  command: Command,
  { engines }: Pick<TestingContext, 'engines'>,
): Command {
  const names = engines.map(({ name }) => name);
  command.addOption(keyOption('engine', { shown: true }).choices(names).default(names[0]));
  for (const group of settingGroupsOf(engines)) {
    // The file has those of every engine.
    const isTaken = ({ engine }: Readonly<Record<string, unknown>>): boolean =>
      engines.find(({ name }) => name === engine)?.settings.includes(group) === true;
    for (const setting of group.all) {
      if (setting.option === undefined) continue;
      command.addOption(optionOf(group, setting, isTaken).hideHelp(setting.flag !== '--python'));
    }
  }
  return command;
}

/**
 * The option of a setting. Its default stands only in the help text, so that an option that was not
 * given stays recognisable.
 */
export function optionOf(
  { engine }: SettingGroup,
  setting: NamedSetting,
  applies?: (options: Readonly<Record<string, unknown>>) => boolean,
): Option {
  const { flag, option, default: value } = setting;
  if (flag === undefined || option === undefined) throw new Error(`${setting.id} has no option`);
  const { argument, description, writing } = option;
  const byDefault =
    option.byDefault ??
    (writing === 'size' ? `${Number(value) / 1024}g` : asArgument(value, writing));
  const help = `${engine}: ${description}${byDefault === '' ? '' : ` (default: ${byDefault})`}`;
  const made = new Option(argument === '' ? flag : `${flag} ${argument}`, help);
  const read = readers[writing];
  if (read !== undefined) made.argParser(read);
  return atKey(made, `${engine}.${setting.fileKey}`, applies);
}

/**
 * The engine that a command line asks for.
 *
 * @throws HumanError when an option is unusable, or does not belong to this engine
 */
export function engineRequest(
  options: EngineOptions & { readonly storage: string },
  context: TestingContext,
): EngineRequest & { readonly values: EngineValues } {
  const { engine: name, storage } = options;
  const { engines, environments, assets } = context;
  refuseForeignOptions(options, engines);
  const groups = settingGroupsOf(engines);
  return {
    ...{ name, engines, environments, storage, assets },
    values: Object.fromEntries(groups.map((group) => [group.engine, valuesOf(group, options)])),
    isPythonNamed: givenTo(options, 'python') !== undefined,
    signal: context.signal,
  };
}

function refuseForeignOptions(options: EngineOptions, engines: TestingContext['engines']): void {
  const taken = engines.find(({ name }) => name === options.engine)?.settings ?? [];
  for (const group of settingGroupsOf(engines).filter((each) => !taken.includes(each))) {
    const given = group.all.find(({ option }) => givenTo(options, option?.name) !== undefined);
    if (given === undefined) continue;
    throw new HumanError(
      `${given.flag} applies to the ${group.engine} engine, but the engine is ${options.engine}`,
      `Add --engine ${group.engine}, or omit the option`,
    );
  }
}

const givenTo = (options: object, name: string | undefined): unknown =>
  name === undefined ? undefined : (options as Readonly<Record<string, unknown>>)[name];

/**
 * The values of settings that a command line gives, with defaults for the rest.
 *
 * @throws HumanError naming the unusable option
 */
export function valuesOf<Table extends SettingTable>(
  group: SettingGroup<Table>,
  options: object,
): ValuesOf<Table> {
  const given: Record<string, unknown> = {};
  for (const { key, option } of group.all) {
    const value = givenTo(options, option?.name);
    if (value === undefined) continue;
    given[key] = option?.writing === 'text or none' && value === 'none' ? '' : value;
  }
  return group.read(given, ({ key, flag }) => flag ?? key);
}

/** `4g`, `512m`, or a number of MiB. */
function mebibytes(value: string): number {
  const match = /^(\d+(?:\.\d+)?)([mg]?)i?b?$/i.exec(value.trim());
  if (match === null) {
    throw new InvalidArgumentError('Write it as 4g, 512m, or as a number of MiB.');
  }
  return Math.floor(Number(match[1]) * (match[2]?.toLowerCase() === 'g' ? 1024 : 1));
}

/** Reads words separated by commas; `none` stands for the empty list. */
function words(value: string): string[] {
  const found = value.split(',').map((word) => word.trim());
  if (found.includes('')) throw new InvalidArgumentError('Write words separated by commas.');
  return found.length === 1 && found[0] === 'none' ? [] : found;
}

function number(value: string): number {
  const read = Number(value);
  if (value.trim() === '' || !Number.isFinite(read)) {
    throw new InvalidArgumentError('Write a number.');
  }
  return read;
}

/** Parsers of an option's argument; undefined where the text is used unchanged. */
const readers: Readonly<Record<Writing, ((value: string) => unknown) | undefined>> = {
  text: undefined,
  'text or none': undefined,
  switch: undefined,
  number,
  size: mebibytes,
  list: words,
};
