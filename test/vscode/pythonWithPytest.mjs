import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, rmSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { cache } from '../scripts/setup.mjs';

/**
 * A Python that has pytest: `python3`, one of pyenv, or a virtual environment in the cache folder, made
 * with pytest of the Python registry where there is none yet.
 *
 * @returns {string | undefined} path of the interpreter; undefined, with the reason printed, when none
 *   can be had
 */
export function pythonWithPytest() {
  const bin = process.platform === 'win32' ? 'Scripts/python.exe' : 'bin/python';
  const environment = join(cache, 'pytest-environment');
  const versions = join(process.env.PYENV_ROOT ?? join(homedir(), '.pyenv'), 'versions');
  const ofPyenv = existsSync(versions)
    ? readdirSync(versions).map((name) => join(versions, name, bin))
    : [];
  const made = join(environment, bin);
  for (const python of ['python3', ...ofPyenv, made]) {
    const found = pathWithPytest(python);
    if (found !== undefined) return found;
  }
  try {
    rmSync(environment, { recursive: true, force: true });
    const quietly = { stdio: ['ignore', 'ignore', 'pipe'] };
    execFileSync('python3', ['-m', 'venv', environment], quietly);
    const install = ['install', '--quiet', '--disable-pip-version-check', 'pytest'];
    execFileSync(made, ['-m', 'pip', ...install], quietly);
    return pathWithPytest(made);
  } catch (error) {
    console.log(`no Python with pytest: ${String(error.message).split('\n')[0]}`);
    return undefined;
  }
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
