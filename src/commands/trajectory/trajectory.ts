import { Option } from 'commander';
import { whole } from '../options/optionValues';
import type { RegisterCommand } from '../registerCommand';
import type { TrajectoryOptions } from './printTrajectories';

/** Registers the command `trajectory`. */
export const registerTrajectory: RegisterCommand = (command, context, finish) => {
  command
    .argument(
      '<file|dir>',
      'a trace or predictions of `generate`, ATIF of any program, a Harbor job, a .traj of SWE-agent, a .traj.json of mini-SWE-agent, output.jsonl, events or a conversation of OpenHands, a chat history of aider, or a folder of such files',
    )
    .option('--instance <id>', 'only this instance')
    .addOption(new Option('--step <n>', 'print the full text of this step').argParser(whole))
    .addOption(
      new Option(
        '--format <format>',
        "html is one self-contained page; atif is Harbor's format, with one document for each trajectory",
      )
        .choices(['text', 'html', 'json', 'atif'] satisfies TrajectoryOptions['format'][])
        .default('text'),
    )
    .addOption(
      new Option(
        '--report <dir...>',
        'folders with the verdicts, written by `evaluate --out` or the SWT-Bench harness',
      )
        .argParser((value: string, all: string[]) => [...all, value])
        .default([], 'next to the file'),
    )
    .option(
      '--out <file>',
      'write to this file instead of stdout; for several ATIF documents, to this folder',
    )
    .addOption(new Option('--json', 'the same as --format json'))
    .addHelpText(
      'after',
      '\nExit status: 0 all files were read, whatever the scan found; 1 some lines or files could not be read (they are listed); 2 invalid usage or no trajectory.',
    )
    .action(async (path: string, options: TrajectoryOptions) => {
      // Imported here, since no other command needs the formats.
      const { printTrajectories } = await import('./printTrajectories');
      finish(await printTrajectories(path, options, context));
    });
};
