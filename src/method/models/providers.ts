export const providers = ['openai', 'openai-compatible', 'anthropic', 'google'] as const;
export type Provider = (typeof providers)[number];

/** Environment variables that may hold the key of a provider; the first that is set counts. */
export const keyVariables: Readonly<Record<Provider, readonly string[]>> = {
  openai: ['OPENAI_API_KEY'],
  // Never that of OpenAI: it would go to whoever serves the model.
  'openai-compatible': ['OPENAI_COMPATIBLE_API_KEY'],
  anthropic: ['ANTHROPIC_API_KEY'],
  google: ['GOOGLE_GENERATIVE_AI_API_KEY', 'GEMINI_API_KEY'],
};

export const allKeyVariables: readonly string[] = Object.values(keyVariables).flat();
