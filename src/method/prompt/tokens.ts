/**
 * Counts the tokens of a text in the encoding o200k_base. Other models split texts differently:
 * their counts may be a tenth higher or lower.
 */
export type CountTokens = (text: string) => number;

let loaded: Promise<CountTokens> | undefined;

/** Loads the tokenizer on demand, since it has two hundred thousand words. */
export function tokenCounter(): Promise<CountTokens> {
  loaded ??= import('gpt-tokenizer/encoding/o200k_base').then(
    ({ countTokens }) =>
      (text) =>
        // A text may contain `<|endoftext|>`, which counts as ordinary text.
        countTokens(text, { disallowedSpecial: new Set() }),
  );
  return loaded;
}

/** UTF-16 units that are counted at once: the work for a word may grow with the square of its length. */
const mostAtOnce = 2000;
/** UTF-16 units beyond which a text is only estimated, at two units a token. */
const mostCounted = 1_000_000;

/**
 * Counts the tokens of a text that may be made to take long. It counts in pieces, so the number may be
 * slightly too large.
 */
export async function tokensOfUntrusted(text: string): Promise<number> {
  const count = await tokenCounter();
  let tokens = Math.ceil(Math.max(0, text.length - mostCounted) / 2);
  for (let at = 0; at < Math.min(text.length, mostCounted); at += mostAtOnce) {
    tokens += count(text.slice(at, at + mostAtOnce));
  }
  return tokens;
}
