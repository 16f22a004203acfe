import type { Instance } from '../../domain/instance';
import { parseSeaborn } from './pytest';
import { pythonCharacters, splitPythonWords } from './pythonCharacters';

/**
 * The log parsers of SWE-bench 5 for Python (`log_parsers/python.py` of swebench 5.0.2). They differ
 * from those of SWT-Bench (`parseLog`) in Django, SymPy and whole names, and they know XFAIL. A line
 * at which one of them would throw is skipped.
 */
type SweBenchParser = (log: string) => Map<string, string>;

const statuses = ['FAILED', 'PASSED', 'SKIPPED', 'ERROR', 'XFAIL'] as const;

const startsWithStatus = (line: string): boolean =>
  statuses.some((status) => line.startsWith(status));

/** pytest's `SKIPPED [N] path:line: reason`: N is a count, not a test. */
const isSkipSummary = (status: string | undefined, name: string): boolean =>
  status === 'SKIPPED' && /^\[\p{Nd}+\]$/u.test(name);

function pytestLines(
  log: string,
  readLine: (line: string) => string,
  readName: (name: string) => string,
): Map<string, string> {
  const found = new Map<string, string>();
  for (const raw of log.split('\n')) {
    const line = readLine(raw);
    if (!startsWithStatus(line)) continue;
    const [status, name] = splitPythonWords(
      line.startsWith('FAILED') ? line.replaceAll(' - ', ' ') : line,
    );
    if (status === undefined || name === undefined || isSkipSummary(status, name)) continue;
    found.set(readName(name), status);
  }
  return found;
}

const same = (text: string): string => text;

const pytest: SweBenchParser = (log) => pytestLines(log, same, same);

/** Absolute paths in parameters: only the last part is kept. */
const pytestOptions: SweBenchParser = (log) =>
  pytestLines(log, same, (name) => {
    const start = name.indexOf('[');
    const end = name.lastIndexOf(']');
    if (start < 0 || end < start) return name;
    let option = name.slice(start + 1, end);
    if (option.startsWith('/') && !option.startsWith('//') && !option.includes('*')) {
      option = option.slice(option.lastIndexOf('/'));
    }
    return `${name.slice(0, start)}[${option}]`;
  });

const matplotlib: SweBenchParser = (log) =>
  pytestLines(
    log,
    (line) => line.replaceAll('MouseButton.LEFT', '1').replaceAll('MouseButton.RIGHT', '3'),
    same,
  );

