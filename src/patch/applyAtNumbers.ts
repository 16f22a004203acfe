import type { Hunk } from './hunk';

/**
 * The file after hunks that stand in it at their line numbers as they are, in order and apart: what
 * `git apply` makes of them without looking for their places. No index of the file is needed for it.
 *
 * @returns undefined when git would have to look for a place, would refuse, or the new line numbers do
 *   not follow from the old ones
 */
export function applyAtNumbers(before: string, hunks: readonly Hunk[]): string | undefined {
  if (hunks.length === 0) return undefined;
  const lines = before.split('\n');
  const isEnded = lines.at(-1) === '';
  if (isEnded) lines.pop();
  const out: string[] = [];
  let done = 0;
  let shift = 0;
  // The first line of `out` that has no line end; it has to be the last one.
  let unended = -1;
  const endWith = (line: number): void => {
    if (unended < 0) unended = line;
  };
  const keepUntil = (line: number): void => {
    for (; done < line; done += 1) {
      if (done === lines.length - 1 && !isEnded) endWith(out.length);
      out.push(lines[done] ?? '');
    }
  };
  for (const hunk of hunks) {
    const start = hunk.oldLines === 0 ? hunk.oldStart : hunk.oldStart - 1;
    const newStart = hunk.newLines === 0 ? hunk.newStart : hunk.newStart - 1;
    const isPlain = hunk.unnumbered !== true && (hunk.oldStart > 1 || start === 0);
    if (!isPlain || start < done || newStart !== start + shift) return undefined;
    // Without context behind its changes it belongs at the end for git.
    if (hunk.lines.at(-1)?.kind !== 'context' && start + hunk.oldLines !== lines.length) {
      return undefined;
    }
    if (start > lines.length) return undefined;
    keepUntil(start);
    let changes = false;
    for (const { kind, text, noNewline } of hunk.lines) {
      if (kind !== 'context') changes = true;
      if (kind !== 'added') {
        const isLast = done === lines.length - 1 && !isEnded;
        if (lines[done] !== text || noNewline !== isLast) return undefined;
        done += 1;
      }
      if (kind === 'removed') continue;
      if (noNewline) endWith(out.length);
      out.push(text);
    }
    if (!changes) return undefined;
    shift += hunk.newLines - hunk.oldLines;
  }
  keepUntil(lines.length);
  if (unended >= 0 && unended < out.length - 1) return undefined;
  if (out.length === 0) return '';
  return out.join('\n') + (unended < 0 ? '\n' : '');
}
