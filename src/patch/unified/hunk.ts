import type { PatchProblem } from '../diagnostic';

export interface HunkLine {
  readonly kind: 'context' | 'removed' | 'added';
  /** Without the line end; a carriage return before it is kept. */
  readonly text: string;
  /** 1-based line in the file before; context and removed lines have it. */
  readonly oldLine?: number;
  /** 1-based line in the file after; context and added lines have it. */
  readonly newLine?: number;
  /** Whether "\ No newline at end of file" follows. */
  readonly noNewline: boolean;
}

export interface Hunk {
  /** As written: 1-based; the line *before* the place if the count is 0. */
  readonly oldStart: number;
  readonly oldLines: number;
  readonly newStart: number;
  readonly newLines: number;
  /** The text after the second `@@`. */
  readonly section: string;
  readonly lines: readonly HunkLine[];
  /** 1-based line of the hunk's header in the patch, or of its first line if it has none. */
  readonly line: number;
  /** Set if the header has no line number for the old file; both starts are 0 then. */
  readonly unnumbered?: true;
}

/**
 * How strictly a hunk is read. `git` reports what git would reject, and drops a hunk without line
 * numbers. `loose` finds the place later from the lines. So the header needs no numbers, and
 * context lines may lack their first blank.
 */
export type Reading = 'git' | 'loose';

const headerPattern = /^@@ -(\d{1,9})(?:,(\d{1,9}))? \+(\d{1,9})(?:,(\d{1,9}))? @@ ?(.*?)\r?$/s;

interface Body {
  lines: { kind: HunkLine['kind']; text: string; noNewline: boolean }[];
  oldLines: number;
  newLines: number;
  next: number;
}

/**
 * Reads the hunk whose header is `lines[start]`. The counts of the header decide where it ends,
 * since content may look like anything. If the counts cannot be right, the shape of the lines
 * decides instead, and a problem reports it.
 *
 * @returns the hunk, undefined if its header has no line numbers, and the first line after it
 */
export function readHunk(
  lines: readonly string[],
  start: number,
  problems: PatchProblem[],
  reading: Reading = 'git',
): { hunk: Hunk | undefined; next: number } {
  const match = headerPattern.exec(lines[start] ?? '');
  if (match === null) {
    if (reading === 'loose') return readLooseHunk(lines, start);
    problems.push({
      severity: 'error',
      line: start + 1,
      message: `The hunk header has no line numbers: ${(lines[start] ?? '').slice(0, 60)}`,
      hint: 'Write "@@ -OLD_START,OLD_COUNT +NEW_START,NEW_COUNT @@"',
      code: 'counts',
      lost: true,
    });
    return { hunk: undefined, next: readByShape(lines, start + 1).next };
  }
  const number = (group: number): number | undefined =>
    match[group] === undefined ? undefined : Number(match[group]);
  const header = {
    oldStart: number(1) ?? 0,
    oldLines: number(2) ?? 1,
    newStart: number(3) ?? 0,
    newLines: number(4) ?? 1,
  };

  let body = readByCount(lines, start + 1, header.oldLines, header.newLines);
  if (body === undefined || goesOn(lines, body.next)) {
    body = readByShape(lines, start + 1, reading, header);
    problems.push(wrongCounts(header, body, start, endsText(lines, body.next)));
  }
  tellOddLines(lines, start + 1, body.next, problems);
  dropMarksInside(body, start + 1, problems);

  const oldStart = startOf(header.oldStart, header.oldLines, body.oldLines);
  const newStart = startOf(header.newStart, header.newLines, body.newLines);
  return {
    hunk: numberLines({
      oldStart,
      oldLines: body.oldLines,
      newStart,
      newLines: body.newLines,
      section: match[5] ?? '',
      lines: body.lines,
      line: start + 1,
    }),
    next: body.next,
  };
}

type Counts = Pick<Hunk, 'oldStart' | 'oldLines' | 'newStart' | 'newLines'>;

