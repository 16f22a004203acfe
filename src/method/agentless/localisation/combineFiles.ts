/**
 * The first of two lists together: what both have, then the rest of the first list, then that of
 * the second, each in the order of its list.
 */
export function combineFiles(
  named: readonly string[],
  retrieved: readonly string[],
  most: number,
): string[] {
  const both = named.filter((path) => retrieved.includes(path));
  return [...new Set([...both, ...named, ...retrieved])].slice(0, most);
}
