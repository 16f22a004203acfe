// Makes a virtual environment with packages of the Python registry.
//   node test/scripts/makeEnvironment.mjs python3 FOLDER pytest==8.3.5
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const quietly = { stdio: ['ignore', 'ignore', 'pipe'] };

/**
 * Makes the environment with the pip of the interpreter, where that has one for other environments
 * (22.3 or later): a pip of its own takes five processor seconds. Otherwise it gets its own pip.
 *
 * @param {string} python interpreter to make it with
 * @param {string} folder of the environment
 * @param {readonly string[]} packages as pip takes them
 * @returns {string} path of its interpreter
 * @throws Error with what pip printed in `stderr`
 */
export function makeEnvironment(python, folder, packages) {
  const made = join(folder, process.platform === 'win32' ? 'Scripts/python.exe' : 'bin/python');
  const install = ['install', '--quiet', '--disable-pip-version-check', ...packages];
  execFileSync(python, ['-m', 'venv', '--without-pip', folder], quietly);
  try {
    execFileSync(baseOf(made), ['-m', 'pip', '--python', made, ...install], quietly);
  } catch {
    execFileSync(made, ['-m', 'ensurepip', '--default-pip'], quietly);
    execFileSync(made, ['-m', 'pip', ...install], quietly);
  }
  return made;
}

/** The interpreter that an environment was made with. */
const baseOf = (made) =>
  execFileSync(
    made,
    ['-c', 'import sys; print(getattr(sys, "_base_executable", sys.executable))'],
    {
      encoding: 'utf8',
    },
  ).trim();

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [python, folder, ...packages] = process.argv.slice(2);
  try {
    console.log(makeEnvironment(python, folder, packages));
  } catch (error) {
    console.error(String(error.stderr ?? error.message));
    process.exitCode = 1;
  }
}
