/**
 * Characters that are invisible or change how others are shown. These are control characters, line
 * and paragraph separators, marks of direction, characters without width, and lone surrogates.
 */
const unseen =
  /[\p{Cc}\p{Zl}\p{Zp}\u00ad\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]|\p{Cs}/gu;

/** Most characters of a label. Longer text does not fit in one line of a list. */
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
