import { withoutNumber } from './withoutNumbers';

/**
 * The place of the range form: `12-15`, or `5-4` for an insertion before line 5, optionally with a
 * line end.
 */
export const spanPattern = /^(?:lines?\s+)?(\d{1,7})\s*[-–]\s*(\d{1,7})(?:\s+(LF|CRLF))?$/i;

export const diffPattern = /^\s*diff\s*$/;
export const endPattern = /^\s*(?:\d{1,6}\s*(?:[|:│]\s*)?)?end\s*diff\s*$/i;
export const keywordPattern = /^(rewrite|insert)$/i;
export const placePattern = /^(?:(?:line\s+)?~?\d{1,7}|eof|bof)$/i;
export const codePattern =
  /^(?:(?:async\s+)?def\s|class\s|@\s*\w|import\s|from\s+\S+\s+import\b|#)/;

export const isPlace = (value: string): boolean =>
  placePattern.test(value) || spanPattern.test(value);
const isPath = (value: string): boolean => /^[\w./ @+-]*\w\.\w+$/.test(value);

/** A header field without quotes, backticks or angle brackets around it. */
export function bare(line: string): string {
  // A loop, since a pattern would search for the end from every place of a possibly long line.
  let [from, to] = [0, line.length];
  while (from < to && /[\s<"'`*]/.test(line[from] ?? '')) from += 1;
  while (to > from && /[\s>"'`*]/.test(line[to - 1] ?? '')) to -= 1;
  return line.slice(from, to);
}

/**
 * Whether a line may be the keyword of a block. A path above such a line begins a block without
 * `diff`.
 */
const isBelowPath = (line = ''): boolean => line.length < 100 && /rewrite|insert/i.test(line);

/** Whether a line is `diff`, perhaps with a number before it. */
function isOpening(line: string): boolean {
  if (!line.includes('diff')) return false;
  const text = line.trim();
  return text.length < 40 && /^\d*\s*(?:[|:│]\s*)?diff$/.test(text);
}

/** How a block begins. `alone` means only the word `diff`, which may be part of prose. */
export type Start = 'diff' | 'numbered' | 'path' | 'alone';

/**
 * Returns how a block begins at a line; undefined if none does. A block begins with `diff`, or with
 * a numbered `diff`. Without one it begins with a path above a keyword and a place. `alone` is a
 * `diff` above lines that do not look like a block.
 */
export function startsBlock(lines: readonly string[], at: number): Start | undefined {
  const line = lines[at] ?? '';
  // The line below decides quickly for most lines. This matters, since the function runs for every
  // line of every text.
  if (!isOpening(line) && !(isBelowPath(lines[at + 1]) && isPath(bare(line)))) return undefined;
  const isDiff = diffPattern.test(line);
  const next = following(lines, at + 1, 5);
  // The word may be repeated.
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

/** The 0-based lines of a text at which blocks may begin or end, ascending. */
export interface Marks {
  readonly starts: ReadonlyMap<number, Start>;
  /** Those lines of `starts` that end the block before. */
  readonly begins: readonly number[];
  readonly ends: readonly number[];
  readonly fences: readonly number[];
}

/**
 * Finds all marks of a text at once. Otherwise each block without an end would search the whole
 * rest of the text.
 */
export function readMarks(lines: readonly string[], from = 0, to = lines.length): Marks {
  const starts = new Map<number, Start>();
  const begins: number[] = [];
  const ends: number[] = [];
  const fences: number[] = [];
  for (let i = from; i < to; i += 1) {
    const line = lines[i] ?? '';
    if (endPattern.test(line)) ends.push(i);
    else if (/^```\s*$/.test(line)) fences.push(i);
    const start = startsBlock(lines, i);
    if (start === undefined) continue;
    starts.set(i, start);
    if (start === 'diff' || start === 'numbered') begins.push(i);
  }
  return { starts, begins, ends, fences };
}

/** The first of ascending numbers that is at least `least`. */
function firstFrom(numbers: readonly number[], least: number): number | undefined {
  let [low, high] = [0, numbers.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((numbers[middle] ?? 0) < least) low = middle + 1;
    else high = middle;
  }
  return numbers[low];
}

/** The 0-based line at which the code ends: at `end diff`, or else where that is missing. */
export function findEnd(
  lines: readonly string[],
  start: number,
  first: number,
  { begins, ends, fences }: Marks,
): { end: number; closed: boolean } {
  const end = firstFrom(ends, first);
  let begin = firstFrom(begins, first + 1);
  // The word may be repeated.
  if (begin !== undefined && following(lines, start + 1, 1)[0] === begin) {
    begin = firstFrom(begins, begin + 1);
  }
  if (end !== undefined && end < (begin ?? lines.length)) return { end, closed: true };
  // Code may contain a fence, for example in a docstring. So a fence ends the block only if nothing
  // else does.
  const fence = firstFrom(fences, Math.max(first, start + 5));
  const limit = begin ?? lines.length;
  return { end: fence !== undefined && fence < limit ? fence : limit, closed: false };
}
