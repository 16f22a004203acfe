/** The first names of a list, and how many more there are: `a, b and 2 more`. */
export function listed(names: readonly string[], most: number): string {
  const more = names.length - most;
  return `${names.slice(0, most).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}

/** `1 test`, `2 tests`: for nouns whose plural only adds an s. */
export const plural = (count: number, noun: string): string =>
  `${count} ${noun}${count === 1 ? '' : 's'}`;
