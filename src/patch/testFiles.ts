import type { Diagnostic } from './diagnostic';
import { parseUnified } from './parseUnified';
import type { FilePatch, ParsedPatch } from './parsedPatch';
import type { FormatDescriptor } from './reading/formatDescriptor';
import { partsOf, without } from './reading/recognise';

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

const mode = '160000';

/**
 * Whether a part is about a submodule, which is also how git lists a repository that an agent left in
 * the tree. Git writes nothing of it: the diff has only the id of a commit.
 */
export const isSubmodule = ({ oldMode, newMode }: FilePatch): boolean =>
  oldMode === mode || newMode === mode;

/** A unified diff without its submodules, and their paths. */
export function withoutSubmodules(text: string): {
  readonly text: string;
  readonly left: readonly string[];
} {
  // Only few patches have one, and lists read thousands.
  const parts = text.includes(mode) ? parseUnified(text).files.filter(isSubmodule) : [];
  if (parts.length === 0) return { text, left: [] };
  const isLeft = (line: number): boolean =>
    parts.some((part) => part.line <= line && line <= part.endLine);
  return {
    text: text
      .split('\n')
      .filter((_, at) => !isLeft(at + 1))
      .join('\n'),
    left: parts.map(({ oldPath, newPath }) => newPath ?? oldPath ?? ''),
  };
}

/**
 * Replaces the edits of files outside the tests (see {@link isTestPath}) by blank lines. A file
 * that moves into or out of the tests is left out too, since half of a move is impossible.
 *
 * @returns `left` has the paths. Each part left out has a warning. There is an error if nothing
 *   remains.
 */
export function keepTests(
  text: string,
  format: FormatDescriptor,
): { text: string; left: readonly string[]; diagnostics: readonly Diagnostic[] } {
  const parts = partsOf(text, [format]);
  const stray = parts.filter((part) => !part.paths.every(isTestPath));
  if (stray.length === 0) return { text, left: [], diagnostics: [] };
  const left = new Set<string>();
  const diagnostics = stray.map((part): Diagnostic => {
    const outside = part.paths.filter((path) => !isTestPath(path));
    for (const path of outside) left.add(path);
    return {
      severity: 'warning',
      code: 'outside-tests',
      line: part.line,
      endLine: part.endLine,
      message: `${[...new Set(outside)].join(' and ')} is ignored: not a test file`,
    };
  });
  if (stray.length === parts.length) {
    diagnostics.push({
      severity: 'error',
      code: 'outside-tests',
      line: stray[0]?.line ?? 1,
      message: 'The patch changes no test file, and changes to other files are ignored',
      hint: 'Put the tests in a file such as tests/test_NAME.py',
    });
  }
  return { text: without(text.split('\n'), stray), left: [...left], diagnostics };
}
