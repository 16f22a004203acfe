import type { Command, Option } from 'commander';
import { withoutControl } from '../../domain/text';
import { offeredFor } from '../options/offered';

/** What a shell completes after an option. */
export interface CompletedOption {
  /** `--engine`. */
  readonly long: string;
  /** `-h`. */
  readonly short?: string;
  /** A line without control characters. */
  readonly description: string;
  /** Undefined for an option without a value. */
  readonly value?: CompletedValue;
  readonly isRepeatable: boolean;
}

interface CompletedValue {
  /** `dir`. */
  readonly name: string;
  readonly words: readonly string[];
  readonly paths: 'files' | 'folders' | 'none';
}

/** A command as shells know it. */
export interface CompletedCommand {
  readonly name: string;
  readonly description: string;
  readonly options: readonly CompletedOption[];
  readonly commands: readonly CompletedCommand[];
  /** Its argument; undefined where it has none. */
  readonly argument?: CompletedValue;
}

/** What shells complete of a command, from its descriptors. */
export function completedCommand(command: Command): CompletedCommand {
  const [argument] = command.registeredArguments;
  return {
    name: command.name(),
    description: inOneLine(command.description()),
    options: [
      ...command.options.map(completedOption),
      { long: '--help', short: '-h', description: 'display help for command', isRepeatable: false },
    ],
    commands: command.commands.map(completedCommand),
    ...(argument !== undefined && {
      argument: valueOf(argument.name(), argument.argChoices ?? []),
    }),
  };
}

function completedOption(option: Option): CompletedOption {
  const { long, short, flags, description, argChoices } = option;
  const [, name] = /[<[]([^>\]]*)[>\]]/.exec(flags) ?? [];
  return {
    long: long ?? flags,
    ...(short !== undefined && { short }),
    description: inOneLine(description),
    ...(name !== undefined && { value: valueOf(name, argChoices ?? offeredFor(option)) }),
    isRepeatable: option.variadic || /repeat/.test(description),
  };
}

const valueOf = (name: string, words: readonly string[]): CompletedValue => ({
  ...{ name: name.replace(/\.\.\.$/, ''), words },
  paths: /^(?:file|path|files)(?:\.\.\.)?$/.test(name)
    ? 'files'
    : name === 'dir'
      ? 'folders'
      : 'none',
});

const longestDescription = 70;

function inOneLine(text: string): string {
  const [first = ''] = withoutControl(text).split(/;| \(default/);
  return first.length > longestDescription ? `${first.slice(0, longestDescription - 1)}…` : first;
}

/** A text in single quotes for a POSIX shell. */
export const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;
