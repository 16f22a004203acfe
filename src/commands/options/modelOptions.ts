import { meaningOfLocal } from '../../method/testsOfModels';
import { Option, type Command } from 'commander';
import { defaultRequests } from './generationWidth';
import { acpPrefix } from '../../method/agents';
import { atKey, keyOption, rare } from './configuredOptions';
import { header, price, temperature } from './optionValues';

/** `--run-tests-locally`. */
export const runTestsLocallyOption = (): Option =>
  new Option(
    '--run-tests-locally',
    `allow the local engine for methods that run model-written tests (${meaningOfLocal})`,
  );

/** The option that names the model. */
export const modelOption = (): Option =>
  new Option(
    '--model <provider/name>',
    'provider (openai, openai-compatible, anthropic or google) and model, such as openai/gpt-4o; ' +
      'reads the API key from the environment',
  ).makeOptionMandatory();

/** @param usual the temperature of the methods, for the help */
export const temperatureOption = (byDefault: string): Option =>
  new Option(
    '--temperature <t>',
    `sampling temperature, or \`none\` for the server's default (default: ${byDefault})`,
  ).argParser(temperature);

/** Whether requests are this program's own, and no agent's. */
const asksItself = ({ method }: Readonly<Record<string, unknown>>): boolean =>
  !(typeof method === 'string' && method.startsWith(acpPrefix));

/** Adds the options for the model and for what each request has. */
export const withModelOptions = (command: Command): Command =>
  command
    .addOption(keyOption('models.{model}.baseUrl', { shown: true }))
    .addOption(
      rare(
        new Option('--name <name>', 'model name in predictions (default: METHOD/PROVIDER/NAME)'),
      ),
    )
    .addOption(keyOption('models.{model}.topP', { applies: asksItself }))
    .addOption(keyOption('models.{model}.reasoningEffort', { applies: asksItself }))
    .addOption(keyOption('models.{model}.body', { applies: asksItself }))
    .addOption(keyOption('models.{model}.contextTokens'))
    .addOption(keyOption('models.{model}.maxOutputTokens'));

/** Adds the options for the total cost of all requests, and for each request. */
export const withRequestOptions = (command: Command): Command =>
  command
    .addOption(keyOption('budgets.dollars', { shown: true }))
    .addOption(keyOption('budgets.instanceDollars'))
    .addOption(keyOption('budgets.tokens'))
    .addOption(
      atKey(
        new Option(
          '--price <input,output[,cached[,written]]>',
          'dollars per million tokens: input, output, input from the cache, input written to the cache',
        ).argParser(price),
        'prices.{model}',
      ).hideHelp(false),
    )
    .addOption(
      rare(
        new Option(
          '--header <name=value>',
          'additional header for each request, treated as a secret; repeatable',
        ).argParser(header),
      ),
    )
    .addOption(
      keyOption('models.{model}.concurrency', {
        description: `requests at once, over all instances (default: ${defaultRequests.hosted}; for a server on this machine ${defaultRequests.own}, and more while its answers do not slow down)`,
      }),
    )
    .addOption(keyOption('models.{model}.requestsPerMinute'))
    .addOption(keyOption('models.{model}.tokensPerMinute'))
    .addOption(keyOption('retries.requestTimeout'))
    .addOption(keyOption('models.{model}.window'))
    .addOption(keyOption('retries.count'))
    .addOption(keyOption('models.{model}.stream'));
