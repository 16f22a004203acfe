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
    `run model-written tests with the local engine: ${meaningOfLocal}`,
  );

/** The option that names the model. */
export const modelOption = (): Option =>
  new Option(
    '--model <provider/name>',
    "openai, openai-compatible, anthropic or google, then the provider's name of the model; " +
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
        new Option(
          '--name <name>',
          'name of the model in predictions (default: METHOD/PROVIDER/NAME)',
        ),
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
          'dollars for a million tokens of input and of output, of input from the provider’s cache and of input written to it',
        ).argParser(price),
        'prices.{model}',
      ).hideHelp(false),
    )
    .addOption(
      rare(
        new Option(
          '--header <name=value>',
          'further header of each request, which is a secret; repeatable',
        ).argParser(header),
      ),
    )
    .addOption(
      keyOption('models.{model}.concurrency', {
        description: `requests at once, of all instances (default: ${defaultRequests.hosted}; ${defaultRequests.own} or more on this machine, as long as answers do not take longer for it)`,
      }),
    )
    .addOption(keyOption('models.{model}.requestsPerMinute'))
    .addOption(keyOption('models.{model}.tokensPerMinute'))
    .addOption(keyOption('retries.requestTimeout'))
    .addOption(keyOption('models.{model}.window'))
    .addOption(keyOption('retries.count'))
    .addOption(keyOption('models.{model}.stream'));
