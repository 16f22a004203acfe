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
  for (const api of modelApis.filter(({ providers }) => providers.includes(provider))) {
    const asked = api.paths.find((each) => isPath(each.path, path));
    if (asked !== undefined) return { api, asked };
  }
  return undefined;
}

/** Whether a path ends with one of an API, where any model may stand for the configured one. */
const isPath = (path: string, asked: string): boolean =>
  new RegExp(`${path.replace('{model}', '[^/:]+')}$`).test(asked);

/** An error in the form of a provider, for a request that is of no API. */
export const errorOf = (provider: Provider, message: string): Record<string, unknown> =>
  (modelApis.find(({ providers }) => providers.includes(provider)) ?? chatCompletions).error(
    message,
  );
