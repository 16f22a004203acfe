/** The quotes of the triple-quoted string that is open at a place of a source; empty if none is. */
export type OpenQuotes = '' | '"""' | "'''";

/**
 * Finds the strings in one line of Python. A string in single quotes ends with its line, even after
 * a backslash. So a stray quote affects one line only.
 *
 * @param open the string that is open at the start of the line
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

/**
 * Where quotes close a string; -1 if they do not in this line. Characters after a backslash are
 * skipped.
 */
function closing(line: string, from: number, quotes: string): number {
  for (let at = from; at < line.length; at += 1) {
    if (line.charAt(at) === '\\') at += 1;
    else if (line.startsWith(quotes, at)) return at;
  }
  return -1;
}

/**
 * What each line of a source begins in: `docstring`, which moves with the code around it; `data`,
 * in another triple-quoted string; or `code`.
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

/** The open string at the start of each line of a source, and after the last line. */
export function openQuotes(lines: readonly string[], open: OpenQuotes = ''): OpenQuotes[] {
  const all = [open];
  let now = open;
  for (const line of lines) {
    now = readPythonStrings(line, now).open;
    all.push(now);
  }
  return all;
}
