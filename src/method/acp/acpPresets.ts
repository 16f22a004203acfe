import type { Provider } from '../models/providers';
import { noKey, type EnvironmentTemplate } from './agentEnvironment';

/** How an agent is started. */
export interface AcpDefinition {
  readonly title: string;
  readonly argv: readonly string[];
  /** The providers whose models it can ask. */
  readonly providers: readonly Provider[];
  /** The way of authentication that it has to be told. */
  readonly authMethod?: string | undefined;
  /** Variables besides those that the providers' own clients read. */
  readonly env: EnvironmentTemplate;
}

/** A known agent. */
export interface AcpPreset extends AcpDefinition {
  readonly name: string;
  /** The package that has its program, for people who make the program's folder. */
  readonly package: string;
  readonly registry: 'npm' | 'PyPI';
}

const openAi = ['openai', 'openai-compatible'] as const satisfies readonly Provider[];

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
    env: {
      ANTHROPIC_MODEL: '{model}',
      ANTHROPIC_SMALL_FAST_MODEL: '{model}',
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
      DISABLE_AUTOUPDATER: '1',
      DISABLE_TELEMETRY: '1',
      // The container is the sandbox.
      IS_SANDBOX: '1',
    },
  },
  {
    ...{ name: 'codex', title: 'Codex', registry: 'npm' },
    package: '@agentclientprotocol/codex-acp',
    argv: ['codex-acp'],
    providers: openAi,
    env: {
      NO_BROWSER: '1',
      MODEL_PROVIDER: 'proxy',
      INITIAL_AGENT_MODE: 'agent-full-access',
      CODEX_CONFIG: {
        model: '{model}',
        model_provider: 'proxy',
        model_providers: {
          proxy: {
            ...{ name: 'proxy', base_url: '{origin}/v1' },
            ...{ env_key: 'OPENAI_API_KEY', wire_api: 'responses' },
          },
        },
        web_search: 'disabled',
      },
    },
  },
  {
    ...{ name: 'gemini', title: 'Gemini CLI', registry: 'npm' },
    package: '@google/gemini-cli',
    argv: ['gemini', '--acp'],
    providers: ['google'],
    authMethod: 'gemini-api-key',
    env: { GEMINI_MODEL: '{model}', GEMINI_TELEMETRY_ENABLED: 'false' },
  },
  {
    ...{ name: 'opencode', title: 'OpenCode', registry: 'npm' },
    package: 'opencode-ai',
    argv: ['opencode', 'acp'],
    providers: ['anthropic', ...openAi],
    env: {
      OPENCODE_DISABLE_AUTOUPDATE: '1',
      OPENCODE_CONFIG_CONTENT: {
        model: 'proxy/{model}',
        small_model: 'proxy/{model}',
        ...{ autoupdate: false, share: 'disabled', permission: 'allow' },
        provider: {
          proxy: {
            ...{ npm: '{sdk}', name: 'proxy' },
            options: { baseURL: '{origin}/v1', apiKey: noKey },
            models: { '{model}': { name: '{model}' } },
          },
        },
      },
    },
  },
  {
    ...{ name: 'openhands', title: 'OpenHands', registry: 'PyPI' },
    package: 'openhands',
    argv: ['openhands', 'acp', '--always-approve', '--override-with-envs'],
    providers: ['anthropic', ...openAi],
    env: {
      LLM_MODEL: '{litellm}/{model}',
      LLM_BASE_URL: '{base}',
      LLM_API_KEY: noKey,
      OH_DISABLE_TELEMETRY: '1',
    },
  },
];
