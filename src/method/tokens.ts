/**
 * Tokens of a text by the encoding o200k_base. Other models cut texts in other ways: theirs may be a
 * tenth more or less.
 */
export type CountTokens = (text: string) => number;

let loaded: Promise<CountTokens> | undefined;

/** Loads the tokenizer, which holds two hundred thousand words: only when it is needed. */
export function tokenCounter(): Promise<CountTokens> {
  loaded ??= import('gpt-tokenizer/encoding/o200k_base').then(
    ({ countTokens }) =>
      (text) =>
        // A text may hold `<|endoftext|>`; it is a text all the same.
        countTokens(text, { disallowedSpecial: new Set() }),
  );
  return loaded;
}
