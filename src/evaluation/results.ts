import { isBelow, isTestId, scopeOf, fileOf, functionOf } from '../domain/testId';
import { inList } from '../domain/text';
import type { Executions, LineCounts } from '../domain/changeCoverage';
import type { CountMap, StatusMap } from '../domain/harness';
import {
  type TestResult,
  pairResults,
  type TestTransition,
  matchChangedNames,
  sideName,
  type Side,
} from '../domain/outcome';
import { outputLimit } from '../engine/programs';
import type { RunRecord } from '../engine/engine';
import { parseLog } from '../engine/runners';
import type { FileLine } from './coverage/candidateLines';

/**
 * The outcome of every test of a run: what the recorder inside the run wrote, completed by
 * inference. A file that could not be collected gives an error for each test that it is known to
 * hold. A test that was running when the run ended is an error. Without a recorder (an unknown
 * runner) the outcomes come from the log.
 *
 * @param expected ids of the tests that the touched files are known to hold, with or without
 *   parameters
 */
export function resultsOf(record: RunRecord, expected: readonly string[]): TestResult[] {
  const results = new Map<string, TestResult>();
  for (const { test, ...rest } of record.trace.outcomes) results.set(test, { test, ...rest });

  for (const test of cutOff(record, results)) {
    results.set(test, { test, outcome: 'error', phase: 'call', message: endingOf(record) });
  }

  // A failed import of a file, or a failed set-up of a class, counts for all tests in it.
  for (const [whole, result] of [...results]) {
    if (result.outcome !== 'error') continue;
    if (result.phase === 'call' || result.phase === 'teardown') continue;
    const inside = expected.filter(
      (test) => standsFor(whole, result, test) && !hasResult(results, test),
    );
    if (inside.length === 0) continue;
    results.delete(whole);
    for (const test of inside) results.set(test, { ...result, test });
  }

  if (results.size === 0 && record.trace.sessions.length === 0) {
    for (const [test, status] of parseLog(record.log, '')) {
      const outcome = outcomeOfStatus(status);
      if (outcome !== undefined) results.set(test, { test, outcome });
    }
  }

  for (const test of notCollected(record, results, expected)) {
    results.set(test, { test, outcome: 'error', phase: 'collect', message: endingOf(record) });
  }
  return [...results.values()];
}

/**
 * Tests that could not be collected, as no outcome says: those of a file whose import ended the run
 * or never ended, or all where the runner ended before any test, as for a conftest.py that cannot
 * be imported. Others that a run did not come to are missing.
 */
function notCollected(
  record: RunRecord,
  results: ReadonlyMap<string, TestResult>,
  expected: readonly string[],
): readonly string[] {
  const { collecting } = record.trace;
  if (brokeOff(record) && collecting.length > 0) {
    return expected.filter(
      (test) => collecting.includes(fileOf(test)) && !hasResult(results, test),
    );
  }
  const isDead = record.ending === 'exited' && (brokeOff(record) || complains(record));
  return isDead && results.size === 0 ? expected : [];
}

/**
 * Tests that the runner was about to run, and that left no outcome: they never began, or a test of
 * theirs kept the recorder from seeing their end.
 */
export function withoutOutcome({ trace }: RunRecord): string[] {
  const seen = new Set(trace.outcomes.map(({ test }) => test));
  for (const { lastTest } of trace.unfinished) if (lastTest !== null) seen.add(lastTest);
  // A class or file whose set-up failed or was skipped stands for its tests.
  const isSeen = (test: string): boolean => {
    if (seen.has(test)) return true;
    for (let scope = scopeOf(test); scope !== undefined; scope = scopeOf(scope)) {
      if (seen.has(scope)) return true;
    }
    return false;
  };
  return trace.collected.filter((test) => !isSeen(test));
}

/**
 * Whether an error of `whole`, which is a conftest.py, file, class or function, prevented a test.
 */
function standsFor(whole: string, { phase }: TestResult, test: string): boolean {
  if (isBelow(test, whole) || (test !== whole && functionOf(test) === whole)) return true;
  const conftest = /^(.*\/)?conftest\.py$/.exec(whole);
  return conftest !== null && phase === 'collect' && test.startsWith(conftest[1] ?? '');
}

/**
 * The transitions of a run's tests. An error in collection or set-up on one side counts there for
 * every test known to be below it. These are the tests that the files define, and those that the
 * other side has, such as parametrised cases and inherited tests.
 *
 * @param expected ids of the tests that the touched files define, without parameters
 */
