import { keyVariables, type Provider } from '../../engine/keysInUse';

export type { Provider };
export const providers = Object.keys(keyVariables) as Provider[];

/** The providers that have embedding models. */
export const embeddingProviders = [
  'openai',
  'openai-compatible',
  'google',
] as const satisfies readonly Provider[];

/** Environment variables that may have the address of a provider, as its own clients read them. */
export const addressVariables: Readonly<Partial<Record<Provider, string>>> = {
  openai: 'OPENAI_BASE_URL',
  anthropic: 'ANTHROPIC_BASE_URL',
};

/** The words of providers for how much a model reasons; undefined where a server may have any. */
export const reasoningEfforts: Readonly<Record<Provider, readonly string[] | undefined>> = {
  openai: ['none', 'minimal', 'low', 'medium', 'high', 'xhigh'],
  'openai-compatible': undefined,
  anthropic: ['low', 'medium', 'high', 'xhigh', 'max'],
  google: ['minimal', 'low', 'medium', 'high'],
};
