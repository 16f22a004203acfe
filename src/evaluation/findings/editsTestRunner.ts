import type { Finding } from '../../domain/finding';
import type { FilePatch } from '../../patch/parsedPatch';
import { findDefinitions } from '../../python/definitions';
import { findModuleCode, findRunnerEdits, type RunnerEdit } from '../../python/runnerEdits';
import type { PythonParser } from '../../python/parser';
import { isFixture } from '../../python/tests';
import { isTestPath } from '../../patch/testFiles';
import type { EditedFile } from './editedFiles';
import { finding, quotedCode } from './finding';
import { configurationOfTests, runnerFile } from './runnerFile';

/**
 * Finds where a candidate edits what runs tests: files that runners read, and in code hooks,
 * plug-ins and attributes of runners. It includes fixtures in a conftest.py, for the user to judge.
 *
 * @param touched every file of the patch, also files without text and removed files
 */
export async function editsTestRunner(
  python: PythonParser,
  files: readonly EditedFile[],
  touched: readonly FilePatch[],
  readFileOfR: ReadFileOfR,
): Promise<Finding | undefined> {
  const sentences: string[] = [];
  const sources = new Map(files.map((file) => [file.path, file]));
  const paths = touched.map(({ oldPath, newPath }) => newPath ?? oldPath ?? '');
  for (const { oldPath, newPath, kind } of touched) {
    const path = newPath ?? oldPath ?? '';
    const of =
      runnerFile(path) ??
      (oldPath === null ? undefined : runnerFile(oldPath)) ??
      configurationOfTests(path, paths);
    if (of !== undefined) {
      const file = sources.get(path);
      const parts = file === undefined ? [] : fixturesIn(python, file);
      const which = parts.length === 0 ? '' : `: ${parts.join(', ')}`;
      sentences.push(`${path} is ${verbs[kind]}, ${of}${which}`);
    }
  }
  for (const file of files) {
    if (!file.path.endsWith('.py')) continue;
    for (const each of findRunnerEdits(python, file.source, file.spans)) {
      const isTested = each.of !== undefined && (await isOfR(each.of, readFileOfR));
      if (!isTested) sentences.push(sentenceOf(file.path, each));
    }
    const statement = codeOfPackage(python, file);
    if (statement !== undefined) sentences.push(statement);
  }
  return finding('edits what runs tests', sentences);
}

const sentenceOf = (path: string, { line, what, text }: RunnerEdit): string =>
  `${path}:${line} ${what}: ${quotedCode(text)}`;

/** A file of R; undefined where R has none at the path. */
type ReadFileOfR = (path: string) => Promise<string | undefined>;

/** Whether a module or package of this name is in R. */
async function isOfR(name: string, readFileOfR: ReadFileOfR): Promise<boolean> {
  if (name === '' || isTestPath(`${name}/__init__.py`)) return false;
  // The folders in which repositories keep their packages.
  for (const root of ['', 'src/', 'lib/', 'python/']) {
    for (const path of [`${root}${name}/__init__.py`, `${root}${name}.py`]) {
      if ((await readFileOfR(path).catch(() => undefined)) !== undefined) return true;
    }
  }
  return false;
}

const verbs: Readonly<Record<FilePatch['kind'], string>> = {
  added: 'added',
  deleted: 'deleted',
  modified: 'changed',
  renamed: 'renamed',
  copied: 'copied',
  mode: 'changed in its file mode',
};

/** Fixtures and hooks of a conftest.py that the candidate adds or changes, by name. */
function fixturesIn(python: PythonParser, { path, source, spans }: EditedFile): string[] {
  if (!path.endsWith('.py')) return [];
  return findDefinitions(python, source)
    .filter(
      ({ local, range }) =>
        !local &&
        spans.some(({ first, last }) => first <= range.endLine && range.startLine <= last),
    )
    .filter((each) => isFixture(each) || each.name.startsWith('pytest_'))
    .map((each) => `${isFixture(each) ? 'fixture' : 'hook'} ${each.name}`);
}

/**
 * Describes what the package of tests now does on import; undefined for imports, names and
 * constants.
 */
function codeOfPackage(
  python: PythonParser,
  { path, source, spans }: EditedFile,
): string | undefined {
  if (!/(^|\/)__init__\.py$/.test(path) || !isTestPath(path)) return undefined;
  const statement = findModuleCode(python, source, spans);
  return statement === undefined ? undefined : sentenceOf(path, statement);
}