export function transitionsBetween(
  base: RunRecord,
  other: RunRecord,
  expected: readonly string[],
): TestTransition[] {
  const fixed = withNamesOf(base, other);
  const onBase = resultsOf(base, expected);
  const onFixed = resultsOf(fixed, expected);
  return pairResults(
    resultsOf(base, alsoSeen(expected, onFixed)),
    resultsOf(fixed, alsoSeen(expected, onBase)),
  );
}

/** `expected` with the tests of the other side; the cases that ran there replace their function. */
function alsoSeen(expected: readonly string[], other: readonly TestResult[]): string[] {
  const seen = other.map((each) => each.test).filter(isTestId);
  const withCases = new Set(seen.map(functionOf));
  return [...new Set([...expected.filter((test) => !withCases.has(test)), ...seen])];
}

function hasResult(results: ReadonlyMap<string, TestResult>, test: string): boolean {
  return results.has(test) || [...results.keys()].some((id) => functionOf(id) === test);
}

/**
 * Tests that ended the run: they began and never ended, or printed what was too much when the runner
 * printed it. None where an earlier test reached the limit, and has its outcome.
 */
function cutOff(record: RunRecord, results: ReadonlyMap<string, TestResult>): string[] {
  const { unfinished, mostPrinted } = record.trace;
  const tests = unfinished.flatMap(({ lastTest }) =>
    lastTest === null || results.has(lastTest) ? [] : [lastTest],
  );
  if (reachedLimit(record) !== undefined) return [];
  const isPrinter = record.ending === 'too much output' && mostPrinted !== undefined;
  return tests.length === 0 && isPrinter ? [mostPrinted] : tests;
}

/** What Python says in a test that reaches the limit for which a run is stopped soon after. */
const limitErrors: Partial<Record<RunRecord['ending'], RegExp>> = {
  'disk full': /\[Errno (?:28|122)\]|No space left on device/,
  'out of memory': /^MemoryError|\[Errno 12\]|Cannot allocate memory/,
  'too many processes': /can't start new (?:thread|process)|\[Errno 11\]/,
};

/** The test that failed at the limit for which the run was stopped, if a later one was running. */
function reachedLimit({ ending, trace }: RunRecord): string | undefined {
  const error = limitErrors[ending];
  if (error === undefined) return undefined;
  return trace.outcomes.find(
    ({ outcome, exception = '', message = '' }) =>
      (outcome === 'failed' || outcome === 'error') && error.test(`${exception}: ${message}`),
  )?.test;
}

/** Whether the run ended in a way in which no runner ends a session. */
function brokeOff(record: RunRecord): boolean {
  return record.ending !== 'exited' || record.killedBy !== undefined || !sessionEnded(record);
}

function sessionEnded({ trace, exitCode }: RunRecord): boolean {
  return trace.unfinished.length === 0 && trace.collecting.length === 0 && exitCode !== undefined;
}

/**
 * Whether the exit status reports a failure. pytest, and unittest from 3.12 on, end with 5 when
 * there is no test to run.
 */
function complains(record: RunRecord): boolean {
  return record.exitCode !== 0 && record.exitCode !== 5;
}

/**
 * Why the runner itself could not be started, so that the run says nothing about the tests;
 * undefined for any other run. The text is what the runner said.
 */
export function whyNotRunnable(record: RunRecord): string | undefined {
  if (record.ending === 'not started') return endingOf(record);
  if (beganTests(record)) return undefined;
  const lines = record.log.split('\n').map((line) => line.trimEnd());
  const { sessions, collecting } = record.trace;
  const isMissing = /: can't open file |: No module named \S+$|: Error while finding module/;
  const missing = sessions.length > 0 ? undefined : lines.find((line) => isMissing.test(line));
  if (missing !== undefined && !/^(\w*Error|\s)/.test(missing)) return missing.trim();
  if (record.ending !== 'exited' || record.killedBy !== undefined || collecting.length > 0) {
    return undefined;
  }
  return complains(record) ? complaintOf(lines) : undefined;
}

const beganTests = ({ trace }: RunRecord): boolean =>
  trace.outcomes.length > 0 || trace.unfinished.some(({ lastTest }) => lastTest !== null);

/** What pytest says when it cannot begin, with the usage error before anything else. */
function complaintOf(lines: readonly string[]): string | undefined {
  // The names of tests that one side lacks say nothing about the runner.
  if (lines.some((line) => /^ERROR: (not found|file or directory not found): /.test(line))) {
    return undefined;
  }
  const complaints = [
    /^(?:\S+: error: )(.+)/,
    /^ERROR: (?!usage: )(.+)/,
    /^(Different tests were collected between \S+ and \S+)\./,
    /^(?:\w+\.)*ImportError: (Error importing plugin .+)/,
    /^(?:\w+\.)*(PluginValidationError: .+|ConfigError: .+)/,
    /^!* ?(?:_pytest\.outcomes\.)?(Exit: .+?)(?: !+)?$/,
  ];
  for (const complaint of complaints) {
    const found = lines.map((line) => complaint.exec(line)?.[1]).find(Boolean);
    if (found !== undefined) return `the test runner failed to start: ${found}`;
  }
  return undefined;
}

