export const providers = ['openai', 'openai-compatible', 'anthropic', 'google'] as const;
export type Provider = (typeof providers)[number];

/** The providers that have embedding models. */
export const embeddingProviders = [
  'openai',
  'openai-compatible',
  'google',
] as const satisfies readonly Provider[];

/** Environment variables that may have the key of a provider; the first one that is set counts. */
export const keyVariables: Readonly<Record<Provider, readonly string[]>> = {
  openai: ['OPENAI_API_KEY'],
  // Never the key of OpenAI: it would go to the company that serves the model.
  'openai-compatible': ['OPENAI_COMPATIBLE_API_KEY'],
  anthropic: ['ANTHROPIC_API_KEY'],
  google: ['GOOGLE_GENERATIVE_AI_API_KEY', 'GEMINI_API_KEY'],
};

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

export const allKeyVariables: readonly string[] = Object.values(keyVariables).flat();
