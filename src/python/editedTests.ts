import type { PythonParser } from './parser';
import { findTests, type PythonTest } from './tests';

/** The effect of an edit on the tests of a file. */
interface EditedTests {
  /** Ids of tests whose own code the edit adds or changes. */
  readonly edited: readonly string[];
  /** Ids of tests that the edit removes. */
  readonly removed: readonly string[];
  /**
   * Whether the edit leaves the rest of the file as it was: imports, fixtures, helpers, decorators
   * and code that runs around tests. If false, any test of the file may behave differently.
   */
  readonly onlyTests: boolean;
  /** Ids of unchanged tests, with the number of lines by which each moved. */
  readonly moved: ReadonlyMap<string, number>;
}

/**
 * Compares a file of tests before and after an edit, in a cautious way. A comment in a test counts
 * as an edit of that test. Code outside tests affects all of them.
 */
export function editedTests(
  python: PythonParser,
  before: string,
  after: string,
  { path }: { path: string },
): EditedTests {
  const old = findTests(python, before, { path });
  const now = findTests(python, after, { path });
  const was = new Map(old.map((test) => [test.id, test]));
  const there = new Set(now.map((test) => test.id));
  const edited: string[] = [];
  const moved = new Map<string, number>();
  for (const test of now) {
    const earlier = was.get(test.id);
    if (earlier?.text === test.text) moved.set(test.id, test.defLine - earlier.defLine);
    else edited.push(test.id);
  }
  return {
    edited,
    removed: old.flatMap(({ id }) => (there.has(id) ? [] : [id])),
    onlyTests: restOf(before, old) === restOf(after, now),
    moved,
  };
}

/**
 * A source without blank lines, comments, and its tests from their `def` on. Decorators remain,
 * since they run when the file is imported.
 */
function restOf(source: string, tests: readonly PythonTest[]): string {
  const lines = source.split('\n');
  for (const { defLine, range } of tests) lines.fill('', defLine - 1, range.endLine);
  return lines
    .map((line) => line.trimEnd())
    .filter((line) => line !== '' && !line.trimStart().startsWith('#'))
    .join('\n');
}
