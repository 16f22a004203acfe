/**
 * A text without the markup that notifications turn into links. There, VS Code makes links, even to
 * commands, of `[label](target)`; messages quote foreign text, such as paths, code and names of
 * tests.
 */
export function withoutLinkMarkup(text: string): string {
  return text.replaceAll('](', '] (');
}
