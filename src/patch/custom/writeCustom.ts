import type { PythonParser } from '../../python/parser';
import { parseCustom, placeText, type CustomBlock } from './parseCustom';
import { lineChanges, unitChanges, type LineChange } from './unitChanges';
import { editFile, openFile } from './customEdits';
import { lineEndAt, type CustomFile } from './customFile';
import { escapeLine, noNewlineMark } from './blockParts';
import { hasErrors } from '../diagnostic';
import { unsafePath } from '../unsafePath';
import { splitLines, type FileEdit } from '../makeUnified';

/**
 * Writes edits of files in the custom format. It writes whole functions and methods, with new
 * imports at the head of a block, if that gives the same bytes. It writes ranges of lines for the
 * rest. Before it returns a text, it applies the text and compares the result.
 *
 * @returns the text, empty if nothing changes, and the edits that the format cannot express
 */
export function writeCustom(
  edits: readonly FileEdit[],
  python: PythonParser,
): { text: string; left: readonly { path: string; why: string }[] } {
  const texts: string[] = [];
  const left: { path: string; why: string }[] = [];
  for (const { path, before, after } of edits) {
    if (before === after) continue;
    const why = reasonToLeave({ path, before, after });
    const text =
      why === undefined && after !== undefined ? writeFile(path, before, after, python) : undefined;
    if (text === undefined) left.push({ path, why: why ?? 'the name contains line breaks' });
    else texts.push(text);
  }
  return { text: texts.join(''), left };
}

function reasonToLeave({ path, before, after }: FileEdit): string | undefined {
  if (after === undefined) return 'the file is deleted';
  if (before?.includes('\0') === true || after.includes('\0')) return 'the content is binary';
  const unsafe = unsafePath(path);
  if (unsafe !== undefined) return unsafe;
  return /\s$|^\s/.test(path) ? 'the name starts or ends with a space' : undefined;
}

/** The blocks of one file; undefined if no text reproduces the file. */
function writeFile(
  path: string,
  before: string | undefined,
  after: string,
  python: PythonParser,
): string | undefined {
  if (before === undefined) {
    const lines = splitLines(after).map((line) => line.replace(/\n$/, ''));
    const whole = formatBlock({ path, action: 'insert', place: 'EOF', code: lines });
    const isPlain = lines[0]?.trim() !== '' && after.endsWith('\n');
    const asLines = (): string =>
      formatSpan(path, openFile(path, '', python), after, wholeOf(after));
    return [...(isPlain ? [whole] : []), asLines()].find((text) =>
      gives(text, { path, before, after, python }),
    );
  }
  const file = openFile(path, before, python);
  const target = { path, before, after, python, known: file };
  const isPython = /\.pyi?$/.test(path);
  if (isPython) {
    const now = openFile(path, after, python);
    if (!file.module.hasError && !now.module.hasError) {
      const text = new FunctionWriter(path, file, now, python).write();
      if (gives(text, target)) return text;
    }
  }
  const text = lineChanges(file.raw, splitLines(after))
    .map((change) => formatSpan(path, file, after, change))
    .join('');
  return gives(text, target) ? text : undefined;
}

function wholeOf(after: string): LineChange {
  return { from: 0, to: 0, newFrom: 0, newTo: splitLines(after).length };
}

/** Whether a text, when applied, produces the expected file. */
function gives(
  text: string,
  target: {
    path: string;
    before: string | undefined;
    after: string;
    python: PythonParser;
    known?: CustomFile;
  },
): boolean {
  const { blocks, diagnostics } = parseCustom(text);
  if (hasErrors(diagnostics) || blocks.some((block) => block.path !== target.path)) return false;
  return editFile({ ...target, blocks }).after === target.after;
}

type Written = Pick<CustomBlock, 'path' | 'action' | 'code'> & { readonly place: string };

function formatBlock({ path, action, place, code }: Written): string {
  return ['diff', path, action, place, ...code, 'end diff', ''].join('\n');
}

/** A change as a block that replaces a range of lines. */
function formatSpan(path: string, file: CustomFile, after: string, change: LineChange): string {
  const raw = splitLines(after).slice(change.newFrom, change.newTo);
  return formatRaw(path, file, raw, change);
}

function formatRaw(
  path: string,
  file: CustomFile,
  raw: readonly string[],
  change: LineChange,
): string {
  const ended = raw.filter((line) => line.endsWith('\n'));
  const eol = lineEndAt(file.raw, change);
  const all = (end: string): boolean => ended.every((line) => line.endsWith(end));
  const isLf = ended.every((line) => !line.endsWith('\r\n'));
  const usual = eol === '\n' ? isLf : all('\r\n');
  const ending = usual ? eol : ended.length > 0 && all('\r\n') ? '\r\n' : '\n';
  const lines = raw.map((line) => (line.endsWith(ending) ? line.slice(0, -ending.length) : line));
  // Without an explicit line end, a reader takes a lone CR at the end for the line end.
  const isPlain = usual && (ending === '\n' || !lines.some((line) => line.endsWith('\r')));
  const suffix = isPlain ? '' : ending === '\n' ? ' LF' : ' CRLF';
  const code = lines.map(escapeLine);
  if (ended.length < raw.length) code.push(noNewlineMark);
  const place = `${change.from + 1}-${change.to}${suffix}`;
  return formatBlock({ path, action: 'rewrite', place, code });
}

/** A block with the changes of a file that it makes. */
interface Part {
  readonly block: CustomBlock;
  readonly changes: readonly LineChange[];
}

