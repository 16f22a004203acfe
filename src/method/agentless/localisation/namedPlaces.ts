import { answeredLines, plainLine } from './namedPaths';

/** A place in a file that an answer names. */
export type NamedPlace = { readonly path: string } & (
  | { readonly kind: 'class' | 'function' | 'variable'; readonly name: string }
  | { readonly kind: 'lines'; readonly first: number; readonly last: number }
);

/** The places that an answer names, and what it names that is not there. */
interface NamedPlaces {
  readonly places: readonly NamedPlace[];
  /** Paths of files that were not shown. */
  readonly unknown: readonly string[];
}

const kinds = {
  class: 'class',
  function: 'function',
  method: 'function',
  variable: 'variable',
} as const;

/**
 * Reads an answer with the path of a file on a line of its own, and below it lines such as `class:
 * Money`, `function: Money.allocate`, `variable: ZERO`, `line: 42` and `lines: 42-48`. Lines that
 * are none of these are ignored, and so is everything below a file that was not shown.
 */
export function readNamedPlaces(text: string, shown: readonly string[]): NamedPlaces {
  const places: NamedPlace[] = [];
  const unknown = new Set<string>();
  let path: string | undefined;
  for (const line of answeredLines(text)) {
    const plain = plainLine(line);
    const [, word = '', value = ''] =
      /^(class|function|method|variable|lines?)s?\s*:\s*(.+)$/i.exec(plain) ?? [];
    if (word === '') {
      const named = plain.replace(/^\.?\//, '');
      if (shown.includes(named)) path = named;
      else if (/^\S+\.py$/.test(named)) {
        unknown.add(named);
        path = undefined;
      }
      continue;
    }
    if (path !== undefined) places.push(...placesOn(path, word.toLowerCase(), value));
  }
  return { places, unknown: [...unknown] };
}

function placesOn(path: string, word: string, value: string): NamedPlace[] {
  const parts = value.split(',').map((part) => plainLine(part));
  if (word === 'line' || word === 'lines') {
    return parts.flatMap((part) => {
      const [, from, to = from] = /^(\d+)(?:\s*(?:-|–|to)\s*(\d+))?$/.exec(part) ?? [];
      const [first, last] = [Number(from), Number(to)];
      return from === undefined || first < 1 || last < first
        ? []
        : [{ path, kind: 'lines', first, last }];
    });
  }
  const kind = kinds[word as keyof typeof kinds];
  // A header such as `allocate(self, weights)` has commas of its own.
  const names = value.includes('(') ? [plainLine(value)] : parts;
  return names.flatMap((written) => {
    const name = written
      .replace(/\(.*$/s, '')
      .replace(/^(?:async\s+)?def\s+|^class\s+/, '')
      .trim();
    return name === '' ? [] : [{ path, kind, name }];
  });
}
