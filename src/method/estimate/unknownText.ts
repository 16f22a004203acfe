/**
 * Stands around what a walk does not know. It is a letter of a script that nobody writes any more,
 * so that the whole is a word, also for Python.
 */
const mark = '𐌀';

const unknown = new RegExp(`${mark}\\w*_(\\d+)${mark}`, 'gu');

/**
 * Stands for a text that nobody has written yet.
 *
 * @param name of letters and digits; equal texts have equal names
 * @param tokens that it may have
 */
export const unknownText = (name: string, tokens: number): string =>
  `${mark}${name}_${Math.max(0, Math.ceil(tokens))}${mark}`;

/** Whether something in a text is unknown. */
export const isUnknown = (text: string): boolean => text.includes(mark);

/** Tokens that the unknown parts of a text may have. */
export const unknownTokens = (text: string): number =>
  [...text.matchAll(unknown)].reduce((sum, [, tokens]) => sum + Number(tokens), 0);
