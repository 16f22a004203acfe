import { execFile } from 'node:child_process';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { Cancelled, HumanError } from '../../domain/work';
import { withLock } from '../../repository/lock';
import { environmentsFolder, lockPath } from '../../repository/storage';
import type { EngineWork } from '../../engine/engine';

/** The first uv with all options that are used here: `--exclude-newer-package`. */
const oldest = [0, 9];

/**
 * The program uv: the person's own if it is recent, else one that pip installs into the storage
 * folder once.
 *
 * @param python an interpreter with pip, 3.8 or later
 * @throws HumanError when pip cannot install it, Cancelled
 */
export async function uvOf(storage: string, python: string, work: EngineWork): Promise<string> {
  const folder = join(environmentsFolder(storage), 'uv');
  const bin = join(folder, process.platform === 'win32' ? 'Scripts' : 'bin');
  const own = join(bin, process.platform === 'win32' ? 'uv.exe' : 'uv');
  for (const program of ['uv', join(homedir(), '.local', 'bin', 'uv'), own]) {
    if (await isRecent(program, work.signal)) return program;
  }
  const options = { ...work, what: 'installs uv' };
  return withLock(lockPath(storage, 'environment', 'uv'), options, async (signal) => {
    if (await isRecent(own, signal)) return own;
    work.reporter.progress('installing uv, which resolves requirements');
    const pip = join(bin, process.platform === 'win32' ? 'python.exe' : 'python');
    const wanted = `uv>=${oldest.join('.')}`;
    const made = await run(python, ['-m', 'venv', '--clear', folder], signal);
    const ended =
      made.error ?? (await run(pip, ['-m', 'pip', 'install', '--quiet', wanted], signal)).error;
    if (signal.aborted) throw new Cancelled();
    if (ended === undefined) return own;
    throw new HumanError(
      `Could not install uv ${oldest.join('.')} or later, which resolves requirements: ${ended}`,
      'Install uv so that it is on PATH, see https://docs.astral.sh/uv/, and try again',
    );
  });
}

async function isRecent(program: string, signal?: AbortSignal): Promise<boolean> {
  const { output } = await run(program, ['--version'], signal);
  const [, major, minor] = /^uv (\d+)\.(\d+)/.exec(output) ?? [];
  if (major === undefined) return false;
  return Number(major) > 0 || Number(minor) >= (oldest[1] ?? 0);
}

function run(
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
