import { testArgumentsOf, noOption, wholePlan, type Planning, type TestRunner } from './testRunner';
import type { TestPlan } from './testPlan';
import { parsePytestNames } from './pytestNames';
import { splitPythonWords } from './pythonCharacters';

export const pytest: TestRunner = {
  name: 'pytest',
  startsAhead: true,
  beforeR: {},
  packages: ['pytest'],
  plan: planPytest,
  needsAllFiles: true,
  readLog: readPytest,
  // An exception that escapes from a test, such as pytest.exit, ends pytest with the status that it
  // carries.
  failsWithStatus0: ({ outcome, phase }) => outcome === 'error' && phase === 'call',
};

const statusesOfSummary = new Set(['PASSED', 'FAILED', 'ERROR', 'SKIPPED']);

function readPytest(log: string): Map<string, string> | undefined {
  const found = parsePytestNames(log);
  // A logger's `ERROR something` and unittest's `ERROR: test_x` are not lines of pytest's summary.
  const isPytest = [...found].some(
    ([name, status]) => statusesOfSummary.has(status) && /::|\.py|^\[\d/.test(name),
  );
  return isPytest ? found : undefined;
}

/** The options that the log parsers of the reference harness need, and no cache in the tree. */
const usual = ['-rA', '-p', 'no:cacheprovider'];

/** `pytest -rA FILES`, if pytest is installed. */
export function planPytest(planning: Planning): TestPlan | undefined {
  const { environment, files, recipe } = planning;
  if (environment.packages['pytest'] === undefined) return undefined;
  // The arguments in a recipe for tox are meant for the commands of its tox.ini.
  const args = recipe.runner === 'pytest' ? testArgumentsOf(recipe, usual) : usual;
  return wholePlan('pytest', files, ['-m', 'pytest', ...args, ...testsOf(planning)]);
}

/** The arguments that select tests: files, or ids of tests, which select all parameters of each. */
export function testsOf({ files, select }: Planning): readonly string[] {
  return (select ?? files.map((file) => file.path)).map(noOption);
}

/**
 * Parses logs of pytest with `-rA`: lines such as `PASSED tests/test_a.py::test_x`. The reference
 * harness only looks at the beginning of a line and takes words as they are. So `PASSEDx y` gives a
 * test `y` with the status `PASSEDx`, and these parsers do exactly the same.
 */

const statuses = ['FAILED', 'PASSED', 'SKIPPED', 'ERROR'];

const startsWithStatus = (line: string): boolean =>
  statuses.some((status) => line.startsWith(status));

/** The words of a line that begins with a status: status, name, and the rest. */
function wordsOf(line: string): string[] {
  return splitPythonWords(line.startsWith('FAILED') ? line.replaceAll(' - ', ' ') : line);
}

/** @param readName converts the second word, the name of the test */
function parseLines(
  log: string,
  readLine: (line: string) => string,
  readName: (name: string) => string,
): Map<string, string> {
  const found = new Map<string, string>();
  for (const raw of log.split('\n')) {
    const line = readLine(raw);
    if (!startsWithStatus(line)) continue;
    const [status, name] = wordsOf(line);
    if (status !== undefined && name !== undefined) found.set(readName(name), status);
  }
  return found;
}

const same = (text: string): string => text;

export function parsePytest(log: string): Map<string, string> {
  return parseLines(log, same, same);
}

/**
 * For requests, pylint, pydicom: their parameters contain absolute paths, of which only the last
 * part is kept.
 */
export function parsePytestOptions(log: string): Map<string, string> {
  return parseLines(log, same, (name) => {
    const start = name.indexOf('[');
    const end = name.lastIndexOf(']');
    if (start < 0 || end < start) return name;
    let option = name.slice(start + 1, end);
    if (option.startsWith('/') && !option.startsWith('//') && !option.includes('*')) {
      option = option.slice(option.lastIndexOf('/'));
    }
    return `${name.slice(0, start)}[${option}]`;
  });
}

/**
 * For Matplotlib: some versions of Python show an enumeration's member where others show its value.
 */
export function parseMatplotlib(log: string): Map<string, string> {
  const readLine = (line: string): string =>
    line.replaceAll('MouseButton.LEFT', '1').replaceAll('MouseButton.RIGHT', '3');
  return parseLines(log, readLine, same);
}

const colour = /\[\p{Nd}+m/gu;
// oxlint-disable-next-line no-control-regex -- these are what is to be removed
const control = /[\x01-\x1f]/g;

/**
 * For astropy, scikit-learn, sphinx: coloured output, and `name STATUS` as old versions of pytest
 * print it with `-v`. A line with only a status makes the harness throw; here it is skipped.
 */
export function parsePytestV2(log: string): Map<string, string> {
  const found = new Map<string, string>();
  for (const raw of log.split('\n')) {
    const line = raw.replace(colour, '').replace(control, '');
    if (startsWithStatus(line)) {
      const [status, name] = wordsOf(line);
      if (status !== undefined && name !== undefined) found.set(name, status);
    } else if (statuses.some((status) => line.endsWith(status))) {
      const [name, status] = splitPythonWords(line);
      if (status !== undefined && name !== undefined) found.set(name, status);
    }
  }
  return found;
}

/**
 * For seaborn: failures from pytest's summary, and passes also as `name PASSED [ 10%]`, but no
 * other status.
 */
export function parseSeaborn(log: string): Map<string, string> {
  const found = new Map<string, string>();
  for (const line of log.split('\n')) {
    const words = splitPythonWords(line);
    if (line.startsWith('FAILED')) {
      if (words[1] !== undefined) found.set(words[1], 'FAILED');
    } else if (line.includes(' PASSED ')) {
      if (words[0] !== undefined && words[1] === 'PASSED') found.set(words[0], 'PASSED');
    } else if (line.startsWith('PASSED')) {
      if (words[1] !== undefined) found.set(words[1], 'PASSED');
    }
  }
  return found;
}