/**
 * Why a run on both sides shows nothing of any test: the runner ended before the first one. On one
 * side alone this may be what the tests show, such as code of R that fails in a conftest.py.
 */
export function whyNeitherRuns(base: RunRecord, fixed: RunRecord): string | undefined {
  const known = whyNotRunnable(base) ?? whyNotRunnable(fixed);
  if (known !== undefined) return known;
  const isSilent = (record: RunRecord): boolean =>
    record.ending === 'exited' &&
    record.killedBy === undefined &&
    record.trace.collecting.length === 0 &&
    !beganTests(record) &&
    complains(record) &&
    parseLog(record.log, '').size === 0;
  if (!isSilent(base) || !isSilent(fixed)) return undefined;
  const last = base.log.trimEnd().split('\n').at(-1)?.trim() ?? '';
  return `the test runner ended before the first test, with exit status ${base.exitCode ?? 'unknown'}${last === '' ? '' : `: ${last.slice(0, 300)}`}`;
}

/**
 * Why a run does not show everything: it was stopped or killed, or one of its tests never ended.
 * Undefined for a run that came to its end, whatever its tests did.
 */
export function whyIncomplete(record: RunRecord): string | undefined {
  if (!brokeOff(record)) return undefined;
  const during = reachedLimit(record) ?? cutOff(record, new Map())[0] ?? record.trace.collecting[0];
  return during === undefined ? endingOf(record) : `${endingOf(record)}, in ${during}`;
}

/**
 * Whether a run went on until its time was up. The first limit that it reached may be another one:
 * a test can wait for a process that was killed, say.
 */
export const ranToTimeLimit = ({ ending, killedBy }: RunRecord): boolean =>
  ending === 'timed out' ||
  ending === 'too many processes' ||
  (ending === 'out of memory' && killedBy === undefined);

/** How a run ended, in words. */
export function endingOf(record: RunRecord): string {
  switch (record.ending) {
    case 'timed out':
      return `stopped at the time limit after ${record.seconds.toFixed(0)} s`;
    case 'too many processes':
      return `stopped after ${record.seconds.toFixed(0)} s because it reached the process limit`;
    case 'too much output':
      return `stopped because its output exceeded ${outputLimit / 2 ** 20} MB`;
    case 'out of memory':
      return 'stopped because it ran out of memory';
    case 'disk full':
      return 'stopped because it ran out of disk space';
    case 'cancelled':
      return 'cancelled';
    case 'not started':
      return `could not be started: ${record.startError ?? 'unknown reason'}`;
    case 'exited':
      return record.killedBy !== undefined
        ? `the test process was killed by ${record.killedBy}`
        : `the test process ended early with exit status ${record.exitCode ?? 'unknown'}`;
  }
}

function outcomeOfStatus(status: string): TestResult['outcome'] | undefined {
  switch (status) {
    case 'PASSED':
      return 'passed';
    case 'FAILED':
      return 'failed';
    case 'ERROR':
      return 'error';
    case 'SKIPPED':
      return 'skipped';
    case 'XFAIL':
      return 'xfailed';
    case 'XPASS':
      return 'xpassed';
    default:
      return undefined;
  }
}

/** The outcome of a reproduction script: passed when it exits with 0. */
export function scriptResult(record: RunRecord, script: string): TestResult {
  const passed = record.ending === 'exited' && record.exitCode === 0;
  const lastLine = record.log.trimEnd().split('\n').at(-1) ?? '';
  return {
    test: script,
    outcome: passed ? 'passed' : record.ending === 'exited' ? 'failed' : 'error',
    seconds: record.seconds,
    phase: 'call',
    ...(passed
      ? {}
      : { message: record.ending === 'exited' ? lastLine.slice(0, 2000) : endingOf(record) }),
  };
}

/** The status map of a run, as the reference harness reads it from the log alone. */
export function statusesOf(record: RunRecord, repo: string, script = false): StatusMap {
  if (script) {
    return new Map([['reproduction_script', record.exitCode === 0 ? 'PASSED' : 'FAILED']]);
  }
  return parseLog(record.log, repo);
}

/**
 * Executions of the changed lines, by file, line and test.
 *
 * @param placeOf where a counted line stands without the candidate; undefined when it does not
 *   exist there. By default the place where it was counted.
 */
