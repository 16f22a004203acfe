import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { StatusMap } from '../../../src/domain/harness';
import { sweBenchLog } from '../../../src/study/resolution/sweBenchLog';
import type { EvalType, ExpectedTests } from '../../../src/study/resolution/resolutionStatus';

/** A log with the tests that a row expects, as SWE-bench grades it. */
export interface GradingCase extends ExpectedTests {
  readonly name: string;
  readonly log: string;
  readonly parser: string;
  readonly eval_type: EvalType;
}

/** What SWE-bench says of a case; `error` where its own code throws. */
export interface GradedCase {
  readonly statuses?: Readonly<Record<string, string>> | null;
  readonly report?: object;
  readonly resolution?: string;
  readonly error?: string;
}

/** The log parsers that are written on their own; the others are names of these. */
export const parserNames = [
  ...['parse_log_pytest', 'parse_log_pytest_options', 'parse_log_pytest_v2', 'parse_log_django'],
  ...['parse_log_seaborn', 'parse_log_sympy', 'parse_log_matplotlib'],
];

const lists: ExpectedTests = { FAIL_TO_PASS: ['a', 'b'], PASS_TO_PASS: ['c', 'd'] };

const pytest = (
  name: string,
  output: readonly string[],
  more: Partial<GradingCase & { readonly exit: number }> = {},
): GradingCase => ({
  name,
  log: sweBenchLog(output.join('\n'), more.exit ?? 0),
  parser: 'parse_log_pytest',
  eval_type: 'pass_and_fail',
  ...lists,
  ...more,
});

const passing = ['PASSED a', 'PASSED b', 'PASSED c', 'PASSED d'];
const but = (line: string): string[] => [
  ...passing.filter((each) => each.at(-1) !== line.at(-1)),
  line,
];

/** One case for each rule of the grading. */
export const ruleCases: readonly GradingCase[] = [
  pytest('everything passes', passing),
  ...['a', 'c'].flatMap((test) =>
    ['PASSED', 'FAILED', 'ERROR', 'SKIPPED', 'XFAIL', 'XPASS', 'PASSEDx'].map((status) =>
      pytest(`${test} is ${status}`, but(`${status} ${test}`), {
        exit: status === 'FAILED' ? 1 : 0,
      }),
    ),
  ),
  pytest('a is missing', passing.slice(1)),
  pytest(
    'c is missing',
    passing.filter((line) => !line.endsWith('c')),
  ),
  pytest('nothing of FAIL_TO_PASS passes', ['FAILED a', 'FAILED b', 'PASSED c', 'PASSED d']),
  pytest('some fail and one breaks', ['FAILED a', 'PASSED b', 'FAILED c', 'PASSED d']),
  pytest('empty lists', passing, { FAIL_TO_PASS: [], PASS_TO_PASS: [] }),
  pytest('only PASS_TO_PASS', passing, { FAIL_TO_PASS: [] }),
  pytest('only failures are named', ['FAILED c'], { eval_type: 'fail_only', exit: 1 }),
  pytest('only failures are named, and none is', ['12 passing'], { eval_type: 'fail_only' }),
  pytest('only failures are named, and nothing ran', ['no browser'], { eval_type: 'fail_only' }),
  pytest('an error where only failures are named', ['ERROR c'], {
    eval_type: 'fail_only',
    exit: 1,
  }),
  pytest('a failing runner that names no failure', passing, { exit: 1 }),
  pytest('a failing runner whose failure is not listed', [...passing, 'FAILED z'], { exit: 1 }),
  pytest('a failing runner without any status', ['Tests: 4'], { exit: 1 }),
  pytest('a killed runner', passing.slice(0, 2), { exit: 137 }),
  pytest(
    'a name that is cut within its parameter',
    ['PASSED a[log(x y)]', 'PASSED c', 'PASSED d'],
    {
      FAIL_TO_PASS: ['a[log(x'],
    },
  ),
  pytest('a cut name with two cases that pass', ['PASSED a[x-1]', 'XFAIL a[x-2]'], {
    FAIL_TO_PASS: ['a[x'],
    PASS_TO_PASS: [],
  }),
  pytest('a cut name with cases that differ', ['PASSED a[x-1]', 'FAILED a[x-2]'], {
    FAIL_TO_PASS: ['a[x'],
    PASS_TO_PASS: [],
    exit: 1,
  }),
  pytest('a cut name whose cases are skipped and failed', ['SKIPPED a[x-1]', 'FAILED a[x-2]'], {
    FAIL_TO_PASS: [],
    PASS_TO_PASS: ['a[x'],
    exit: 1,
  }),
  ...[
    '>>>>> Patch Apply Failed',
    '>>>>> Reset Failed',
    '>>>>> Tests Errored',
    '>>>>> Tests Timed Out',
  ].map((mark) => pytest(`a log with ${mark}`, [...passing, mark])),
  pytest('a log that prints the end mark', [
    ...passing.slice(0, 2),
    '>>>>> End Test Output',
    ...passing.slice(2),
  ]),
  pytest('a log that prints the start mark', [
    ...passing.slice(0, 2),
    '>>>>> Start Test Output',
    ...passing.slice(2),
  ]),
  pytest('a log that prints an exit status', ['>>>>> Test Exit Code: 0', ...passing], { exit: 1 }),
  pytest('an exit status that is no number', ['>>>>> Test Exit Code: none', ...passing], {
    exit: 1,
  }),
  { ...pytest('no end', passing), log: `>>>>> Start Test Output\n${passing.join('\n')}` },
  { ...pytest('no start', passing), log: `${passing.join('\n')}\n>>>>> End Test Output` },
  {
    ...pytest('statuses outside of the marks', passing),
    log: `>>>>> Start Test Output\n>>>>> End Test Output\n${passing.join('\n')}`,
  },
  { ...pytest('no text', passing), log: '' },
  pytest('Windows line ends', [passing.join('\r\n')]),
  pytest('missing module', ['ModuleNotFoundError: no'], { exit: 2 }),
  pytest('no tests ran', ['=== no tests ran in 0.01s ==='], { exit: 5 }),
  pytest('out of memory', ['Killed'], { exit: 137 }),
  pytest('no network', ['Could not resolve host: x'], { exit: 1 }),
];

