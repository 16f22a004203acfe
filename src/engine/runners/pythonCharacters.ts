/**
 * Python's idea of white space, words and digits, which JavaScript's does not quite match: Python's
 * includes the control characters 0x1c to 0x1f and 0x85, and not the byte order mark; its words and
 * digits are those of every script. Verified against CPython over all characters.
 */

const space = '\\t-\\r\\x1c- \\x85\\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000';

/** For use inside a regular expression with the flag `u`. */
export const pythonCharacters = {
  space: `[${space}]`,
  notSpace: `[^${space}]`,
  digit: '\\p{Nd}',
  /** `\b`, where a word begins. */
  wordStart: '(?<![\\p{L}\\p{N}_])(?=[\\p{L}\\p{N}_])',
  /** `\b`, where a word ends. */
  wordEnd: '(?<=[\\p{L}\\p{N}_])(?![\\p{L}\\p{N}_])',
} as const;

const words = new RegExp(`${pythonCharacters.notSpace}+`, 'gu');

/** `text.split()` */
export function splitPythonWords(text: string): string[] {
  return text.match(words) ?? [];
}
