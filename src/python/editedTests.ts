import type { PythonParser } from './parser';
import { findTests, type PythonTest } from './tests';

/** What an edit of a file of tests may have an effect on. */
export interface EditedTests {
  /** Ids of tests whose own code the edit adds or changes. */
  readonly edited: readonly string[];
  /** Ids of tests that it takes away. */
  readonly removed: readonly string[];
  /**
   * Whether the rest of the file is as it was: imports, fixtures, helpers, decorators, what runs around
   * tests. When it is not, any test of the file may do something else than before.
   */
  readonly onlyTests: boolean;
  /** By how many lines the tests that stayed as they were have moved, by their ids. */
  readonly moved: ReadonlyMap<string, number>;
}

/**
 * Compares a file of tests before and after an edit. It is careful rather than clever: a comment in a
 * test is an edit of that test, and whatever is not the code of a test concerns all of them.
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
 * A source without its tests from their `def` on, without blank lines and comments. Decorators remain:
 * they run when the file is imported.
 */
function restOf(source: string, tests: readonly PythonTest[]): string {
  const lines = source.split('\n');
  for (const { defLine, range } of tests) lines.fill('', defLine - 1, range.endLine);
  return lines
    .map((line) => line.trimEnd())
    .filter((line) => line !== '' && !line.trimStart().startsWith('#'))
    .join('\n');
}
