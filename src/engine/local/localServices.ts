import { randomUUID } from 'node:crypto';
import { access, mkdir, rename, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { dirname, join } from 'node:path';
import { HumanError, throwIfAborted } from '../../domain/work';
import { makeFolder } from '../../files/wholeFile';
import { sha256OfJson } from '../../files/digest';
import { withLock } from '../../repository/lock';
import { environmentsFolder, lockPath } from '../../repository/storage';
import { asOf } from '../../environments/packageDay';
import { missingService, services, type ServiceName } from '../services';
import { runProcess, type StartedService } from '../process';
import { pythonOfVersion } from '../../environments/virtual/pythonOfVersion';
import { uvOf } from '../../environments/virtual/uvOf';

/**
 * Services that tests expect, each on a free port of the loopback and from an environment of its own
 * in the storage folder. One that cannot be had is named in a remark, and the tests run without it.
 *
 * @throws Cancelled
 */
export async function localServices(
  names: readonly ServiceName[],
  storage: string,
  signal: AbortSignal | undefined,
): Promise<{ readonly services: readonly StartedService[]; readonly remarks: readonly string[] }> {
  const found: StartedService[] = [];
  const remarks: string[] = [];
  for (const name of names) {
    const python = await serviceEnvironment(name, storage, signal).catch((error: unknown) => {
      if (!(error instanceof HumanError)) throw error;
      remarks.push(`${missingService(name)}: ${error.what}`);
    });
    if (python === undefined) continue;
    const port = await freePort();
    const { args, env } = services[name];
    found.push({ name, port, argv: [python, ...args(port)], env: env(port) });
  }
  return { services: found, remarks };
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
      const place = { python: base, signal: locked };
      const venv = [uv, 'venv', '--quiet', '--relocatable', '--python', base, beside];
      await runTool(name, venv, place);
      const install = [uv, 'pip', 'install', '--quiet', '--python', interpreterIn(beside)];
      await runTool(name, [...install, ...asOf(day, requirements), ...requirements], place);
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

async function runTool(
  name: string,
  argv: readonly string[],
  place: { readonly python: string; readonly signal: AbortSignal },
): Promise<void> {
  const { signal } = place;
  const env = Object.fromEntries(
    Object.entries(process.env).flatMap(([key, value]) =>
      value === undefined || /^(PYTHON|VIRTUAL_ENV$|CONDA_)/.test(key) ? [] : [[key, value]],
    ),
  ) as Record<string, string>;
  const ended = await runProcess({
    ...{ ...place, argv, cwd: process.cwd(), env: { ...env, UV_NO_CONFIG: '1' } },
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
