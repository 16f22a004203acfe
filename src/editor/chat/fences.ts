/** A mark of at least three, at most three blanks into its line, as it opens or closes a block of code. */
const mark = /^ {0,3}(`{3,}(?!.*`)|~{3,})(.*)$/;

/**
 * What closes the block of code that a Markdown text leaves open, with the line end before it; empty when
 * none is open (CommonMark, section 4.5).
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

/** A text as a block of code that it cannot end, whatever is in it. */
export function fenced(text: string, language: string): string {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([run]) => run.length));
  const fence = '`'.repeat(longest + 1);
  return `${fence}${language}\n${text.replace(/\n$/, '')}\n${fence}\n`;
}
