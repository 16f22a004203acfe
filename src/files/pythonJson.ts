import { parseForeignJson } from './foreignJson';

/**
 * Parses JSON as Python's `json` and pandas write it. These write `NaN` and `Infinity` for numbers
 * that JSON lacks; each is read as null, since it stands for a missing value.
 *
 * @throws SyntaxError
 */
export function parsePythonJson(text: string): unknown {
  try {
    return parseForeignJson(text);
  } catch (error) {
    if (!/NaN|Infinity/.test(text)) throw error;
    return parseForeignJson(withNull(text));
  }
}

/** The text with null for each word of Python, which only counts outside of strings. */
function withNull(text: string): string {
  const parts: string[] = [];
  for (let at = 0; at < text.length;) {
    const quote = text.indexOf('"', at);
    const start = quote < 0 ? text.length : quote;
    parts.push(text.slice(at, start).replace(/(?<!\w)(?:NaN|-?Infinity)(?!\w)/g, 'null'));
    at = quote < 0 ? start : endOfString(text, quote);
    parts.push(text.slice(start, at));
  }
  return parts.join('');
}

/** Index after the string that begins at a quote. */
function endOfString(text: string, quote: number): number {
  for (let end = text.indexOf('"', quote + 1); end >= 0; end = text.indexOf('"', end + 1)) {
    let first = end;
    while (text[first - 1] === '\\') first -= 1;
    if ((end - first) % 2 === 0) return end + 1;
  }
  return text.length;
}