const colour = /\[\p{Nd}+m/gu;
// oxlint-disable-next-line no-control-regex -- these are what is to be removed
const control = /[\x01-\x1f]/g;

/** Whole names, with blanks; an old pytest writes the status at the end of the line. */
const pytestV2: SweBenchParser = (log) => {
  const found = new Map<string, string>();
  for (const raw of log.split('\n')) {
    const line = raw.replace(colour, '').replace(control, '');
    if (startsWithStatus(line)) {
      const shown = line.startsWith('FAILED') ? (line.split(' - ', 1)[0] ?? line) : line;
      const [status, ...name] = splitPythonWords(shown);
      if (status === undefined || name.length === 0 || isSkipSummary(status, name[0] ?? '')) {
        continue;
      }
      found.set(name.join(' '), status);
    } else if (statuses.some((status) => line.endsWith(status))) {
      const words = splitPythonWords(line);
      const status = words.pop();
      if (status !== undefined && words.length > 0) found.set(words.join(' '), status);
    }
  }
  return found;
};

const { space } = pythonCharacters;
const isSpace = new RegExp(space, 'u');

/** `line.strip()`. A loop, since an expression takes quadratic time for blanks inside the line. */
function stripped(line: string): string {
  let [start, end] = [0, line.length];
  while (start < end && isSpace.test(line.charAt(start))) start++;
  while (end > start && isSpace.test(line.charAt(end - 1))) end--;
  return line.slice(start, end);
}

const sympy: SweBenchParser = (log) => {
  const found = new Map<string, string>();
  const lines = log.split('\n');
  for (const line of lines) {
    const heading = sympyHeading(line);
    if (heading !== undefined) found.set(heading, 'FAILED');
  }
  for (const raw of lines) {
    const line = stripped(raw);
    if (!line.startsWith('test_')) continue;
    const [ending] = [/ (E|F|ok)$/.exec(line)?.[1]];
    const status = ending === 'E' ? 'ERROR' : ending === 'F' ? 'FAILED' : 'PASSED';
    const [name] = splitPythonWords(line);
    if (ending !== undefined && name !== undefined) found.set(name, status);
  }
  return found;
};

/**
 * What `(_*) (.*)\.py:(.*) (_*)` finds in a line: the text from after the first blank to the last
 * one, with `.py:` in it. The expression itself takes quadratic time.
 */
function sympyHeading(line: string): string | undefined {
  const first = line.indexOf(' ');
  const last = line.lastIndexOf(' ');
  if (last < 4 || line.lastIndexOf('.py:', last - 4) <= first) return undefined;
  return line.slice(first + 1, last);
}

const passSuffixes = [' ... ok', ' ... OK', ' ...  OK'];

const django: SweBenchParser = (log) => {
  const found = new Map<string, string>();
  let before: string | undefined;
  for (const raw of log.split('\n')) {
    let line = stripped(raw);
    const upTo = (mark: string): string => line.split(mark, 1)[0] ?? line;
    if (line.includes('--version is equivalent to version')) {
      found.set('--version is equivalent to version', 'PASSED');
    }
    if (line.includes(' ... ')) before = upTo(' ... ');
    const suffix = passSuffixes.find((each) => line.endsWith(each));
    if (suffix !== undefined) {
      // A migration prints before the name of this test of django-7188.
      if (line.startsWith('Applying sites.0002_alter_domain_unique...test_no_migrations')) {
        line = stripped(line.slice(line.indexOf('...') + 3));
      }
      found.set(line.slice(0, -suffix.length), 'PASSED');
    }
    if (line.includes(' ... skipped')) found.set(upTo(' ... skipped'), 'SKIPPED');
    for (const [word, heading, status] of djangoFailures) {
      if (line.endsWith(` ... ${word}`)) found.set(upTo(` ... ${word}`), status);
      const name = line.startsWith(heading) ? splitPythonWords(line)[1] : undefined;
      if (name !== undefined) found.set(name, status);
    }
    // Whatever the test printed is between its name and this word.
    if (line.startsWith('ok') && before !== undefined) found.set(before, 'PASSED');
  }
  for (const name of interrupted(log)) found.set(name, 'PASSED');
  return found;
};

const djangoFailures = [
  ['FAIL', 'FAIL:', 'FAILED'],
  ['ERROR', 'ERROR:', 'ERROR'],
] as const;

/** Messages of Django that come between the name of a test and its `ok` on the next line. */
function* interrupted(log: string): Generator<string> {
  yield* namesBefore(log, 'Testing against Django installed in ', (from) => {
    const ending = ' silenced).\nok';
    for (let at = log.indexOf(ending, from); at >= 0; at = log.indexOf(ending, at + 1)) {
      const end = at + ending.length;
      if (endsLine(log, end)) return end;
    }
    return 'none';
  });
  yield* namesBefore(log, 'Internal Server Error: /', (from) => {
    const end = log.indexOf('\n', from);
    return end > from && log[end - 1] === '/' && endsWithOk(log, end) ? end + 3 : undefined;
  });
  yield* namesBefore(log, 'System check identified no issues (0 silenced)', (from) =>
    log[from] === '\n' && endsWithOk(log, from) ? from + 3 : undefined,
  );
}

const endsLine = (log: string, at: number): boolean => at === log.length || log[at] === '\n';

const endsWithOk = (log: string, lineEnd: number): boolean =>
  log.startsWith('\nok', lineEnd) && endsLine(log, lineEnd + 3);

/**
 * Names at the beginning of a line, before ` ... ` and a message.
 *
 * @param endOf where the match ends that continues at a position; undefined where nothing matches
 *   there, `none` where nothing matches from there on
 */
function* namesBefore(
  log: string,
  message: string,
  endOf: (from: number) => number | undefined | 'none',
): Generator<string> {
  const escaped = message.replace(/[()/.]/g, '\\$&');
  const heads = new RegExp(`(?<![^\\n])([^\\n]*?)${space}\\.\\.\\.${space}${escaped}`, 'gu');
  for (let head = heads.exec(log); head !== null; head = heads.exec(log)) {
    const end = endOf(heads.lastIndex);
    if (end === 'none') return;
    if (end !== undefined) {
      yield head[1] ?? '';
      heads.lastIndex = end;
      continue;
    }
    const next = log.indexOf('\n', head.index);
    if (next < 0) return;
    heads.lastIndex = next + 1;
  }
}

/** By the names that rows of SWE-bench 5 have in `log_parser`. */
const byName: ReadonlyMap<string, SweBenchParser> = new Map([
  ['parse_log_pytest', pytest],
  ['parse_log_pytest_options', pytestOptions],
  ['parse_log_pytest_v2', pytestV2],
  ['parse_log_django', django],
  ['parse_log_seaborn', parseSeaborn],
  ['parse_log_sympy', sympy],
  ['parse_log_matplotlib', matplotlib],
  ...['astroid', 'flask', 'marshmallow', 'pvlib', 'pyvista', 'sqlfluff', 'xarray'].map(
    (name) => [`parse_log_${name}`, pytest] as const,
  ),
  ...['pydicom', 'requests', 'pylint'].map((name) => [`parse_log_${name}`, pytestOptions] as const),
  ...['astropy', 'scikit', 'sphinx'].map((name) => [`parse_log_${name}`, pytestV2] as const),
]);

/** For rows without `log_parser`, as in `MAP_REPO_TO_PARSER_PY`. */
const byRepository: ReadonlyMap<string, string> = new Map([
  ['astropy/astropy', 'parse_log_astropy'],
  ['django/django', 'parse_log_django'],
  ['marshmallow-code/marshmallow', 'parse_log_marshmallow'],
  ['matplotlib/matplotlib', 'parse_log_matplotlib'],
  ['mwaskom/seaborn', 'parse_log_seaborn'],
  ['pallets/flask', 'parse_log_flask'],
  ['psf/requests', 'parse_log_requests'],
  ['pvlib/pvlib-python', 'parse_log_pvlib'],
  ['pydata/xarray', 'parse_log_xarray'],
  ['pydicom/pydicom', 'parse_log_pydicom'],
  ['pylint-dev/astroid', 'parse_log_astroid'],
  ['pylint-dev/pylint', 'parse_log_pylint'],
  ['pytest-dev/pytest', 'parse_log_pytest'],
  ['pyvista/pyvista', 'parse_log_pyvista'],
  ['scikit-learn/scikit-learn', 'parse_log_scikit'],
  ['sqlfluff/sqlfluff', 'parse_log_sqlfluff'],
  ['sphinx-doc/sphinx', 'parse_log_sphinx'],
  ['sympy/sympy', 'parse_log_sympy'],
]);

/**
 * The log parser that SWE-bench 5 uses for an instance: the one that its row names, or that of its
 * repository. Undefined where there is none, or none for Python.
 */
export function sweBenchParserOf({
  repo,
  environment,
}: Pick<Instance, 'repo' | 'environment'>): SweBenchParser | undefined {
  return byName.get(environment?.logParser ?? byRepository.get(repo) ?? '');
}
