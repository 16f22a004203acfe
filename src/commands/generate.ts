import { Option, type Command } from 'commander';
import { inList } from '../domain/text';
import type { Method } from '../method/method';
import { methods } from '../method/methods';
import type { GenerateOptions } from './generating/generationParts';
import { keyOption, rare } from './options/configuredOptions';
import { acpNames, withAcpOptions } from './options/acpOptions';
import { withGivenOptions } from './options/givenOptions';
import { temperatureOption, withModelOptions, withRequestOptions } from './options/modelOptions';
import { natural, whole } from './options/optionValues';
import { modeOption } from './options/sharedOptions';
import { withSurrogateOptions } from './options/surrogateOptions';
import { generatingCommand } from './options/generatingCommand';
import { limitProfiles } from '../method/agents';
import type { ProgramContext, RegisterCommand } from './registerCommand';

/** Registers the command `generate`. */
export const registerGenerate: RegisterCommand<ProgramContext> = (command, context, finish) => {
  generatingCommand(command, context, {
    methods: [...methods.map(({ name }) => name), ...acpNames],
    out: 'file for predictions (JSONL); the trace is written next to it',
    run: 'test timeout per side',
    dryRun: 'create the prompts and estimate requests and cost; needs no API key',
    written: 'a prediction',
  }).addOption(
    rare(
      new Option(
        '--shuffle [seed]',
        'select in a random order that depends only on the seed and the IDs (default seed: 0)',
      ),
    ),
  );
  withRequestOptions(
    withModelOptions(
      withAcpOptions(withSurrogateOptions(withGivenOptions(withSamplingOptions(command)))),
    ),
  )
    .addOption(rare(new Option('--tests-only', 'ignore changes to files that are not tests')))
    .addOption(rare(modeOption()))
    .addOption(
      rare(
        new Option(
          '--atif <dir>',
          "also write each trajectory to this folder as ATIF, Harbor's format",
        ),
      ),
    )
    .option(
      '--evaluate <dir>',
      'also grade each prediction as soon as it is written; folder for the results',
    )
    .action(async (options: GenerateOptions) => {
      // Imported here, since no other command needs models, tokenizers and indexes.
      const { generatePredictions } = await import('./generating/generatePredictions');
      finish(await generatePredictions(options, context));
    });
};

/** A number of each method, the most frequent first: `0; 0.7 for pass-at-5 and libro`. */
function ofEach(numberOf: (method: Method) => number): string {
  const withNumber = (number: number): Method[] =>
    methods.filter((method) => numberOf(method) === number);
  const [first, ...others] = [...new Set(methods.map(numberOf))].sort(
    (left, right) => withNumber(right).length - withNumber(left).length,
  );
  const named = others.map(
    (number) => `${number} for ${inList(withNumber(number).map(({ name }) => name))}`,
  );
  return [String(first), ...named].join('; ');
}

/** The default of the methods that send attempts back: `10 for assertflip`. */
const defaultTries = (): string =>
  methods
    .flatMap(({ name, tries }) => (tries === undefined ? [] : [`${tries} for ${name}`]))
    .join('; ');

/** Adds the options for sampling candidates. */
const withSamplingOptions = (command: Command): Command =>
  command
    .option(
      '--samples <n>',
      `number of candidates, or of attempts (default: ${ofEach(({ samples }) => samples)})`,
      whole,
    )
    .addOption(
      rare(
        new Option(
          '--tries <n>',
          `maximum number of times an attempt is returned to the model (default: ${defaultTries()})`,
        ).argParser(natural),
      ),
    )
    .addOption(
      keyOption('generate.refine', {
        applies: ({ method: name }) =>
          methods.find((method) => method.name === name)?.canRefine === true,
      }),
    )
    .addOption(rare(temperatureOption(ofEach((method) => method.temperature))))
    .addOption(keyOption('generate.limits').choices(limitProfiles));
