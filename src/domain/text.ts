/** The first names of a list, and how many more there are: `a, b and 2 more`. */
export function listed(names: readonly string[], most: number): string {
  const more = names.length - most;
  return `${names.slice(0, most).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}

/** All names, as British English lists them: `a, b and c`. */
export const inList = (names: readonly string[]): string =>
  names.length < 2 ? names.join('') : `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`;

/** `1 test`, `2 tests`: for nouns whose plural only adds an s. */
export const plural = (count: number, noun: string): string =>
  `${count} ${noun}${count === 1 ? '' : 's'}`;

/**
 * Characters that are invisible or change how others are shown. These are control characters, line
 * and paragraph separators, marks of direction, characters without width, and lone surrogates.
 */
const unseen =
  /[\p{Cc}\p{Zl}\p{Zp}\u00ad\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]|\p{Cs}/gu;

/** Maximum number of characters of a label. Longer text does not fit in one line of a list. */
const longest = 200;

/**
 * Turns untrusted text into one line for rows of lists, status bars and messages. Characters that
 * are invisible, or change how others are shown, become blanks.
 *
 * @param text of any length; only its beginning is read
 */
export function asLabel(text: string): string {
  const line = text
    .slice(0, 4 * longest)
    .replace(unseen, ' ')
    .replace(/\s+/g, ' ')
    .trim();
  return line.length > longest ? `${line.slice(0, longest - 1).trimEnd()}…` : line;
}

/** A cell that is longer would push all others out of the window. */
const longestCell = 200;

const cut = (cell: string): string =>
  cell.length > longestCell ? `${cell.slice(0, longestCell - 1)}…` : cell;

/**
 * Lays out columns with two spaces between them. Widths count characters, each of which is taken to
 * fill one column. Control characters become spaces, and long cells are cut.
 */
export function layOut(raw: readonly (readonly string[])[]): string {
  const rows = raw.map((row) => row.map((cell) => cut(withoutControl(cell))));
  const widths: number[] = [];
  for (const row of rows) {
    for (const [index, cell] of row.entries()) {
      widths[index] = Math.max(widths[index] ?? 0, [...cell].length);
    }
  }
  const line = (row: readonly string[]): string =>
    row
      .map((cell, index) => cell + ' '.repeat((widths[index] ?? 0) - [...cell].length))
      .join('  ')
      .trimEnd();
  const [head, ...body] = rows;
  if (head === undefined) return '';
  return [line(head), widths.map((width) => '─'.repeat(width)).join('──'), ...body.map(line)].join(
    '\n',
  );
}

/** Control characters, and the marks that change the direction in which others are shown. */
const direction = '\\u061c\\u200e\\u200f\\u202a-\\u202e\\u2066-\\u2069';
const control = new RegExp(`[\\u0000-\\u001f\\u007f-\\u009f\\u2028\\u2029${direction}]+`, 'g');
const escape = new RegExp(`[\\u0000-\\u0008\\u000b-\\u001f\\u007f-\\u009f${direction}]+`, 'g');

/**
 * Replaces control characters, marks of direction and line ends by spaces. Names and messages from
 * files and tested code must not break a line or control the terminal.
 */
export const withoutControl = (text: string): string => text.replace(control, ' ');

/** Like {@link withoutControl}, but keeps the lines and tabs of a text. */
export const withoutEscapes = (text: string): string =>
  text.replaceAll('\r\n', '\n').replace(escape, ' ');

const inJson = new RegExp(`[\\u007f-\\u009f\\u2028\\u2029${direction}]`, 'g');

/**
 * JSON in which the signs that drive a terminal stand as escapes. JSON itself asks for that only
 * below U+0020. The value is the same.
 */
export const plainJson = (json: string): string =>
  json.replace(inJson, (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`);

/** A document of JSON for standard output, indented by two blanks. */
export const jsonText = (value: unknown): string =>
  `${plainJson(JSON.stringify(value, null, 2))}\n`;

/** What this program writes before a line that replaces others; see `terminalReporter`. */
// oxlint-disable-next-line no-control-regex -- these are the sequences
const ownSequences = /^(?:\r|\u001b\[(?:2K|0J|\d{1,3}A))+/;

/** A text for a terminal, without the sequences that a stranger wrote into it. */
export function forTerminal(text: string): string {
  const own = ownSequences.exec(text)?.[0] ?? '';
  return own + withoutEscapes(text.slice(own.length));
}

/** Characters that a reader cannot see, or that reverse the order of others. */
const unseenInLine =
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
    .replace(unseenInLine, (odd) => `\\u${odd.charCodeAt(0).toString(16).padStart(4, '0')}`);
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
