import { join } from 'node:path';
import { Command, CommanderError } from 'commander';
import packageJson from '../package.json';
import { EXIT, type CommandContext } from './commands/context';
import { registerCheck } from './commands/check';
import { registerEvaluate } from './commands/evaluate';
import { registerFilterRepairs } from './commands/filterRepairs';
import { registerGenerate } from './commands/generate';
import { registerInstances } from './commands/instances';
import { interruptSignal } from './commands/interrupts';
import { registerMcp } from './commands/mcp/mcp';
import { registerOpen } from './commands/open';
import { registerParseLog } from './commands/parseLog';
import { registerPatch } from './commands/patch';
import type { RegisterCommand } from './commands/registerCommand';
import { registerRepair } from './commands/repair';
import { registerReport } from './commands/report';
import { registerShow } from './commands/show';
import { registerStatistics } from './commands/statistics';
import { registerStorage } from './commands/storage';
import { registerTrajectory } from './commands/trajectory/trajectory';
import { registerTriage } from './commands/triage';
import { registerValidate } from './commands/validate';
import { Cancelled, HumanError } from './domain/humanError';
import { redactKeys, takeKeys } from './engine/keysInUse';
import { allKeyVariables } from './method/models/providers';
import { bytesOf } from './patch/bytes';

/** The commands in the order of the help text. */
const commands: readonly RegisterCommand[] = [
  registerInstances,
  registerShow,
  registerOpen,
  registerCheck,
  registerEvaluate,
  registerReport,
  registerFilterRepairs,
  registerGenerate,
  registerRepair,
  registerTrajectory,
  registerMcp,
  registerValidate,
  registerPatch,
  registerParseLog,
  registerStatistics,
  registerTriage,
  registerStorage,
];

/** Runs the command that the arguments name. An error becomes one line and an exit status. */
async function main(argv: readonly string[]): Promise<number> {
  // This comes first, so that no child process inherits the keys.
  takeKeys(allKeyVariables);
  const context = contextOfProcess();
  let status: number = EXIT.done;
  const program = new Command('swt-bench')
    .description(packageJson.description)
    .version(packageJson.version)
    .showHelpAfterError('(see --help)')
    .exitOverride();
  for (const register of commands) {
    register(program, context, (ended) => {
      status = ended;
    });
  }
  try {
    await program.parseAsync(argv);
    return status;
  } catch (error) {
    if (context.signal.aborted || error instanceof Cancelled) return EXIT.interrupted;
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.done : EXIT.usage;
    if (error instanceof HumanError) {
      context.stderr(`swt-bench: ${error.message}\n`);
      return EXIT.usage;
    }
    throw error;
  }
}

/** The parts of this process that commands use. An interrupt aborts the signal. */
function contextOfProcess(): CommandContext {
  const signal = interruptSignal();
  // In `swt-bench … | head` the reader ends first, which is no reason for a trace.
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
  });
  const sample = join(__dirname, '..', 'media', 'sample');
  return {
    // Bytes of a tree or a patch that are not UTF-8 are written unchanged.
    stdout: (text) => process.stdout.write(bytesOf(redactKeys(text))),
    stderr: (text) => process.stderr.write(bytesOf(redactKeys(text))),
    interactive: process.stderr.isTTY === true,
    signal,
    assets: __dirname,
    bundled: {
      dataset: join(sample, 'instance.jsonl'),
      predictions: join(sample, 'predictions.jsonl'),
      source: join(sample, 'repository'),
    },
  };
}

main(process.argv).then(
  (status) => {
    // Not process.exit: output that a slow reader has not yet read must arrive.
    process.exitCode = status;
  },
  (error: unknown) => {
    const text = redactKeys(error instanceof Error ? error.message : String(error));
    process.stderr.write(
      `swt-bench: internal error: ${text}\nPlease report it with the command you ran.\n`,
    );
    if (process.env['SWT_BENCH_DEBUG'] !== undefined && error instanceof Error) {
      process.stderr.write(`${redactKeys(error.stack ?? '')}\n`);
    }
    process.exitCode = 1;
  },
);
