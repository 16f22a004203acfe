import {
  bare,
  codePattern,
  diffPattern,
  findEnd,
  isPlace,
  keywordPattern,
  placePattern,
  spanPattern,
  type Marks,
  type Start,
} from './marks';
import { withoutNumber, withoutNumbers } from './withoutNumbers';

/** A line at the head of a block. */
export interface Field {
  /** 1-based line of the text. */
  readonly line: number;
  /** 0-based column at which the value begins, in UTF-16 units. */
  readonly column: number;
  /** The value without quotes, backticks, angle brackets or a number around it. */
  readonly value: string;
}

/** The parts of a block, as far as they are written. */
export interface BlockParts {
  /** 1-based line of `diff`, or of the first part if `diff` is missing. */
  readonly line: number;
  /** Last line of the block, included: `end diff`, or the last line of code. */
  readonly endLine: number;
  readonly path?: Field;
  /** Any text at the position of `rewrite` or `insert`. */
  readonly keyword?: Field;
  /** Any text at the position of a line number, EOF or BOF. */
  readonly place?: Field;
  /**
   * 1-based lines of the text, `to` excluded. Without code both are the line at which it would
   * begin.
   */
  readonly code: { readonly from: number; readonly to: number };
  /** 1-based line of `end diff`. */
  readonly end?: number;
  readonly missing: readonly ('diff' | 'path' | 'keyword' | 'place' | 'code' | 'end')[];
}

/** A block with prepared code: without line numbers, and without anything that wraps the block. */
export interface BlockReading extends BlockParts {
  /** The lines `code.from` to `code.to`. */
  readonly lines: readonly string[];
  /** Whether the lines began with line numbers. */
  readonly numbered: boolean;
  /** Whether the code says that the last line of the file has no line end. */
  readonly noNewline: boolean;
  /** 1-based lines at the head of the block that repeat the line before; they are skipped. */
  readonly repeated: readonly number[];
  /** Whether the text ends before the block does, so that it may be cut off. */
  readonly cut: boolean;
  /** Lines outside blocks, 1-based and both included. The last one of them is an `end diff`. */
  readonly stray: readonly { readonly from: number; readonly to: number; readonly code: boolean }[];
}

