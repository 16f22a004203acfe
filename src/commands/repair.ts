import { readGivenStages, type GivenStages } from '../method/agentless/givenStages';
import { repairMethods } from '../method/agentless/repairMethods';
import type { CommandContext } from './context';
import type { GenerateOptions } from './generating/generationParts';
import { readInput } from './input';
import {
  settingsOf,
  withAgentlessOptions,
  type AgentlessOptions,
} from './options/agentlessOptions';
import { withEngineOptions } from './options/engineOptions';
import {
  modelOption,
  temperatureOption,
  withModelOptions,
  withRequestOptions,
} from './options/modelOptions';
import { positive, whole } from './options/optionValues';
import { withSelectingOptions } from './options/selectingOptions';
import {
  datasetOption,
  jsonOption,
  runTestsLocallyOption,
  sourceOption,
  storageOption,
} from './options/sharedOptions';
import type { RegisterCommand } from './registerCommand';

/** Registers the command `repair`. */
export const registerRepair: RegisterCommand = (program, context, finish) => {
  const command = withEngineOptions(withSelectingOptions(program.command('repair')))
    .description('let a method write code patches with a language model, ranked')
    .requiredOption(
      '--method <name>',
      repairMethods()
        .map(({ name }) => name)
        .join(', '),
    )
    .addOption(modelOption())
    .addOption(datasetOption())
    .option('--limit <n>', 'only the first n of the selected instances', whole)
    .requiredOption(
      '--out <file>',
      'the chosen code patches as predictions of SWE-bench (JSONL); all of them, ranked, and the trace lie beside it',
    )
    .addOption(sourceOption())
    .addOption(temperatureOption('0'));
  withRequestOptions(withModelOptions(withAgentlessOptions(command)))
    .option(
      '--workers <n>',
      'instances that run tests at once (default: by memory and cores); of other methods, instances at once (default: --concurrency)',
      whole,
    )
    .option('--timeout <seconds>', 'limit for one run of tests', positive, 1800)
    .addOption(runTestsLocallyOption())
    .option('--replay', 'only read the trace: no model, no tests, no repository')
    .addOption(storageOption())
    .addOption(jsonOption())
    .addHelpText(
      'after',
      '\nThe same command resumes an interrupted run and repeats no answered request.' +
        '\nExit status: 0 every instance has a code patch (or came to the stage of --until), 1 some have none, 2 wrong usage or input, 130 interrupted.',
    )
    .action(async (options: GenerateOptions & AgentlessOptions) => {
      // Imported here, since no other command needs models, tokenizers and indexes.
      const { generatePredictions } = await import('./generatePredictions');
      const methods = repairMethods(settingsOf(options));
      const given = await givenStagesOf(options, context);
      const all: GenerateOptions = { ...options, ...given, limits: 'paper' };
      finish(await generatePredictions(all, context, methods));
    });
};

/** @throws HumanError when the file of `--stages-from` cannot be read, Cancelled */
async function givenStagesOf(
  { stagesFrom: path }: AgentlessOptions,
  { signal }: CommandContext,
): Promise<{ givenStages?: GivenStages }> {
  if (path === undefined) return {};
  const bytes = await readInput(path, 'Name another file with --stages-from', signal);
  return { givenStages: readGivenStages(bytes.toString('utf8'), path) };
}
