/** `1 test`, `2 tests`: for nouns whose plural only adds an s. */
export const plural = (count: number, noun: string): string =>
  `${count} ${noun}${count === 1 ? '' : 's'}`;
