import { parseForeignJson } from '../../files/json';

/** A JSON object of which nothing is known. */
export type JsonFields = Record<string, unknown>;

export const isFields = (value: unknown): value is JsonFields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

export const fieldsOf = (value: unknown): JsonFields => (isFields(value) ? value : {});

export const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

export const stringOrEmpty = (value: unknown): string => (typeof value === 'string' ? value : '');

/** A whole number that is not negative; undefined for anything else. */
export const countOf = (value: unknown): number | undefined =>
  typeof value === 'number' && Number.isFinite(value) && value >= 0 ? Math.floor(value) : undefined;

/** What an object is, in words. */
export const kindOf = (value: JsonFields): string =>
  stringOrEmpty(value['type']) || stringOrEmpty(value['name']) || Object.keys(value).join(' ');

/** The values at paths such as `choices.0.delta`; those that are absent or null are left out. */
export const at = (value: unknown, paths: readonly string[] = []): unknown[] =>
  paths
    .map((path) =>
      path
        .split('.')
        .reduce(
          (of: unknown, name) => (Array.isArray(of) ? of[Number(name)] : fieldsOf(of)[name]),
          value,
        ),
    )
    .filter((each) => each !== undefined && each !== null);

/** The arguments of a call; undefined where they are no JSON. */
export function argumentsIn(text: string): unknown {
  try {
    return parseForeignJson(text === '' ? '{}' : text);
  } catch {
    return undefined;
  }
}
