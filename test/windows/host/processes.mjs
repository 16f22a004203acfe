import { spawn } from 'node:child_process';
import fs from 'node:fs/promises';
import net from 'node:net';
import path from 'node:path';

/** Clean-ups to run when this process ends, in whatever way; see {@link onExit}. */
const cleanups = new Set();
let handling = false;

/** Makes SIGINT, SIGTERM and SIGHUP end this process through its `exit` handlers. */
export function handleSignals() {
  if (handling) return;
  handling = true;
  for (const [signal, status] of [
    ['SIGINT', 130],
    ['SIGTERM', 143],
    ['SIGHUP', 129],
  ]) {
    process.on(signal, () => process.exit(status));
  }
  process.on('exit', () => {
    for (const cleanup of [...cleanups].reverse()) cleanup();
  });
}

/**
 * Registers a synchronous clean-up for the end of this process (normal end, `process.exit`, Ctrl-C, SIGTERM).
 * @param {() => void} cleanup
 * @returns {() => void} runs it now, once, and forgets it
 */
export function onExit(cleanup) {
  handleSignals();
  cleanups.add(cleanup);
  return () => {
    if (cleanups.delete(cleanup)) cleanup();
  };
}

/**
 * Starts a program in a process group of its own, so that it can be killed with all its children.
 * The group is killed when this process ends.
 * @param {string} command
 * @param {string[]} args
 * @param {import('node:child_process').SpawnOptions} options
 * @returns {{ child: import('node:child_process').ChildProcess, kill: () => void }}
 */
export function startGroup(command, args, options) {
  const windows = process.platform === 'win32';
  const child = spawn(command, args, { ...options, detached: !windows });
  const kill = onExit(() => {
    try {
      if (child.pid === undefined) return;
      if (windows) spawn('taskkill', ['/pid', String(child.pid), '/T', '/F']);
      else process.kill(-child.pid, 'SIGKILL');
    } catch {
      // the whole group has ended already
    }
  });
  return { child, kill };
}

/**
 * Runs a program to its end.
 * @param {string} command
 * @param {string[]} args
 * @param {{ cwd?: string, env?: NodeJS.ProcessEnv }} [options]
 * @returns {Promise<string>} its output; rejects with the last lines of it when the exit status is not 0
 */
export function runToEnd(command, args, options = {}) {
  return new Promise((resolve, reject) => {
    const windows = process.platform === 'win32';
    const { child, kill } = startGroup(command, args, {
      ...options,
      shell: windows,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8');
      stream.on('data', (text) => (output = (output + text).slice(-200_000)));
    }
    child.on('error', (error) =>
      reject(new Error(`${command} cannot be started: ${error.message}`)),
    );
    child.on('close', (code, signal) => {
      kill();
      if (code === 0) return resolve(output);
      const tail = output.trimEnd().split('\n').slice(-15).join('\n');
      reject(new Error(`${command} ${args.join(' ')} ended with ${code ?? signal}:\n${tail}`));
    });
  });
}

/**
 * @param {string} name
 * @returns {Promise<string | undefined>} the full path of a program on PATH
 */
export async function findOnPath(name) {
  const endings = process.platform === 'win32' ? ['.exe', '.cmd'] : [''];
  for (const folder of (process.env.PATH ?? '').split(path.delimiter).filter(Boolean)) {
    for (const ending of endings) {
      const candidate = path.join(folder, name + ending);
      const usable = await fs.access(candidate, fs.constants.X_OK).then(
        () => true,
        () => false,
      );
      if (usable) return candidate;
    }
  }
  return undefined;
}

/**
 * @param {NodeJS.ProcessEnv} env
 * @returns {NodeJS.ProcessEnv} without the variables of a surrounding VS Code or npm, which would
 *   confuse another one
 */
export function withoutEditorVariables(env) {
  const entries = Object.entries(env).filter(
    ([key]) => !/^(VSCODE_|ELECTRON_|NODE_OPTIONS$|npm_)/.test(key),
  );
  return Object.fromEntries(entries);
}

/** @returns {Promise<number>} a TCP port of the loopback interface that is free at this moment */
export async function freePort() {
  const port = await listen(0);
  if (port === undefined) throw new Error('no port of 127.0.0.1 is free');
  return port;
}

/** @param {number} port */
export async function isFree(port) {
  return (await listen(port)) !== undefined;
}

/** Listens on a port of the loopback interface, then closes it. */
function listen(port) {
  return new Promise((resolve) => {
    const server = net.createServer();
    server.on('error', () => resolve(undefined));
    server.listen(port, '127.0.0.1', () => {
      const { port: given } = /** @type {net.AddressInfo} */ (server.address());
      server.close(() => resolve(given));
    });
  });
}

/**
 * Holds a lock folder while `work` runs. Takes over a lock whose owner no longer lives.
 * @template T
 * @param {string} folder
 * @param {(text: string) => void} log called once when another process holds the lock
 * @param {() => Promise<T>} work
 * @returns {Promise<T>}
 */
export async function withLock(folder, log, work) {
  const owner = path.join(folder, 'pid');
  for (let told = false; ;) {
    try {
      await fs.mkdir(path.dirname(folder), { recursive: true });
      await fs.mkdir(folder);
      break;
    } catch (error) {
      if (error.code !== 'EEXIST') throw error;
    }
    const pid = Number(await fs.readFile(owner, 'utf8').catch(() => '0'));
    const age = await fs.stat(folder).then(
      (stat) => Date.now() - stat.mtimeMs,
      () => 0,
    );
    // A lock without a pid is in the making, or its owner was killed between the two steps.
    if (pid > 0 ? !isAlive(pid) : age > 5_000) {
      await fs.rm(folder, { recursive: true, force: true });
      continue;
    }
    if (!told) log(`waiting for process ${pid}, which is doing the same installation`);
    told = true;
    await new Promise((resolve) => setTimeout(resolve, 500));
  }
  await fs.writeFile(owner, String(process.pid));
  try {
    return await work();
  } finally {
    await fs.rm(folder, { recursive: true, force: true });
  }
}

/** Whether a process is there, whoever owns it. */
export function isAlive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === 'EPERM';
  }
}
