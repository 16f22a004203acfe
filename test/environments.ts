import { execFile, execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { delimiter, dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);
const root = resolve(__dirname, '..');
const cache = process.env['SWT_BENCH_CACHE'] ?? join(root, '.cache');

/**
 * The virtual environment with these packages, made once and cached. Skips the calling test, with the
 * cause, where the package registry is unreachable.
 *
 * @param python interpreter to make it with
 * @returns the environment's folder
 */
export async function environment(
  test: Mocha.Context,
  python: string,
  packages: readonly string[],
): Promise<string> {
  const key = createHash('sha256')
    .update([python, ...packages].join('\n'))
    .digest('hex');
  const folder = join(cache, 'environments', key.slice(0, 16));
  const ready = join(folder, 'ready');
  if (existsSync(ready)) return folder;
  await rm(folder, { recursive: true, force: true });
  await mkdir(dirname(folder), { recursive: true });
  const program = join(__dirname, 'scripts', 'makeEnvironment.mjs');
  await orSkip(test, `packages ${packages.join(', ')}`, () =>
    run(process.execPath, [program, python, folder, ...packages], { maxBuffer: 1 << 26 }),
  );
  await writeFile(ready, packages.join('\n'));
  return folder;
}

/** The virtual environment of `python3` with nothing in it, below `folder`. */
export function bareEnvironment(folder: string): string {
  const executable = 'import sys; print(getattr(sys, "_base_executable", sys.executable))';
  const python = execFileSync('python3', ['-c', executable]).toString().trim();
  const bare = join(folder, 'bare');
  execFileSync(python, ['-m', 'venv', '--without-pip', bare]);
  return bare;
}

/**
 * An interpreter without pytest: the `python3` on PATH if it has none, so that tests of one step share
 * kept runs, and otherwise one in a virtual environment below `folder`.
 */
export function pythonWithoutPytest(folder: string): string {
  const program =
    'import importlib.util, sys; print("" if importlib.util.find_spec("pytest") else sys.executable)';
  const onPath = execFileSync('python3', ['-c', program]).toString().trim();
  return onPath === '' ? join(bareEnvironment(folder), 'bin', 'python') : onPath;
}

/** Folder that an interpreter has installed packages in. */
export function sitePackagesOf(python: string): string {
  const ask = 'import sysconfig; print(sysconfig.get_paths()["purelib"])';
  return execFileSync(python, ['-c', ask]).toString().trim();
}

export const pytestEnvironment = (test: Mocha.Context): Promise<string> =>
  environment(test, 'python3', ['pytest==8.3.5']);

/** The first `python3` on PATH that has pip; undefined if none has. */
async function pythonWithPip(): Promise<string | undefined> {
  for (const folder of (process.env['PATH'] ?? '').split(delimiter)) {
    const python = join(folder, 'python3');
    if (folder === '' || !existsSync(python)) continue;
    const answers = await run(python, ['-m', 'pip', '--version']).catch(() => undefined);
    if (answers !== undefined) return python;
  }
  return undefined;
}

/**
 * The source release of a project from the Python package registry, as an archive. Skips the calling
 * test, with the cause, where the registry is unreachable or no Python has pip.
 */
export async function sourceRelease(
  test: Mocha.Context,
  name: string,
  version: string,
): Promise<string> {
  const folder = join(cache, 'releases');
  const archive = join(folder, `${name}-${version}.tar.gz`);
  if (existsSync(archive)) return archive;
  const python = await pythonWithPip();
  if (python === undefined) {
    return skipFor(test, `the source release ${name} ${version} needs pip, and no python3 has it`);
  }
  const beside = join(folder, `.${name}-${version}-${process.pid}`);
  await mkdir(beside, { recursive: true });
  try {
    await orSkip(test, `the source release ${name} ${version}`, () =>
      run(
        python,
        [
          ...['-m', 'pip', 'download', '--quiet', '--disable-pip-version-check'],
          ...['--no-deps', '--no-binary', ':all:', '--dest', beside],
          `${name}==${version}`,
        ],
        { maxBuffer: 1 << 26 },
      ),
    );
    const file = (await readdir(beside)).find((each) => each.endsWith('.tar.gz'));
    if (file === undefined) throw new Error(`pip brought no archive of ${name} ${version}`);
    await rename(join(beside, file), archive);
    return archive;
  } finally {
    await rm(beside, { recursive: true, force: true });
  }
}

/** Skips the test, by name, when a registry is unreachable; rethrows any other failure. */
export async function orSkip<T>(
  test: Mocha.Context,
  what: string,
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const text = String((error as { stderr?: unknown }).stderr ?? error);
    if (
      /Could not find a version|No matching distribution|Max retries|NewConnectionError|Temporary failure|timed out|Connection/i.test(
        text,
      )
    ) {
      skipFor(test, `${what} cannot be fetched from the package registry`);
    }
    throw error;
  }
}

/** Skips the calling test, with the cause. */
function skipFor(test: Mocha.Context, cause: string): never {
  const runnable: (Mocha.Runnable & { skipReason?: string }) | undefined = test.test;
  if (runnable !== undefined) runnable.skipReason = `${runnable.fullTitle()}: ${cause}`;
  return test.skip();
}