export function lineCountsOf(
  record: RunRecord,
  placeOf: (at: FileLine) => FileLine | undefined = (at) => at,
): LineCounts {
  const files = new Map<string, Map<number, Executions>>();
  for (const { path, line, byTest, shared } of record.trace.counts) {
    const place = placeOf({ path, line });
    if (place === undefined) continue;
    const lines = files.get(place.path) ?? new Map<number, Executions>();
    lines.set(place.line, { shared, byTest });
    files.set(place.path, lines);
  }
  return files;
}

/** Whole-run counts, as the reference harness compares them; lines that never ran are absent. */
export function wholeCountsOf(record: RunRecord): CountMap {
  const files = new Map<string, Map<number, number>>();
  for (const { path, line, byTest, shared } of record.trace.counts) {
    let sum = shared;
    for (const count of byTest.values()) sum += count;
    if (sum === 0) continue;
    const lines = files.get(path) ?? new Map<number, number>();
    lines.set(line, sum);
    files.set(path, lines);
  }
  return files;
}

/** A record in which each test has another name. The log stays as the runner wrote it. */
export function withTestNames(record: RunRecord, nameOf: (id: string) => string): RunRecord {
  const { trace } = record;
  const { mostPrinted } = trace;
  return {
    ...record,
    trace: {
      ...trace,
      outcomes: trace.outcomes.map((each) => ({ ...each, test: nameOf(each.test) })),
      collected: trace.collected.map(nameOf),
      counts: trace.counts.map((each) => ({
        ...each,
        byTest: new Map([...each.byTest].map(([id, count]) => [nameOf(id), count])),
      })),
      unfinished: trace.unfinished.map((each) => ({
        ...each,
        lastTest: each.lastTest === null ? null : nameOf(each.lastTest),
      })),
      ...(mostPrinted !== undefined && { mostPrinted: nameOf(mostPrinted) }),
    },
  };
}

/** The tests of runs, in the order in which a runner collected them, where it says so. */
const testsIn = (records: readonly RunRecord[]): Set<string> =>
  new Set(
    records.flatMap(({ trace }) => [
      ...trace.collected,
      ...trace.outcomes.map(({ test }) => test),
      ...trace.unfinished.flatMap(({ lastTest }) => lastTest ?? []),
    ]),
  );

/** The names in some runs of tests whose ids are others in further ones, by these ids. */
export const namesOfOtherRuns = (
  known: readonly RunRecord[],
  records: readonly RunRecord[],
): ReadonlyMap<string, string> => matchChangedNames(testsIn(known), testsIn(records));

/** A record with the names that its tests have in another run. */
export function withNamesOf(known: RunRecord, record: RunRecord): RunRecord {
  const names = namesOfOtherRuns([known], [record]);
  return names.size === 0 ? record : withTestNames(record, (id) => names.get(id) ?? id);
}

/** Why runs do not show all that tests would do: `the base tests cannot be run on R (no pytest)`. */
export interface Hindrance {
  /** Whose runs, such as `the base tests`; absent where it concerns no run. */
  readonly subject?: string;
  /** Such as `cannot be run`. */
  readonly what: string;
  readonly side?: Side;
  /** Follows the side, such as `in this environment`. */
  readonly how?: string;
  /** What the run said; absent where it stays hidden, or is not known. */
  readonly cause?: string;
}

/**
 * Hindrances of several runs as one text: tests and sides with the same hindrance share a sentence,
 * and a cause is there once.
 *
 * @param told a text that the reader has beside, whose causes need no repetition
 */
export function hindrancesInWords(hindrances: readonly Hindrance[], told = ''): string {
  const alike = new Map<string, Hindrance[]>();
  for (const each of hindrances) {
    const { what, how, cause } = each;
    const key = JSON.stringify([what, how, cause]);
    alike.set(key, [...(alike.get(key) ?? []), each]);
  }
  const said = new Set<string>();
  return [...alike.values()]
    .map((group) => {
      const [{ what, how, cause } = { what: '' }] = group;
      const subjects = new Set(group.flatMap(({ subject = [] }) => subject));
      const on = new Set(group.flatMap(({ side }) => (side === undefined ? [] : sideName[side])));
      const isNew = cause !== undefined && !said.has(cause) && !told.includes(cause);
      if (isNew) said.add(cause);
      return [
        inList([...subjects]),
        what,
        ...(on.size === 0 ? [] : ['on', inList([...on])]),
        how ?? '',
        isNew ? `(${cause})` : '',
      ]
        .filter((part) => part !== '')
        .join(' ');
    })
    .join('; ');
}
