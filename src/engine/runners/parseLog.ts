import { parseDjango } from './django';
import {
  parseMatplotlib,
  parsePytest,
  parsePytestOptions,
  parsePytestV2,
  parseSeaborn,
} from './pytest';
import { parsePytestNames } from './pytestNames';
import { parseSympy } from './sympy';
import { runners } from './runners';

type LogParser = (log: string) => Map<string, string>;

/**
 * The parsers as the reference harness assigns them (`MAP_REPO_TO_PARSER` of its log_parsers.py).
 */
const parsers: ReadonlyMap<string, LogParser> = new Map([
  ['astropy/astropy', parsePytestV2],
  ['django/django', parseDjango],
  ['marshmallow-code/marshmallow', parsePytest],
  ['matplotlib/matplotlib', parseMatplotlib],
  ['mwaskom/seaborn', parseSeaborn],
  ['nielstron/humaneval_fix', parsePytest],
  ['pallets/flask', parsePytest],
  ['psf/requests', parsePytestOptions],
  ['pvlib/pvlib-python', parsePytest],
  ['pydata/xarray', parsePytest],
  ['pydicom/pydicom', parsePytestOptions],
  ['pylint-dev/astroid', parsePytest],
  ['pylint-dev/pylint', parsePytestOptions],
  ['pytest-dev/pytest', parsePytest],
  ['pyvista/pyvista', parsePytest],
  ['scikit-learn/scikit-learn', parsePytestV2],
  ['sphinx-doc/sphinx', parsePytestV2],
  ['sqlfluff/sqlfluff', parsePytest],
  ['sympy/sympy', parseSympy],
]);

/** Repositories that the reference harness has a log parser for. */
export const knownRepositories: readonly string[] = [...parsers.keys()];

const parserOf = (repo: string): LogParser | undefined =>
  parsers.get(repo) ?? parsers.get(repo.toLowerCase());

/** Whether the reference harness has a log parser for a repository (`owner/name`). */
export const isKnownRepository = (repo: string): boolean => parserOf(repo) !== undefined;

/**
 * The status of each test in a log, exactly as the reference harness reads it: `PASSED`, `FAILED`,
 * `ERROR` or `SKIPPED`. An odd line can give another word. A line that would make the harness throw
 * is skipped.
 *
 * For a repository that the harness does not know, the first runner reads it that takes it for its
 * own: pytest, with whole names, then `python -m unittest -v`. Both also give `XFAIL`, and pytest's
 * also `XPASS`.
 *
 * @param log the output of the tests, its lines ended by `\n`: see `testOutput`
 */
export function parseLog(
  log: string,
  repo: string,
  options: { mode?: 'unit-test' | 'reproduction-script' } = {},
): Map<string, string> {
  if (options.mode === 'reproduction-script') return parseReproductionScript(log);
  const parser = parserOf(repo);
  if (parser !== undefined) return parser(log);
  for (const { readLog } of runners) {
    const found = readLog?.(log);
    if (found !== undefined) return new Map(found);
  }
  return parsePytestNames(log);
}

/**
 * The exit status that `set -x` and `echo $?` leave in the log, as a single test with this name.
 */
function parseReproductionScript(log: string): Map<string, string> {
  const status = /(?:^|\n)\+ echo (\p{Nd}+)(?=\n|$)/u.exec(log)?.[1];
  if (status === undefined) return new Map();
  return new Map([['reproduction_script', status === '0' ? 'PASSED' : 'FAILED']]);
}

/**
 * The part of a saved log that the reference harness reads. It starts after the command that runs
 * the tests with the coverage tracer, and ends before the coverage is printed, if these are
 * present. Line ends are as Python's text mode makes them.
 */
export function testOutput(log: string): string {
  let output = log.replaceAll('\r\n', '\n').replaceAll('\r', '\n');
  if (output.includes('trace.py --count -C coverage.cover')) {
    // Like `re.split(...)[1]`: the part up to the next such command, if there are several.
    const command = /\n\+ python3 [^\n]*trace\.py --count -C coverage\.cover [^\n]*\n/;
    output = output.split(command)[1] ?? output;
  }
  return output.split('\n+ cat coverage.cover')[0] ?? output;
}
