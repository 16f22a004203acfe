import { randomUUID } from 'node:crypto';
import { access, mkdir, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { HumanError } from '../../domain/work';
import { services, type ServiceName } from '../../engine/sandbox';
import { makeFolder } from '../../files/wholeFile';
import { sha256OfJson } from '../../files/digest';
import { withLock } from '../../repository/lock';
import { environmentsFolder, lockPath } from '../../repository/storage';
import { asOf } from '../plan/packageDay';
import { interpreterIn, pythonOfVersion, runTool, uvOf } from './tools';

/**
 * The interpreter with a service, installed once for all instances.
 *
 * @throws HumanError when there is no fitting Python or the index has no package, Cancelled
 */
export async function serviceEnvironment(
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
      const own = ['--python', interpreterIn(beside)];
      for (const words of [
        ['venv', '--quiet', '--relocatable', '--python', base, beside],
        ['pip', 'install', '--quiet', ...own, ...asOf(day, requirements), ...requirements],
      ]) {
        const ended = await runTool([uv, ...words], { python: base, cwd: folder, signal: locked });
        if (ended.exitCode === 0) continue;
        const last = ended.output.trim().split('\n').slice(-2).join(' ');
        throw new HumanError(
          `Could not install ${name}: ${ended.startError ?? last}`,
          'Check that the Python package index is reachable',
        );
      }
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

const isThere = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false,
  );
