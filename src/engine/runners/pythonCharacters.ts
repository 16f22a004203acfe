/**
 * Python's definition of white space, words and digits, which differs from JavaScript's. White
 * space includes the control characters 0x1c to 0x1f and 0x85, but not the byte order mark. Words
 * and digits are those of every script. Verified against CPython over all characters.
 */

const space = '\\t-\\r\\x1c- \\x85\\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000';

/** Character classes for a regular expression with the flag `u`. */
export const pythonCharacters = {
  space: `[${space}]`,
  notSpace: `[^${space}]`,
  digit: '\\p{Nd}',
  /** `\b` at the beginning of a word. */
  wordStart: '(?<![\\p{L}\\p{N}_])(?=[\\p{L}\\p{N}_])',
  /** `\b` at the end of a word. */
  wordEnd: '(?<=[\\p{L}\\p{N}_])(?![\\p{L}\\p{N}_])',
} as const;

const words = new RegExp(`${pythonCharacters.notSpace}+`, 'gu');

/** `text.split()` */
export function splitPythonWords(text: string): string[] {
  return text.match(words) ?? [];
}
