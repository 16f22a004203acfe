import { quoted, type CompletedCommand } from './completedCommand';

/** The completion of fish. */
export function fishScript(commands: readonly CompletedCommand[]): string {
  const lines = [
    '# Completion of swt-bench for fish: swt-bench completion fish | source',
    'complete -c swt-bench -e',
    ...commands.map(({ name, description }) =>
      line('__fish_use_subcommand', `-f -a ${inFish(name)} -d ${inFish(description)}`),
    ),
    line('__fish_use_subcommand', "-f -l version -d 'print the version'"),
    line('__fish_use_subcommand', "-f -s h -l help -d 'display help'"),
    ...commands.flatMap((command) =>
      ofCommand(command, `__fish_seen_subcommand_from ${command.name}`),
    ),
  ];
  return `${lines.join('\n')}\n`;
}

function ofCommand(command: CompletedCommand, seen: string): string[] {
  const { commands, options, argument } = command;
  const names = commands.map(({ name }) => name).join(' ');
  const here =
    commands.length === 0 ? seen : `${seen}; and not __fish_seen_subcommand_from ${names}`;
  return [
    ...commands.map(({ name, description }) =>
      line(here, `-f -a ${inFish(name)} -d ${inFish(description)}`),
    ),
    ...(argument !== undefined && argument.words.length > 0
      ? [line(here, `-f -a ${inFish(argument.words.join(' '))}`)]
      : []),
    ...options.map(({ long, short, description, value }) =>
      line(
        here,
        [
          `-l ${long.replace(/^--/, '')}`,
          ...(short === undefined ? [] : [`-s ${short.replace(/^-/, '')}`]),
          ...(value === undefined ? ['-f'] : []),
          ...(value !== undefined ? [value.paths === 'none' ? '-x' : '-r -F'] : []),
          ...(value !== undefined && value.words.length > 0
            ? [`-a ${inFish(value.words.join(' '))}`]
            : []),
          `-d ${inFish(description)}`,
        ].join(' '),
      ),
    ),
    ...commands.flatMap((each) =>
      ofCommand(each, `${seen}; and __fish_seen_subcommand_from ${each.name}`),
    ),
  ];
}

const line = (condition: string, rest: string): string =>
  `complete -c swt-bench -n ${quoted(condition)} ${rest}`;

/** A text in single quotes, in which fish reads a backslash before a quote and a backslash. */
const inFish = (text: string): string => `'${text.replace(/[\\']/g, '\\$&')}'`;