const fencePattern = /^\s*(?:```|~~~)/;
/** The line that git writes after a last line without a line end. */
export const noNewlineMark = '\\ No newline at end of file';
/** In the code of a span, `\end diff` stands for the line `end diff`, and so on. */
const escaped =
  /^\\(?=\\*\s*(?:\d{1,6}\s*(?:[|:│]\s*)?)?(?:end\s*)?diff\s*$|\\+ No newline at end of file$)/i;

/** A line of a span's code as the format must write it. */
export function escapeLine(line: string): string {
  return escaped.test(`\\${line}`) ? `\\${line}` : line;
}

/** Reads the block that begins at a 0-based line. */
export function readBlock(
  lines: readonly string[],
  start: number,
  kind: Start,
  marks: Marks,
): BlockReading {
  const first = kind === 'path' ? start : start + 1;
  const { end, closed } = findEnd(lines, start, first, marks);
  const opening = lines[start] ?? '';
  const margin = kind === 'path' ? '' : (/^[ \t]*(?=diff)/.exec(opening)?.[0] ?? '');
  const isCrlf = opening.endsWith('\r');
  const offset = withoutNumber(opening)?.number;
  const own: OwnLine = (i) => {
    const line = lines[i] ?? '';
    const text = isCrlf && line.endsWith('\r') ? line.slice(0, -1) : line;
    if (kind === 'numbered') {
      const found = withoutNumber(text);
      return found?.number === (offset ?? 0) + i - start ? found.text : text;
    }
    return text.startsWith(margin) ? text.slice(margin.length) : text;
  };
  const head = readHead(own, lines, first, end);
  const span = spanPattern.test(head.place?.value ?? '');
  const code = span ? verbatim(own, head.next, end, closed) : readCode(own, head, end);
  const numbered = kind === 'numbered' || code.numbered;
  const missing: BlockParts['missing'][number][] = kind === 'path' ? ['diff'] : [];
  for (const part of ['path', 'keyword', 'place'] as const) {
    if (head[part] === undefined) missing.push(part);
  }
  if (code.lines.length === 0 && !span) missing.push('code');
  if (!closed) missing.push('end');
  return {
    line: start + 1,
    endLine: closed ? end + 1 : Math.max(code.to, head.next, start + 1),
    ...(head.path !== undefined && { path: head.path }),
    ...(head.keyword !== undefined && { keyword: head.keyword }),
    ...(head.place !== undefined && { place: head.place }),
    code: { from: code.from + 1, to: code.to + 1 },
    ...(closed && { end: end + 1 }),
    missing,
    lines: code.lines,
    numbered,
    noNewline: code.noNewline === true,
    repeated: head.repeated,
    cut: !closed && end === lines.length,
    stray: [],
  };
}

/** Returns a 0-based line of the text without the indentation or numbers that wrap its block. */
type OwnLine = (at: number) => string;

const ownLines = (own: OwnLine, from: number, to: number): string[] =>
  Array.from({ length: to - from }, (_, k) => own(from + k));

interface Head {
  path?: Field;
  keyword?: Field;
  place?: Field;
  /** 0-based line after the head. */
  next: number;
  repeated: number[];
}

/**
 * Reads path, keyword and place, as far as they exist. A line that repeats the one before is
 * skipped.
 */
function readHead(own: OwnLine, lines: readonly string[], first: number, end: number): Head {
  const head: Head = { next: first, repeated: [] };
  const peek = (): { at: number; value: string; raw: string } | undefined => {
    let at = head.next;
    while (at < end && own(at).trim() === '') at += 1;
    if (at >= end) return undefined;
    const raw = own(at);
    return { at, value: bare(raw), raw };
  };
  const take = (found: { at: number; value: string }, repeats: boolean): Field => {
    head.next = found.at + 1;
    const again = peek();
    if (repeats && again?.value === found.value && again.at === found.at + 1) {
      head.repeated.push(again.at + 1);
      head.next = again.at + 1;
    }
    const column = Math.max(0, (lines[found.at] ?? '').indexOf(found.value));
    return { line: found.at + 1, column, value: found.value };
  };
  while (diffPattern.test(peek()?.raw ?? '')) {
    head.next = (peek()?.at ?? 0) + 1;
    head.repeated.push(head.next);
  }
  let found = peek();
  if (found !== undefined && !keywordPattern.test(found.value)) head.path = take(found, true);
  found = peek();
  if (found !== undefined && !isPlace(found.value) && !codePattern.test(found.raw.trim())) {
    head.keyword = take(found, keywordPattern.test(found.value));
  }
  found = peek();
  if (found !== undefined && !codePattern.test(found.raw.trim())) {
    head.place = take(found, placePattern.test(found.value));
  }
  return head;
}

interface Code {
  readonly from: number;
  readonly to: number;
  readonly lines: string[];
  readonly numbered: boolean;
  readonly noNewline?: boolean;
}

/** The code of a span: all lines as they are, except the escaped forms of `diff` and `end diff`. */
function verbatim(own: OwnLine, from: number, end: number, closed: boolean): Code {
  // Without `end diff`, the last element is the empty rest after the last line end of the text.
  const to = !closed && end > from && own(end - 1) === '' ? end - 1 : end;
  const lines = ownLines(own, from, to);
  const noNewline = lines.at(-1)?.replace(/\r$/, '') === noNewlineMark;
  if (noNewline) lines.pop();
  const plain = lines.map((line) => line.replace(escaped, ''));
  return { from, to, lines: plain, numbered: false, noNewline };
}

/** The code without blank lines, a fence and numbers around it. */
function readCode(own: OwnLine, head: Head, end: number): Code {
  let [from, to] = [head.next, end];
  const text = (i: number): string => own(i).replace(/\r$/, '');
  const trim = (): void => {
    while (from < to && text(from).trim() === '') from += 1;
    while (to > from && text(to - 1).trim() === '') to -= 1;
  };
  trim();
  if (to > from && fencePattern.test(text(from))) {
    from += 1;
    if (to > from && /^\s*(?:```|~~~)\s*$/.test(text(to - 1))) to -= 1;
    trim();
  }
  if (from === to) return { from: head.next, to: head.next, lines: [], numbered: false };
  const lines = Array.from({ length: to - from }, (_, k) => text(from + k));
  const isPython = /\.pyi?$/.test(head.path?.value ?? '.py');
  const plain = isPython ? withoutNumbers(lines) : undefined;
  return { from, to, lines: plain ?? lines, numbered: plain !== undefined };
}
