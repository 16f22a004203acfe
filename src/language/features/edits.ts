import type { TextEdit } from 'vscode-languageserver';
import type { LineReplacement } from '../../patch/diagnostic';
import type { CustomDiff } from '../customDiffs';

/**
 * Converts changes of lines of a custom diff to edits of its document.
 *
 * @param text the whole document
 */
export function textEdits(
  text: string,
  diff: CustomDiff,
  changes: readonly LineReplacement[],
): TextEdit[] {
  const eol = /\r?\n/.exec(text)?.[0] ?? '\n';
  const lines = text.split(/\r?\n/);
  const last = lines.length - 1;
  return changes.map((change) => {
    const written = change.lines.map((line) => (line === '' ? line : diff.indent + line));
    const from = diff.start + change.from - 1;
    const to = diff.start + change.to - 1;
    if (to <= last) {
      return edit({ line: from, character: 0 }, { line: to, character: 0 }, [...written, '']);
    }
    // The last line has no line end, so an edit there includes the line end before it.
    const end = { line: last, character: lines[last]?.length ?? 0 };
    if (from > last) return edit(end, end, ['', ...written]);
    if (written.length > 0 || from === 0) return edit({ line: from, character: 0 }, end, written);
    return edit({ line: from - 1, character: lines[from - 1]?.length ?? 0 }, end, []);
  });

  function edit(
    start: TextEdit['range']['start'],
    end: TextEdit['range']['end'],
    written: string[],
  ): TextEdit {
    return { range: { start, end }, newText: written.join(eol) };
  }
}
