import type { MarkdownString } from 'vscode';

/**
 * Adds text in which nothing is markup. Unlike `appendText`, which makes every space one that does not
 * break, lines of a hover break between words.
 */
export function appendPlainText(markdown: MarkdownString, text: string): MarkdownString {
  return markdown.appendMarkdown(escapeMarkdown(text));
}

/** A text in which nothing is markup (CommonMark, section 2.4; `~` and `|` are GitHub's). */
export function escapeMarkdown(text: string): string {
  return text
    .replace(/[\\`*_{}[\]()<>#+\-.!~|&$@:=]/g, '\\$&')
    .replace(/[^\S\r\n]+/g, ' ')
    .replace(/\r?\n/g, '\n\n');
}
