import { Option, type Command } from 'commander';
import { configurationKeys, type KeyKind, type OwnPath } from '../../configuration/keys';
import { bodyField, natural, positive, share, whole } from './optionValues';

/** Whether a value of the file counts, by the options that a command has so far. */
type Applies = (options: Readonly<Record<string, unknown>>) => boolean;

interface Binding {
  /** Path of the key in the file. A part in braces stands for a name that another option gives. */
  readonly path: string;
  readonly applies: Applies;
}

const ofOptions = new WeakMap<Option, Binding>();
/** Values that have no option, by the names that the command's action knows. */
const ofCommands = new WeakMap<Command, Map<string, Binding>>();

const always: Applies = () => true;

/** The path of the key of the file with the meaning of an option; undefined for none. */
export const pathOf = (option: Option): string | undefined => ofOptions.get(option)?.path;

/** Leaves an option out of `--help`: few need it. `--help-all` lists it. */
export const rare = (option: Option): Option => option.hideHelp();

/**
 * Binds an option to the key of the configuration file with the same meaning. It leaves `--help`,
 * since the file can hold it.
 */
export function atKey(option: Option, path: string, applies: Applies = always): Option {
  ofOptions.set(option, { path, applies });
  return rare(option);
}

/** What a command says of an option that the table of keys has. */
interface KeyOption {
  /** Instead of the meaning of the key. */
  readonly description?: string;
  readonly default?: number;
  /** Instead of the parser of its kind. */
  readonly parse?: (value: string) => unknown;
  readonly applies?: Applies;
  /** Whether `--help` lists it. */
  readonly shown?: boolean;
}

/** The option of a key of the configuration file. */
export function keyOption(path: OwnPath, of: KeyOption = {}): Option {
  const { option, kind, meaning, ...rest } = configurationKeys[path];
  const made = new Option(option, of.description ?? meaning);
  const parse = of.parse ?? parsers[kind];
  if (parse !== undefined) made.argParser(parse as (value: string, previous: unknown) => unknown);
  const value = of.default ?? ('default' in rest ? rest.default : undefined);
  if (value !== undefined && kind !== 'switch') made.default(value);
  return atKey(made, path, of.applies).hideHelp(of.shown !== true);
}

const parsers: Readonly<
  Record<KeyKind, ((value: string, previous: never) => unknown) | undefined>
> = {
  address: undefined,
  fields: bodyField,
  natural,
  path: undefined,
  positive,
  share,
  switch: undefined,
  text: undefined,
  whole,
};

/** Hands the command's action a part of the file that no option can hold. */
export function bindValue(command: Command, name: string, path: string): Command {
  const bound = ofCommands.get(command) ?? new Map<string, Binding>();
  ofCommands.set(command, bound.set(name, { path, applies: always }));
  return command;
}

/** Adds the options that name the configuration file, where the command has options in it. */
export function withConfigurationOptions(command: Command): void {
  for (const each of command.commands) withConfigurationOptions(each);
  if (!command.options.some((option) => ofOptions.has(option))) return;
  command
    .option('--config <file>', 'configuration file (default: the nearest swt.yaml above)')
    .addOption(rare(new Option('--no-config', 'read no configuration file')));
}

/** The options of a command that have a key in the file, those first that others depend on. */
export const bindingsOf = (command: Command): (Binding & { readonly name: string })[] => {
  const all = [
    ...command.options.flatMap((option) => {
      const binding = ofOptions.get(option);
      return binding === undefined ? [] : [{ ...binding, name: option.attributeName() }];
    }),
    ...[...(ofCommands.get(command) ?? [])].map(([name, binding]) => ({ ...binding, name })),
  ];
  const isFirst = ({ path }: Binding): boolean =>
    path === 'engine' || path === 'repair.embeddingModel';
  return [...all.filter(isFirst), ...all.filter((each) => !isFirst(each))];
};
