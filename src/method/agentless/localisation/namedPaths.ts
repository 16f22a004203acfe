/** The paths that an answer names, and the lines that name none. */
interface NamedPaths {
  /** In the order of the answer, each once. */
  readonly paths: readonly string[];
  /** Lines that look like a path of something that is not there. */
  readonly unknown: readonly string[];
}

/**
 * Reads an answer with a path on each line, in a fenced block or not, with marks of lists or not. A
 * folder may end with `/`.
 */
export function readNamedPaths(text: string, known: ReadonlySet<string>): NamedPaths {
  const paths = new Set<string>();
  const unknown = new Set<string>();
  for (const line of answeredLines(text)) {
    const written = plainLine(line);
    const path = [line.trim(), written, written.replace(/^\.?\//, '')]
      .map((each) => each.replace(/\/+$/, ''))
      .find((each) => known.has(each));
    if (path !== undefined) paths.add(path);
    else if (/^[^\s]*(?:\/|\.py$)[^\s]*$/.test(written) && written !== '') unknown.add(written);
  }
  return { paths: [...paths], unknown: [...unknown] };
}

/**
 * The lines of an answer that count: those of its fenced blocks, or all where it has none. Reasoning
 * that a server leaves in the text does not count.
 */
export function answeredLines(text: string): readonly string[] {
  const lines = text.replace(/<think>[\s\S]*?(?:<\/think>|$)/g, '').split('\n');
  const fenced: string[] = [];
  let isInside = false;
  for (const line of lines) {
    if (/^\s*(?:`{3,}|~{3,})/.test(line)) isInside = !isInside;
    else if (isInside) fenced.push(line);
  }
  return fenced.some((line) => line.trim() !== '') ? fenced : lines;
}

/** A line without marks of a list or of emphasis. */
export const plainLine = (line: string): string =>
  line
    .trim()
    .replace(/^(?:[-*+#]+|\d+[.)])\s+/, '')
    .replace(/^[`*"']+|[`*"',:]+$/g, '')
    .trim();
