import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cp, mkdir, rename, rm, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import type { Instance } from '../../../src/domain/instance';
import { silent } from '../../../src/domain/reporter';
import { isInVersionRange } from '../../../src/engine/environments/versionRange';
import { uvOf } from '../../../src/engine/local/uvOf';
import table from './harnessPackages.json';

const run = promisify(execFile);

/**
 * What the reference harness installs on top of a project's requirements, by repository and range of
 * versions (its `MAP_VERSION_TO_INSTALL`). A name without a version is one that it takes as of the
 * day on which it builds an image: the newest that fits.
 */
const packages: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> = table;

/** What the harness installs for a version of a project; undefined where that is not known. */
export const harnessPackages = ({
  repo,
  version,
}: Pick<Instance, 'repo' | 'version'>): readonly string[] | undefined =>
  Object.entries(packages[repo] ?? {}).find(([range]) => isInVersionRange(version, range))?.[1];

/**
 * The environment of a row with the packages of the harness in place of those of the row's day.
 *
 * @param interpreter that of the environment which was made for the row; it stays as it is
 * @param scratch folder for such environments
 * @returns undefined where the harness' packages are not known, or do not fit
 */
export async function harnessPython(
  instance: Pick<Instance, 'repo' | 'version'>,
  interpreter: string,
  { storage, scratch }: { readonly storage: string; readonly scratch: string },
  findUv: typeof uvOf = uvOf,
): Promise<{ readonly python: string; readonly what: string } | undefined> {
  const wanted = harnessPackages(instance);
  if (wanted === undefined) return undefined;
  const own = dirname(dirname(interpreter));
  const key = createHash('sha256')
    .update(JSON.stringify([own, wanted]))
    .digest('hex');
  const made = join(scratch, 'harness', `${basename(own)}-${key.slice(0, 8)}`);
  const what = `the packages of the harness (${wanted.join(', ')})`;
  const python = join(made, 'bin', 'python');
  if (await exists(made)) return { python, what };
  const uv = await findUv(storage, interpreter, { reporter: silent });
  const beside = `${made}.${process.pid}`;
  await mkdir(dirname(made), { recursive: true });
  try {
    await cp(own, beside, { recursive: true, verbatimSymlinks: true });
    const target = ['--python', join(beside, 'bin', 'python')];
    const env = { ...process.env, UV_LINK_MODE: 'copy', UV_NO_CONFIG: '1' };
    await run(uv, ['pip', 'install', '--quiet', '--upgrade', ...target, ...wanted], { env });
    await run(join(beside, 'bin', 'python'), ['-m', 'compileall', '-q', join(beside, 'lib')]).catch(
      () => undefined,
    );
    await rename(beside, made);
    return { python, what };
  } catch {
    return undefined;
  } finally {
    await rm(beside, { recursive: true, force: true });
  }
}

const exists = (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    () => false,
  );
