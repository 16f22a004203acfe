/** Part of a source that can be parsed by itself: some statements of the module. */
export interface Segment {
  readonly text: string;
  /** UTF-16 units of the source before it. */
  readonly start: number;
  /** Lines of the source before it. */
  readonly line: number;
}

/** A line without indentation that begins a function or a class. */
const opening = /@|(?:def|class|async[ \t]+def)[ \t]/y;

/**
 * Cuts a source before its top-level functions and classes, with their decorators. So the result
 * for one part stays valid when another changes, and an error in one does not hide the others. If
 * all parts are free of errors, their statements are those of the whole.
 */
export function segmentsOf(source: string): Segment[] {
  const segments: Segment[] = [];
  let [start, line, depth] = [0, 0, 0];
  let decorated = source.startsWith('@');
  const cut = (at: number): void => {
    const text = source.slice(start, at);
    segments.push({ text, start, line });
    for (let end = text.indexOf('\n'); end >= 0; end = text.indexOf('\n', end + 1)) line += 1;
    start = at;
  };
  // A loop over letters, since this runs for whole files at every key press. A pattern takes ten
  // times as long.
  for (let at = 0; at < source.length; at += 1) {
    switch (source.charCodeAt(at)) {
      case 0x23: // #
        at = endOfLine(source, at) - 1;
        break;
      case 0x22: // "
      case 0x27: // '
        at = endOfString(source, at) - 1;
        break;
      case 0x28: // (
      case 0x5b: // [
      case 0x7b: // {
        depth += 1;
        break;
      case 0x29: // )
      case 0x5d: // ]
      case 0x7d: // }
        depth = Math.max(0, depth - 1);
        break;
      case 0x5c: // \, before the end of a line: the statement continues
        if (source.startsWith('\n', at + 1)) at += 1;
        else if (source.startsWith('\r\n', at + 1)) at += 2;
        break;
      case 0x0a: {
        if (!opensDefinition(source, at + 1)) break;
        const isDecorator = source[at + 1] === '@';
        if (isDecorator && (depth > 0 || decorated)) break;
        // No bracket contains these words, so an open one lacks its end.
        depth = 0;
        if (!decorated) cut(at + 1);
        decorated = isDecorator;
      }
    }
  }
  cut(source.length);
  return segments;
}

/** The first letter of most lines rules them out. */
function opensDefinition(source: string, at: number): boolean {
  const first = source.charCodeAt(at);
  if (first !== 0x40 && first !== 0x64 && first !== 0x63 && first !== 0x61) return false; // @ d c a
  opening.lastIndex = at;
  return opening.test(source);
}

function endOfLine(source: string, from: number): number {
  const end = source.indexOf('\n', from);
  return end < 0 ? source.length : end;
}

/**
 * Offset at which a string ends. A string in single quotes ends with its line at the latest, as
 * when its closing quote is not yet typed.
 */
function endOfString(source: string, from: number): number {
  const quote = source.charCodeAt(from);
  const isQuote = (at: number): boolean => source.charCodeAt(at) === quote;
  const isLong = isQuote(from + 1) && isQuote(from + 2);
  const width = isLong ? 3 : 1;
  for (let at = from + width; at < source.length; at += 1) {
    const letter = source.charCodeAt(at);
    if (letter === 0x5c) at += 1;
    else if (letter === 0x0a && !isLong) return at;
    else if (letter === quote && (!isLong || (isQuote(at + 1) && isQuote(at + 2)))) {
      return at + width;
    }
  }
  return source.length;
}
