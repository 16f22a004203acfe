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
