import { HumanError } from '../../domain/humanError';
import type { Provider } from '../models/providers';

/** Where an agent finds its model inside of the sandbox. */
export interface ModelPlace {
  /** Address of the proxy, without a path and a slash at its end. */
  readonly origin: string;
  readonly provider: Provider;
  /** The provider's name of the model. */
  readonly model: string;
}

/** How a known agent is started. */
export interface AcpPreset {
  readonly name: string;
  readonly title: string;
  /** The package that has its program, for people who make the program's folder. */
  readonly package: string;
  readonly registry: 'npm' | 'PyPI';
  readonly argv: readonly string[];
  /** The providers whose models it can ask. */
  readonly providers: readonly Provider[];
  /** The way of authentication that it has to be told. */
  readonly authMethod?: string;
  readonly env: (place: ModelPlace) => Readonly<Record<string, string>>;
}

/** Stands where an agent wants a key. The proxy puts the real one in. */
const noKey = 'the-proxy-has-the-key';

const openAi = ['openai', 'openai-compatible'] as const satisfies readonly Provider[];
const isOpenAi = (provider: Provider): boolean => openAi.some((each) => each === provider);

/**
 * The agents that are known by name. Sources: the READMEs of `claude-agent-acp` and `codex-acp`, the
 * documentation of Gemini CLI, OpenCode and OpenHands, in November 2026.
 */
export const acpPresets: readonly AcpPreset[] = [
  {
    ...{ name: 'claude-code', title: 'Claude Code', registry: 'npm' },
    package: '@agentclientprotocol/claude-agent-acp',
    argv: ['claude-agent-acp'],
    providers: ['anthropic'],
    env: ({ model }) => ({
      ANTHROPIC_MODEL: model,
      ANTHROPIC_SMALL_FAST_MODEL: model,
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
      DISABLE_AUTOUPDATER: '1',
      DISABLE_TELEMETRY: '1',
      // The container is the sandbox.
      IS_SANDBOX: '1',
    }),
  },
  {
    ...{ name: 'codex', title: 'Codex', registry: 'npm' },
    package: '@agentclientprotocol/codex-acp',
    argv: ['codex-acp'],
    providers: openAi,
    env: ({ origin, model }) => ({
      NO_BROWSER: '1',
      MODEL_PROVIDER: 'proxy',
      INITIAL_AGENT_MODE: 'agent-full-access',
      CODEX_CONFIG: JSON.stringify({
        model,
        model_provider: 'proxy',
        model_providers: {
          proxy: {
            ...{ name: 'proxy', base_url: `${origin}/v1` },
            ...{ env_key: 'OPENAI_API_KEY', wire_api: 'responses' },
          },
        },
        web_search: 'disabled',
      }),
    }),
  },
  {
    ...{ name: 'gemini', title: 'Gemini CLI', registry: 'npm' },
    package: '@google/gemini-cli',
    argv: ['gemini', '--acp'],
    providers: ['google'],
    authMethod: 'gemini-api-key',
    env: ({ model }) => ({ GEMINI_MODEL: model, GEMINI_TELEMETRY_ENABLED: 'false' }),
  },
  {
    ...{ name: 'opencode', title: 'OpenCode', registry: 'npm' },
    package: 'opencode-ai',
    argv: ['opencode', 'acp'],
    providers: ['anthropic', ...openAi],
    env: ({ origin, provider, model }) => ({
      OPENCODE_DISABLE_AUTOUPDATE: '1',
      OPENCODE_CONFIG_CONTENT: JSON.stringify({
        model: `proxy/${model}`,
        small_model: `proxy/${model}`,
        ...{ autoupdate: false, share: 'disabled', permission: 'allow' },
        provider: {
          proxy: {
            npm: isOpenAi(provider) ? '@ai-sdk/openai-compatible' : '@ai-sdk/anthropic',
            name: 'proxy',
            options: { baseURL: `${origin}/v1`, apiKey: noKey },
            models: { [model]: { name: model } },
          },
        },
      }),
    }),
  },
  {
    ...{ name: 'openhands', title: 'OpenHands', registry: 'PyPI' },
    package: 'openhands',
    argv: ['openhands', 'acp', '--always-approve', '--override-with-envs'],
    providers: ['anthropic', ...openAi],
    env: ({ origin, provider, model }) => ({
      LLM_MODEL: `${isOpenAi(provider) ? 'openai' : provider}/${model}`,
      LLM_BASE_URL: isOpenAi(provider) ? `${origin}/v1` : origin,
      LLM_API_KEY: noKey,
      OH_DISABLE_TELEMETRY: '1',
    }),
  },
];

/** The variables by which any agent may find the proxy, as the provider's own clients read them. */
export function usualEnvironment({ origin, provider, model }: ModelPlace): Record<string, string> {
  const of: Readonly<Record<Provider, Readonly<Record<string, string>>>> = {
    openai: { OPENAI_BASE_URL: `${origin}/v1`, OPENAI_API_KEY: noKey },
    'openai-compatible': { OPENAI_BASE_URL: `${origin}/v1`, OPENAI_API_KEY: noKey },
    anthropic: { ANTHROPIC_BASE_URL: origin, ANTHROPIC_API_KEY: noKey },
    google: {
      ...{ GOOGLE_GEMINI_BASE_URL: origin, GEMINI_API_KEY: noKey },
      GOOGLE_GENERATIVE_AI_API_KEY: noKey,
    },
  };
  return {
    ...of[provider],
    AGENT_MODEL: model,
    AGENT_PROVIDER: provider,
    // Names that must not be looked up.
    ...{ NO_PROXY: '127.0.0.1,localhost', no_proxy: '127.0.0.1,localhost' },
  };
}

/**
 * The words of a command line. Quotes hold words together, and a backslash takes a character as it
 * is; no shell expands anything. The package `string-argv` keeps the quotes of `--a="b c"`, joins no
 * quoted parts and drops an open quote, so it is no replacement.
 *
 * @throws HumanError when there is no word, or a quote is open
 */
export function wordsOfCommand(line: string): string[] {
  const words: string[] = [];
  let word: string | undefined;
  let quote = '';
  for (let at = 0; at < line.length; at += 1) {
    const letter = line[at] ?? '';
    if (letter === '\\' && quote !== "'" && at + 1 < line.length) {
      at += 1;
      word = (word ?? '') + (line[at] ?? '');
    } else if (quote !== '' ? letter === quote : letter === "'" || letter === '"') {
      quote = quote === '' ? letter : '';
      word ??= '';
    } else if (quote === '' && /\s/.test(letter)) {
      if (word !== undefined) words.push(word);
      word = undefined;
    } else word = (word ?? '') + letter;
  }
  if (word !== undefined) words.push(word);
  if (quote === '' && words.length > 0) return words;
  throw new HumanError(
    `acp:${line} names no command${quote === '' ? '' : `: the quote ${quote} is not closed`}`,
    'Write it as acp:COMMAND, such as acp:claude-code or "acp:my-agent --acp"',
  );
}
