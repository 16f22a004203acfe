import { quoted, type CompletedCommand, type CompletedOption } from './completedCommand';

/** The completion of zsh. It can be sourced, or be in a folder of \`fpath\` as \`_swt-bench\`. */
export function zshScript(commands: readonly CompletedCommand[]): string {
  return `#compdef swt-bench
# Completion of swt-bench for zsh: source <(swt-bench completion zsh)
(( $+functions[compdef] )) || { autoload -Uz compinit && compinit; }

_swt-bench() {
  local curcontext="$curcontext" state line
  typeset -A opt_args
${choice(commands, ["'(-)--help[display help for command]'", "'(-)--version[print the version]'"], '  ')}
}
if [[ $funcstack[1] == _swt-bench ]]; then _swt-bench "$@"; else compdef _swt-bench swt-bench; fi
`;
}

/** Shell text that completes one of several commands, and then what belongs to it. */
function choice(
  commands: readonly CompletedCommand[],
  options: readonly string[],
  indent: string,
): string {
  const list = commands.map(({ name, description }) => quoted(`${name}:${description}`));
  const cases = commands.map(
    (command) => `${command.name})\n${ofCommand(command, `${indent}      `)}\n${indent}      ;;`,
  );
  return [
    `_arguments -C ${[...options, "'1:command:->command'", "'*::argument:->argument'"].join(' ')}`,
    'case $state in',
    `  command) local -a commands=(${list.join(' ')}); _describe command commands ;;`,
    '  argument) case $line[1] in',
    ...cases.map((each) => `    ${each}`),
    '  esac ;;',
    'esac',
  ]
    .map((line) => `${indent}${line}`)
    .join('\n');
}

function ofCommand(command: CompletedCommand, indent: string): string {
  const specs = command.options.map(specOf);
  if (command.commands.length > 0) return choice(command.commands, specs, indent);
  const { argument } = command;
  const value =
    argument === undefined || argument.words.length === 0 ? '_files' : wordsOf(argument.words);
  return `${indent}_arguments ${[...specs, quoted(`*:${argument?.name ?? 'argument'}:${value}`)].join(' ')}`;
}

function specOf({ long, description, value, isRepeatable }: CompletedOption): string {
  const said = description.replace(/[[\]\\:]/g, '\\$&');
  const start = `${isRepeatable ? '*' : ''}${long}${value === undefined ? '' : '='}[${said}]`;
  if (value === undefined) return quoted(start);
  const { words, paths, name } = value;
  const actions = [
    ...(words.length > 0 ? [wordsOf(words)] : []),
    ...(paths === 'files' ? ['_files'] : paths === 'folders' ? ['_files -/'] : []),
  ];
  const label = name.replace(/[:[\]\\]/g, '\\$&');
  if (actions.length < 2) return quoted(`${start}:${label}:${actions[0] ?? ' '}`);
  const both = `_alternative "words:word:${wordsOf(words)}" "files:file:${actions[1]}"`;
  return quoted(`${start}:${label}:{${both}}`);
}

const wordsOf = (words: readonly string[]): string =>
  `(${words.map((word) => word.replace(/[:\s()\\]/g, '\\$&')).join(' ')})`;
