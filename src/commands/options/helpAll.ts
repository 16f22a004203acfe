import { Option, type Command } from 'commander';

/**
 * Gives a command, and each below it, `--help-all`: the help with those options that few need, which
 * `--help` leaves out.
 */
export function withHelpAll(command: Command): void {
  for (const each of command.commands) withHelpAll(each);
  const { options } = command;
  const count = options.filter(({ hidden }) => hidden).length;
  const option = new Option('--help-all', `also list ${count} rarely used options`);
  command
    .addOption(option.hideHelp(count === 0))
    // It comes before the check for options that are missing.
    .on('option:help-all', () => {
      for (const each of options) if (each !== option) each.hidden = false;
      command.help();
    });
}
