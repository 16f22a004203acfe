/** The quotes of the triple-quoted string that is open at a place of a source; empty where none is. */
export type OpenQuotes = '' | '"""' | "'''";

/**
 * Reads one line of Python as far as its strings go. A string of single quotes ends with its line, also
 * where a backslash would carry it on, so that a lone quote spoils one line only.
 *
 * @param open the string that the line begins in
 * @returns the line without the content of strings and without its comment, and the string that is open
 *   at its end
 */
export function readPythonStrings(
  line: string,
  open: OpenQuotes,
): { code: string; open: OpenQuotes } {
  let code = '';
  let at = 0;
  let within = open;
  for (;;) {
    if (within !== '') {
      const end = closing(line, at, within);
      if (end < 0) return { code, open: within };
      at = end + 3;
      within = '';
    }
    const from = at;
    while (at < line.length && !`'"#`.includes(line.charAt(at))) at += 1;
    code += line.slice(from, at);
    const mark = line.charAt(at);
    if (mark === '' || mark === '#') return { code, open: '' };
    const three = mark === '"' ? '"""' : "'''";
    code += mark;
    if (line.startsWith(three, at)) {
      at += 3;
      within = three;
      continue;
    }
    const end = closing(line, at + 1, mark);
    if (end < 0) return { code, open: '' };
    at = end + 1;
  }
}

/** Where quotes close a string, -1 where they do not in this line. What a backslash precedes is passed over. */
function closing(line: string, from: number, quotes: string): number {
  for (let at = from; at < line.length; at += 1) {
    if (line.charAt(at) === '\\') at += 1;
    else if (line.startsWith(quotes, at)) return at;
  }
  return -1;
}

/**
 * What each line of a source begins in: a docstring, which follows the code around it, another string of
 * triple quotes, which is data, or code.
 */
export function kindsOfLines(lines: readonly string[]): ('code' | 'docstring' | 'data')[] {
  let open: OpenQuotes = '';
  let kind: 'docstring' | 'data' = 'data';
  let above = '';
  return lines.map((line) => {
    const own = open === '' ? 'code' : kind;
    if (open === '') {
      const isAlone = /^\s*[a-zA-Z]{0,2}("""|''')/.test(line);
      kind = isAlone && above.endsWith(':') ? 'docstring' : 'data';
    }
    open = readPythonStrings(line, open).open;
    if (line.trim() !== '') above = line.trimEnd();
    return own;
  });
}

/** The string that each line of a source begins in, and the one behind the last line. */
export function openQuotes(lines: readonly string[], open: OpenQuotes = ''): OpenQuotes[] {
  const all = [open];
  let now = open;
  for (const line of lines) {
    now = readPythonStrings(line, now).open;
    all.push(now);
  }
  return all;
}
