import type { PythonParser } from '../../python/parser';

/** Most characters of all cached sources together: some fifty large files. */
const mostCharacters = 16_000_000;

/** The results of one function by source, the least recently used first. */
interface Found {
  readonly results: Map<string, unknown>;
  characters: number;
}

/**
 * A parser that caches results by source and by function. A function must be the same object at
 * every call, and callers must not modify its result.
 */
export function cachedPython(python: PythonParser): PythonParser {
  const kept = new WeakMap<object, Found>();
  const keptSound = new WeakMap<object, Found>();
  return {
    ...python,
    parse: (source, use) =>
      remembered(kept, source, use, (text, found) => python.parse(text, found)),
    parseSound: (source, use) =>
      remembered(keptSound, source, use, (text, found) => python.parseSound(text, found)),
  };
}

function remembered<T, Use extends object>(
  kept: WeakMap<object, Found>,
  source: string,
  use: Use,
  parse: (source: string, use: Use) => T,
): T {
  let found = kept.get(use);
  if (found === undefined) kept.set(use, (found = { results: new Map(), characters: 0 }));
  const { results } = found;
  const known = results.has(source);
  const result = known ? (results.get(source) as T) : parse(source, use);
  // Insert it last, so that the least recently used one is dropped first.
  if (known) results.delete(source);
  else found.characters += source.length;
  results.set(source, result);
  for (const oldest of results.keys()) {
    if (found.characters <= mostCharacters) break;
    results.delete(oldest);
    found.characters -= oldest.length;
  }
  return result;
}
