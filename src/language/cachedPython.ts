import type { PythonParser } from '../python/parser';

/** Sources are kept until they are this many characters together: some fifty large files. */
const mostCharacters = 16_000_000;

/** What a function found in sources, the one asked for least recently first. */
interface Found {
  readonly results: Map<string, unknown>;
  characters: number;
}

/**
 * A parser that remembers what was found in a source, by its text and by the function that looks. Such a
 * function has to be one and the same at every call, and to give nothing that is changed afterwards.
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
  // Behind all others, so that the one used least recently is forgotten first.
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
