/**
 * Control characters, line and paragraph separators, what changes the direction of a text, what has no
 * width, and halves of characters.
 */
const unseen =
  /[\p{Cc}\p{Zl}\p{Zp}\u00ad\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]|\p{Cs}/gu;

/** Characters of a label; what is longer says no more in one line. */
const longest = 200;

/**
 * Text that somebody else has written, as one line that shows what it holds: for rows of lists, status
 * bars and messages. What cannot be seen, or changes how the rest is shown, becomes a blank.
 *
 * @param text may be long: only its beginning is looked at
 */
export function asLabel(text: string): string {
  const line = text
    .slice(0, 4 * longest)
    .replace(unseen, ' ')
    .replace(/\s+/g, ' ')
    .trim();
  return line.length > longest ? `${line.slice(0, longest - 1).trimEnd()}…` : line;
}
