import { isBelow } from '../../domain/testId';
import {
  testArgumentsOf,
  dotted,
  operands,
  type Planning,
  type TestFile,
  type TestRunner,
} from './testRunner';
import type { TestPlan } from './testPlan';

export const unittest: TestRunner = {
  name: 'unittest',
  startsAhead: true,
  beforeR: {},
  plan: planUnittest,
  readLog: (log) => {
    const found = parseUnittest(log);
    return found.size > 0 ? found : undefined;
  },
};

/**
 * `python -m unittest -v MODULES`, which every Python has. Files that need pytest are listed in
 * `notRun` when the repository uses pytest.
 */
function planUnittest({ environment, files, recipe, select }: Planning): TestPlan {
  const runnable = files.filter((file) => !file.importsPytest && file.unittestTests > 0);
  const wanted = select?.filter((id) => runnable.some((file) => isBelow(id, file.path)));
  const lacks = environment.packages['pytest'] === undefined;
  const missing = `pytest, which is not installed in ${environment.interpreter}`;
  const why = (file: TestFile): string => {
    if (!lacks) return 'the repository runs its tests with unittest';
    return file.importsPytest
      ? `it imports ${missing}`
      : `its test functions need ${missing} (methods of unittest.TestCase do not)`;
  };
  const args = recipe.runner === 'unittest' ? testArgumentsOf(recipe, ['-v']) : ['-v'];
  return {
    runner: 'unittest',
    args: [
      '-m',
      'unittest',
      ...args,
      ...operands((wanted ?? runnable.map((file) => file.path)).map(dotted)),
    ],
    env: {},
    cwd: '.',
    // Never pass an empty list of names, since unittest would then look for tests everywhere.
    files: wanted?.length === 0 ? [] : runnable.map((file) => file.path),
    notRun: files
      .filter((file) => file.importsPytest || file.pytestTests > 0)
      .map((file) => ({
        path: file.path,
        reason: runnable.includes(file)
          ? `${why(file)}, so only its unittest tests ran`
          : why(file),
      })),
  };
}

/**
 * Parses logs of unittest with `-v`, for repositories that the reference harness does not know:
 * `test_x (tests.test_a.A.test_x) ... ok`. A test may print between its name and its status, and a
 * docstring has a line of its own. Logs without `-v`, and errors of a whole class or file, are read
 * from the headings of the reports at the end.
 */
function parseUnittest(log: string): Map<string, string> {
  const found = new Map<string, string>();
  const lines = log.split(/\r?\n/);
  let name: string | undefined;
  for (const line of lines) {
    if (/^(?:={70}|-{70})$/.test(line)) name = undefined;
    const heading = /^(ERROR|FAIL|UNEXPECTED SUCCESS): (\S+ \([\w.<>-]+\))/.exec(line);
    if (heading?.[2] !== undefined) {
      const status = heading[1] === 'ERROR' ? 'ERROR' : 'FAILED';
      // A later failure of a sub-test does not replace an error.
      if (status === 'ERROR' || found.get(heading[2]) !== 'ERROR') found.set(heading[2], status);
      continue;
    }
    const started = /^(\w+ \([\w.<>-]+\))/.exec(line);
    if (started !== null) name = started[1];
    if (name === undefined) continue;
    const rest = started === null ? line : line.slice(started[0].length);
    const status = statusAtEnd(rest);
    if (status === undefined) continue;
    found.set(name, status);
    name = undefined;
  }
  return found;
}

const statuses: readonly (readonly [words: string, status: string])[] = [
  ['ok', 'PASSED'],
  ['FAIL', 'FAILED'],
  ['ERROR', 'ERROR'],
  ['expected failure', 'XFAIL'],
  ['unexpected success', 'FAILED'],
];

/** The status at the end of a line. Without ` ... ` before it, it must be the whole line. */
function statusAtEnd(line: string): string | undefined {
  const dots = line.indexOf(' ... ');
  const text = (dots < 0 ? line : line.slice(dots + 5)).trimEnd();
  if (/^skipped ['"]/.test(text)) return 'SKIPPED';
  return statuses.find(([words]) => (dots < 0 ? text === words : text.endsWith(words)))?.[1];
}
