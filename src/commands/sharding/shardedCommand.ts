import { basename } from 'node:path';
import { Command } from 'commander';
import { HumanError } from '../../domain/work';
import { dockerSettings } from '../../engine/docker';
import { wordForShell } from '../../engine/programs';
import { registerEvaluate } from '../evaluate';
import { registerGenerate } from '../generate';
import { applyConfiguration } from '../configuration/applyConfiguration';
import { withConfigurationOptions } from '../options/configuredOptions';
import { engineRequest, type EngineOptions } from '../options/engineOptions';
import type { ProgramContext, RegisterCommand } from '../registerCommand';
import { registerRepair } from '../repair';

/** A command whose work several jobs share. */
export interface ShardedCommand {
  /** Its name and arguments, without `--out`. */
  readonly words: readonly string[];
  /** Where the whole run belongs, as the user wrote it. */
  readonly out: string;
  /** Whether `out` is a file of predictions, not a folder. */
  readonly writesFile: boolean;
  readonly engine: string;
  /** Whether the user said which engine of containers to speak to. */
  readonly namesEngineAddress: boolean;
  /** Whether the user said where trees and finished runs are kept. */
  readonly namesStorage: boolean;
  /** Dollars that each shard may spend. */
  readonly budget?: number;
}

/** What the commands here have in common after parsing. */
type ParsedOptions = EngineOptions & {
  readonly storage: string;
  readonly out?: string;
  readonly budget?: number;
};

/** The commands that take `--shard`. */
const shardable: ReadonlyMap<string, RegisterCommand<ProgramContext>> = new Map([
  ['evaluate', registerEvaluate],
  ['generate', registerGenerate],
  ['repair', registerRepair],
]);

/** Options that contradict shards, with the reason and what to do. */
const refused: ReadonlyMap<string, readonly [string, string]> = new Map([
  ['--shard', ['each job gets its own value', 'Omit it']],
  ['--dry-run', ['it runs nothing that jobs could split', 'Run it without `shards`']],
  ['--fresh', ['a restarted job would lose its results', 'Use a new --out']],
  [
    '--evaluate',
    [
      'it would grade one shard as if it were a whole run',
      'Omit it, and run `swt-bench shards … evaluate` on the merged predictions',
    ],
  ],
]);

/**
 * Reads a command with the parser of its own options. Wrong options are thus reported before the jobs
 * wait in a queue.
 *
 * @param words the command's name and arguments
 * @throws HumanError when the command has no shards, or an option contradicts them; CommanderError
 *   when its options are wrong, after saying so
 */
export async function readShardedCommand(
  words: readonly string[],
  context: ProgramContext,
): Promise<ShardedCommand> {
  const [name = ''] = words;
  const register = shardable.get(name);
  if (register === undefined) {
    throw new HumanError(
      `${name} cannot be split into shards`,
      `Use one of ${[...shardable.keys()].join(', ')}, after the options of \`shards\``,
    );
  }
  for (const [flag, [why, next]] of refused) {
    if (words.some((word) => word === flag || word.startsWith(`${flag}=`))) {
      throw new HumanError(`${flag} cannot be used with shards: ${why}`, next);
    }
  }
  const command = await parsed(register, words, context);
  const options = command.opts<ParsedOptions>();
  if (options.out === undefined) {
    throw new HumanError('The shards need a folder for the whole run', 'Specify it with --out');
  }
  const { name: engine, values } = engineRequest(options, context);
  return {
    words: withoutOut(words),
    out: options.out,
    writesFile: name !== 'evaluate',
    engine,
    namesEngineAddress: dockerSettings.in(values).host !== undefined,
    namesStorage: ['cli', 'config'].includes(command.getOptionValueSource('storage') ?? ''),
    ...(options.budget !== undefined && { budget: options.budget }),
  };
}

/** The command with its options read, and without having run. */
async function parsed(
  register: RegisterCommand<ProgramContext>,
  words: readonly string[],
  { stdout, stderr, ...context }: ProgramContext,
): Promise<Command> {
  const program = new Command('swt-bench')
    .showHelpAfterError('(see --help)')
    .configureOutput({ writeOut: stdout, writeErr: stderr })
    .exitOverride()
    .hook('preAction', async (_, command) => void (await applyConfiguration(command)));
  const command = program.command(words[0] ?? '');
  register(command, { ...context, stdout, stderr }, () => undefined);
  withConfigurationOptions(command);
  command.action(() => undefined);
  await program.parseAsync(words, { from: 'user' });
  return command;
}

function withoutOut(words: readonly string[]): string[] {
  return words.filter(
    (word, at) => word !== '--out' && words[at - 1] !== '--out' && !word.startsWith('--out='),
  );
}

/** The folder with a folder for each shard. */
export const shardsFolder = ({ out }: ShardedCommand): string =>
  `${out.replace(/\/+$/, '')}.shards`;

/**
 * The shell command that puts the shards together.
 *
 * @param program how the command line is called, as text for a shell
 */
export function mergeText(command: ShardedCommand, program: string): string {
  const { out, writesFile } = command;
  const whole = writesFile ? out.slice(0, -basename(out).length) || '.' : out;
  return `${program} merge ${wordForShell(shardsFolder(command))}/* --out ${wordForShell(whole)}`;
}

/**
 * Lines for a POSIX shell that run the shard whose number is in `$shard`, and leave its exit status
 * in `$status`. A command that did its work and failed for some candidates counts as done, since a
 * job that has failed is started again.
 *
 * @param count number of all shards
 * @param program how the command line is called, as text for a shell
 * @param more further words, as text for a shell
 */
export function shardLines(
  command: ShardedCommand,
  count: number,
  program: string,
  more: readonly string[] = [],
): string[] {
  const { words, out, writesFile } = command;
  const folder = `${wordForShell(shardsFolder(command))}/"$shard"`;
  const place = writesFile ? `${folder}/${wordForShell(basename(out))}` : folder;
  const all = [...words.map(wordForShell), ...more, '--shard', `"$shard/${count}"`, '--out', place];
  return [
    'status=0',
    `${[program, ...all].join(' ')} &`,
    'command=$!',
    `trap 'kill -TERM "$command"' TERM INT`,
    'wait "$command" || status=$?',
    '# A signal ends the wait. The command then stops its tests and saves finished results.',
    'while kill -0 "$command" 2> /dev/null; do',
    '  status=0',
    '  wait "$command" || status=$?',
    'done',
    '# Status 1: the command finished, but some results are negative or failed.',
    'if [ "$status" -eq 1 ]; then status=0; fi',
  ];
}
