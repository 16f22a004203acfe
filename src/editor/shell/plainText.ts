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

/** The name of the author's own candidate in a run, which tells an author nothing. */
const ownCandidate = 'workspace';

/**
 * A step without the name that the title beside it has already: `X: base tests` becomes `base tests`
 * beside `Validating X`.
 *
 * @param title or the name alone, where something else says it
 */
export function stepBeside(title: string, step: string): string {
  const name = /^(\S+): /.exec(step)?.[1];
  return name === ownCandidate || (name !== undefined && title.split(/\s+/).includes(name))
    ? step.slice(name.length + 2)
    : step;
}

/**
 * A text without the markup that notifications turn into links. There, VS Code makes links, even to
 * commands, of `[label](target)`; messages quote foreign text, such as paths, code and names of
 * tests.
 */
export function withoutLinkMarkup(text: string): string {
  return text.replaceAll('](', '] (');
}

/** Three or more marks, indented by at most three blanks, that open or close a block of code. */
const mark = /^ {0,3}(`{3,}(?!.*`)|~{3,})(.*)$/;

/**
 * Text that closes the block of code a Markdown text leaves open, with a line end before it. Empty
 * when no block is open (CommonMark, section 4.5).
 */
export function fenceClosing(text: string): string {
  let open: string | undefined;
  for (const line of text.split('\n')) {
    const [, fence, rest = ''] = mark.exec(line.trimEnd()) ?? [];
    if (fence === undefined) continue;
    if (open === undefined) open = fence;
    else if (fence[0] === open[0] && fence.length >= open.length && rest.trim() === '') {
      open = undefined;
    }
  }
  return open === undefined ? '' : `\n${open}`;
}

/** Wraps a text in a block of code whose fence is longer than any in the text. */
export function fenced(text: string, language: string): string {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([run]) => run.length));
  const fence = '`'.repeat(longest + 1);
  return `${fence}${language}\n${text.replace(/\n$/, '')}\n${fence}\n`;
}
