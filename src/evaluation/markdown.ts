/** Characters that a reader cannot see, or that reverse the order of others. */
const unseen =
  // oxlint-disable-next-line no-control-regex -- these are what is to be shown
  /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]|[\ud800-\udfff]/gu;

/**
 * An untrusted text on one line: line ends and tabs become spaces, and invisible characters are
 * spelt out.
 */
export function markdownLine(text: string): string {
  return text
    .replace(/\s*[\r\n]\s*/g, ' ')
    .replaceAll('\t', ' ')
    .replace(unseen, (odd) => `\\u${odd.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/**
 * An untrusted text as code in Markdown, also in a cell of a table: nothing in it acts as markup
 * (CommonMark, section 6.1; GitHub's tables end a cell at every bar, in code too).
 */
export function markdownCode(text: string): string {
  const shown = markdownLine(text);
  if (shown.trim() === '') return '';
  if (shown.includes('|')) return `<code>${shown.replace(/[^\w\s,;/=.-]/gu, entity)}</code>`;
  const runs = [...shown.matchAll(/`+/g)].map(([run]) => run.length);
  const fence = '`'.repeat(Math.max(0, ...runs) + 1);
  const pad = /^[` ]|[` ]$/.test(shown) ? ' ' : '';
  return `${fence}${pad}${shown}${pad}${fence}`;
}

/** A character as a numeric entity; underscores begin emphasis in HTML too. */
const entity = (character: string): string => `&#${character.codePointAt(0) ?? 0xfffd};`;

/**
 * A sentence that quotes untrusted texts, in Markdown: ids of tests become code, and the rest has
 * no markup and no links.
 */
export function markdownProse(text: string): string {
  return markdownLine(text)
    .split(/(\S+::[^\s,;)]+)/)
    .map((part, index) => (index % 2 === 1 ? markdownCode(part) : escaped(part)))
    .join('');
}

function escaped(text: string): string {
  return text
    .replace(/[\\`*[\]<>&|~!]/g, '\\$&')
    .replace(/(?<![\p{L}\p{N}])_|_(?![\p{L}\p{N}])/gu, '\\_')
    .replace(/^(\s*)([#+-]|\d+[.)])/, '$1\\$2')
    .replace(/:\/\//g, ':\\/\\/')
    .replace(/www\./gi, 'www\\.')
    .replaceAll('@', '\\@');
}

/** A table with one line for each row, or `none` where it has no rows. Cells are Markdown. */
export function markdownTable(
  head: readonly string[],
  rows: readonly (readonly string[])[],
  none: string,
): string {
  if (rows.length === 0) return none;
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n');
}
