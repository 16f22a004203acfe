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
