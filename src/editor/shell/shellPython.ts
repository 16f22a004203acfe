import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { homedir } from 'node:os';
import { basename, delimiter } from 'node:path';
import { local, localSettings, pythonOnPath, type PythonOnPath } from '../../engine/local';
import type { EngineSettings } from './settings';

/** As VS Code's `application.shellEnvironmentResolutionTimeout`. */
const timeout = 10_000;

let known: Promise<PythonOnPath | undefined> | undefined;

/**
 * The settings with the interpreter that a terminal finds, where none is set or chosen. A window
 * that was not started from a terminal has another PATH than one. Asked once in a window.
 */
export async function withShellPython(settings: EngineSettings): Promise<EngineSettings> {
  const { python } = localSettings.in(settings.values);
  const isFree = settings.name === local.name && python === undefined;
  if (!isFree || (process.env['VIRTUAL_ENV'] ?? '') !== '') return settings;
  known ??= findShellPython();
  const found = { python: (await known)?.interpreter };
  return { ...settings, values: localSettings.with(settings.values, found) };
}

/** Asks the shell again at the next use: the user may have installed a Python. */
export function forgetShellPython(): void {
  known = undefined;
}

async function findShellPython(): Promise<PythonOnPath | undefined> {
  const own = process.env['PATH'] ?? '';
  // What was started from a terminal has its PATH.
  const ofShell = process.env['VSCODE_CLI'] === '1' ? undefined : await loginShellPath(process.env);
  return pythonOnPath([...(ofShell ?? '').split(delimiter), ...own.split(delimiter)]);
}

/**
 * PATH as the user's login shell sets it; undefined on Windows, which has no such shell, and where
 * the shell does not answer. It starts in the home folder, so that no hook of a workspace runs.
 */
export function loginShellPath(
  env: NodeJS.ProcessEnv,
  milliseconds = timeout,
): Promise<string | undefined> {
  const shell = env['SHELL'] ?? '';
  const flags = flagsOf(basename(shell));
  if (process.platform === 'win32' || shell === '' || flags === undefined) {
    return Promise.resolve(undefined);
  }
  // Start-up files may print anything before it and after it.
  const mark = randomBytes(12).toString('hex');
  return new Promise((resolve) => {
    const child = spawn(shell, [...flags, `printf '%s%s%s' ${mark} "$PATH" ${mark}`], {
      cwd: homedir(),
      // Start-up files can tell by this variable that no person waits for a prompt.
      env: { ...env, VSCODE_RESOLVING_ENVIRONMENT: '1' },
      // Away from any terminal, and with its own group, which ends whatever hangs in it.
      detached: true,
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    let output = '';
    const end = (): void => {
      clearTimeout(timer);
      const [, path] = output.split(mark);
      resolve(path === '' ? undefined : path);
      if (child.pid !== undefined && child.exitCode === null) killGroup(child.pid);
    };
    const timer = setTimeout(end, milliseconds);
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      output += text;
      if (output.split(mark).length > 2) end();
    });
    child.on('error', end);
    child.on('close', end);
  });
}

/** How a shell is told to be a login shell and interactive; undefined for one with another syntax. */
function flagsOf(shell: string): readonly string[] | undefined {
  if (['bash', 'zsh', 'fish', 'sh', 'dash', 'ksh', 'ash'].includes(shell)) return ['-ilc'];
  // Their -l must be alone, and start-up files are read without it.
  return ['csh', 'tcsh'].includes(shell) ? ['-ic'] : undefined;
}

function killGroup(pid: number): void {
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // It has ended.
  }
}
