import type { Provider } from '../models/providers';
import { noKey, type EnvironmentTemplate, type Template } from './agentEnvironment';

/** How an agent is started. */
export interface AcpDefinition {
  readonly title: string;
  readonly argv: readonly string[];
  /** The providers whose models it can ask. */
  readonly providers: readonly Provider[];
  /** The authentication method to select. */
  readonly authMethod?: string | undefined;
  /** Variables apart from those that the providers' own clients read. */
  readonly env: EnvironmentTemplate;
  /** Files of its home, by path: settings that it reads nowhere else. A value that is no text becomes JSON. */
  readonly files?: Readonly<Record<string, Template>> | undefined;
}

/** A known agent, whose program `swt-bench agents install` can make. */
export interface AcpPreset extends AcpDefinition {
  readonly name: string;
}

const openAi = ['openai', 'openai-compatible'] as const satisfies readonly Provider[];

/**
 * The agents that are known by name, as the programs of `agentPrograms.ts` want to be started. A test
 * runs each in a container.
 */
export const acpPresets: readonly AcpPreset[] = [
  {
    name: 'claude-code',
    title: 'Claude Code',
    argv: ['claude-agent-acp'],
    providers: ['anthropic'],
    env: {
      ANTHROPIC_MODEL: '{model}',
      ANTHROPIC_SMALL_FAST_MODEL: '{model}',
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
      // A request of its own after each turn.
      CLAUDE_CODE_ENABLE_PROMPT_SUGGESTION: 'false',
      DISABLE_AUTOUPDATER: '1',
      DISABLE_TELEMETRY: '1',
      // The container is the sandbox.
      IS_SANDBOX: '1',
    },
  },
  {
    name: 'codex',
    title: 'Codex',
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
    name: 'gemini',
    title: 'Gemini CLI',
    argv: ['gemini', '--acp'],
    providers: ['google'],
    authMethod: 'gemini-api-key',
    env: { GEMINI_MODEL: '{model}', GEMINI_TELEMETRY_ENABLED: 'false' },
  },
  {
    name: 'opencode',
    title: 'OpenCode',
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
    name: 'openhands',
    title: 'OpenHands',
    argv: ['openhands', 'acp', '--always-approve'],
    providers: ['anthropic', ...openAi],
    env: {
      // Otherwise it asks for prices on the network.
      LITELLM_LOCAL_MODEL_COST_MAP: 'True',
      OPENHANDS_SUPPRESS_BANNER: '1',
      OH_DISABLE_TELEMETRY: '1',
    },
    files: {
      '.openhands/agent_settings.json': {
        llm: {
          model: '{litellm}/{model}',
          base_url: '{base}',
          api_key: noKey,
          usage_id: 'agent',
        },
      },
    },
  },
  {
    name: 'qwen',
    title: 'Qwen Code',
    argv: ['qwen', '--acp', '--auth-type=openai', '--approval-mode=yolo'],
    providers: openAi,
    env: { OPENAI_MODEL: '{model}' },
    files: {
      // Requests beside the conversation, which nobody reads.
      '.qwen/settings.json': {
        general: { enableAutoUpdate: false },
        ui: { enableFollowupSuggestions: false },
        memory: {
          enableManagedAutoMemory: false,
          enableManagedAutoDream: false,
          enableAutoSkill: false,
        },
        privacy: { usageStatisticsEnabled: false },
      },
    },
  },
];
