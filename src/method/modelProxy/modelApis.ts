import type { Provider } from '../models/providers';
import { anthropicMessages } from './anthropicMessages';
import { chatCompletions } from './chatCompletions';
import { googleContent } from './googleContent';
import type { AskedOfApi, ModelApi } from './modelApi';
import { responses } from './responses';

/** The ways in which agents ask models. */
const modelApis: readonly ModelApi[] = [
  anthropicMessages,
  chatCompletions,
  responses,
  googleContent,
];

/** The API that a path of a provider is of, with what it asks; undefined for any other path. */
export function apiAsked(
  provider: Provider,
  path: string,
): { readonly api: ModelApi; readonly asked: AskedOfApi } | undefined {
  for (const api of modelApis) {
    const asked = api.providers.includes(provider) ? api.asked(path) : undefined;
    if (asked !== undefined) return { api, asked };
  }
  return undefined;
}

/** An error in the form of a provider, for a request that is of no API. */
export const errorOf = (provider: Provider, message: string): Record<string, unknown> =>
  (modelApis.find(({ providers }) => providers.includes(provider)) ?? chatCompletions).error(
    message,
  );