/** @param endsText whether the text ends with the hunk */
function wrongCounts(
  header: Counts,
  body: Pick<Counts, 'oldLines' | 'newLines'> & { readonly next: number },
  start: number,
  endsText: boolean,
): PatchProblem {
  const counted = `The hunk header counts ${header.oldLines} old and ${header.newLines} new lines, `;
  // The usual reason for a text that ends before its counts do is an answer that was cut off.
  const isCut = endsText && body.oldLines <= header.oldLines && body.newLines <= header.newLines;
  return {
    severity: 'error',
    line: start + 1,
    ...(isCut && body.next > start + 1 && { endLine: body.next }),
    message: isCut
      ? `${counted}but the text ends after ${body.oldLines} and ${body.newLines}: it may be cut off`
      : `${counted}but ${body.oldLines} and ${body.newLines} follow`,
    hint: isCut
      ? 'Provide the complete patch; missing lines are not applied'
      : `Write "@@ -${header.oldStart},${body.oldLines} +${header.newStart},${body.newLines} @@"`,
    code: isCut ? 'incomplete' : 'counts',
  };
}

/** The start of a side whose number of lines differs from the header's count. */
function startOf(at: number, counted: number, found: number): number {
  // If the count is 0, the number is that of the line before.
  if (counted > 0 && found === 0) return Math.max(0, at - 1);
  if (counted === 0 && found > 0) return at + 1;
  return found > 0 ? Math.max(1, at) : at;
}

/**
 * Reads a hunk whose header is not git's. It may lack numbers (`@@`, `@@ ... @@`, `@@ def f():`) or
 * one of them. Its sides may be reversed (`@@ +12,3 -10,2 @@`), or the header may be missing.
 */
function readLooseHunk(lines: readonly string[], start: number): { hunk: Hunk; next: number } {
  const line = (lines[start] ?? '').replace(/\r$/, '');
  const header = /^@@+(.*?)(?:@@+(.*))?$/s.exec(line);
  const body = readByShape(lines, header === null ? start : start + 1, 'loose');
  const ranges = header?.[1] ?? '';
  const starts = (sign: RegExp): number | undefined => {
    const found = sign.exec(ranges)?.[1];
    return found === undefined ? undefined : Number(found);
  };
  const oldStart = starts(/(?:^|\s)-(\d{1,9})\b/);
  const newStart = starts(/(?:^|\s)\+(\d{1,9})\b/);
  const at = oldStart ?? newStart;
  const named = /\w{2,}/.test(ranges) && at === undefined ? ranges : '';
  return {
    hunk: numberLines({
      oldStart: at ?? 0,
      oldLines: body.oldLines,
      newStart: newStart ?? at ?? 0,
      newLines: body.newLines,
      section: (header?.[2] ?? '').trim() || named.trim(),
      lines: body.lines,
      line: start + 1,
      ...(at === undefined && { unnumbered: true as const }),
    }),
    next: body.next,
  };
}

/** The 0-based line at which the hunk begins by its header; undefined if it gives none. */
export function statedStart(hunk: Hunk): number | undefined {
  if (hunk.unnumbered === true) return undefined;
  return Math.max(0, hunk.oldLines === 0 ? hunk.oldStart : hunk.oldStart - 1);
}

/** Gives each line its numbers, from the hunk's starts. */
export function numberLines(hunk: Hunk): Hunk {
  let oldLine = hunk.oldLines === 0 ? hunk.oldStart + 1 : hunk.oldStart;
  let newLine = hunk.newLines === 0 ? hunk.newStart + 1 : hunk.newStart;
  const lines = hunk.lines.map(({ kind, text, noNewline }): HunkLine => {
    switch (kind) {
      case 'context':
        return { kind, text, oldLine: oldLine++, newLine: newLine++, noNewline };
      case 'removed':
        return { kind, text, oldLine: oldLine++, noNewline };
      case 'added':
        return { kind, text, newLine: newLine++, noNewline };
    }
  });
  return { ...hunk, lines };
}

