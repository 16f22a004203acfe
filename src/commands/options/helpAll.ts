import { Option, type Command } from 'commander';

/**
 * Gives a command, and each below it, `--help-all`: the help with those options that few need, which
 * `--help` leaves out.
 */
export function withHelpAll(command: Command): void {
  for (const each of command.commands) withHelpAll(each);
  const { options } = command;
  if (!options.some(({ hidden }) => hidden)) return;
  const count = options.filter(({ hidden }) => hidden).length;
  command
    .addOption(new Option('--help-all', `also list ${count} options that few need`))
    // It comes before the check for options that are missing.
    .on('option:help-all', () => {
      for (const option of options) option.hidden = false;
      command.help();
    });
}
