import { meaningOfLocal } from '../../method/testsOfModels';
import { Option, type Command } from 'commander';
import { defaultRequests } from './generationWidth';
import {
  bodyField,
  header,
  natural,
  positive,
  price,
  share,
  temperature,
  whole,
} from './optionValues';

/** `--run-tests-locally`. */
export const runTestsLocallyOption = (): Option =>
  new Option(
    '--run-tests-locally',
    `let tests of the model run with the local engine: ${meaningOfLocal}`,
  );

/** The option that names the model. */
export const modelOption = (): Option =>
  new Option(
    '--model <provider/name>',
    'openai, openai-compatible, anthropic or google, and the provider’s name of the model; ' +
      'the key comes from the environment',
  ).makeOptionMandatory();

/** @param usual the temperature of the methods, for the help */
export const temperatureOption = (byDefault: string): Option =>
  new Option(
    '--temperature <t>',
    `temperature of the candidates, or \`none\` for the server’s (default: ${byDefault})`,
  ).argParser(temperature);

/** Adds the options for the model and for what each request has. */
export const withModelOptions = (command: Command): Command =>
  command
    .option('--base-url <address>', 'address of the provider, such as http://localhost:11434/v1')
    .option('--name <name>', 'name of the model in predictions (default: METHOD/PROVIDER/NAME)')
    .option('--top-p <p>', 'nucleus sampling, from 0 to 1 (default: that of the method)', share)
    .option('--reasoning-effort <word>', 'how much the model reasons, such as low, medium or high')
    .addOption(
      new Option(
        '--body <key=json>',
        'further field of each request, such as seed=7; repeatable',
      ).argParser(bodyField),
    )
    .option('--context-tokens <n>', 'tokens of a prompt, including the files in it', whole, 27_000)
    .option('--max-output-tokens <n>', 'tokens of an answer, reasoning included', whole, 16_384);

/** Adds the options for the total cost of all requests, and for each request. */
export const withRequestOptions = (command: Command): Command =>
  command
    .option('--budget <d>', 'dollar limit of the whole run; needs --price', positive)
    .option('--instance-budget <d>', 'dollar limit of each instance; needs --price', positive)
    .option('--budget-tokens <n>', 'token limit of the whole run, input and output', whole)
    .addOption(
      new Option(
        '--price <input,output[,cached[,written]]>',
        'dollars for a million tokens of input and of output, of input from the provider’s cache and of input written to it',
      ).argParser(price),
    )
    .addOption(
      new Option(
        '--header <name=value>',
        'further header of each request, which is a secret; repeatable',
      ).argParser(header),
    )
    .option(
      '--concurrency <n>',
      `requests at once, of all instances (default: ${defaultRequests.hosted}; ${defaultRequests.own} or more on this machine, as long as answers do not take longer for it)`,
      whole,
    )
    .option('--requests-per-minute <n>', 'limit of the whole run', positive)
    .option(
      '--tokens-per-minute <n>',
      'limit of the whole run, input and output; a server’s own limits are learned',
      positive,
    )
    .option('--request-timeout <seconds>', 'limit for one request', positive, 600)
    .option(
      '--model-window <n>',
      'tokens of prompt and answer together that the model takes (default: as the server says when it refuses a prompt)',
      whole,
    )
    .option('--retries <n>', 'retries after a temporary failure; a 429 is none', natural, 6)
    .option('--no-stream', 'request whole answers, for servers that cannot stream');
