import { Option, type Command } from 'commander';
import type { Method } from '../method/method';
import { methodNames, methods } from '../method/methods';
import type { GenerateOptions } from './generating/generationParts';
import { withEngineOptions } from './options/engineOptions';
import { withGivenOptions } from './options/givenOptions';
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
  modeOption,
  runTestsLocallyOption,
  sourceOption,
  storageOption,
} from './options/sharedOptions';
import { limitProfiles } from '../method/agents/agent';
import type { RegisterCommand } from './registerCommand';

/** Registers the command `generate`. */
export const registerGenerate: RegisterCommand = (program, context, finish) => {
  const command = withEngineOptions(withSelectingOptions(program.command('generate')))
    .description('let a method or an agent write predictions with a language model')
    .requiredOption('--method <name>', methodNames.join(', '))
    .addOption(modelOption())
    .addOption(datasetOption())
    .option('--limit <n>', 'only the first n of the selected instances', whole)
    .option(
      '--shuffle [seed]',
      'select in an order that only the seed and the ids decide (default seed: 0)',
    )
    .requiredOption('--out <file>', 'predictions (JSONL); the trace lies beside it')
    .addOption(sourceOption());
  withRequestOptions(withModelOptions(withGivenOptions(withSamplingOptions(command))))
    .option(
      '--workers <n>',
      'instances that run tests or commands at once (default: by memory and cores); of other methods, instances at once (default: --concurrency)',
      whole,
    )
    .option('--timeout <seconds>', 'limit for one run of tests on one side', positive, 1800)
    .option('--tests-only', 'leave out edits of files that are not tests')
    .addOption(modeOption())
    .addOption(runTestsLocallyOption())
    .option('--dry-run', 'make the prompts, and say what the run would ask and cost; needs no key')
    .option(
      '--evaluate <dir>',
      'also run and grade each prediction, as soon as it is written, with results in this folder',
    )
    .option('--replay', 'only read the trace: no model, no tests, no repository')
    .addOption(storageOption())
    .addOption(jsonOption())
    .addHelpText(
      'after',
      '\nThe same command resumes an interrupted run and repeats no answered request.' +
        '\nExit status: 0 every instance has a prediction, 1 some have none, 2 wrong usage or input, 130 interrupted.',
    )
    .action(async (options: GenerateOptions) => {
      // Imported here, since no other command needs models, tokenizers and indexes.
      const { generatePredictions } = await import('./generatePredictions');
      finish(await generatePredictions(options, context));
    });
};

/** A number of each method, the usual one first: `0; 0.7 for pass-at-5 and libro`. */
function ofEach(numberOf: (method: Method) => number): string {
  const withNumber = (number: number): Method[] =>
    methods.filter((method) => numberOf(method) === number);
  const [usual, ...others] = [...new Set(methods.map(numberOf))].sort(
    (left, right) => withNumber(right).length - withNumber(left).length,
  );
  const named = others.map(
    (number) =>
      `${number} for ${withNumber(number)
        .map(({ name }) => name)
        .join(' and ')}`,
  );
  return [String(usual), ...named].join('; ');
}

/** Adds the options for sampling candidates. */
const withSamplingOptions = (command: Command): Command =>
  command
    .option(
      '--samples <n>',
      `candidates of a method that asks for several (default: ${ofEach(({ samples }) => samples)})`,
      whole,
    )
    .addOption(temperatureOption(ofEach((method) => method.temperature)))
    .addOption(
      new Option('--limits <profile>', 'calls, dollars and seconds of an agent')
        .choices(limitProfiles)
        .default('paper'),
    );
