import { execFile } from 'node:child_process';
import { readdir } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { HumanError, throwIfAborted } from '../../domain/work';

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
    `Python ${version} is not on this machine, and ${title} needs it`,
    `Install it where a network allows, as with "uv python install ${version}" or "pyenv install ${version}", and try again; or use the docker engine`,
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
