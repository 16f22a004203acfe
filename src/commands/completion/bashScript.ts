import { quoted, type CompletedCommand } from './completedCommand';

/** A command with the names of those above it. */
interface Named {
  readonly path: string;
  readonly command: CompletedCommand;
}

/**
 * The completion of bash, without the package bash-completion. Bash 3.2 of macOS can read it. A word
 * with a colon is none for bash, so such words are not offered.
 */
export function bashScript(commands: readonly CompletedCommand[]): string {
  const all = commands.flatMap((command) => named(command, ''));
  const steps = all.map(({ path }) => {
    const at = path.lastIndexOf(' ');
    return `      ${quoted(`${path.slice(0, Math.max(at, 0))}/${path.slice(at + 1)}`)}) command=${quoted(path)} ;;`;
  });
  const values = all.flatMap(({ path, command }) =>
    command.options.flatMap(({ long, value }) =>
      value === undefined
        ? []
        : [`    ${quoted(`${path} ${long}`)}) ${replies(value.words, value.paths)}; return ;;`],
    ),
  );
  const words = all.map(({ path, command: { options, commands: below, argument } }) => {
    const names = [...below.map(({ name }) => name), ...(argument?.words ?? [])];
    const flags = options.flatMap(({ long, short }) => [
      long,
      ...(short === undefined ? [] : [short]),
    ]);
    return `    ${quoted(path)}) words=${quoted(names.join(' '))} options=${quoted(flags.join(' '))} ;;`;
  });
  return `# Completion of swt-bench for bash: source <(swt-bench completion bash)
_swt_bench() {
  local current="\${COMP_WORDS[COMP_CWORD]}" previous="\${COMP_WORDS[COMP_CWORD-1]}"
  local command='' words='' options='' at IFS=$' \\t\\n'
  # Bash takes the sign of --option=value for a word of its own.
  if [[ $current == = ]]; then current=''
  elif [[ $previous == = ]]; then previous="\${COMP_WORDS[COMP_CWORD-2]}"; fi
  for ((at = 1; at < COMP_CWORD; at++)); do
    case "$command/\${COMP_WORDS[at]}" in
${steps.join('\n')}
    esac
  done
  COMPREPLY=()
  case "$command $previous" in
${values.join('\n')}
  esac
  case "$command" in
    '') words=${quoted(commands.map(({ name }) => name).join(' '))} options='--help --version' ;;
${words.join('\n')}
  esac
  if [[ $current == -* ]]; then
    COMPREPLY=($(compgen -W "$options" -- "$current"))
  elif [[ -n $words ]]; then
    COMPREPLY=($(compgen -W "$words" -- "$current"))
  else
    compopt -o filenames 2> /dev/null
    COMPREPLY=($(compgen -f -- "$current"))
  fi
}
complete -F _swt_bench swt-bench
`;
}

const named = (command: CompletedCommand, above: string): readonly Named[] => {
  const path = `${above} ${command.name}`.trim();
  return [{ path, command }, ...command.commands.flatMap((each) => named(each, path))];
};

/** Shell text that sets the answers for a value. Names of files may have spaces, so lines part them. */
function replies(words: readonly string[], paths: 'files' | 'folders' | 'none'): string {
  const plain = words.filter((word) => !/[:\s]/.test(word));
  const parts = [
    ...(plain.length > 0 ? [`compgen -W ${quoted(plain.join('\n'))} -- "$current"`] : []),
    ...(paths === 'files' ? ['compgen -f -- "$current"'] : []),
    ...(paths === 'folders' ? ['compgen -d -- "$current"'] : []),
  ];
  if (parts.length === 0) return ':';
  const isPath = paths === 'none' ? '' : 'compopt -o filenames 2> /dev/null; ';
  return `${isPath}IFS=$'\\n' COMPREPLY=($(${parts.join('; ')}))`;
}
