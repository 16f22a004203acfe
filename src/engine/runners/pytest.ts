import { testArgumentsOf, noOption, wholePlan, type Planning, type TestRunner } from './testRunner';
import type { TestPlan } from '../testPlan';
import { splitPythonWords } from './pythonCharacters';

export const pytest: TestRunner = {
  name: 'pytest',
  packages: ['pytest'],
  plan: planPytest,
  needsAllFiles: true,
  // What gets out of a test ends pytest with the status that it asks for (pytest.exit).
  failsWithStatus0: ({ outcome, phase }) => outcome === 'error' && phase === 'call',
};

/** What the log parsers of the reference harness need, and no cache in the tree. */
const usual = ['-rA', '-p', 'no:cacheprovider'];

/** `pytest -rA FILES`, where pytest is installed. */
export function planPytest(planning: Planning): TestPlan | undefined {
  const { environment, files, recipe } = planning;
  if (environment.pytest === undefined) return undefined;
  // The arguments of a recipe for tox are for the commands of its tox.ini.
  const args = recipe.runner === 'pytest' ? testArgumentsOf(recipe, usual) : usual;
  return wholePlan('pytest', files, ['-m', 'pytest', ...args, ...testsOf(planning)]);
}

/** What pytest is told to run: files, or tests by their ids, with all cases of each. */
export function testsOf({ files, select }: Planning): readonly string[] {
  return (select ?? files.map((file) => file.path)).map(noOption);
}

/**
 * Logs of pytest with `-rA`: lines such as `PASSED tests/test_a.py::test_x`. The reference harness
 * looks no further than how a line begins, and takes the words as they come, so that `PASSEDx y`
 * makes a test `y` with the status `PASSEDx`; so do these, to the letter.
 */

const statuses = ['FAILED', 'PASSED', 'SKIPPED', 'ERROR'];

const startsWithStatus = (line: string): boolean =>
  statuses.some((status) => line.startsWith(status));

/** The words of a line that begins with a status: status, name, and what follows. */
function wordsOf(line: string): string[] {
  return splitPythonWords(line.startsWith('FAILED') ? line.replaceAll(' - ', ' ') : line);
}

/** @param readName what to make of the second word, the name of the test */
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
 * pytest's summary with whole names, for our own reading: a parameter may hold spaces and ` - `, which
 * also stands before the reason of a failure. Of what is skipped pytest counts places, and names none.
 */
export function parsePytestNames(log: string): Map<string, string> {
  const found = new Map<string, string>();
  for (const raw of log.split('\n')) {
    const line = raw.trimEnd();
    const [, status, text] = /^(PASSED|FAILED|ERROR|XFAIL|XPASS|SKIPPED) (.*)$/.exec(line) ?? [];
    if (status === undefined || text === undefined) continue;
    const name = status === 'PASSED' ? text : withoutReason(text);
    if (name !== '') found.set(name, status);
  }
  return found;
}

/** The name before ` - ` and a reason; a parameter ends with the bracket before it. */
function withoutReason(text: string): string {
  const place = /^\[\d+\](?= )/.exec(text);
  if (place !== null) return place[0];
  const bracket = text.indexOf('[');
  if (bracket >= 0 && !text.slice(0, bracket).includes(' ')) {
    const end = text.indexOf('] - ', bracket);
    if (end >= 0) return text.slice(0, end + 1);
    if (text.endsWith(']')) return text;
  }
  return text.split(' - ', 1)[0] ?? text;
}

/** requests, pylint, pydicom: their parameters hold absolute paths, of which the last part stays. */
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

/** Matplotlib: what one Python shows as an enumeration's member, another shows as its value. */
export function parseMatplotlib(log: string): Map<string, string> {
  const readLine = (line: string): string =>
    line.replaceAll('MouseButton.LEFT', '1').replaceAll('MouseButton.RIGHT', '3');
  return parseLines(log, readLine, same);
}

const colour = /\[\p{Nd}+m/gu;
// eslint-disable-next-line no-control-regex -- these are what is to be removed
const control = /[\x01-\x1f]/g;

/**
 * astropy, scikit-learn, sphinx: coloured output, and `name STATUS` as old versions of pytest print
 * it with `-v`. The harness stops at a line that is only a status; here it is passed over.
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

/** seaborn: failures as pytest sums them up, passes also as `name PASSED [ 10%]`; nothing else. */
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
