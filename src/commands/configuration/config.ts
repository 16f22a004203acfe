import { Command, Option } from 'commander';
import { layOut, jsonText } from '../../domain/text';
import { defaultStorage } from '../../repository/storage';
import { EXIT } from '../context';
import { registerGenerate } from '../generate';
import { rare, pathOf } from '../options/configuredOptions';
import { partsOf } from './applyConfiguration';
import { jsonOption } from '../options/sharedOptions';
import type { ProgramContext, RegisterCommand } from '../registerCommand';
import { registerRepair } from '../repair';

/** Registers the commands `config show` and `config schema`. */
export const registerConfig: RegisterCommand<ProgramContext> = (command, context, finish) => {
  const show = command
    .command('show')
    .description('print each value, and where it comes from: option, variable, file or default')
    .option('--model <provider/name>', 'also print the values for this model')
    .addOption(
      rare(new Option('--method <name>', 'also print the options of this agent: acp:NAME')),
    )
    .addOption(jsonOption());
  for (const option of optionsOfFile(context)) show.addOption(option);
  show
    .addHelpText('after', '\nAccepts every option that the file can set, to show its effect.')
    .action(async (options: ShowOptions) =>
      finish(await showConfiguration(options, show, context)),
    );
  command
    .command('schema')
    .description('print the JSON schema of swt.yaml')
    .action(async () => {
      // Imported here, since the schemas take longer to load than the rest.
      const { configurationJsonSchema } = await import('../../configuration/schema');
      context.data(jsonText(configurationJsonSchema()));
      finish(EXIT.done);
    });
};

/** The options of `generate` and `repair` that the file can hold, each once. */
function optionsOfFile(context: ProgramContext): readonly Option[] {
  const all = [registerGenerate, registerRepair].flatMap((register) => {
    const command = new Command();
    register(command, context, () => undefined);
    return command.options.filter((option) => pathOf(option) !== undefined);
  });
  const byName = new Map(all.map((option) => [option.attributeName(), option] as const));
  return [...byName.values()].map(rare);
}

interface ShowOptions {
  readonly json?: boolean;
  readonly model?: string;
  readonly config?: string | false;
}

async function showConfiguration(
  options: ShowOptions,
  command: Command,
  context: ProgramContext,
): Promise<number> {
  const { readConfiguration, variableOf } = await import('../../configuration/configuration');
  const flags = new Map<string, string>();
  const given: Record<string, unknown> = {};
  for (const option of command.options) {
    const parts = partsOf(pathOf(option) ?? '', { ...options });
    if (pathOf(option) === undefined || parts === undefined) continue;
    const key = parts.join('.');
    flags.set(key, option.long ?? option.flags);
    const name = option.attributeName();
    if (command.getOptionValueSource(name) === 'cli') given[key] = command.getOptionValue(name);
  }
  const configuration = await readConfiguration({
    ...{ folder: process.cwd(), file: options.config, given },
  });
  const values = configuration.entries(options.model).map(({ path, value, source }) => {
    const key = path.join('.');
    const isStorage = key === 'storage' && value === undefined;
    return {
      key,
      value: (isStorage ? defaultStorage({}) : value) ?? null,
      source: source ?? 'default',
      ...(source === 'variable' && { variable: variableOf(path) }),
      ...(flags.has(key) && { option: flags.get(key) }),
    };
  });
  const { file = null } = configuration;
  if (options.json === true) context.data(jsonText({ file, values }));
  else {
    const rows = values.map(({ key, value, source, ...of }) => [
      key,
      value === null ? '' : typeof value === 'string' ? value : JSON.stringify(value),
      source === 'variable'
        ? `variable ${of.variable}`
        : source === 'option'
          ? `option ${of.option}`
          : source,
    ]);
    context.stdout(`file: ${file ?? 'none'}\n\n${layOut([['key', 'value', 'from'], ...rows])}\n`);
  }
  return EXIT.done;
}
