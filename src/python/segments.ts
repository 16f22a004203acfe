/** Part of a source that can be read by itself: some statements of the module. */
export interface Segment {
  readonly text: string;
  /** UTF-16 units of the source before it. */
  readonly start: number;
  /** Lines of the source before it. */
  readonly line: number;
}

/**
 * What decides where a statement begins: comments, strings, brackets, lines that go on in the next one,
 * and lines at the margin that begin a function or a class. A short string ends with its line at the
 * latest, as it does where its closing quote is still to be written.
 */
const token =
  /#[^\n]*|"""[^"\\]*(?:(?:\\[^]|"(?!""))[^"\\]*)*(?:"""|$)|'''[^'\\]*(?:(?:\\[^]|'(?!''))[^'\\]*)*(?:'''|$)|"[^"\\\n]*(?:\\[^][^"\\\n]*)*"?|'[^'\\\n]*(?:\\[^][^'\\\n]*)*'?|[()[\]{}]|\\\r?\n|\n(?=@|(?:def|class|async[ \t]+def)[ \t])/g;

/**
 * Cuts a source before the functions and classes at its margin, with their decorators, so that what is
 * found in one of the parts can be kept when another changes, and an error in one does not hide the
 * others. Where all parts are free of errors, the statements are those of the whole.
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
  for (const { 0: found, index } of source.matchAll(token)) {
    if (/^[([{]/.test(found)) depth += 1;
    else if (/^[)\]}]/.test(found)) depth = Math.max(0, depth - 1);
    else if (found === '\n') {
      const isDecorator = source[index + 1] === '@';
      if (isDecorator && (depth > 0 || decorated)) continue;
      // No bracket holds these words, so one that is open lacks its end.
      depth = 0;
      if (!decorated) cut(index + 1);
      decorated = isDecorator;
    }
  }
  cut(source.length);
  return segments;
}
