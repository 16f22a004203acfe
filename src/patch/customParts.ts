import { withoutNumber, withoutNumbers } from './customNumbers';

/** A line at the head of a block. */
export interface Field {
  /** 1-based line of the text. */
  readonly line: number;
  /** 0-based column at which the value begins, in UTF-16 units. */
  readonly column: number;
  /** Without the quotes, backticks, angle brackets or number around it. */
  readonly value: string;
}

/** What a block holds, as far as it has been written. */
export interface BlockParts {
  /** 1-based line of `diff`, or of the first part where that is missing. */
  readonly line: number;
  /** Last line of the block, included: `end diff`, or the last line of code. */
  readonly endLine: number;
  readonly path?: Field;
  /** Anything in the place of `rewrite` or `insert`. */
  readonly keyword?: Field;
  /** Anything in the place of a line number, EOF or BOF. */
  readonly place?: Field;
  /** 1-based lines of the text, `to` excluded; equal without code, where that would begin. */
  readonly code: { readonly from: number; readonly to: number };
  /** 1-based line of `end diff`. */
  readonly end?: number;
  readonly missing: readonly ('diff' | 'path' | 'keyword' | 'place' | 'code' | 'end')[];
}

/** A block with its code made ready: without numbers, and without what is put around the block. */
export interface BlockReading extends BlockParts {
  /** The lines `code.from` to `code.to`. */
  readonly lines: readonly string[];
  /** Whether the lines had numbers before them. */
  readonly numbered: boolean;
  /** Whether the code says that the last line of the file has no line end. */
  readonly noNewline: boolean;
  /** 1-based lines that repeat the one before at the head of the block, and are passed over. */
  readonly repeated: readonly number[];
  /** Whether the text ends where the block has no end yet: it may be cut off. */
  readonly cut: boolean;
  /** Lines outside blocks that an `end diff` closes, which is the last of them; 1-based, both included. */
  readonly stray: readonly { readonly from: number; readonly to: number; readonly code: boolean }[];
}

/** The place of the range form: `12-15`, `5-4` for an insertion before line 5, with a line end if need be. */
export const spanPattern = /^(?:lines?\s+)?(\d{1,7})\s*[-–]\s*(\d{1,7})(?:\s+(LF|CRLF))?$/i;

