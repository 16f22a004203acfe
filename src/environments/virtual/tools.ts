import { execFile } from 'node:child_process';
import { readdir } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { Cancelled, HumanError, throwIfAborted } from '../../domain/work';
import type { EngineWork } from '../../engine/engine';
import { runProcess, type ProcessRequest, type ProcessResult } from '../../engine/programs';
import { withLock } from '../../repository/lock';
import { environmentsFolder, lockPath } from '../../repository/storage';

/**
 * An interpreter of this machine with a version: on PATH, or of pyenv or uv.
 *
 * @param version such as `3.11`
 * @param title what needs it, for the message
 * @returns its path, never that of a virtual environment
 * @throws HumanError that says how to get it where there is none; Cancelled
 */
export async function pythonOfVersion(
  version: string,
  title: string,
  signal?: AbortSignal,
): Promise<string> {
  for (const candidate of [
    `python${version}`,
    ...(await installedBelow(pyenvFolder(), version, '')),
    ...(await installedBelow(uvFolder(), version, 'cpython-')),
    'python3',
    'python',
  ]) {
    throwIfAborted(signal);
    const found = await baseOf(candidate);
    if (found?.version === version) return found.path;
  }
  throw new HumanError(
    `${title} needs Python ${version}, which is not installed`,
    `Install it, for example with "uv python install ${version}" or "pyenv install ${version}", and try again; or use the docker engine`,
  );
}

const pyenvFolder = (): string =>
  join(process.env['PYENV_ROOT'] ?? join(homedir(), '.pyenv'), 'versions');

/** https://docs.astral.sh/uv/reference/storage/#python-versions */
function uvFolder(): string {
  const set = process.env['UV_PYTHON_INSTALL_DIR'];
  if (set !== undefined) return set;
  if (process.platform === 'win32')
    return join(process.env['APPDATA'] ?? homedir(), 'uv', 'python');
  return join(process.env['XDG_DATA_HOME'] ?? join(homedir(), '.local', 'share'), 'uv', 'python');
}

/** Interpreters in folders called PREFIX + VERSION + `.N…`, the latest first. */
async function installedBelow(folder: string, version: string, prefix: string): Promise<string[]> {
  const names = await readdir(folder).catch(() => []);
  const start = `${prefix}${version}.`;
  return names
    .filter((name) => name.startsWith(start) && /^\d/.test(name.slice(start.length)))
    .sort((one, other) => other.localeCompare(one, 'en', { numeric: true }))
    .map((name) =>
      process.platform === 'win32'
        ? join(folder, name, 'python.exe')
        : join(folder, name, 'bin', 'python3'),
    );
}

/** The interpreter that a virtual environment was made from, or that a shim starts. */
const question =
  'import sys; print("%d.%d" % sys.version_info[:2]); print(getattr(sys, "_base_executable", sys.executable))';

function baseOf(program: string): Promise<{ version: string; path: string } | undefined> {
  return new Promise((resolve) => {
    execFile(program, ['-I', '-c', question], { timeout: 20_000 }, (error, stdout) => {
      const [version = '', path = ''] = stdout.split(/\r?\n/);
      resolve(error !== null || path === '' ? undefined : { version, path });
    });
  });
}

/** The first uv with all options that are used here: `--exclude-newer-package`. */
const oldest = [0, 9];

/**
 * The program uv: the user's own if it is recent, else one that pip installs into the storage
 * folder once.
 *
 * @param python an interpreter with pip, 3.8 or later
 * @throws HumanError when pip cannot install it, Cancelled
 */
export async function uvOf(storage: string, python: string, work: EngineWork): Promise<string> {
  const folder = join(environmentsFolder(storage), 'uv');
  const pip = interpreterIn(folder);
  const own = join(dirname(pip), process.platform === 'win32' ? 'uv.exe' : 'uv');
  for (const program of ['uv', join(homedir(), '.local', 'bin', 'uv'), own]) {
    if (await isRecent(program, work.signal)) return program;
  }
  const options = { ...work, what: 'installs uv' };
  return withLock(lockPath(storage, 'environment', 'uv'), options, async (signal) => {
    if (await isRecent(own, signal)) return own;
    work.reporter.progress('installing uv, which resolves requirements');
    const wanted = `uv>=${oldest.join('.')}`;
    const made = await ask(python, ['-m', 'venv', '--clear', folder], signal);
    const ended =
      made.error ?? (await ask(pip, ['-m', 'pip', 'install', '--quiet', wanted], signal)).error;
    if (signal.aborted) throw new Cancelled();
    if (ended === undefined) return own;
    throw new HumanError(
      `Could not install uv ${oldest.join('.')} or later, which resolves requirements: ${ended}`,
      'Install uv on PATH (see https://docs.astral.sh/uv/) and try again',
    );
  });
}

async function isRecent(program: string, signal?: AbortSignal): Promise<boolean> {
  const { output } = await ask(program, ['--version'], signal);
  const [, major, minor] = /^uv (\d+)\.(\d+)/.exec(output) ?? [];
  if (major === undefined) return false;
  return Number(major) > 0 || Number(minor) >= (oldest[1] ?? 0);
}

function ask(
  program: string,
  args: readonly string[],
  signal: AbortSignal | undefined,
): Promise<{ readonly output: string; readonly error?: string }> {
  return new Promise((resolve) => {
    execFile(program, args, { signal }, (error, output, stderr) => {
      const said = stderr.trim();
      resolve({
        output,
        ...(error !== null && { error: said === '' ? error.message : said.slice(-500) }),
      });
    });
  });
}

/** The interpreter of a virtual environment. */
export const interpreterIn = (made: string): string =>
  process.platform === 'win32' ? join(made, 'Scripts', 'python.exe') : join(made, 'bin', 'python');

/** The user's environment, with pip's index for uv, which does not read it. */
export function toolEnvironment(): Record<string, string> {
  const kept = Object.entries(process.env).flatMap(([name, value]) =>
    value === undefined || /^(PYTHON|VIRTUAL_ENV$|CONDA_)/.test(name) ? [] : [[name, value]],
  );
  const env = Object.fromEntries(kept) as Record<string, string>;
  const same = { UV_DEFAULT_INDEX: 'PIP_INDEX_URL', SSL_CERT_FILE: 'PIP_CERT' };
  for (const [name, other] of Object.entries(same)) {
    const value = env[other];
    if (env[name] === undefined && value !== undefined) env[name] = value;
  }
  return {
    ...env,
    UV_NO_CONFIG: '1',
    UV_NO_PROGRESS: '1',
    UV_PYTHON_DOWNLOADS: 'never',
    // A link to a file of uv's cache changes that file's time in all other environments, which then
    // seem to be changed by the tests that run there.
    UV_LINK_MODE: 'copy',
  };
}

/** An hour, since packages without a wheel are compiled. */
const timeoutSeconds = 3600;

/** Runs a program of the build to its end, whatever its exit status. */
export async function runTool(
  argv: readonly string[],
  {
    env = toolEnvironment(),
    ...place
  }: Pick<ProcessRequest, 'cwd' | 'python' | 'signal'> & Partial<Pick<ProcessRequest, 'env'>>,
): Promise<ProcessResult> {
  const limits = { timeoutSeconds, outputLimit: 16 << 20 };
  const ended = await runProcess({ ...limits, ...place, argv, env });
  if (ended.ending === 'cancelled') throw new Cancelled();
  return ended;
}
