import type { LineReplacement } from '../../../src/patch/diagnostic';

/**
 * A text after the edits of fixes, which must not overlap. Line ends of the text stay; added lines
 * get the first line end of the text.
 */
export function applyLineEdits(text: string, edits: readonly LineReplacement[]): string {
  const lines = text.split(/(?<=\n)/);
  const eol = /\r?\n/.exec(text)?.[0] ?? '\n';
  for (const { from, to, lines: added } of [...edits].sort((a, b) => b.from - a.from)) {
    const last = lines[from - 2];
    if (added.length > 0 && from - 1 >= lines.length && last !== undefined && !last.endsWith('\n'))
      lines[from - 2] = last + eol;
    lines.splice(from - 1, to - from, ...added.map((line) => line + eol));
  }
  return lines.join('');
}
