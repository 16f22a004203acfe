/*
 * Each part can begin at few places only, so that no text makes the search take quadratic time.
 */

/** Fences of code, up to the closing one or the end of the text, as CommonMark has them. */
const fenced = /^ {0,3}(`{3,}(?!`)|~{3,}(?!~))[^\n]*\n(?:[^]*?^ {0,3}\1[`~]*[ \t]*$|[^]*)/;
/** A line of indented code. */
const indented = /^(?: {4}|\t)[^\n]*/;
/** Code between equal runs of backticks, within a paragraph. */
const code = /(?<!`)(`+)(?!`)(?:(?!\n[ \t]*\n)[^])*?(?<!`)\1(?!`)/;
/** Tags and addresses, whose text must stay as it is. */
const markup = /<\/?[A-Za-z][^<>\n]*>|(?<!\S)\S*:\/\/\S*/;
/** What a backslash escapes is literal already. */
const escaped = /\\./;
const dunder = /(?<!\w)__(?<name>[A-Za-z]\w*?)__(?!\w)/;

const parts = new RegExp(
  [fenced, indented, code, markup, escaped, dunder]
    .map(({ source }, index) => renumbered(source, index))
    .join('|'),
  'gm',
);

/** Names the only group that a part refers to, since numbers change when parts are joined. */
function renumbered(source: string, index: number): string {
  return source.replace(/\((?=`|~)/, `(?<mark${index}>`).replaceAll('\\1', `\\k<mark${index}>`);
}

/**
 * Keeps `__init__` and other dunder names of Python as they are written. Markdown would make them
 * bold. Code is left alone, as are `__two words__`, which are meant to be bold.
 *
 * @returns Markdown in which the underscores are entities, which text and HTML both show as such
 */
export const literalDunders = (markdown: string): string =>
  markdown.replace(parts, (whole: string, ...rest: unknown[]) => {
    const { name } = rest.at(-1) as { readonly name?: string };
    return name === undefined ? whole : `${line}${name}${line}`;
  });

const line = '&#95;&#95;';
