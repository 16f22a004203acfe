import type { FilePatch, ParsedPatch } from './unified/parsedPatch';

const testName = /^(test_.*|.*_tests?|tests?|testing|unittest_.*)\.py$/s;
const testFolders = new Set(['test', 'tests', 'testing', 'unittests', 'unit_tests', 'e2e']);

/**
 * Whether the name alone shows that a file holds tests, by the conventions of pytest, Django and
 * pylint.
 */
function isTestName(path: string): boolean {
  return testName.test(path.slice(path.lastIndexOf('/') + 1));
}

/**
 * Whether a file belongs to the tests, by its name or one of its folders. Data files of tests
 * belong to them too.
 */
export function isTestPath(path: string): boolean {
  const parts = path.split('/');
  const name = parts.pop() ?? '';
  return (
    testName.test(name) || name === 'conftest.py' || parts.some((part) => testFolders.has(part))
  );
}

const definesTest = /^\s*(async\s+def|def)\s+test|^\s*class\s+\w*(Test|Tests|TestCase)\b/;

/**
 * The files of a patch that a test runner can run, in the patch's order. They are Python files that
 * exist after the patch. Their names show that they are tests, or they are in a folder of tests and
 * the patch shows a test in them. Needs no `diff --git` lines.
 */
export function testFilesOf(patch: ParsedPatch): string[] {
  const paths = new Set<string>();
  for (const file of patch.files) {
    const path = file.newPath;
    if (path === null || !path.endsWith('.py') || file.binary) continue;
    if (isTestName(path) || (isTestPath(path) && isRunnable(path, file))) paths.add(path);
  }
  return [...paths];
}

function isRunnable(path: string, file: FilePatch): boolean {
  if (/(^|\/)(conftest|__init__)\.py$/.test(path)) return false;
  return file.hunks.some(
    (hunk) =>
      definesTest.test(hunk.section) ||
      hunk.lines.some((line) => line.kind !== 'removed' && definesTest.test(line.text)),
  );
}

/**
 * Splits a patch into edits of tests and other edits. A file that moves into or out of the tests is
 * among the others, since such a patch touches both.
 */
export function splitTestEdits(patch: ParsedPatch): { tests: FilePatch[]; others: FilePatch[] } {
  const tests: FilePatch[] = [];
  const others: FilePatch[] = [];
  for (const file of patch.files) {
    const paths = [file.oldPath, file.newPath].filter((path) => path !== null);
    (paths.every(isTestPath) ? tests : others).push(file);
  }
  return { tests, others };
}

/** Paths that a patch changes outside tests, in its order. */
export const pathsOutsideTests = (patch: ParsedPatch): string[] =>
  splitTestEdits(patch).others.flatMap(({ newPath, oldPath }) => newPath ?? oldPath ?? []);

/** Old paths of the files that a patch renames, by their new paths. */
export const renamedFiles = ({ files }: ParsedPatch): ReadonlyMap<string, string> =>
  new Map(
    files.flatMap(({ kind, oldPath, newPath }) =>
      kind === 'renamed' && oldPath !== null && newPath !== null ? [[newPath, oldPath]] : [],
    ),
  );