const folder = join(__dirname, '..', 'engine', 'logs');
const parserOfLog: Readonly<Record<string, string>> = {
  astropy: 'parse_log_pytest_v2',
  django: 'parse_log_django',
  flask: 'parse_log_pytest',
  pytest: 'parse_log_pytest',
  requests: 'parse_log_pytest_options',
  seaborn: 'parse_log_seaborn',
  sphinx: 'parse_log_pytest_v2',
  sympy: 'parse_log_sympy',
};

/** Saved logs of real runners, each with its parser and a status that is not zero. */
export const savedLogCases: readonly GradingCase[] = readdirSync(folder)
  .filter((name) => name.endsWith('.txt'))
  .map((file) => ({
    name: file,
    log: sweBenchLog(readFileSync(join(folder, file), 'utf8'), 1),
    parser: parserOfLog[file.split('-')[0] ?? ''] ?? '',
    eval_type: 'pass_and_fail',
    FAIL_TO_PASS: [],
    PASS_TO_PASS: [],
  }));

/** Pieces of lines that some parser reads. */
export const pieces = [
  ...['PASSED', 'FAILED', 'ERROR', 'SKIPPED', 'XFAIL', 'FAIL:', 'ERROR:', 'ok', 'OK', 'E', 'F'],
  ...[
    ' ',
    '  ',
    ' - ',
    ' ... ',
    '...',
    '[1]',
    '[/a/b]',
    '[a b]',
    'test_a',
    'test_b (m.C)',
    't.py:x',
  ],
  ...['____', '_', '\t', '\r', '\x1b[31m', '[0m', ' ... ok', ' ... FAIL', ' ... skipped', '\x85'],
  ...['Testing against Django installed in ', ' silenced).', 'Internal Server Error: /', 'x/'],
  ...['System check identified no issues (0 silenced)', '--version is equivalent to version'],
  ...[
    'Applying sites.0002_alter_domain_unique...test_no_migrations',
    'MouseButton.LEFT',
    '\n',
    '\n',
  ],
];

/** A status map as an object, to compare. */
export const asObject = (statuses: StatusMap | undefined): Record<string, string> | null =>
  statuses === undefined ? null : Object.fromEntries(statuses);
