import { Argument, Command } from 'commander';
import { EXIT } from '../context';
import { withConfigurationOptions } from '../options/configuredOptions';
import { withHelpAll } from '../options/helpAll';
import type { CommandEntry, ProgramContext, RegisterCommand } from '../registerCommand';
import { bashScript } from './bashScript';
import { completedCommand, type CompletedCommand } from './completedCommand';
import { fishScript } from './fishScript';
import { zshScript } from './zshScript';

const shells = {
  bash: { script: bashScript, use: 'source <(swt-bench completion bash)', file: '~/.bashrc' },
  zsh: { script: zshScript, use: 'source <(swt-bench completion zsh)', file: '~/.zshrc' },
  fish: {
    ...{ script: fishScript, use: 'swt-bench completion fish | source' },
    file: '~/.config/fish/config.fish',
  },
} as const;

/** Registers the command `completion`. */
export const registerCompletion =
  (all: readonly CommandEntry[]): RegisterCommand<ProgramContext> =>
  (command, context, finish) => {
    const names = Object.keys(shells) as (keyof typeof shells)[];
    command
      .addArgument(new Argument('<shell>').choices(names))
      .addHelpText(
        'after',
        `\nAdd this line to the file of your shell:\n${Object.values(shells)
          .map(({ use, file }) => `  ${file}: ${use}`)
          .join('\n')}`,
      )
      .action(async (shell: keyof typeof shells) => {
        context.data(shells[shell].script(await completedCommands(all, context)));
        finish(EXIT.done);
      });
  };

/** What can follow the name of the program, from the descriptors of all commands. */
async function completedCommands(
  all: readonly CommandEntry[],
  context: ProgramContext,
): Promise<readonly CompletedCommand[]> {
  return Promise.all(
    all.map(async ({ name, description, load }) => {
      const command = new Command(name).description(description);
      (await load())(command, context, () => undefined);
      withConfigurationOptions(command);
      withHelpAll(command);
      return completedCommand(command);
    }),
  );
}