const diffPattern = /^\s*diff\s*$/;
const endPattern = /^\s*(?:\d{1,6}\s*(?:[|:│]\s*)?)?end\s*diff\s*$/i;
const keywordPattern = /^(rewrite|insert)$/i;
const placePattern = /^(?:(?:line\s+)?~?\d{1,7}|eof|bof)$/i;
const codePattern = /^(?:(?:async\s+)?def\s|class\s|@\s*\w|import\s|from\s+\S+\s+import\b|#)/;
const fencePattern = /^\s*(?:```|~~~)/;
/** A line that is code rather than prose: it opens a definition, or is indented and no item of a list. */
const strayCode =
  /^\s*(?:\d{1,6}\s*[|:│]?\s*)?(?:(?:async\s+)?def|class)\s|^@\w|^[ \t]+(?![-*•\s])/;
/** What git writes below a last line without a line end. */
export const noNewlineMark = '\\ No newline at end of file';
/** In a span's code, `\end diff` stands for the line `end diff`, and so on. */
const escaped =
  /^\\(?=\\*\s*(?:\d{1,6}\s*(?:[|:│]\s*)?)?(?:end\s*)?diff\s*$|\\+ No newline at end of file$)/i;

/** A line of a span's code as the format has to write it. */
export function escapeLine(line: string): string {
  return escaped.test(`\\${line}`) ? `\\${line}` : line;
}

const isPlace = (value: string): boolean => placePattern.test(value) || spanPattern.test(value);
const isPath = (value: string): boolean => /^[\w./ @+-]*\w\.\w+$/.test(value);

/** A header field without the quotes, backticks or angle brackets that are put around it. */
function bare(line: string): string {
  // Not by a pattern that looks for the end from every place: lines of a text may be long.
  let [from, to] = [0, line.length];
  while (from < to && /[\s<"'`*]/.test(line[from] ?? '')) from += 1;
  while (to > from && /[\s>"'`*]/.test(line[to - 1] ?? '')) to -= 1;
  return line.slice(from, to);
}

/** Whether a line may be the keyword of a block: a path above such a one begins a block without `diff`. */
const isBelowPath = (line = ''): boolean => line.length < 100 && /rewrite|insert/i.test(line);

/** Whether a line is `diff`, perhaps with a number before it. */
function isOpening(line: string): boolean {
  if (!line.includes('diff')) return false;
  const text = line.trim();
  return text.length < 40 && /^\d*\s*(?:[|:│]\s*)?diff$/.test(text);
}

/** Every block of a text, whatever stands around them and however much of them is there. */
export function readBlockParts(text: string): BlockParts[] {
  return readBlocks(text);
}

/** As {@link readBlockParts}, with the code of each block made ready. */
export function readBlocks(text: string): BlockReading[] {
  const lines = text.split('\n');
  const marks = readMarks(lines);
  const blocks: BlockReading[] = [];
  for (let i = 0; i < lines.length;) {
    const start = marks.starts.get(i);
    if (start === undefined) {
      i += 1;
      continue;
    }
    const block = readBlock(lines, i, start, marks);
    // The word alone in a line of prose, above a block that is one.
    const prose = start === 'alone' && block.end === undefined && block.endLine < lines.length - 1;
    if (!prose) blocks.push(block);
    i = Math.max(i + 1, block.endLine);
  }
  return withStray(blocks, lines, marks.ends);
}

/** Gives each `end diff` that ends no block to the block above, or else to the first. */
function withStray(
  blocks: readonly BlockReading[],
  lines: readonly string[],
  ends: readonly number[],
): BlockReading[] {
  const found = blocks.map((): BlockReading['stray'][number][] => []);
  let [next, from] = [0, 0];
  for (const end of ends) {
    for (; next < blocks.length && (blocks[next]?.line ?? 0) <= end; next += 1) {
      from = Math.max(from, blocks[next]?.endLine ?? 0);
    }
    if (end < from) continue;
    while (from < end && (lines[from] ?? '').trim() === '') from += 1;
    const code = lines.slice(from, end).some((line) => strayCode.test(line));
    found[Math.max(0, next - 1)]?.push({ from: from + 1, to: end + 1, code });
    from = end + 1;
  }
  return blocks.map((block, i) => ({ ...block, stray: found[i] ?? [] }));
}

/** Whether a text holds blocks of the custom format. */
export function holdsCustomBlocks(text: string): boolean {
  const lines = text.split('\n');
  return (
    lines.some((_, i) => (startsBlock(lines, i) ?? 'alone') !== 'alone') ||
    (lines.some((line) => diffPattern.test(line)) && lines.some((line) => endPattern.test(line)))
  );
}

type Start = 'diff' | 'numbered' | 'path' | 'alone';

/**
 * Whether a block begins at a line: with `diff`, with a numbered one, or, where that is missing, with a
 * path above a keyword and a place. `alone`: with `diff` above nothing that is like a block.
 */
function startsBlock(lines: readonly string[], at: number): Start | undefined {
  const line = lines[at] ?? '';
  // Most lines are told by the one below: this is asked of every line of every text.
  if (!isOpening(line) && !(isBelowPath(lines[at + 1]) && isPath(bare(line)))) return undefined;
  const isDiff = diffPattern.test(line);
  const next = following(lines, at + 1, 5);
  // The word may stand twice.
  while (isDiff && diffPattern.test(lines[next[0] ?? lines.length] ?? '')) next.shift();
  const values = next.map((i) => bare(lines[i] ?? ''));
  if (isDiff) {
    const like =
      keywordPattern.test(values[1] ?? '') ||
      (isPlace(values[2] ?? '') && !codePattern.test(values[0] ?? '')) ||
      isPath(values[0] ?? '');
    return like ? 'diff' : 'alone';
  }
  const numbered = withoutNumber(line);
  if (numbered?.text.trim() === 'diff') {
    return withoutNumber(lines[at + 1] ?? '')?.number === numbered.number + 1
      ? 'numbered'
      : undefined;
  }
  const isHead =
    isPath(bare(line)) &&
    next[0] === at + 1 &&
    keywordPattern.test(values[0] ?? '') &&
    isPlace(values[1] ?? '');
  return isHead ? 'path' : undefined;
}

/** Indexes of the next lines that are not blank. */
function following(lines: readonly string[], from: number, count: number): number[] {
  const found: number[] = [];
  for (let i = from; i < lines.length && i < from + 12 && found.length < count; i += 1) {
    if ((lines[i] ?? '').trim() !== '') found.push(i);
  }
  return found;
}

function readBlock(
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

/** A line of the text, 0-based, without what is put around the block it is in. */
type OwnLine = (at: number) => string;

const ownLines = (own: OwnLine, from: number, to: number): string[] =>
  Array.from({ length: to - from }, (_, k) => own(from + k));

interface Head {
  path?: Field;
  keyword?: Field;
  place?: Field;
  /** 0-based line behind the head. */
  next: number;
  repeated: number[];
}

/** Path, keyword and place, as far as they are there. A line that repeats the one before is passed over. */
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

/** The code of a span: all lines as they are, but for what stands for `diff` and `end diff`. */
function verbatim(own: OwnLine, from: number, end: number, closed: boolean): Code {
  // Without `end diff`, the last of the lines is what follows the last line end of the text.
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

/** The lines of a text at which blocks may begin or end, 0-based and rising. */
interface Marks {
  readonly starts: ReadonlyMap<number, Start>;
  /** Those of `starts` that end the block before. */
  readonly begins: readonly number[];
  readonly ends: readonly number[];
  readonly fences: readonly number[];
}

/** Looked for once in a text, since a block without an end would look through all that follows it. */
function readMarks(lines: readonly string[]): Marks {
  const starts = new Map<number, Start>();
  const begins: number[] = [];
  const ends: number[] = [];
  const fences: number[] = [];
  for (const [i, line] of lines.entries()) {
    if (endPattern.test(line)) ends.push(i);
    else if (/^```\s*$/.test(line)) fences.push(i);
    const start = startsBlock(lines, i);
    if (start === undefined) continue;
    starts.set(i, start);
    if (start === 'diff' || start === 'numbered') begins.push(i);
  }
  return { starts, begins, ends, fences };
}

/** The first of rising numbers that is at least `least`. */
function firstFrom(numbers: readonly number[], least: number): number | undefined {
  let [low, high] = [0, numbers.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((numbers[middle] ?? 0) < least) low = middle + 1;
    else high = middle;
  }
  return numbers[low];
}

/** Where the code ends, 0-based: at `end diff`, or else where that ought to stand. */
function findEnd(
  lines: readonly string[],
  start: number,
  first: number,
  { begins, ends, fences }: Marks,
): { end: number; closed: boolean } {
  const end = firstFrom(ends, first);
  let begin = firstFrom(begins, first + 1);
  // The word may stand twice.
  if (begin !== undefined && following(lines, start + 1, 1)[0] === begin) {
    begin = firstFrom(begins, begin + 1);
  }
  if (end !== undefined && end < (begin ?? lines.length)) return { end, closed: true };
  // A fence may stand in the code, in a docstring say, so it ends the block only if nothing else does.
  const fence = firstFrom(fences, Math.max(first, start + 5));
  const limit = begin ?? lines.length;
  return { end: fence !== undefined && fence < limit ? fence : limit, closed: false };
}
