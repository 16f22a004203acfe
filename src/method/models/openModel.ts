import { HumanError } from '../../domain/work';
import { keyOfEnvironment, keyVariables, redactKeys, useKey } from '../../engine/keysInUse';
import { withoutPassword } from '../../repository/git';
import { answering, type AnsweringOptions, type ModelBy, type ModelWays } from './answering';
import type { ChatModel } from './chatModel';
import { embedding, type EmbeddingBy, type EmbeddingModel } from './embeddingModel';
import { LearnedModel, learnedStore } from './learnedModel';
import { RateLimiter } from './rateLimiter';
import type { RateLimits } from './requestPace';
import { providers, type Provider } from './providers';

export interface ModelRequest extends Omit<
  AnsweringOptions,
  'withoutSecrets' | 'limiter' | 'learned'
> {
  /** `PROVIDER/NAME`; the name may have slashes of its own. */
  readonly name: string;
  /** Address of the provider instead of its default; needed for `openai-compatible`. */
  readonly baseUrl?: string | undefined;
  /** A key that does not come from the environment, such as one of the editor's secret storage. */
  readonly key?: string | undefined;
  readonly env?: NodeJS.ProcessEnv;
  /** Further headers of each request. Their values are treated as secrets. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Limits of all requests; those that the server states are learned. */
  readonly limits?: RateLimits | undefined;
  /** Tokens of prompt and answer together that the model takes; learnt if unknown. */
  readonly window?: number | undefined;
  /** Folder in which what is learnt about the model is stored; nowhere when absent. */
  readonly storage?: string | undefined;
}

/**
 * The model of a provider. The provider's code is loaded here, on demand; no request is sent.
 *
 * @throws HumanError when the provider is unknown, or its key or address is missing
 */
export async function openModel(request: ModelRequest): Promise<ChatModel> {
  const { provider, name, access, options } = accessOf(request, '--base-url');
  const learned = await learnedOf(request);
  return answering(request.name, await load(provider, name, access), {
    ...request,
    ...options,
    learned,
  });
}

const learnedOf = (
  request: Pick<ModelRequest, 'name' | 'baseUrl' | 'storage' | 'window'>,
): Promise<LearnedModel> =>
  LearnedModel.open(
    request.storage === undefined ? undefined : learnedStore(request.storage, request),
    request.window,
  );

/**
 * The embedding model of a provider, as `openModel` opens a language model.
 *
 * @throws HumanError as `openModel`, and when the provider has no embeddings
 */
export async function openEmbeddingModel(
  request: Omit<ModelRequest, 'stream' | 'price'>,
): Promise<EmbeddingModel> {
  const { provider, name, access, options } = accessOf(request, '--embedding-base-url');
  const model = await loadEmbedding(provider, name, access);
  const learned = await learnedOf(request);
  return embedding(request.name, model, { ...request, ...options, learned });
}

/** Where requests of other programs for a model go, and with what. */
export interface ModelUpstream {
  readonly provider: Provider;
  /** The provider's name of the model. */
  readonly model: string;
  /** Address of the provider, with the version and without a slash at its end. */
  readonly address: string;
  /** What each address ends with, such as Azure's `?api-version=…`; empty for most. */
  readonly query: string;
  /** Headers of each request, the key among them. */
  readonly headers: Readonly<Record<string, string>>;
  readonly limiter: RateLimiter;
  /** Removes secrets from a text, such as a key that a server repeats. */
  readonly withoutSecrets: (text: string) => string;
  /** Dollars for tokens; undefined where no price is known. */
  readonly price: ModelRequest['price'];
  /** Seconds for one request as a whole. */
  readonly timeoutSeconds: number;
}

/**
 * How the requests of an agent reach the model of a provider. No request is sent.
 *
 * @throws HumanError as `openModel`
 */
export function openUpstream(request: Omit<ModelRequest, 'stream' | 'retries'>): ModelUpstream {
  const { provider, name, access, options } = accessOf(request, '--base-url');
  const { price, timeoutSeconds } = request;
  const { path, query } = partsOf(access.baseUrl ?? usualAddress[provider]);
  const headers = { ...access.headers, ...keyHeader(provider, access) };
  return {
    ...{ provider, model: name, address: path, query, headers },
    ...options,
    price,
    timeoutSeconds,
  };
}

