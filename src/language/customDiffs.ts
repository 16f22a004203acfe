import type { Position, Range } from 'vscode-languageserver';
import { readBlocksOfLines, type BlocksRead, type BlockReading } from '../patch/customFormat';

/** A custom diff in a document: the whole document, or one fence of a Markdown document. */
export interface CustomDiff {
  /** 0-based line of the document at which it begins. */
  readonly start: number;
  /** White space that a Markdown list adds before every line of the fence; empty otherwise. */
  readonly indent: string;
  /** Without line ends and without `indent`. */
  readonly lines: readonly string[];
  /** `lines` joined by `\n`, as the engine gets them. */
  readonly text: string;
  readonly blocks: readonly BlockReading[];
  /** The data of this reading, for reading the next version of the text. */
  readonly read: BlocksRead;
  /** Whether it is a fence, so that the document contains more. */
  readonly fenced: boolean;
}

/**
 * The custom diffs of a document: one, or one for each fence `custom-diff` of a Markdown document.
 *
 * @param before those of the document before its last change; unchanged blocks stay the same
 *   objects
 */
export function customDiffsIn(
  text: string,
  languageId: string,
  before: readonly CustomDiff[] = [],
): CustomDiff[] {
  const lines = text.split('\n');
  if (text.includes('\r')) {
    for (const [i, line] of lines.entries()) {
      if (line.endsWith('\r') && i < lines.length - 1) lines[i] = line.slice(0, -1);
    }
  }
  if (languageId !== 'markdown') {
    return [customDiff({ lines, start: 0, indent: '', fenced: false }, before[0])];
  }
  return fencesIn(lines).map(({ start, end, indent }, i) => {
    const own = lines.slice(start, end).map((line) => withoutIndent(line, indent));
    return customDiff({ lines: own, start, indent, fenced: true }, before[i]);
  });
}

/** The custom diff that contains a line of the document (0-based). */
export const customDiffAt = (diffs: readonly CustomDiff[], line: number): CustomDiff | undefined =>
  diffs.find((diff) => diff.start <= line && line < diff.start + diff.lines.length);

/** A position of the document as 1-based line and 0-based column of a custom diff. */
export const positionInDiff = (
  diff: CustomDiff,
  position: Position,
): { line: number; column: number } => ({
  line: position.line - diff.start + 1,
  column: Math.max(0, position.character - diff.indent.length),
});

/** Columns `from` to `to` of a line (1-based) of a custom diff as a range of the document. */
export function rangeIn(diff: CustomDiff, line: number, from: number, to: number): Range {
  const at = diff.start + line - 1;
  return {
    start: { line: at, character: from + diff.indent.length },
    end: { line: at, character: to + diff.indent.length },
  };
}

/** Whole lines `from` to `to` (1-based, both included) of a custom diff, without the last line's end. */
export function linesIn(diff: CustomDiff, from: number, to: number): Range {
  const last = diff.lines[to - 1];
  return {
    start: { line: diff.start + from - 1, character: 0 },
    end: {
      line: diff.start + to - 1,
      character: last === undefined || last === '' ? 0 : last.length + diff.indent.length,
    },
  };
}

function customDiff(
  given: Pick<CustomDiff, 'start' | 'indent' | 'lines' | 'fenced'>,
  before: CustomDiff | undefined,
): CustomDiff {
  const read = readBlocksOfLines(given.lines, before?.read);
  return { ...given, text: given.lines.join('\n'), blocks: read.blocks, read };
}

const opening = /^([ \t]*)(`{3,}|~{3,})\s*([^\s`]*)/;

/**
 * Fences of language `custom-diff`: lines between the marks, 0-based, `end` excluded (CommonMark
 * 0.31, 4.5).
 */
function fencesIn(lines: readonly string[]): { start: number; end: number; indent: string }[] {
  const found: { start: number; end: number; indent: string }[] = [];
  for (let i = 0; i < lines.length; i += 1) {
    const [whole = '', indent = '', mark = '', language = ''] = opening.exec(lines[i] ?? '') ?? [];
    // Three backticks with another one later on the line are a span of code.
    if (mark === '' || (mark.startsWith('`') && lines[i]?.includes('`', whole.length))) continue;
    const start = i + 1;
    const closes = (line: string): boolean => {
      const trimmed = line.trim();
      return trimmed.startsWith(mark) && trimmed === trimmed.charAt(0).repeat(trimmed.length);
    };
    i = start;
    while (i < lines.length && !closes(lines[i] ?? '')) i += 1;
    if (language.toLowerCase() === 'custom-diff') found.push({ start, end: i, indent });
  }
  return found;
}

function withoutIndent(line: string, indent: string): string {
  if (line.startsWith(indent)) return line.slice(indent.length);
  return line.trim() === '' ? '' : line;
}
