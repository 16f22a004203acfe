import type { Instance } from '../../domain/instance';
import type { TestResult } from '../../domain/outcome';
import { plural } from '../../domain/text';
import type { Environment } from '../../engine/engine';
import { recipeOf } from '../../environments/recipes';

/**
 * Why tests may fail in an environment although the code is right, the most telling first: what it
 * means for the user, and what to do. The key is the kind.
 */
const environmentCauses = {
  network: {
    says: 'they need network access, which sandboxes do not have',
    todo: 'allow network access for this repository in the settings',
  },
  program: {
    says: 'they start a program that is not installed',
    todo: 'install it, or choose an image that has it',
  },
  locale: {
    says: 'they need a locale or encoding that is not installed',
    todo: 'install the locale, or choose an image that has it',
  },
  'warning as error': {
    says: 'a newer Python or package issues warnings that these tests treat as errors',
    todo: 'use Python and packages from the date of the instance',
  },
  SQLite: {
    says: 'they fail in SQLite, whose version depends on the interpreter',
    todo: 'choose an interpreter from the time of the instance',
  },
  'changed interface': {
    says: 'they use a name or parameter that the installed packages or the standard library do not have',
    todo: 'use Python and packages from the date of the instance',
  },
} as const satisfies Record<string, { readonly says: string; readonly todo: string }>;
type EnvironmentCause = keyof typeof environmentCauses;
const environmentCauseKinds = Object.keys(environmentCauses) as readonly EnvironmentCause[];

/** The day on which a version of CPython was released. https://peps.python.org/topic/release/ */
const releases: Readonly<Record<string, string>> = {
  '3.6': '2016-12-23',
  '3.7': '2018-06-27',
  '3.8': '2019-10-14',
  '3.9': '2020-10-05',
  '3.10': '2021-10-04',
  '3.11': '2022-10-24',
  '3.12': '2023-10-02',
  '3.13': '2024-10-07',
  '3.14': '2025-10-07',
};

/** What tells each cause, in the name of the exception, its message and its traceback. */
const signs: Readonly<Record<EnvironmentCause, RegExp>> = {
  network:
    /\b(gaierror|URLError|NewConnectionError|MaxRetryError|ConnectTimeout)\b|Temporary failure in name resolution|Name or service not known|Network is unreachable|Max retries exceeded/,
  program:
    /FileNotFoundError: .*No such file or directory: '[\w.+-]+'|\bcommand not found\b|executable .{0,80}not found|returned non-zero exit status 127\b/,
  locale: /unsupported locale setting|'ascii' codec can't (?:en|de)code|\blocale\.Error\b/,
  'warning as error': /(?:^|[\s.])(?:Pending)?(?:Deprecation|Future|Import|Encoding)Warning: /m,
  SQLite:
    /\bsqlite3\.\w+|(?:malformed JSON|no such function: |near "[^"]*": syntax error)|db\/backends\/sqlite3\/\S+\.py/,
  'changed interface':
    /module '[\w.]+' has no attribute '|cannot import name '?\w+'? from |No module named '?[\w.]+/,
};

/** The likely cause of a failure in its environment; undefined where nothing points to one. */
export function environmentCauseOf({
  exception = '',
  message = '',
  details = '',
}: TestResult): EnvironmentCause | undefined {
  const error = `${exception}: ${message}`;
  // A traceback quotes code, so that only what was raised is looked at first.
  const raised = environmentCauseKinds.find((kind) => signs[kind].test(error));
  if (raised !== undefined) return raised;
  const lines = details
    .split('\n')
    .filter((line) => /^(?:E\s|\S*(?:Error|Warning)\b|\s+File )/.test(line));
  return environmentCauseKinds.find((kind) => lines.some((line) => signs[kind].test(line)));
}

/** What of an environment may make golden tests fail. */
interface Circumstances {
  readonly instance: Pick<Instance, 'repo' | 'version' | 'createdAt'>;
  readonly environment: Pick<Environment, 'pythonVersion'>;
}

/**
 * A sentence for the user on golden tests that fail on R∘X*, where they should pass: how many, the
 * likely causes and what to do. It names neither a test nor what a test says, so that it may be
 * shown while T* is hidden. Undefined where none fails.
 *
 * @param failing results on R∘X* of the tests of T* that fail there
 * @param all number of the tests of T*
 */
export function goldenFailuresNote(
  failing: readonly TestResult[],
  all: number,
  circumstances: Circumstances,
): string | undefined {
  if (failing.length === 0) return undefined;
  const counts = new Map<EnvironmentCause, number>();
  for (const each of failing) {
    const cause = environmentCauseOf(each);
    if (cause !== undefined) counts.set(cause, (counts.get(cause) ?? 0) + 1);
  }
  const causes = environmentCauseKinds.filter((kind) => counts.has(kind));
  const newer = newerPython(circumstances);
  const likely = [
    ...causes.map((kind) => `${environmentCauses[kind].says} (${counts.get(kind) ?? 0})`),
    ...(newer === undefined ? [] : [newer.says]),
  ];
  const todo = [
    ...causes.map((kind) => environmentCauses[kind].todo),
    ...(newer === undefined ? [] : [newer.todo]),
  ];
  const fail = failing.length === 1 ? 'fails' : 'fail';
  const what = `${failing.length} of ${plural(all, 'golden test')} ${fail} with the fix in this environment, so no candidate can be compared with ${failing.length === 1 ? 'it' : 'them'}`;
  return likely.length === 0
    ? `${what}; no known environment problem explains it. Validate the instance to see the failures`
    : `${what}. Likely cause: ${likely.join('; ')}. Try this: ${[...new Set(todo)].join('; ')}`;
}

/** The Python of the tests, where it was released after the day of the instance. */
function newerPython({
  instance,
  environment,
}: Circumstances): { readonly says: string; readonly todo: string } | undefined {
  const minor = minorOf(environment.pythonVersion);
  const released = releases[minor];
  const day = instance.createdAt.slice(0, 10);
  if (released === undefined || !/^\d{4}-\d{2}-\d{2}$/.test(day) || released <= day) {
    return undefined;
  }
  const { python } = recipeOf(instance.repo, instance.version);
  const says = `CPython ${minor} was released on ${released}, after the instance was created (${day})`;
  return python === minor
    ? { says, todo: 'choose an older Python' }
    : { says, todo: `choose CPython ${python}, which this version's recipe uses` };
}

const minorOf = (version: string): string => version.split('.').slice(0, 2).join('.');
