import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { root } from '../commandLine/cli';
import { environment, sourceRelease } from '../environments';

export const data =
  process.env['SWT_BENCH_DATA'] ??
  resolve(root, '..', 'shared', 'data', 'swe-bench-lite.dev.jsonl');

export interface Case {
  readonly id: string;
  readonly release: readonly [string, string];
  readonly packages: readonly string[];
  /** The minor version of Python that the tests' modules need at least. */
  readonly minor: number;
}

const flask = [
  'pytest==7.4.4',
  'Werkzeug==2.2.3',
  'Jinja2==3.1.2',
  'click==8.1.3',
  'itsdangerous==2.1.2',
  'blinker',
  'asgiref',
  'python-dotenv',
  'MarkupSafe==2.1.3',
  'flask==2.2.5',
];
const sympy = ['mpmath==1.3.0'];

const all: readonly Case[] = [
  { id: 'pallets__flask-4992', release: ['flask', '2.2.5'], packages: flask, minor: 11 },
  { id: 'sympy__sympy-24152', release: ['sympy', '1.11.1'], packages: sympy, minor: 8 },
  { id: 'sympy__sympy-24066', release: ['sympy', '1.11.1'], packages: sympy, minor: 8 },
  { id: 'sympy__sympy-24102', release: ['sympy', '1.11.1'], packages: sympy, minor: 8 },
];

/**
 * All instances with `SWT_BENCH_ALL_INSTANCES=1`; otherwise one of each project, which is quick.
 */
const few = new Set(['pallets__flask-4992', 'sympy__sympy-24152']);
export const cases =
  (process.env['SWT_BENCH_ALL_INSTANCES'] ?? '') === '' ? all.filter(({ id }) => few.has(id)) : all;

/** The environment of a case. Skips the test, with the cause, where it is not available here. */
export async function placeOf(
  test: Mocha.Context,
  { id, minor, packages, release }: Case,
): Promise<{ readonly venv: string; readonly archive: string }> {
  const python = existsSync(data) ? pythonAtLeast(minor) : undefined;
  if (python === undefined) {
    const why = existsSync(data)
      ? `no Python 3.${minor} or later`
      : `no dataset at ${data} (set SWT_BENCH_DATA)`;
    (test.test as Mocha.Test & { skipReason?: string }).skipReason = `${id}: ${why}`;
    return test.skip();
  }
  return {
    venv: await environment(test, python, packages),
    archive: await sourceRelease(test, ...release),
  };
}

/** An interpreter of at least 3.minor: `python3`, or the newest that is found by name. */
function pythonAtLeast(minor: number): string | undefined {
  const names = ['python3', ...[11, 12, 13, 10, 9].map((each) => `python3.${each}`)];
  return names.find((name) => {
    try {
      const found = execFileSync(name, ['-c', 'import sys; print(sys.version_info[1])'], {
        stdio: ['ignore', 'pipe', 'ignore'],
      });
      return Number(found.toString()) >= minor;
    } catch {
      return false;
    }
  });
}
