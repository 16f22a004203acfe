/** A new file whose path may be a slip, with the files that it may mean. */
export interface DoubtfulPath {
  readonly path: string;
  /** At most three existing files. */
  readonly near: readonly string[];
  /** Whether its folder does not exist either. */
  readonly inNewFolder: boolean;
}

/**
 * New files whose paths may be slips: a file of nearly this name is in the folder, one of exactly
 * this name and nearly this folder is elsewhere, or the folder does not exist.
 *
 * @param made paths of the files that an edit makes
 * @param existing paths of all files that exist
 */
export function doubtfulPaths(
  made: readonly string[],
  existing: readonly string[],
): DoubtfulPath[] {
  const folders = new Set(existing.flatMap((path) => foldersOf(path)));
  return made.flatMap((path) => {
    const near = existing.filter((each) => isNear(path, each)).slice(0, 3);
    const inNewFolder = !folders.has(folderOf(path));
    return near.length > 0 || inNewFolder ? [{ path, near, inNewFolder }] : [];
  });
}

const folderOf = (path: string): string => path.slice(0, Math.max(0, path.lastIndexOf('/')));
const nameOf = (path: string): string => path.slice(path.lastIndexOf('/') + 1);

/** The folder of a file and all above it; the empty text is the root. */
function foldersOf(path: string): string[] {
  const parts = folderOf(path).split('/');
  return ['', ...parts.map((_, index) => parts.slice(0, index + 1).join('/'))];
}

/** Names that many folders have, so that a further one is no slip. */
const commonNames = new Set(['__init__.py', 'conftest.py', 'tests.py', 'test.py']);

function isNear(path: string, other: string): boolean {
  const [name, otherName] = [nameOf(path), nameOf(other)];
  if (folderOf(path) === folderOf(other)) return isSlip(name, otherName);
  if (name !== otherName || commonNames.has(name)) return false;
  const isEnd = path.endsWith(`/${other}`) || other.endsWith(`/${path}`);
  return isEnd || isSlip(folderOf(path), folderOf(other));
}

/** Whether one of two texts may be a slip of the other: one letter differs, in long ones two. */
function isSlip(one: string, other: string): boolean {
  const most = Math.min(one.length, other.length) >= 10 ? 2 : 1;
  return Math.abs(one.length - other.length) <= most && editDistance(one, other) <= most;
}

/** Levenshtein distance, where two exchanged letters count as one edit. */
function editDistance(one: string, other: string): number {
  const rows: number[][] = [Array.from({ length: other.length + 1 }, (_, at) => at)];
  for (let i = 1; i <= one.length; i++) {
    const row = [i];
    for (let j = 1; j <= other.length; j++) {
      const same = one[i - 1] === other[j - 1];
      const above = rows[i - 1] ?? [];
      let least = Math.min(
        (above[j] ?? 0) + 1,
        (row[j - 1] ?? 0) + 1,
        (above[j - 1] ?? 0) + (same ? 0 : 1),
      );
      const isExchange =
        i > 1 && j > 1 && one[i - 1] === other[j - 2] && one[i - 2] === other[j - 1];
      if (isExchange) least = Math.min(least, (rows[i - 2]?.[j - 2] ?? 0) + 1);
      row.push(least);
    }
    rows.push(row);
  }
  return rows[one.length]?.[other.length] ?? 0;
}
