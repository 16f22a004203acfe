/**
 * Whether a version equals the given one, or is inside `FIRST-LAST`, `FIRST-` or `-LAST`. Versions
 * are compared by their numbers.
 */
export function isInVersionRange(version: string, range: string): boolean {
  const [first = '', last = first] = range.split('-');
  return (
    (first === '' || compareVersions(version, first) >= 0) &&
    (last === '' || compareVersions(version, last) <= 0)
  );
}

function compareVersions(one: string, other: string): number {
  const [left, right] = [one, other].map((text) => text.split('.').map(Number));
  for (let at = 0; at < Math.max(left?.length ?? 0, right?.length ?? 0); at++) {
    const difference = (left?.[at] ?? 0) - (right?.[at] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}
