import { spawn, spawnSync } from 'node:child_process';
import { existsSync, lstatSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = join(dirname(fileURLToPath(import.meta.url)), '..', '..');
/** The folder of everything that scripts make and that may be deleted. */
export const cache = process.env.SWT_BENCH_CACHE ?? join(root, '.cache');

const isWindows = process.platform === 'win32';

/** Runs a program in the project folder with its output shown; resolves with its exit status. */
export function run(program, args, options = {}) {
  return new Promise((resolve) => {
    const child = spawn(program, args, { cwd: root, stdio: 'inherit', ...options });
    child.on('error', (error) => {
      console.error(`${program} cannot be run: ${error.message}`);
      resolve(127);
    });
    child.on('exit', (code, signal) => resolve(code ?? (signal === 'SIGINT' ? 130 : 1)));
  });
}

/** Installs the packages of package-lock.json, if they are missing or the lock file has changed. */
export async function ensureInstalled() {
  const packages = join(root, 'node_modules');
  // `npm ci` would delete the packages of another working tree.
  if (lstatSync(packages, { throwIfNoEntry: false })?.isSymbolicLink()) {
    fail(
      `${packages} is a symbolic link. npm would delete what it leads to. Remove the link, and try again.`,
    );
  }
  const marker = join(packages, '.swt-bench-installed');
  const lock = readFileSync(join(root, 'package-lock.json'), 'utf8');
  if (existsSync(marker) && readFileSync(marker, 'utf8') === lock) return;
  console.log('Installing npm packages …');
  const status = await run(
    isWindows ? 'npm.cmd' : 'npm',
    ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'],
    { shell: isWindows },
  );
  if (status !== 0)
    fail('npm ci failed. Check that the npm registry can be reached, and try again.');
  writeFileSync(marker, lock);
}

/** Bundles the extension and the command line into dist/. */
export async function ensureBuilt(args = []) {
  if ((await run(process.execPath, ['esbuild.js', ...args])) !== 0) fail('The build failed.');
}

/** Stops with one clear line when a needed program is missing. */
export function need(program, args, why) {
  const { error, status } = spawnSync(program, args, { stdio: 'ignore' });
  if (error || status !== 0)
    fail(`${program} is needed ${why}, and cannot be run. Install it first.`);
}

export function fail(message) {
  console.error(message);
  process.exit(1);
}
