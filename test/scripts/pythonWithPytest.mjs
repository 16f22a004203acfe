import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { makeEnvironment } from './makeEnvironment.mjs';
import { cache } from './setup.mjs';

const bin = process.platform === 'win32' ? 'Scripts/python.exe' : 'bin/python';
const packages = ['pytest==8.3.5', 'pytest-xdist==3.6.1'];

/**
 * Finds a Python with pytest: a virtual environment in the cache folder with packages of the Python
 * registry, `python3`, or one of pyenv. The first is preferred. It is the same on every machine,
 * and small, since the local engine scans all installed packages before each run.
 *
 * @returns {string | undefined} path of the interpreter; undefined, with the reason printed, when
 *   none is available
 */
export function pythonWithPytest() {
  const environment = join(cache, 'pytest-environment');
  const made = join(environment, bin);
  const ready = join(environment, 'ready');
  let hindrance = '';
  try {
    if (!existsSync(ready)) {
      rmSync(environment, { recursive: true, force: true });
      makeEnvironment('python3', environment, packages);
      writeFileSync(ready, packages.join('\n'));
    }
  } catch (error) {
    hindrance = String(error.message).split('\n')[0];
  }
  const versions = join(process.env.PYENV_ROOT ?? join(homedir(), '.pyenv'), 'versions');
  const ofPyenv = existsSync(versions)
    ? readdirSync(versions).map((name) => join(versions, name, bin))
    : [];
  for (const python of [made, 'python3', ...ofPyenv]) {
    const found = pathWithPytest(python);
    if (found !== undefined) return found;
  }
  console.log(`no Python with pytest: ${hindrance}`);
  return undefined;
}

/** PATH on which `python3` is the one above, where there is one. */
export function pathWithPython() {
  const python = pythonWithPytest();
  const path = process.env.PATH ?? '';
  return python === undefined ? path : `${dirname(python)}${delimiter}${path}`;
}

/**
 * PATH on which `python3` has no packages, for tests that need none: a run by `unittest` takes half of the
 * processor time of one by pytest. Those of pytest have an environment of their own.
 */
export function pathWithoutPackages() {
  const environment = join(cache, 'environment-without-packages');
  const made = join(environment, bin);
  const path = process.env.PATH ?? '';
  const program = 'import sys; assert sys.version_info >= (3, 8)';
  try {
    if (!existsSync(join(environment, 'ready'))) {
      rmSync(environment, { recursive: true, force: true });
      execFileSync('python3', ['-m', 'venv', '--without-pip', environment], { stdio: 'pipe' });
      writeFileSync(join(environment, 'ready'), '');
    }
    execFileSync(made, ['-c', program], { stdio: 'pipe' });
  } catch {
    return path;
  }
  return `${dirname(made)}${delimiter}${path}`;
}

/** The interpreter's own path, where it can import pytest and is one that the local engine takes. */
function pathWithPytest(python) {
  const program = 'import sys, pytest; assert sys.version_info >= (3, 8); print(sys.executable)';
  try {
    return execFileSync(python, ['-c', program], { encoding: 'utf8', stdio: 'pipe' }).trim();
  } catch {
    return undefined;
  }
}