/** The addresses of the providers' own clients. One of `openai-compatible` is always given. */
const usualAddress: Readonly<Record<Provider, string>> = {
  openai: 'https://api.openai.com/v1',
  'openai-compatible': '',
  anthropic: 'https://api.anthropic.com/v1',
  google: 'https://generativelanguage.googleapis.com/v1beta',
};

/** An address without slashes at its end, and its query with the question mark. */
function partsOf(address: string): { readonly path: string; readonly query: string } {
  const at = address.indexOf('?');
  const path = at < 0 ? address : address.slice(0, at);
  return { path: path.replace(/\/+$/, ''), query: at < 0 ? '' : address.slice(at) };
}

/** Whether an address is of Azure, which takes a key in a header of its own. */
const isAzure = (address: string | undefined): boolean =>
  address !== undefined && /^https?:\/\/[^/]*\.azure\.com\b|[?&]api-version=/i.test(address);

function keyHeader(
  provider: Provider,
  { apiKey: key, baseUrl }: Pick<Access, 'apiKey' | 'baseUrl'>,
): Record<string, string> {
  if (key === '') return {};
  switch (provider) {
    case 'anthropic':
      return { 'x-api-key': key };
    case 'google':
      return { 'x-goog-api-key': key };
    case 'openai':
    case 'openai-compatible':
      return isAzure(baseUrl) ? { 'api-key': key } : { authorization: `Bearer ${key}` };
  }
}

/** How requests reach a provider. */
interface Access {
  readonly baseUrl: string | undefined;
  readonly apiKey: string;
  readonly headers: Readonly<Record<string, string>>;
}

/**
 * The address and key of a model.
 *
 * @param option the option that names an address
 * @throws HumanError when the provider is unknown, or its key or address is missing
 */
function accessOf(
  request: Pick<ModelRequest, 'name' | 'baseUrl' | 'key' | 'env' | 'headers' | 'limits'>,
  option: string,
) {
  const { provider, name } = parseModelName(request.name);
  const { baseUrl } = request;
  if (baseUrl === undefined && provider === 'openai-compatible') {
    throw new HumanError(
      `The model ${request.name} has no base URL`,
      `Add ${option}, such as http://localhost:11434/v1 for Ollama`,
    );
  }
  if (baseUrl !== undefined && !/^https?:\/\/[^\s/]+/.test(baseUrl)) {
    throw new HumanError(
      `${option} ${JSON.stringify(withoutPassword(baseUrl))} is not a valid URL`,
      'Use a URL such as https://host/v1',
    );
  }
  const variables = keyVariables[provider];
  const given = request.key ?? keyOfEnvironment(variables, request.env);
  if (given !== undefined) useKey(given);
  if (given === undefined && provider !== 'openai-compatible') {
    throw new HumanError(
      `There is no API key for ${request.name}`,
      `Set the environment variable ${variables.join(' or ')}`,
    );
  }
  const { headers = {} } = request;
  for (const [header, value] of Object.entries(headers)) useSecretsOf(header, value);
  const withoutSecrets = (text: string): string =>
    (given === undefined || given === ''
      ? redactKeys(text)
      : redactKeys(text).replaceAll(given, '[key]')
    )
      // Servers repeat the beginning and the end of an unknown key.
      .replace(/\b(?:sk|key|AIza)[-_]?[\w-]*\*{3,}[\w*-]*/g, '[key]');
  const access: Access = { baseUrl, apiKey: given ?? '', headers };
  return {
    ...{ provider, name, access },
    options: { limiter: new RateLimiter(request.limits), withoutSecrets },
  };
}

/** @throws HumanError when the text is not `PROVIDER/NAME` */
export function parseModelName(text: string): { provider: Provider; name: string } {
  const slash = text.indexOf('/');
  const provider = providers.find((each) => each === text.slice(0, slash));
  const name = text.slice(slash + 1);
  if (provider === undefined || slash < 0 || name === '' || /\s/.test(name)) {
    throw new HumanError(
      `${JSON.stringify(text.slice(0, 80))} is not a valid model`,
      `Use the form PROVIDER/NAME with one of the providers ${providers.join(', ')}`,
    );
  }
  return { provider, name };
}

/** Headers that name formats and programs, never a secret. */
const plainHeaders =
  /^(?:accept|content-type|user-agent|http-referer|x-title|.*-(?:beta|version))$/i;
/** Shorter words are too frequent to be removed from every text. */
const shortestSecret = 8;

