import type { ChangedLine } from '../domain/changeCoverage';
import type { FilePatch, ParsedPatch } from './parsedPatch';

/**
 * The lines that a patch removes and those that it adds (X_r and X_a in section 3.3 of the paper).
 * Removed lines have paths and line numbers of R, added lines those of R∘X*. Line numbers are
 * 1-based and follow the hunk headers. For a patch that applies with an offset, use `placed` of
 * `applyPatch`.
 */
export function changedLines(patch: ParsedPatch): {
  removed: ChangedLine[];
  added: ChangedLine[];
} {
  const removed: ChangedLine[] = [];
  const added: ChangedLine[] = [];
  for (const file of patch.files) {
    for (const hunk of file.hunks) {
      for (const line of hunk.lines) {
        if (line.kind === 'removed' && file.oldPath !== null && line.oldLine !== undefined) {
          removed.push({ path: file.oldPath, line: line.oldLine, text: line.text });
        }
        if (line.kind === 'added' && file.newPath !== null && line.newLine !== undefined) {
          added.push({ path: file.newPath, line: line.newLine, text: line.text });
        }
      }
    }
  }
  return { removed, added };
}

/** The new number of a line of the old file; undefined if the patch removes the line. */
export function oldToNewLine(file: FilePatch, line: number): number | undefined {
  return otherLine(file, line, 'old');
}

/** The old number of a line of the new file; undefined if the patch adds the line. */
export function newToOldLine(file: FilePatch, line: number): number | undefined {
  return otherLine(file, line, 'new');
}

function otherLine(file: FilePatch, line: number, side: 'old' | 'new'): number | undefined {
  if ((side === 'old' ? file.newPath : file.oldPath) === null) return undefined;
  let shift = 0;
  for (const hunk of file.hunks) {
    const [start, count, other] =
      side === 'old'
        ? [hunk.oldStart, hunk.oldLines, hunk.newLines]
        : [hunk.newStart, hunk.newLines, hunk.oldLines];
    const first = count === 0 ? start + 1 : start;
    if (line < first) break;
    if (line < first + count) {
      const found = hunk.lines.find((l) => (side === 'old' ? l.oldLine : l.newLine) === line);
      return side === 'old' ? found?.newLine : found?.oldLine;
    }
    shift += other - count;
  }
  return line + shift;
}

/** One place where a patch replaces lines by others. At most one of the two lists is empty. */
export interface ChangeBlock {
  /** 1-based lines of the old file. */
  readonly removed: readonly number[];
  /** 1-based lines of the new file. */
  readonly added: readonly number[];
  /** The last line before the block in each file; 0 if the block is at the start. */
  readonly oldBefore: number;
  readonly newBefore: number;
}

/** The blocks of a file in the order of its hunks, numbered by the hunk headers. */
export function changeBlocks(file: FilePatch): ChangeBlock[] {
  const blocks: ChangeBlock[] = [];
  for (const hunk of file.hunks) {
    let oldBefore = hunk.oldLines === 0 ? hunk.oldStart : hunk.oldStart - 1;
    let newBefore = hunk.newLines === 0 ? hunk.newStart : hunk.newStart - 1;
    let removed: number[] = [];
    let added: number[] = [];
    const close = (): void => {
      if (removed.length + added.length > 0) blocks.push({ removed, added, oldBefore, newBefore });
      oldBefore += removed.length;
      newBefore += added.length;
      removed = [];
      added = [];
    };
    for (const { kind, oldLine, newLine } of hunk.lines) {
      if (kind === 'removed' && oldLine !== undefined) removed.push(oldLine);
      else if (kind === 'added' && newLine !== undefined) added.push(newLine);
      else {
        close();
        oldBefore++;
        newBefore++;
      }
    }
    close();
  }
  return blocks;
}

/** A line of the old or the new file of a patch. */
export interface SideLine {
  readonly side: 'old' | 'new';
  /** 1-based. */
  readonly line: number;
}

/**
 * Orders lines of both files as a diff shows them from top to bottom. The removed lines of a block
 * come before its added ones. Unchanged lines stay between their neighbouring blocks.
 *
 * @returns negative when `a` comes first; 0 only for the same line, or for unchanged lines between the
 *   same two blocks, one of each file
 */
export function compareLines(blocks: readonly ChangeBlock[], a: SideLine, b: SideLine): number {
  const [first, second] = [placeOf(blocks, a), placeOf(blocks, b)];
  if (first.block !== second.block) return first.block - second.block;
  if (first.part !== second.part) return first.part - second.part;
  return a.side === b.side ? a.line - b.line : 0;
}

/** Even numbers stand for the gaps between blocks, odd ones for the blocks. */
function placeOf(
  blocks: readonly ChangeBlock[],
  { side, line }: SideLine,
): { readonly block: number; readonly part: number } {
  let before = 0;
  for (const block of blocks) {
    const start = side === 'old' ? block.oldBefore : block.newBefore;
    const lines = side === 'old' ? block.removed : block.added;
    if (line <= start) break;
    if (line <= start + lines.length)
      return { block: before * 2 + 1, part: side === 'old' ? 0 : 1 };
    before++;
  }
  return { block: before * 2, part: 0 };
}
