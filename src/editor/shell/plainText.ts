import type { MarkdownString } from 'vscode';

/**
 * Adds text in which nothing is markup. `appendText` would make all spaces non-breaking; here the
 * lines of a hover can break between words.
 */
export function appendPlainText(markdown: MarkdownString, text: string): MarkdownString {
  return markdown.appendMarkdown(escapeMarkdown(text));
}

/**
 * Escapes a text so that nothing in it is markup (CommonMark, section 2.4; `~` and `|` are
 * GitHub's).
 */
export function escapeMarkdown(text: string): string {
  return text
    .replace(/[\\`*_{}[\]()<>#+\-.!~|&$@:=]/g, '\\$&')
    .replace(/[^\S\r\n]+/g, ' ')
    .replace(/\r?\n/g, '\n\n');
}
