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
