import { z } from 'zod';
import { everyModel } from '../../configuration/keys';
import type { ConfigurationValues } from '../../configuration/schema';
import { HumanError } from '../../domain/work';
import {
  type Price,
  type EmbeddingUse,
  parseModelName,
  embeddingProviders,
  type Provider,
} from '../../method/models';

/** A model of the setting `swt-bench.models`. */
export interface ConfiguredModel {
  /** `PROVIDER/NAME`. */
  readonly name: string;
  readonly provider: Provider;
  /** Address of the server, without a slash at the end; undefined for the provider's default. */
  readonly baseUrl: string | undefined;
  readonly price: Price | undefined;
  /** Tokens of prompt and answer together that the model takes; undefined if unknown. */
  readonly window: number | undefined;
}

const dollars = z.number().min(0).max(1e6);

const entry = z.strictObject({
  model: z.string(),
  baseUrl: z.string().optional(),
  price: z
    .strictObject({
      ...{ input: dollars, output: dollars },
      ...{ cached: dollars.optional(), cacheWrite: dollars.optional() },
    })
    .optional(),
  window: z.int().positive().optional(),
});

/**
 * The models that a setting names. A faulty entry does not affect the others.
 *
 * @returns the models, and the fault of each faulty entry
 */
export function readModelSettings(value: unknown): {
  readonly models: readonly ConfiguredModel[];
  readonly problems: readonly string[];
} {
  if (value === undefined || value === null) return { models: [], problems: [] };
  if (!Array.isArray(value)) return { models: [], problems: ['it is not a list'] };
  const models: ConfiguredModel[] = [];
  const problems: string[] = [];
  for (const [index, each] of value.entries()) {
    const read = readModel(each);
    if (typeof read === 'string') problems.push(`entry ${index + 1}: ${read}`);
    else if (models.some(({ name }) => name === read.name)) {
      problems.push(`entry ${index + 1}: ${read.name} is named twice`);
    } else models.push(read);
  }
  return { models, problems };
}

type FileValues = Pick<ConfigurationValues, 'models' | 'prices' | 'repair'>;

/**
 * The value of the setting with the models of the configuration file: one that both name has from
 * the file what its entry lacks.
 */
export function withModelsOfFile(value: unknown, file: FileValues): unknown {
  const { models = {}, prices = {}, repair } = file;
  if (value !== undefined && value !== null && !Array.isArray(value)) return value;
  const given: readonly unknown[] = value ?? [];
  const nameOf = (each: unknown): unknown =>
    typeof each === 'object' && each !== null && 'model' in each ? each.model : undefined;
  const ofFile = (name: string) => {
    const { baseUrl, window } = { ...models[everyModel], ...models[name] };
    const price = prices[name];
    return {
      model: name,
      ...(baseUrl !== undefined && { baseUrl }),
      ...(window !== undefined && { window }),
      ...(price !== undefined && { price }),
    };
  };
  const named = new Set(given.map(nameOf));
  const others = [...new Set([...Object.keys(models), ...Object.keys(prices)])].filter(
    (name) => name !== everyModel && name !== repair?.embeddingModel && !named.has(name),
  );
  return [
    ...given.map((each) => {
      const name = nameOf(each);
      return typeof name === 'string' ? { ...ofFile(name), ...(each as object) } : each;
    }),
    ...others.map(ofFile),
  ];
}

/** @returns the model, or the fault of the entry */
function readModel(value: unknown): ConfiguredModel | string {
  const parsed = entry.safeParse(value);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    if (issue?.code === 'unrecognized_keys') {
      return issue.keys.some((key) => /key|token|secret/i.test(key))
        ? 'a key has no place in settings; "SWT-Bench: Manage API Keys…" keeps it safe'
        : `${issue.keys.join(', ')} is not known`;
    }
    return `${issue?.path.join('.') ?? ''}: ${issue?.message ?? 'not an entry'}`;
  }
  const { model: name, baseUrl, price, window } = parsed.data;
  const provider = providerOf(name);
  if (typeof provider !== 'string') return provider.why;
  if (baseUrl === undefined) {
    return provider === 'openai-compatible'
      ? `${name} needs a baseUrl, such as http://localhost:11434/v1`
      : { name, provider, baseUrl: undefined, price, window };
  }
  const address = addressOf(baseUrl);
  return 'why' in address ? address.why : { name, provider, baseUrl: address.url, price, window };
}

/** The provider of a model, or why its name is not valid. */
function providerOf(name: string): Provider | { readonly why: string } {
  try {
    return parseModelName(name).provider;
  } catch (error) {
    if (error instanceof HumanError) return { why: error.message };
    throw error;
  }
}

/**
 * The embedding model of three settings, which mean what the options of `repair` mean.
 *
 * @param values of the settings; an empty text and a price of 0 stand for none
 * @returns undefined where there is none, or why the settings name none
 */
export function readEmbeddingSettings(values: {
  readonly model: unknown;
  readonly baseUrl: unknown;
  readonly price: unknown;
}): EmbeddingUse | { readonly why: string } | undefined {
  const [name, baseUrl] = [textIn(values.model), textIn(values.baseUrl)];
  if (name === '') return undefined;
  const provider = providerOf(name);
  if (typeof provider !== 'string') return provider;
  if (!embeddingProviders.some((each) => each === provider)) {
    return { why: `${provider} has no embedding models` };
  }
  const { price: given } = values;
  const price = typeof given === 'number' && given > 0 ? given : undefined;
  if (baseUrl === '') return { name, baseUrl: undefined, price };
  const address = addressOf(baseUrl);
  return 'why' in address ? address : { name, baseUrl: address.url, price };
}

const textIn = (value: unknown): string => (typeof value === 'string' ? value.trim() : '');

function addressOf(text: string): { readonly url: string } | { readonly why: string } {
  let url: URL;
  try {
    url = new URL(text);
  } catch {
    return { why: 'baseUrl is not an address; write it as https://host/v1' };
  }
  if (url.protocol !== 'https:' && url.protocol !== 'http:') {
    return { why: 'baseUrl does not begin with https:// or http://' };
  }
  // Some servers accept a key there.
  if (url.username !== '' || url.password !== '' || url.search !== '' || url.hash !== '') {
    return { why: 'baseUrl holds a user, a password or a query; a key has no place in settings' };
  }
  return { url: url.href.replace(/\/+$/, '') };
}

/** A model as far as its key depends on it. */
export type KeyHolder = Pick<ConfiguredModel, 'provider' | 'baseUrl'>;

/**
 * Id under which the key of a model is stored. Models of one provider at one address share it, and
 * a key never goes to another address.
 */
export const keyIdOf = ({ provider, baseUrl }: KeyHolder): string =>
  baseUrl === undefined ? provider : `${provider} ${baseUrl}`;