/** Writes the changes of one Python file, each as a function if that gives the same bytes. */
class FunctionWriter {
  constructor(
    private readonly path: string,
    private readonly before: CustomFile,
    private readonly after: CustomFile,
    private readonly python: PythonParser,
  ) {}

  write(): string {
    const parts: Part[] = [];
    const imports: LineChange[] = [];
    const rest: LineChange[] = [];
    for (const change of unitChanges(this.before, this.after)) {
      const part = change.isFunction
        ? this.tryBlock('rewrite', change, String(this.nameLine(change.from, change.to)))
        : [change, ...change.slides].map((slide) => this.asInsertion(slide)).find(Boolean);
      if (part !== undefined) parts.push(part);
      else if (this.isImports(change)) imports.push(change);
      else rest.push(...this.refined(change));
    }
    for (const change of imports) if (!this.joinImports(parts, change)) rest.push(change);
    const written = [
      ...parts.map((part) => ({
        at: part.changes[0]?.from ?? 0,
        text: formatBlock({ ...part.block, place: placeText(part.block.place) }),
      })),
      ...rest.map((change) => ({
        at: change.from,
        text: formatRaw(this.path, this.before, this.newLines(change), change),
      })),
    ];
    return written
      .sort((a, b) => a.at - b.at)
      .map(({ text }) => text)
      .join('');
  }

  private newLines({ newFrom, newTo }: LineChange): readonly string[] {
    return this.after.raw.slice(newFrom, newTo);
  }

  /** The `def` line of the function at these lines. */
  private nameLine(from: number, to: number): number {
    const definitions = this.before.module.definitions;
    const own = definitions.find((d) => d.range.startLine === from + 1 && d.range.endLine === to);
    return own?.defLine ?? from + 1;
  }

  /** The smaller changes within a change, so that a range need not contain a whole function. */
  private refined(change: LineChange): LineChange[] {
    const old = this.before.raw.slice(change.from, change.to);
    return lineChanges(old, this.newLines(change)).map((inner) => ({
      from: change.from + inner.from,
      to: change.from + inner.to,
      newFrom: change.newFrom + inner.newFrom,
      newTo: change.newFrom + inner.newTo,
    }));
  }

  private asInsertion(change: LineChange): Part | undefined {
    const { from, to, newFrom, newTo } = change;
    if (from !== to) return undefined;
    const holds = this.after.module.definitions.some(
      (d) => newFrom < d.range.startLine && d.range.endLine <= newTo && !d.local,
    );
    if (!holds) return undefined;
    const { lines } = this.before;
    const blank = (at: number): boolean => lines[at]?.trim() === '';
    let above = from - 1;
    while (above >= 0 && blank(above)) above -= 1;
    let below = from;
    while (below < lines.length && blank(below)) below += 1;
    const places = [
      ...(below >= lines.length ? ['EOF'] : []),
      ...(above >= 0 ? [String(above + 1)] : []),
      ...(below < lines.length ? [String(below + 1)] : []),
    ];
    for (const place of places) {
      const part = this.tryBlock('insert', change, place);
      if (part !== undefined) return part;
    }
    return undefined;
  }

  private tryBlock(
    action: CustomBlock['action'],
    change: LineChange,
    place: string,
  ): Part | undefined {
    let [from, to] = [change.newFrom, change.newTo];
    const blank = (at: number): boolean => this.after.lines[at]?.trim() === '';
    while (from < to && blank(from)) from += 1;
    while (to > from && blank(to - 1)) to -= 1;
    const part: Part = {
      block: {
        ...{ line: 1, endLine: 1, pathLine: 1, actionLine: 1, placeLine: 1, codeLine: 1 },
        path: this.path,
        action,
        place: place === 'EOF' ? place : Number(place),
        code: this.after.lines.slice(from, to),
        noNewline: false,
      },
      changes: [change],
    };
    return this.fits(part) ? part : undefined;
  }

  /** Whether a block alone makes its changes. */
  private fits({ block, changes }: Part): boolean {
    const { path, before, python } = this;
    const expected: string[] = [];
    let done = 0;
    for (const change of [...changes].sort((a, b) => a.from - b.from)) {
      expected.push(...before.raw.slice(done, change.from), ...this.newLines(change));
      done = change.to;
    }
    expected.push(...before.raw.slice(done));
    const { after } = editFile({
      ...{ path, before: '', blocks: [block], python },
      known: before,
      trusted: true,
    });
    return after === before.mark + expected.join('');
  }

  private isImports({ from, to, newFrom, newTo }: LineChange): boolean {
    if (from !== to) return false;
    const spans = this.after.module.imports.map(({ range }) => range);
    return this.after.lines
      .slice(newFrom, newTo)
      .every((_, k) =>
        spans.some((s) => s.startLine <= newFrom + k + 1 && newFrom + k + 1 <= s.endLine),
      );
  }

  /** Adds imports to the head of the first block, if they then go to the right place. */
  private joinImports(parts: Part[], change: LineChange): boolean {
    const [first] = parts;
    if (first === undefined) return false;
    const lines = this.after.lines.slice(change.newFrom, change.newTo);
    const hasHead = first.changes.length > 1;
    const code = [...lines, ...(hasHead ? [] : ['', '']), ...first.block.code];
    const joined = { block: { ...first.block, code }, changes: [...first.changes, change] };
    if (!this.fits(joined)) return false;
    parts[0] = joined;
    return true;
  }
}