/** Consumes one line of a hunk; false if it cannot be one. */
function take(body: Body, line: string): boolean {
  const kind =
    line === '' || line === '\r' || line.startsWith(' ')
      ? 'context'
      : line.startsWith('-')
        ? 'removed'
        : line.startsWith('+')
          ? 'added'
          : undefined;
  if (kind === undefined) return false;
  body.lines.push({ kind, text: line === '\r' ? line : line.slice(1), noNewline: false });
  if (kind !== 'added') body.oldLines += 1;
  if (kind !== 'removed') body.newLines += 1;
  body.next += 1;
  return true;
}

/** Consumes "\ No newline at end of file", in any language. */
function takeMarker(body: Body, line: string): boolean {
  const last = body.lines.at(-1);
  if (!line.startsWith('\\ ') || last === undefined) return false;
  last.noNewline = true;
  body.next += 1;
  return true;
}

function readByCount(
  lines: readonly string[],
  from: number,
  oldLines: number,
  newLines: number,
): Body | undefined {
  const body: Body = { lines: [], oldLines: 0, newLines: 0, next: from };
  while (body.oldLines < oldLines || body.newLines < newLines) {
    const line = lines[body.next];
    if (line === undefined) return undefined;
    if (takeMarker(body, line)) continue;
    if (!take(body, line) || body.oldLines > oldLines || body.newLines > newLines) return undefined;
  }
  takeMarker(body, lines[body.next] ?? '');
  return body;
}

function readByShape(
  lines: readonly string[],
  from: number,
  reading: Reading = 'git',
  counts?: Pick<Hunk, 'oldLines' | 'newLines'>,
): Body {
  const body: Body = { lines: [], oldLines: 0, newLines: 0, next: from };
  while (body.next < lines.length && !endsShape(lines, body.next)) {
    const line = lines[body.next] ?? '';
    if (takeMarker(body, line) || take(body, line)) continue;
    if (reading === 'git' || !isBareContext(lines, body.next, from)) break;
    take(body, ` ${line}`);
  }
  dropBlankEnd(lines, body, counts);
  return body;
}

/**
 * Removes blank lines from the end of a hunk, which are more often a separator than context. Where
 * an edit is before them, those that the header counts stay: without context below it, the edit
 * would be one at the end of the file.
 */
function dropBlankEnd(
  lines: readonly string[],
  body: Body,
  counts: Pick<Hunk, 'oldLines' | 'newLines'> | undefined,
): void {
  let blank = 0;
  while (blank < body.lines.length && /^\r?$/.test(lines[body.next - 1 - blank] ?? 'x')) blank += 1;
  const edit = body.lines[body.lines.length - 1 - blank];
  const isNeeded = counts !== undefined && edit !== undefined && edit.kind !== 'context';
  const counted = Math.min(
    (counts?.oldLines ?? 0) - (body.oldLines - blank),
    (counts?.newLines ?? 0) - (body.newLines - blank),
  );
  const dropped = isNeeded ? blank - Math.max(0, Math.min(counted, blank)) : blank;
  body.lines.length -= dropped;
  body.oldLines -= dropped;
  body.newLines -= dropped;
  body.next -= dropped;
}

