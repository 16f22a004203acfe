import { writeSync } from 'node:fs';
import { join } from 'node:path';
import { Command, CommanderError } from 'commander';
import { version } from '../package.json';
import { EXIT, type CommandContext } from './commands/context';
import { standardInput, interruptSignal } from './commands/input';
import {
  applyConfiguration,
  commands,
  withConfigurationOptions,
  withHelpAll,
} from './commands/commands';
import { Cancelled, HumanError } from './domain/work';
import { systemFault } from './files/systemFault';
import { redactKeys, captureKeys } from './engine/keysInUse';
import { forTerminal, withoutEscapes } from './domain/text';
import { bytesOf } from './patch/bytes';

/** What a command gets from whoever runs it. */
type CommandCaller = Omit<CommandContext, 'assets' | 'bundled' | 'data'> & {
  /** Whether the user sees what `stdout` gets. */
  readonly isTerminal?: boolean;
};

/**
 * Runs the command that the arguments name. An error becomes one line and an exit status. One
 * process may run several commands, also at the same time.
 *
 * @param args without the names of the interpreter and the script
 */
export async function runCommandLine(
  args: readonly string[],
  caller: CommandCaller,
): Promise<number> {
  const { isTerminal = false } = caller;
  const output = {
    ...caller,
    stdout: (text: string) => caller.stdout(withoutEscapes(text)),
    data: (text: string) => caller.stdout(isTerminal ? withoutEscapes(text) : text),
    stderr: (text: string) => caller.stderr(forTerminal(text)),
  };
  let status: number = EXIT.done;
  try {
    const program = await programFor(args, output, (ended) => (status = ended));
    await program.parseAsync(args, { from: 'user' });
    return status;
  } catch (error) {
    return statusOf(error, output);
  }
}

/** All commands by name, and the one that the arguments name with its options. */
async function programFor(
  args: readonly string[],
  caller: Omit<CommandContext, 'assets' | 'bundled'>,
  finish: (status: number) => void,
): Promise<Command> {
  const program = new Command('swt-bench')
    .description(
      'Run tests that should reproduce an issue on the repository (R) and on the fixed repository ' +
        '(R∘X*), grade them, and compare methods that write such tests.',
    )
    .version(version)
    .showHelpAfterError('(see --help)')
    // `shards` passes the options of another command on.
    .enablePositionalOptions()
    .configureOutput({ writeOut: caller.stdout, writeErr: caller.stderr })
    .exitOverride()
    .hook('preAction', async (_, command) => void (await applyConfiguration(command)));
  const sample = join(__dirname, '..', 'media', 'sample');
  const context: CommandContext = {
    ...caller,
    assets: __dirname,
    bundled: {
      dataset: join(sample, 'instance.jsonl'),
      predictions: join(sample, 'predictions.jsonl'),
      source: join(sample, 'repository'),
    },
  };
  const [named] = args.filter((word) => word !== 'help' && !word.startsWith('-'));
  for (const each of commands) {
    const command = program.command(each.name).description(each.description);
    if (each.name !== named) continue;
    (await each.load())(command, context, finish);
    withConfigurationOptions(command);
  }
  withHelpAll(program);
  return program;
}

/** The exit status for an error, which this function tells the user. */
function statusOf(error: unknown, { signal, stderr }: CommandCaller): number {
  if (signal.aborted || error instanceof Cancelled) return EXIT.interrupted;
  // The error has been reported.
  if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.done : EXIT.usage;
  const known = error instanceof HumanError ? error : systemFault(error);
  if (known !== undefined) {
    stderr(`swt-bench: ${known.message}\n`);
    return EXIT.usage;
  }
  const text = error instanceof Error ? error.message : String(error);
  stderr(`swt-bench: internal error: ${text}\nPlease report it with the command you ran.\n`);
  if (process.env['SWT_BENCH_DEBUG'] !== undefined && error instanceof Error) {
    stderr(`${error.stack ?? ''}\n`);
  }
  return EXIT.negative;
}

/** Runs the command line of this process. An interrupt aborts the signal. */
async function main(): Promise<void> {
  // This comes first, so that no child process inherits the keys.
  captureKeys();
  // In `swt-bench … | head` the reader ends first, which is no reason for a trace.
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
  });
  // What a library reports to nobody, such as a program that could not be started.
  process.on('uncaughtException', (error) => {
    const known = systemFault(error);
    const text = known === undefined ? (error.stack ?? error.message) : known.message;
    writeSync(2, forTerminal(redactKeys(`swt-bench: ${text}\n`)));
    process.exit(EXIT.negative);
  });
  // Not process.exit: output that a slow reader has not yet read must arrive.
  process.exitCode = await runCommandLine(process.argv.slice(2), {
    // Bytes of a tree or a patch that are not UTF-8 are written unchanged.
    stdout: (text) => process.stdout.write(bytesOf(redactKeys(text))),
    stderr: (text) => process.stderr.write(bytesOf(redactKeys(text))),
    isTerminal: process.stdout.isTTY === true,
    stdin: standardInput,
    interactive: process.stderr.isTTY === true,
    signal: interruptSignal(),
  });
}

// Whoever loads this file instead of starting it runs commands in its own process.
if (require.main === module) void main();
