import { execFile } from 'node:child_process';
import { cp, mkdir, readdir, rm, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { type Instance, isInVersionRange } from '../../../src/domain/instance';
import { silent } from '../../../src/domain/work';
import { asOf } from '../../../src/environments/plan/packageDay';
import { packageOf, plainName } from '../../../src/environments/plan/projectNeeds';
import { treeLink, writtenFolder } from '../../../src/engine/environmentMaker';
import { pythonOfVersion, uvOf } from '../../../src/environments/virtual/tools';
import { sha256OfJson } from '../../../src/files/digest';
import table from './harnessPackages.json';

const run = promisify(execFile);

/**
 * What the reference harness installs on top of a project's requirements, by repository and range of
 * versions (its `MAP_VERSION_TO_INSTALL`, and the conda environments that it names). A name without
 * a version is one that it takes as of the day on which it builds an image. `python==3.10` is the
 * Python, where the recipe has another. The tox of Sphinx is left out: it only starts the tests, and
 * its version is later than {@link harnessDay}.
 */
const packages: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> = table;

/** The month in which the lists of SWE-bench were made. */
const harnessDay = '2023-10-01';

/** What the harness installs for a version of a project; empty where it adds nothing. */
export const harnessPackages = ({
  repo,
  version,
}: Pick<Instance, 'repo' | 'version'>): readonly string[] =>
  Object.entries(packages[repo] ?? {}).find(([range]) => isInVersionRange(version, range))?.[1] ??
  [];

/**
 * The environment of a row as the harness makes it: its packages, and in place of those of the row's
 * day the latest that there were when the lists of the dataset were made.
 *
 * @param interpreter that of the environment which was made for the row; it stays as it is
 * @param scratch folder for such environments
 * @returns undefined where the packages do not fit, or the Python is not at hand
 */
export async function harnessPython(
  instance: Pick<Instance, 'repo' | 'version'>,
  interpreter: string,
  { storage, scratch }: { readonly storage: string; readonly scratch: string },
  findUv: typeof uvOf = uvOf,
): Promise<{ readonly python: string; readonly what: string } | undefined> {
  const listed = harnessPackages(instance);
  const own = dirname(dirname(interpreter));
  const key = sha256OfJson([own, listed, harnessDay]).slice(0, 8);
  const made = join(scratch, 'harness', `${basename(own)}-${key}`);
  const added = listed.length === 0 ? '' : ` (${listed.join(', ')})`;
  const what = `the packages of the harness${added}, and the others as of ${harnessDay}`;
  const python = join(made, 'bin', 'python');
  if (await exists(made)) return { python, what };
  const uv = await findUv(storage, interpreter, { reporter: silent });
  await rm(made, { recursive: true, force: true });
  try {
    await makeAsHarness(uv, { own, interpreter }, made, listed);
    return { python, what };
  } catch {
    await rm(made, { recursive: true, force: true });
    return undefined;
  }
}

/** Makes a virtual environment with the same packages as another, in the harness' versions. */
async function makeAsHarness(
  uv: string,
  { own, interpreter }: { readonly own: string; readonly interpreter: string },
  made: string,
  listed: readonly string[],
): Promise<void> {
  const env = { ...process.env, UV_LINK_MODE: 'copy', UV_NO_CONFIG: '1' };
  const ask = async (...args: string[]): Promise<string> => (await run(uv, args, { env })).stdout;
  const pythonOf = (line: string): string | undefined => /^python==(.*)$/.exec(line)?.[1];
  const version = listed.map(pythonOf).find((each) => each !== undefined);
  const wanted = listed.filter((line) => pythonOf(line) === undefined);
  const python =
    version === undefined ? interpreter : await pythonOfVersion(version, 'the harness');
  await mkdir(dirname(made), { recursive: true });
  await ask('venv', '--quiet', '--seed', '--python', python, made);
  const frozen = (await ask('pip', 'freeze', '--python', interpreter)).split('\n');
  const isListed = new Set(wanted.map(packageOf));
  // R itself is there as metadata, from a folder.
  const others = frozen.filter((line) => /^[\w.-]+==/.test(line)).map(packageOf);
  const names = [...wanted, ...others.filter((name) => !isListed.has(name))];
  const target = join(made, 'bin', 'python');
  const into = ['pip', 'install', '--quiet', '--upgrade', '--python', target];
  await ask(...into, ...asOf(harnessDay, wanted), ...names);
  await run(target, ['-m', 'compileall', '-q', join(made, 'lib')]).catch(() => undefined);
  await copyOfR(own, made, frozen);
}

/** Copies what the environment of a row has of R: metadata, and how its tree is found. */
async function copyOfR(own: string, made: string, frozen: readonly string[]): Promise<void> {
  const project = frozen
    .flatMap((line) => /^([\w.-]+) @ file:/.exec(line)?.[1] ?? [])
    .map(plainName);
  const [from, to] = await Promise.all([own, made].map(siteFolder));
  if (from === undefined || to === undefined) throw new Error(`${made} is no environment`);
  for (const name of await readdir(from)) {
    const [about = '', version] = name.split(/-(?=[^-]*\.dist-info$)/);
    const isOfR = version !== undefined && project.includes(plainName(about));
    if (!isOfR && name !== treeLink && name !== writtenFolder) continue;
    await cp(join(from, name), join(to, name), { recursive: true });
  }
}

async function siteFolder(environment: string): Promise<string> {
  const [version = ''] = await readdir(join(environment, 'lib'));
  return join(environment, 'lib', version, 'site-packages');
}

const exists = (path: string): Promise<boolean> =>
  stat(join(path, 'bin', 'python')).then(
    () => true,
    () => false,
  );
