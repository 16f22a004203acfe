/** No data that a person or a program means nests deeper; the JSON of tools has some ten levels. */
const mostLevels = 500;

/**
 * The value of a JSON text that a stranger wrote. Megabytes of opening brackets take a reader
 * seconds, and what looks at the value afterwards overflows the stack.
 *
 * @throws SyntaxError for a text that is no JSON, or nests deeper than anything that is meant
 */
export function parseForeignJson(text: string): unknown {
  if (nestsDeeply(text)) throw new SyntaxError(`JSON nests deeper than ${mostLevels} levels`);
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
