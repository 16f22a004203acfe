import type { ChangedLine } from '../domain/changeCoverage';
import type { FilePatch, ParsedPatch } from './unified/parsedPatch';

/**
 * The lines that a patch removes, with paths and line numbers of R, and those it adds, with paths and
 * line numbers of R∘X* (paper, section 3.3: X_r and X_a). Line numbers are 1-based and those of the
 * hunk headers; for a patch that applies with an offset use `placed` of `applyPatch`.
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

/** The line of the file after the patch that a line before it became; undefined if it is removed. */
export function oldToNewLine(file: FilePatch, line: number): number | undefined {
  return otherLine(file, line, 'old');
}

/** The line of the file before the patch that a line after it was; undefined if it is added. */
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
