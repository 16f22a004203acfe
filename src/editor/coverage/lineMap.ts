import { diffArrays } from 'diff';

/**
 * Maps the lines of a text to a later version of it.
 *
 * @returns 1-based lines of `now` by 1-based lines of `before`, without those that are gone or
 * changed
 */
export function lineMap(before: readonly string[], now: readonly string[]): Map<number, number> {
  const map = new Map<number, number>();
  const shorter = Math.min(before.length, now.length);
  let head = 0;
  while (head < shorter && before[head] === now[head]) head++;
  let tail = 0;
  while (tail < shorter - head && before.at(-1 - tail) === now.at(-1 - tail)) tail++;
  for (let i = 0; i < head; i++) map.set(i + 1, i + 1);
  for (let i = 0; i < tail; i++) map.set(before.length - i, now.length - i);
  // Beyond this many edits the middle counts as replaced: finding what is left of it takes too
  // long.
  const parts = diffArrays(
    before.slice(head, before.length - tail),
    now.slice(head, now.length - tail),
    { maxEditLength: 2000 },
  );
  let [from, to] = [head, head];
  for (const { value, added, removed } of parts ?? []) {
    if (!added && !removed) {
      for (let i = 1; i <= value.length; i++) map.set(from + i, to + i);
    }
    if (!added) from += value.length;
    if (!removed) to += value.length;
  }
  return map;
}
