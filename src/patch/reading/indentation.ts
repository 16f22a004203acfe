/** Python code from a patch, ready to be inserted at another depth. */
export interface IndentedCode {
  readonly lines: readonly string[];
  /** The indentation of the code as a whole. */
  readonly indent: string;
  /** Indexes of lines that begin inside a string: text, not code. */
  readonly inString: ReadonlySet<number>;
  /** Those in docstrings, which move with the code. */
  readonly inDocstring: ReadonlySet<number>;
}

/** The blanks and tabs that a line begins with. */
export function indentationOf(line: string): string {
  return /^[ \t]*/.exec(line)?.[0] ?? '';
}

/**
 * The indentation unit of a source: a tab, or its narrowest run of blanks; four blanks if there is
 * none.
 */
export function indentUnit(lines: readonly string[]): string {
  let unit = '';
  for (const line of lines) {
    const indent = indentationOf(line);
    if (indent === '' || indent.length === line.length) continue;
    if (indent.startsWith('\t')) return '\t';
    if (unit === '' || indent.length < unit.length) unit = indent;
  }
  return unit === '' || unit.length === 1 ? '    ' : unit;
}

const ownUnits = new WeakMap<IndentedCode, string>();

/** The indentation unit of the code, not counting strings. */
function ownUnit(code: IndentedCode): string {
  let unit = ownUnits.get(code);
  if (unit === undefined) {
    unit = indentUnit(
      code.lines
        .filter((_, i) => !code.inString.has(i))
        .map((line) => (line.startsWith(code.indent) ? line.slice(code.indent.length) : '')),
    );
    ownUnits.set(code, unit);
  }
  return unit;
}

/** Whether code is indented by tabs. */
export function usesTabs(code: IndentedCode): boolean {
  return ownUnit(code).startsWith('\t');
}

/**
 * Returns the lines `from` to `to` of the code with the indentation `indent` instead of their own.
 * Text inside strings is data and stays as it is. Tabs and blanks become those of `unit`, the
 * file's unit.
 */
export function reindent(
  code: IndentedCode,
  from: number,
  to: number,
  indent: string,
  unit: string,
): string[] {
  const own = ownUnit(code);
  const mixes = own.startsWith('\t') !== unit.startsWith('\t');
  if (!mixes && indent === code.indent) return code.lines.slice(from, to);
  return code.lines.slice(from, to).map((line, k) => {
    const index = from + k;
    if (code.inString.has(index)) {
      const shifts = code.inDocstring.has(index) && line.trim() !== '';
      return shifts && line.startsWith(code.indent)
        ? indent + line.slice(code.indent.length)
        : line;
    }
    if (line.trim() === '') return '';
    const rest = line.startsWith(code.indent) ? line.slice(code.indent.length) : line.trimStart();
    if (!mixes) return indent + rest;
    const depth = indentationOf(rest);
    const steps = Math.floor(depth.length / own.length);
    return indent + unit.repeat(steps) + depth.slice(steps * own.length) + rest.slice(depth.length);
  });
}
