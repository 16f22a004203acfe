import type { Provider } from '../models/providers';

/** Where an agent finds its model inside of the sandbox. */
interface ModelPlace {
  /** Address of the proxy, without a path and a slash at its end. */
  readonly origin: string;
  readonly provider: Provider;
  /** The provider's name of the model. */
  readonly model: string;
}

/** A value of JSON whose texts may have placeholders. */
export type Template =
  | string
  | number
  | boolean
  | null
  | readonly Template[]
  | { readonly [name: string]: Template };

/**
 * Variables for an agent's program. Their texts may have the placeholders of {@link placeholders}. A
 * value that is no text becomes JSON.
 */
export type EnvironmentTemplate = Readonly<Record<string, Template>>;

/** What a variable may be called: a shell sets it. */
export const variableName = /^[A-Za-z_][A-Za-z0-9_]*$/;

/** Stands where an agent wants a key. The proxy puts the real one in. */
export const noKey = 'the-proxy-has-the-key';

/** What stands for a placeholder such as `{model}`. */
export const placeholders = {
  /** Address of the proxy. */
  origin: ({ origin }) => origin,
  /** That address as the provider's own clients take it: with `/v1` for OpenAI's. */
  base: ({ origin, provider }) => (isOpenAi(provider) ? `${origin}/v1` : origin),
  /** The provider's name of the model. */
  model: ({ model }) => model,
  provider: ({ provider }) => provider,
  /** The provider's package of the AI SDK (https://ai-sdk.dev/providers). */
  sdk: ({ provider }) => `@ai-sdk/${provider === 'openai' ? 'openai-compatible' : provider}`,
  /** The provider in names of LiteLLM (https://docs.litellm.ai/docs/providers). */
  litellm: ({ provider }) =>
    isOpenAi(provider) ? 'openai' : provider === 'google' ? 'gemini' : provider,
} as const satisfies Readonly<Record<string, (place: ModelPlace) => string>>;

const isOpenAi = (provider: Provider): boolean =>
  provider === 'openai' || provider === 'openai-compatible';

/** The variables, or files, of a template; other braces stay as they are. */
export const textsAt = (template: EnvironmentTemplate, place: ModelPlace): Record<string, string> =>
  Object.fromEntries(
    Object.entries(template).map(([name, value]) => {
      const filled = filledIn(value, place);
      return [name, typeof filled === 'string' ? filled : JSON.stringify(filled)];
    }),
  );

function filledIn(value: Template, place: ModelPlace): Template {
  if (typeof value === 'string') return textAt(value, place);
  if (typeof value !== 'object' || value === null) return value;
  if (isList(value)) return value.map((each) => filledIn(each, place));
  return Object.fromEntries(
    Object.entries(value).map(([name, each]) => [textAt(name, place), filledIn(each, place)]),
  );
}

const isList = (value: object): value is readonly Template[] => Array.isArray(value);

/** A text with what stands for its placeholders. */
export const textAt = (text: string, place: ModelPlace): string =>
  text.replace(/\{(\w+)\}/g, (whole, name: string) =>
    name in placeholders ? placeholders[name as keyof typeof placeholders](place) : whole,
  );

/** The variables by which any agent may find the proxy, as the provider's own clients read them. */
export function defaultEnvironment(place: ModelPlace): Record<string, string> {
  const { origin, provider, model } = place;
  const base = placeholders.base(place);
  const of: Readonly<Record<Provider, Readonly<Record<string, string>>>> = {
    openai: { OPENAI_BASE_URL: base, OPENAI_API_KEY: noKey },
    'openai-compatible': { OPENAI_BASE_URL: base, OPENAI_API_KEY: noKey },
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
