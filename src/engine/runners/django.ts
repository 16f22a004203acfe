import { isInVersionRange } from '../../domain/instance';
import {
  testArgumentsOf,
  dotted,
  operands,
  wholePlan,
  type Planning,
  type TestRunner,
} from './testRunner';
import type { TestPlan } from './testPlan';
import { pythonCharacters } from './pythonCharacters';

export const django: TestRunner = {
  name: 'django',
  startsAhead: true,
  plan: planDjango,
  scriptEnv: settingsOfTests,
  // Django before 4.1 does not count unexpected successes as failures.
  failsWithStatus0: ({ message }) => message === 'Unexpected success',
};

/**
 * Django's own `tests/runtests.py`, with labels for files: dotted, and without the leading
 * `tests/`. The tests run in one process, because the harness's log parser cannot separate lines of
 * parallel tests. Before 1.9, Django always uses one process and has no option for it.
 */
async function planDjango(planning: Planning): Promise<TestPlan> {
  const { files, recipe, select } = planning;
  const args = testArgumentsOf(recipe, [
    '--verbosity',
    '2',
    `--settings=${testSettings}`,
    ...((await runsInParallel(planning)) ? ['--parallel', '1'] : []),
  ]);
  const tests = select ?? files.map((file) => file.path);
  const labels = tests.map((id) => dotted(id).replace(/^tests\./, ''));
  return wholePlan('django', files, ['tests/runtests.py', ...args, ...operands(labels)]);
}

/** The settings of Django's own tests. */
const testSettings = 'test_sqlite';

/**
 * Names the settings of the tests to a script. Django loads them when the script first needs a
 * setting, so a script that calls `settings.configure()` before has its own.
 */
async function settingsOfTests({
  readFileOfR,
}: Pick<Planning, 'readFileOfR'>): Promise<Readonly<Record<string, string>>> {
  const settings = await readFileOfR(`tests/${testSettings}.py`);
  // The root of R is on the path of a script there, and `tests` is a package without a file.
  return settings === undefined ? {} : { DJANGO_SETTINGS_MODULE: `tests.${testSettings}` };
}

/** The option was added while 1.9 was being written, and some instances of 1.9 precede it. */
async function runsInParallel({ readFileOfR, version }: Planning): Promise<boolean> {
  const program = await readFileOfR('tests/runtests.py');
  if (program !== undefined) return /['"]--parallel['"]/.test(program);
  return version === '' || isInVersionRange(version, '1.9-');
}

/**
 * Parses logs of Django's runner with `--verbosity 2`: `test_x (module.Class) ... ok`, with
 * anything that the test prints in between. The harness uses one regular expression over the whole
 * log, which takes time quadratic in its length. This code gives the same results in one pass.
 */

const status: Readonly<Record<string, string>> = {
  ok: 'PASSED',
  OK: 'PASSED',
  skipped: 'SKIPPED',
  FAILED: 'FAILED',
  ERROR: 'ERROR',
};

const { wordStart, wordEnd, space } = pythonCharacters;

export function parseDjango(log: string): Map<string, string> {
  const found = new Map<string, string>();
  const starts = new RegExp(`${wordStart}(?:test|app_unmigrated)`, 'gu');
  const dots = searcher(log, '...');
  const names = nameReader(log);
  const stops = new StopWords(log);
  const isSpace = (at: number): boolean => at >= 0 && spaceHere.test(log.charAt(at));

  for (let start = starts.exec(log); start !== null; start = starts.exec(log)) {
    const end = names(start.index);
    if (end === undefined) continue;
    // Three dots: preferably further on and after white space, else directly after the name.
    const later = dots(end + 1);
    const candidates = [];
    if (later !== undefined && isSpace(later - 1)) candidates.push(later);
    if (log.startsWith('...', end)) candidates.push(end);
    for (const at of candidates) {
      const word = stops.statusAfter(at + 3, isSpace);
      if (word === undefined) continue;
      found.set(log.slice(start.index, end), status[word.text] ?? word.text);
      starts.lastIndex = word.end;
      break;
    }
  }

  // Reports of failures take precedence.
  for (const line of log.split('\n')) {
    const heading = line.startsWith('ERROR:') ? 'ERROR' : line.startsWith('FAIL:') ? 'FAIL' : '';
    if (heading === '') continue;
    const [test, another] = namesIn(line.split(heading)[1] ?? '');
    if (test !== undefined && another === undefined) {
      found.set(test, heading === 'ERROR' ? 'ERROR' : 'FAILED');
    }
  }
  return found;
}

/** The names `test_x (class)` in a line. */
function* namesIn(line: string): Generator<string> {
  const starts = new RegExp(`${wordStart}(?:test_|app_unmigrated)`, 'gu');
  const names = nameReader(line);
  for (let start = starts.exec(line); start !== null; start = starts.exec(line)) {
    const end = names(start.index);
    if (end === undefined) continue;
    yield line.slice(start.index, end);
    starts.lastIndex = end;
  }
}

const spaceHere = new RegExp(space, 'u');

/** `text.indexOf(what, from)` for a `from` that mostly grows, without searching any part twice. */
function searcher(text: string, what: string): (from: number) => number | undefined {
  let from = 0;
  let at = -2;
  return (next) => {
    if (at === -2 || next < from || (at >= 0 && next > at)) {
      from = next;
      at = text.indexOf(what, next);
    }
    return at < 0 ? undefined : at;
  };
}

/**
 * Finds the end of `name (class)` that begins at a position: a word, white space, and parentheses.
 */
function nameReader(log: string): (start: number) => number | undefined {
  const gap = new RegExp(`${space}+`, 'gu');
  const brackets = searcher(log, ')');
  let gapStart = -1;
  let gapEnd = -1;
  return (start) => {
    if (gapStart < start) {
      gap.lastIndex = start;
      const found = gap.exec(log);
      gapStart = found?.index ?? Infinity;
      gapEnd = gapStart + (found?.[0].length ?? 0);
    }
    if (log[gapEnd] !== '(') return undefined;
    const close = brackets(gapEnd);
    return close === undefined ? undefined : close + 1;
  };
}

/** The words at which the harness stops looking for a status: the statuses, and the next test. */
class StopWords {
  private readonly words: { text: string; start: number; end: number }[] = [];
  private next = 0;

  constructor(log: string) {
    const words = `${wordStart}(?:test_|app_unmigrated|OK|ok|FAILED|ERROR|skipped)${wordEnd}`;
    for (const match of log.matchAll(new RegExp(words, 'gu'))) {
      this.words.push({
        text: match[0],
        start: match.index,
        end: match.index + match[0].length,
      });
    }
  }

  /** The status of the test whose three dots end at `from`. */
  statusAfter(
    from: number,
    isSpace: (at: number) => boolean,
  ): { text: string; end: number } | undefined {
    while (this.next > 0 && (this.words[this.next - 1]?.start ?? 0) >= from) this.next--;
    while ((this.words[this.next]?.start ?? Infinity) < from) this.next++;
    const here = this.words[this.next];
    const later = here?.start === from ? this.words[this.next + 1] : here;
    if (later !== undefined && later.text in status && isSpace(later.start - 1)) return later;
    return here?.start === from && here.text in status ? here : undefined;
  }
}
