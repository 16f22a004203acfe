import { randomUUID } from 'node:crypto';
import { access, mkdir, rename, rm } from 'node:fs/promises';
import { connect, createServer } from 'node:net';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { HumanError, throwIfAborted } from '../../domain/work';
import { makeFolder } from '../../files/wholeFile';
import { sha256OfJson } from '../../files/digest';
import { withLock } from '../../repository/lock';
import { environmentsFolder, lockPath } from '../../repository/storage';
import { asOf } from '../../environments/packageDay';
import { missingService, services, type ServiceName } from '../services';
import { runProcess, type ProcessRequest } from '../process';
import { pythonOfVersion } from '../../environments/virtual/pythonOfVersion';
import { uvOf } from '../../environments/virtual/uvOf';

/** Services that run beside the tests of one run. */
interface RunningServices {
  /** How tests find them. */
  readonly env: Readonly<Record<string, string>>;
  /** What is said about those that are missing. */
  readonly remarks: readonly string[];
  /** Ends them with all of their processes. */
  stop(): Promise<void>;
}

/** Milliseconds that a service has to answer. */
const patience = 30_000;

/**
 * Starts services that tests expect, each on a free port of the loopback and from an environment of
 * its own in the storage folder. A service that cannot be had is named in a remark, and the tests
 * run without it.
 *
 * @param run what each of their processes gets from the run
 * @throws Cancelled
 */
export async function startLocalServices(
  names: readonly ServiceName[],
  storage: string,
  run: Pick<ProcessRequest, 'cwd' | 'env' | 'keeper' | 'guardian' | 'signal'>,
): Promise<RunningServices> {
  const ending = new AbortController();
  const running: Promise<unknown>[] = [];
  const env: Record<string, string> = {};
  const remarks: string[] = [];
  const stop = async (): Promise<void> => {
    ending.abort();
    await Promise.all(running);
  };
  try {
    for (const name of names) {
      const python = await serviceEnvironment(name, storage, run.signal).catch((error: unknown) => {
        if (!(error instanceof HumanError)) throw error;
        remarks.push(`${missingService(name)}: ${error.what}`);
      });
      if (python === undefined) continue;
      const port = await freePort();
      const process = runProcess({
        ...{ ...run, argv: [python, ...services[name].args(port)], signal: ending.signal },
        ...{ timeoutSeconds: 86_400, outputLimit: 64 << 20 },
      });
      running.push(process);
      if (await answers(port, process, run.signal)) Object.assign(env, services[name].env(port));
      else remarks.push(`${name} did not start`);
    }
  } catch (error) {
    await stop();
    throw error;
  }
  return { env, remarks, stop };
}

/**
 * The interpreter with a service, installed once for all instances.
 *
 * @throws HumanError when there is no fitting Python or the index has no package, Cancelled
 */
async function serviceEnvironment(
  name: ServiceName,
  storage: string,
  signal: AbortSignal | undefined,
): Promise<string> {
  const { requirements, day, pythons } = services[name];
  const folder = environmentsFolder(storage);
  const title = `${name}-${sha256OfJson([requirements, day]).slice(0, 12)}`;
  const made = join(folder, title);
  const python = interpreterIn(made);
  if (await isThere(python)) return python;
  const work = { signal, reporter: { log: () => undefined, progress: () => undefined } };
  const options = { ...work, what: `installs ${name}` };
  return withLock(lockPath(storage, 'environment', title), options, async (locked) => {
    if (await isThere(python)) return python;
    const base = await firstPython(pythons, name, locked);
    const uv = await uvOf(storage, base, { ...work, signal: locked });
    const beside = join(folder, `.making-${randomUUID()}`);
    await makeFolder(folder);
    try {
      await runTool(
        name,
        [uv, 'venv', '--quiet', '--relocatable', '--python', base, beside],
        locked,
      );
      const install = [uv, 'pip', 'install', '--quiet', '--python', interpreterIn(beside)];
      await runTool(name, [...install, ...asOf(day, requirements), ...requirements], locked);
      await mkdir(dirname(made), { recursive: true });
      await rename(beside, made);
    } finally {
      await rm(beside, { recursive: true, force: true });
    }
    return python;
  });
}

/** The first of these versions of Python that is on this machine. */
async function firstPython(
  versions: readonly string[],
  name: string,
  signal: AbortSignal,
): Promise<string> {
  let missing: unknown;
  for (const version of versions) {
    try {
      return await pythonOfVersion(version, name, signal);
    } catch (error) {
      if (!(error instanceof HumanError)) throw error;
      missing ??= error;
    }
  }
  throw missing;
}

async function runTool(name: string, argv: readonly string[], signal: AbortSignal): Promise<void> {
  const env = Object.fromEntries(
    Object.entries(process.env).flatMap(([key, value]) =>
      value === undefined || /^(PYTHON|VIRTUAL_ENV$|CONDA_)/.test(key) ? [] : [[key, value]],
    ),
  ) as Record<string, string>;
  const ended = await runProcess({
    ...{ argv, cwd: '.', env: { ...env, UV_NO_CONFIG: '1' }, signal },
    ...{ timeoutSeconds: 600, outputLimit: 1 << 20 },
  });
  throwIfAborted(signal);
  if (ended.exitCode === 0) return;
  const last = ended.output.trim().split('\n').slice(-2).join(' ');
  throw new HumanError(
    `Could not install ${name}: ${ended.startError ?? last}`,
    'See whether the index of Python packages can be reached',
  );
}

const interpreterIn = (folder: string): string =>
  process.platform === 'win32'
    ? join(folder, 'Scripts', 'python.exe')
    : join(folder, 'bin', 'python');

const isThere = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false,
  );

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      const port = typeof address === 'object' && address !== null ? address.port : 0;
      server.close(() => resolve(port));
    });
  });
}

/** Waits until a port accepts connections; false when the process ends or takes too long. */
async function answers(
  port: number,
  process: Promise<unknown>,
  signal: AbortSignal | undefined,
): Promise<boolean> {
  let hasEnded = false;
  const ended = process.then(
    () => (hasEnded = true),
    () => (hasEnded = true),
  );
  for (const end = performance.now() + patience; performance.now() < end;) {
    throwIfAborted(signal);
    if (await accepts(port)) return true;
    if (hasEnded) return false;
    await Promise.race([ended, sleep(20)]);
  }
  return false;
}

function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: '127.0.0.1' });
    const end = (accepted: boolean): void => {
      socket.destroy();
      resolve(accepted);
    };
    socket.once('connect', () => end(true)).once('error', () => end(false));
  });
}
