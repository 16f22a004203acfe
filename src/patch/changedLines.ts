import type { ChangedLine } from '../domain/changeCoverage';
import type { FilePatch, ParsedPatch } from './unified/parsedPatch';

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
