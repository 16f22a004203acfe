/**
 * How a key's value is written: in the file, and as the argument of its option. A `path` is relative
 * to the folder of the file that names it.
 */
export type KeyKind =
  | 'address'
  | 'fields'
  | 'natural'
  | 'path'
  | 'positive'
  | 'share'
  | 'switch'
  | 'text'
  | 'whole';

/**
 * A key of the configuration file. The option of the command line, its help, the schema of the file
 * and the documentation follow from it.
 */
export interface ConfigurationKey {
  /** The option with its argument: `--retries <n>`. */
  readonly option: string;
  readonly kind: KeyKind;
  readonly default?: number | boolean | string;
  /** Help of the option, and description in the schema of the file. */
  readonly meaning: string;
  /** The environment variable that has the same meaning. */
  readonly variable?: string;
}

/**
 * The keys that no engine and no method declares, by their paths. A part in braces stands for the
 * name of a model or of an agent.
 */
export const configurationKeys = {
  engine: { option: '--engine <name>', kind: 'text', meaning: 'where tests run' },
  storage: {
    ...{ option: '--storage <dir>', kind: 'path', variable: 'SWT_BENCH_STORAGE' },
    meaning: 'storage folder for trees and finished runs',
  },
  timeout: {
    ...{ option: '--timeout <seconds>', kind: 'positive', default: 1800 },
    meaning: 'test timeout per side, in seconds',
  },
  workers: {
    ...{ option: '--workers <n>', kind: 'whole' },
    meaning: 'instances or candidates that run tests at once',
  },
  'models.{model}.baseUrl': {
    ...{ option: '--base-url <address>', kind: 'address' },
    meaning: 'address of the provider, such as http://localhost:11434/v1',
  },
  'models.{model}.window': {
    ...{ option: '--model-window <n>', kind: 'whole' },
    meaning:
      'context window of the model in tokens, prompt and answer together (default: learned when the server refuses a prompt)',
  },
  'models.{model}.contextTokens': {
    ...{ option: '--context-tokens <n>', kind: 'whole', default: 27_000 },
    meaning: 'maximum number of tokens in a prompt, including the files in it',
  },
  'models.{model}.maxOutputTokens': {
    ...{ option: '--max-output-tokens <n>', kind: 'whole', default: 16_384 },
    meaning: 'maximum number of tokens in an answer, including reasoning',
  },
  'models.{model}.topP': {
    ...{ option: '--top-p <p>', kind: 'share' },
    meaning: 'nucleus sampling, from 0 to 1 (default: set by the method)',
  },
  'models.{model}.reasoningEffort': {
    ...{ option: '--reasoning-effort <word>', kind: 'text' },
    meaning: 'how much the model reasons, such as low, medium or high',
  },
  'models.{model}.body': {
    ...{ option: '--body <key=json>', kind: 'fields' },
    meaning: 'additional field for each request, such as seed=7; repeatable',
  },
  'models.{model}.stream': {
    ...{ option: '--no-stream', kind: 'switch', default: true },
    meaning: 'request whole answers, for servers that cannot stream',
  },
  'models.{model}.concurrency': {
    ...{ option: '--concurrency <n>', kind: 'whole' },
    meaning: 'requests at once, over all instances',
  },
  'models.{model}.requestsPerMinute': {
    ...{ option: '--requests-per-minute <n>', kind: 'positive' },
    meaning: 'maximum number of requests per minute of the whole run',
  },
  'models.{model}.tokensPerMinute': {
    ...{ option: '--tokens-per-minute <n>', kind: 'positive' },
    meaning:
      'maximum number of tokens per minute of the whole run, input and output; limits of the server are learned',
  },
  'models.{embeddingModel}.baseUrl': {
    ...{ option: '--embedding-base-url <address>', kind: 'address' },
    meaning:
      'address of the provider of --embedding-model (default: --base-url, if it is the provider of --model)',
  },
  'prices.{embeddingModel}.input': {
    ...{ option: '--embedding-price <d>', kind: 'positive' },
    meaning: 'dollars per million embedded tokens',
  },
  'agents.{agent}.program': {
    ...{ option: '--agent-program <dir>', kind: 'path' },
    meaning: 'acp: folder with the agent and its runtime, mounted in its container at /agent',
  },
  'agents.{agent}.timeout': {
    ...{ option: '--agent-timeout <seconds>', kind: 'positive' },
    meaning: 'acp: session timeout in seconds',
  },
  'agents.{agent}.title': {
    ...{ option: '--agent-title <name>', kind: 'text' },
    meaning: 'acp: display name of the agent',
  },
  'agents.{agent}.authMethod': {
    ...{ option: '--agent-auth <id>', kind: 'text' },
    meaning: 'acp: authentication method to select in the agent',
  },
  'generate.refine': {
    ...{ option: '--refine <n>', kind: 'natural', default: 0 },
    meaning:
      'maximum number of times a sample is returned to the model with its own errors, such as a failed import',
  },
  'generate.limits': {
    ...{ option: '--limits <profile>', kind: 'text', default: 'paper' },
    meaning: 'profile of limits for agents: calls, dollars and seconds',
  },
  'repair.embeddingModel': {
    ...{ option: '--embedding-model <provider/name>', kind: 'text' },
    meaning:
      'agentless, retrieval: embedding model from openai, openai-compatible or google (default: no retrieval)',
  },
  'budgets.dollars': {
    ...{ option: '--budget <d>', kind: 'positive' },
    meaning: 'maximum cost of the whole run in dollars; needs --price',
  },
  'budgets.instanceDollars': {
    ...{ option: '--instance-budget <d>', kind: 'positive' },
    meaning: 'maximum cost of each instance in dollars; needs --price',
  },
  'budgets.tokens': {
    ...{ option: '--budget-tokens <n>', kind: 'whole' },
    meaning: 'maximum number of tokens of the whole run, input and output',
  },
  'retries.count': {
    ...{ option: '--retries <n>', kind: 'natural', default: 6 },
    meaning: 'retries after a temporary failure; a 429 does not count',
  },
  'retries.requestTimeout': {
    ...{ option: '--request-timeout <seconds>', kind: 'positive', default: 600 },
    meaning: 'request timeout in seconds',
  },
} as const satisfies Readonly<Record<string, ConfigurationKey>>;

export type OwnPath = keyof typeof configurationKeys;

/** The name of the entry that counts for every model that has no value of its own. */
export const everyModel = '*';