/** Lines that begin something other than a line of a hunk. */
const elsewhere = /^(@@|```|~~~|diff --git |index [0-9a-f]+\.\.|\*\*\* |Index: |={3,}\s*$)/;

/** More consecutive lines than these without a mark are prose. */
const maxBare = 20;

/**
 * Whether a line without mark is context that lacks its blank. Such lines stand directly between
 * lines of the hunk. Prose after a hunk follows a blank line, or no hunk line follows it.
 */
function isBareContext(lines: readonly string[], i: number, from: number): boolean {
  if (i > from && /^\r?$/.test(lines[i - 1] ?? '')) return false;
  for (let k = i; k < lines.length && k < i + maxBare; k += 1) {
    const line = lines[k] ?? '';
    if (elsewhere.test(line)) return false;
    if (/^[ +-]/.test(line)) return !endsShape(lines, k);
    if (line.trim() === '') return false;
  }
  return false;
}

function endsShape(lines: readonly string[], i: number): boolean {
  const [line, next, third] = [lines[i] ?? '', lines[i + 1] ?? '', lines[i + 2] ?? ''];
  return (
    (/^--- \S/.test(line) && /^\+\+\+ \S/.test(next) && (third === '' || third.startsWith('@@'))) ||
    isSignature(lines, i)
  );
}

/** The end of a mail by `git format-patch`: "-- " and the version of git. */
function isSignature(lines: readonly string[], i: number): boolean {
  return /^-- ?\r?$/.test(lines[i] ?? '') && /^\d+(\.\w+)+/.test(lines[i + 1] ?? '');
}

/** Whether more lines of the hunk follow the counted ones. Git would drop them silently. */
function goesOn(lines: readonly string[], from: number): boolean {
  let i = from;
  while ((lines[i] ?? '').startsWith(' ')) i += 1;
  if (/^\r?$/.test(lines[i] ?? 'x')) return goesOnAfterBlank(lines, i);
  return /^[+-]/.test(lines[i] ?? '') && !endsShape(lines, i) && !/^-{2,}\s*$/.test(lines[i] ?? '');
}

/**
 * Whether a blank line is context that lacks its blank: up to the next hunk, part or the end of the
 * text, each line is one of a hunk, and one is an edit or another hunk follows. Items of a list
 * (`- text`) and lines of prose are not lines of a hunk.
 */
function goesOnAfterBlank(lines: readonly string[], from: number): boolean {
  let isEdited = false;
  let isMarked = false;
  for (let i = from; ; i += 1) {
    const line = lines[i];
    if (line === undefined || elsewhere.test(line) || endsShape(lines, i)) {
      return isEdited || (isMarked && line?.startsWith('@@') === true);
    }
    if (/^\r?$/.test(line)) continue;
    if (!/^[ +\\-]/.test(line) || /^[+-]\s\S|^-{2,}\s*$/.test(line)) return false;
    isMarked = true;
    isEdited ||= /^[+-]/.test(line);
  }
}

/** Whether only blank lines and the fence of a code block follow. */
function endsText(lines: readonly string[], from: number): boolean {
  for (let i = from; i < lines.length; i += 1) {
    if (!/^\s*(```+|~~~+)?\s*$/.test(lines[i] ?? '')) return false;
  }
  return true;
}

/** Drops "\\ No newline at end of file" where more lines of its side follow: git refuses it. */
function dropMarksInside({ lines }: Body, from: number, problems: PatchProblem[]): void {
  const lastOld = lines.findLastIndex(({ kind }) => kind !== 'added');
  const lastNew = lines.findLastIndex(({ kind }) => kind !== 'removed');
  for (const [at, line] of lines.entries()) {
    const isLast =
      (line.kind === 'added' || at === lastOld) && (line.kind === 'removed' || at === lastNew);
    if (!line.noNewline || isLast) continue;
    line.noNewline = false;
    problems.push({
      severity: 'error',
      line: from + at + 1,
      message: '"\\ No newline at end of file" comes before the last line',
      hint: 'Remove it',
      code: 'malformed',
    });
  }
}

function tellOddLines(
  lines: readonly string[],
  from: number,
  to: number,
  problems: PatchProblem[],
): void {
  const odd = lines.slice(from, to).indexOf('\r');
  if (odd < 0) return;
  problems.push({
    severity: 'error',
    line: from + odd + 1,
    message: 'A context line is missing its leading space',
    code: 'white-space',
    hint: 'Start each context line with a space, including blank ones',
  });
}
