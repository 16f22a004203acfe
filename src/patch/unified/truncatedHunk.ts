import type { FilePatch } from '../parsedPatch';

/**
 * The last hunk, if the text ends within it. Its header then counts more lines than follow, and a
 * fence around it is never closed. Without a fence, a wrong count is the likelier fault.
 */
export function truncatedHunk(
  text: string,
  files: readonly FilePatch[],
): { file: FilePatch; hunk: FilePatch['hunks'][number] } | undefined {
  const file = files.at(-1);
  const hunk = file?.hunks.at(-1);
  if (file === undefined || hunk === undefined) return undefined;
  const lines = text.split('\n');
  if (lines.slice(file.endLine).some((line) => line.trim() !== '')) return undefined;
  if (!fallsShort(lines, hunk)) return undefined;
  const isOpen =
    lines.slice(0, file.line - 1).filter((line) => /^(?:```|~~~)/.test(line)).length % 2 === 1;
  return isOpen ? { file, hunk } : undefined;
}

/** Whether a hunk of a text has fewer lines than its header counts. */
export function fallsShort(lines: readonly string[], hunk: FilePatch['hunks'][number]): boolean {
  const header = /^@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@/.exec(lines[hunk.line - 1] ?? '');
  if (header === null) return false;
  return hunk.oldLines < Number(header[1] ?? 1) || hunk.newLines < Number(header[2] ?? 1);
}