/** Registers the words of a header's value as keys, such as that after `Bearer`. */
function useSecretsOf(header: string, value: string): void {
  if (plainHeaders.test(header)) return;
  for (const word of value.split(/\s+/)) if (word.length >= shortestSecret) useKey(word);
}

/** The settings of a provider of the `ai` package. */
const atOf = ({ baseUrl, headers }: Access) => ({
  headers,
  ...(baseUrl !== undefined && { baseURL: partsOf(baseUrl).path }),
});

/** `fetch` for an address with a query, which each path goes before. */
function fetchAt({ baseUrl }: Access, fetch: typeof globalThis.fetch): typeof globalThis.fetch {
  const { query } = partsOf(baseUrl ?? '');
  if (query === '') return fetch;
  return (address, init) => {
    const { path, query: own } = partsOf(
      address instanceof Request ? address.url : String(address),
    );
    return fetch(`${path}${query}${own.replace('?', '&')}`, init);
  };
}

async function load(provider: Provider, name: string, access: Access): Promise<ModelWays> {
  const { apiKey } = access;
  const at = atOf(access);
  switch (provider) {
    case 'anthropic': {
      const { createAnthropic } = await import('@ai-sdk/anthropic');
      return {
        default: (fetch) => createAnthropic({ apiKey, ...at, fetch: fetchAt(access, fetch) })(name),
      };
    }
    case 'google': {
      const { createGoogleGenerativeAI } = await import('@ai-sdk/google');
      return {
        default: (fetch) =>
          createGoogleGenerativeAI({ apiKey, ...at, fetch: fetchAt(access, fetch) })(name),
      };
    }
    case 'openai':
    case 'openai-compatible': {
      const { createOpenAICompatible } = await import('@ai-sdk/openai-compatible');
      return {
        default: (fetch) =>
          createOpenAICompatible({
            ...openAiAt(provider, access, fetch),
            includeUsage: true,
            supportsStructuredOutputs: true,
            ...(provider === 'openai' && { transformRequestBody: withNewLimit }),
          })(name),
        responses: () => loadResponses(provider, name, access),
      };
    }
  }
}

/** https://platform.openai.com/docs/api-reference/responses */
async function loadResponses(
  provider: 'openai' | 'openai-compatible',
  name: string,
  access: Access,
): Promise<ModelBy> {
  const { createOpenAI } = await import('@ai-sdk/openai');
  return (fetch) => {
    const { headers, baseURL, fetch: at } = openAiAt(provider, access, fetch);
    return createOpenAI({ apiKey: access.apiKey, headers, baseURL, fetch: at }).responses(name);
  };
}

const openAiAt = (
  provider: 'openai' | 'openai-compatible',
  access: Access,
  fetch: typeof globalThis.fetch,
) => ({
  // Options under this name go into bodies as they are.
  name: 'openai-compatible',
  baseURL: usualAddress.openai,
  ...atOf(access),
  fetch: fetchAt(access, fetch),
  headers: { ...access.headers, ...keyHeader(provider, access) },
});

/** @throws HumanError when the provider has no embeddings */
async function loadEmbedding(
  provider: Provider,
  name: string,
  access: Access,
): Promise<EmbeddingBy> {
  switch (provider) {
    case 'anthropic':
      throw new HumanError(
        'anthropic has no embedding models',
        'Specify a model of another provider with --embedding-model, such as openai/text-embedding-3-small',
      );
    case 'google': {
      const { createGoogleGenerativeAI } = await import('@ai-sdk/google');
      const { apiKey } = access;
      return (fetch) =>
        createGoogleGenerativeAI({
          apiKey,
          ...atOf(access),
          fetch: fetchAt(access, fetch),
        }).embeddingModel(name);
    }
    case 'openai':
    case 'openai-compatible': {
      const { createOpenAICompatible } = await import('@ai-sdk/openai-compatible');
      return (fetch) =>
        createOpenAICompatible(openAiAt(provider, access, fetch)).embeddingModel(name);
    }
  }
}

/**
 * OpenAI has deprecated `max_tokens` (https://platform.openai.com/docs/api-reference/chat/create).
 * Other servers may know that name alone, so they get it.
 */
const withNewLimit = ({ max_tokens: limit, ...rest }: Record<string, unknown>) => ({
  ...rest,
  ...(limit !== undefined && { max_completion_tokens: limit }),
});
