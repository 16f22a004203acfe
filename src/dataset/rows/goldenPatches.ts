import type { PatchSize } from '../../domain/instance';
import { withoutSubmodules, isTestPath } from '../../patch/testFiles';
import { outlineOf, sizeOf, type PatchedFile, type PatchOutline } from './patchOutline';

/** The two patches of a row as written, with the names of their columns. */
interface WrittenPatches {
  readonly code: { readonly field: string; readonly text: string };
  readonly tests: { readonly field: string; readonly text: string };
}

/** X* and T* of a row after repairs. */
interface GoldenPatches {
  readonly patch: string;
  readonly tests: string;
  readonly patchSize: PatchSize;
  readonly testsSize: PatchSize;
  /** The repairs, as sentences for the user. */
  readonly remarks: readonly string[];
}

interface PatchFault {
  readonly field: string;
  readonly message: string;
}

/**
 * Decides from the content which patch is the fix and which one the tests, and whether they can be
 * graded.
 *
 * The fix must change at least one file that is not a test file, and the tests at least one that
 * is. Rows for prompting hold the tests in `patch`. If only the reverse makes sense, the two are
 * exchanged.
 *
 * The tests may count any file with a word such as test, spec, fixture or snapshot in its folder or
 * name, in any language. So golden tests that change only data are accepted. The rule for the fix
 * is narrower. A Python file in a package counts as code if only its folder suggests tests, such as
 * `django/test/client.py`.
 */
export function goldenPatches(written: WrittenPatches): GoldenPatches | PatchFault {
  const remarks: string[] = [];
  const sides: { field: string; text: string; outline: PatchOutline }[] = [];
  for (const { field, text } of [written.code, written.tests]) {
    const unwrapped = unwrap(text);
    if (unwrapped !== text) remarks.push(`${field} was enclosed in <patch> and </patch>`);
    // The script that makes the prompt variants drops the last line end, on which git insists.
    const ended = unwrapped.endsWith('\n');
    if (!ended) remarks.push(`${field} had no final newline`);
    const { text: whole, left } = withoutSubmodules(ended ? unwrapped : `${unwrapped}\n`);
    if (left.length > 0)
      remarks.push(`${field} changes submodules, which are ignored: ${left.join(', ')}`);
    const outline = outlineOf(whole);
    if ('problem' in outline) return { field, message: `${field} ${outline.problem}` };
    sides.push({ field, text: whole, outline });
  }
  const [code, tests] = sides;
  if (code === undefined || tests === undefined) throw new Error('two patches have two sides');
  const swapped = areSwapped(code.outline, tests.outline);
  if (swapped) {
    remarks.push(
      `${code.field} contained the tests and ${tests.field} the fix, judging by the changed files; they were swapped`,
    );
  }
  const [fix, golden] = swapped ? [tests, code] : [code, tests];
  if (!fix.outline.files.some(isCode)) {
    return {
      field: fix.field,
      message: `${fix.field} changes only tests (${namesOf(fix.outline)}), so it contains no fix`,
    };
  }
  if (!golden.outline.files.some(isOfTests)) {
    return {
      field: golden.field,
      message: `${golden.field} changes no test file (${namesOf(golden.outline)}), so nothing can be graded`,
    };
  }
  return {
    patch: fix.text,
    tests: golden.text,
    patchSize: sizeOf(fix.outline),
    testsSize: sizeOf(golden.outline),
    remarks,
  };
}

/**
 * Removes the tags of the prompt datasets of SWE-bench and SWT-Bench, in which models are asked to
 * answer.
 */
function unwrap(text: string): string {
  if (!text.trimStart().startsWith('<patch>')) return text;
  const match = /^\s*<patch>[ \t]*\r?\n([^]*?)\r?\n?<\/patch>\s*$/.exec(text);
  return match?.[1] ?? text;
}

const pathsOf = (file: PatchedFile): string[] =>
  [file.oldPath, file.newPath].filter((path) => path !== null);

const nameOf = (path: string): string => path.slice(path.lastIndexOf('/') + 1);

/** Names that runners collect tests from: pytest, unittest, Django, pylint, Go, JavaScript, Java, Ruby. */
const runnable =
  /^(test_.*\.py|.*_tests?\.\w+|tests?\.py|test-.*\.\w+|.*[.-](test|spec|cy)\.\w+|.*_spec\.\w+|.*Tests?\.\w+)$/;

const isRunnable = (path: string): boolean =>
  runnable.test(nameOf(path)) || (isTestPath(path) && nameOf(path).startsWith('unittest_'));

const testWords =
  /(^|[/_.-])(tests?|testing|testdata|unittests?|specs?|fixtures?|snapshots?|snap|e2e|cypress|mocks?|conftest|functional|regrtest|baselines?|samples?|cassettes?)([/_.-]|$)/;

/** Also finds words in camel case: `src/jsTests/ATest.java`. */
const hasTestWord = (path: string): boolean =>
  testWords.test(path.replace(/([a-z0-9])(?=[A-Z])|([A-Z])(?=[A-Z][a-z])/g, '$&_').toLowerCase());

/** Whether golden tests may consist of this file. */
const isOfTests = (file: PatchedFile): boolean =>
  pathsOf(file).some((path) => isTestPath(path) || hasTestWord(path));

/** Whether a fix may consist of this file. */
function isCode(file: PatchedFile): boolean {
  const paths = pathsOf(file);
  if (paths.some((path) => !isTestPath(path) && !isRunnable(path))) return true;
  // A library for testing is within a package. Top-level folders of tests contain only tests.
  return paths.every(
    (path) =>
      /^(?!tests?\/|testing\/|e2e\/)[^/]+\/.*\.py$/.test(path) &&
      (nameOf(path) === 'testing.py' || (!isRunnable(path) && nameOf(path) !== 'conftest.py')),
  );
}

/**
 * Whether the two patches are in each other's column. Then the fix consists mostly of tests. The
 * tests consist mostly of code, and no runner would collect any of it.
 */
function areSwapped(code: PatchOutline, tests: PatchOutline): boolean {
  const collected = ({ files }: PatchOutline): boolean =>
    files.some((file) => pathsOf(file).some(isRunnable));
  const share = ({ files }: PatchOutline): number => files.filter(isOfTests).length / files.length;
  const isData = ({ files }: PatchOutline): boolean =>
    files.every((file) => pathsOf(file).every((path) => !sourceEnding.test(path)));
  if (share(code) <= 0.5 || share(tests) > 0.5 || collected(tests)) return false;
  if (collected(code)) return tests.files.some(isCode);
  const hasNoFix = !code.files.some(isCode) || (share(code) === 1 && isData(code));
  return hasNoFix && tests.files.some(isCode);
}

const sourceEnding = /\.(py|pyx|c|h|cc|cpp|rs|go|java|kt|rb|php|cs|[cm]?[jt]sx?)$/;

/** The names of a patch's files for a message. */
function namesOf({ files }: PatchOutline): string {
  const names = files.map((file) => file.newPath ?? file.oldPath ?? '');
  const more = names.length > 2 ? ` and ${names.length - 2} more` : '';
  return `${names.slice(0, 2).join(', ')}${more}`;
}
