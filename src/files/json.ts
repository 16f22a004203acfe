import { writeWholeFile } from './wholeFile';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { gunzip, gzip } from 'node:zlib';

/** No data that the user or a program means nests deeper; the JSON of tools has some ten levels. */
const mostLevels = 500;

/**
 * The value of a JSON text that a stranger wrote. Megabytes of opening brackets take a reader
 * seconds, and what looks at the value afterwards overflows the stack.
 *
 * @throws SyntaxError for a text that is no JSON, or nests deeper than anything that is meant
 */
export function parseForeignJson(text: string): unknown {
  if (nestsDeeply(text))
    throw new SyntaxError(`JSON is nested more than ${mostLevels} levels deep`);
  return JSON.parse(text) as unknown;
}

/** Whether brackets nest too deeply. Text inside strings is passed over. */
export function nestsDeeply(text: string): boolean {
  let levels = 0;
  for (let at = 0; at < text.length; at += 1) {
    const sign = text.charCodeAt(at);
    if (sign === 0x22) at = endOfString(text, at);
    else if (sign === 0x5b || sign === 0x7b) {
      levels += 1;
      if (levels > mostLevels) return true;
    } else if (sign === 0x5d || sign === 0x7d) levels -= 1;
  }
  return false;
}

/** The levels of a JSON text that comes in parts, as {@link nestsDeeply} counts them. */
export class Nesting {
  private levels = 0;
  private inString = false;
  private isEscaped = false;

  /** @returns whether the text nests too deeply */
  add(part: Uint8Array): boolean {
    for (const byte of part) {
      if (this.isEscaped) this.isEscaped = false;
      else if (byte === 0x22) this.inString = !this.inString;
      else if (this.inString) this.isEscaped = byte === 0x5c;
      else if (byte === 0x5b || byte === 0x7b) this.levels += 1;
      else if (byte === 0x5d || byte === 0x7d) this.levels -= 1;
      if (this.levels > mostLevels) return true;
    }
    return false;
  }
}

/** The place of the quote that ends the string that begins at a place; the end if there is none. */
function endOfString(text: string, start: number): number {
  for (let at = start + 1; ; at += 1) {
    at = text.indexOf('"', at);
    if (at < 0) return text.length;
    let slashes = 0;
    while (text.charCodeAt(at - 1 - slashes) === 0x5c) slashes += 1;
    if (slashes % 2 === 0) return at;
  }
}

/**
 * Reads what {@link keepPackedJson} has written; undefined where there is nothing, or nothing that can be
 * read.
 *
 * @param parse checks the data; throws for other data
 */
export async function readPackedJson<T>(
  path: string,
  parse: (data: unknown) => T,
): Promise<T | undefined> {
  try {
    const text = (await promisify(gunzip)(await readFile(path))).toString('utf8');
    return parse(JSON.parse(text));
  } catch {
    return undefined;
  }
}

/** Keeps data that can be made again as gzipped JSON; so a failure does not stop the work. */
export async function keepPackedJson(path: string, data: unknown): Promise<void> {
  await promisify(gzip)(JSON.stringify(data), { level: 1 })
    .then((packed) => writeWholeFile(path, packed))
    .catch(() => undefined);
}

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
    at = quote < 0 ? start : Math.min(text.length, endOfString(text, quote) + 1);
    parts.push(text.slice(start, at));
  }
  return parts.join('');
}
