import { access } from 'node:fs/promises';
import { join, posix } from 'node:path';
import { plural } from '../../domain/text';
import type { Instance } from '../../domain/instance';
import { HumanError } from '../../domain/work';
import { writeWholeFile } from '../../files/wholeFile';
import { builtPython, environmentFolder } from '../../engine/containerImage';
import { asOfLeastDay } from '../leastDay';
import { asOf, dayOf } from '../packageDay';
import { olderSetuptools } from '../plan/olderSetuptools';
import { projectNeeds, type ProjectNeeds } from '../projectNeeds';
import { packageOf, plainName, projectVersion, scmName } from '../projectVersion';
import type { Recipe } from '../recipes';
import { tarOf } from '../../engine/sandbox/archive';
import {
  CommandFailed,
  inContainer,
  labelLines,
  type BuildContainer,
  type BuildPlace,
} from '../../engine/docker/build/buildContainer';
import type { BuildNetwork } from '../packages/buildNetwork';
import { compileEnvironment } from './compileFolder';
import { foreignUser } from '../../engine/docker/build/confinement';
import { inspectImage } from '../../engine/docker/images/inspectImage';
import { identityOfService, installServices } from './installServices';
import { identityDigest, noteUse } from './imageRecords';
import { imageLabels, purposeOf } from '../../engine/docker/labels';
import {
  keepRequirements,
  knownRequirements,
  requirementsDigest,
  type ResolvedRequirements,
} from './resolvedRequirements';
import { packageAccess, toolFolder, type PackageAccess } from '../packages/packageAccess';
import { needInterpreter, type Interpreter } from './askInterpreter';
import type { PackageMetadata } from './packageMetadata';
import { pullImage } from '../../engine/docker/images/pull/pullImage';
import { treeArchive } from '../../engine/sandbox/treeArchive';
import { olderFile, putOlder, resolve, scratch, scratchTree, uvPath } from './resolve';

/**
 * Version of the way environments are built. It is raised with each change, so that older
 * environments are not reused.
 */
export const builder = 6;

/** Repository part of the names of environments that are built here. */
export const environmentRepository = 'swt-bench/environment';

export interface EnvironmentImage {
  readonly id: string;
  readonly name: string;
  /** Digest of everything that it was made from: equal keys mean equal environments. */
  readonly key: string;
  /** Id of the image that it was built on. */
  readonly base: string;
  /** What it has. */
  readonly resolved: ResolvedRequirements;
}

/**
 * An image of the same repository and version in which most of R lies already. To resolve the
 * requirements in a container of it takes only what differs.
 */
export interface TreeAtHand {
  /** Id of the image. */
  readonly image: string;
  /** Id of the base image below it. */
  readonly base: string;
  /** Folder of R. */
  readonly folder: string;
  /**
   * Makes the folder equal to R, with its repository of one commit.
   *
   * @returns the interpreter of the base image
   */
  put(container: BuildContainer): Promise<string>;
}

export interface EnvironmentRequest {
  readonly instance: Instance;
  readonly recipe: Recipe;
  /** R. */
  readonly tree: string;
  /** Name of the base image, with `{python}` replaced. */
  readonly baseImage: string;
  readonly storage: string;
  readonly network: BuildNetwork;
  /** Debian packages in addition to those of the recipe. */
  readonly system?: readonly string[];
  readonly atHand?: TreeAtHand | undefined;
}

const madeFolder = posix.dirname(environmentFolder);

/** Label that finds the environments of a repository and version before their key is known. */
export const familyLabel = 'swt-bench.family';

/** A digest that all instances share whose environments may be the same. */
export const familyOf = (
  { repo, version }: Pick<Instance, 'repo' | 'version'>,
  recipe: Recipe,
  baseImage: string,
): string => identityDigest(builder, repo, version, recipe, baseImage);

/** What an instance needs of its environment, and what is known of it from earlier ones. */
export interface AskedEnvironment {
  readonly needs: ProjectNeeds;
  /** Id of the base image. */
  readonly base: string;
  /** Day as of which packages are taken, `YYYY-MM-DD`; undefined for now. */
  readonly day: string | undefined;
  /** Debian packages that it needs. */
  readonly wanted: readonly string[];
  /** The versions of its packages, where they were resolved before for the same needs. */
  readonly known: ResolvedRequirements | undefined;
  /** Digest of everything that its packages are resolved from. */
  readonly key: string;
}

/**
 * Reads from R and the recipe what the environment needs. The base image is pulled when it is
 * missing.
 *
 * @throws HumanError when the base image cannot be pulled; Cancelled
 */
export async function askedEnvironment(
  request: EnvironmentRequest,
  place: BuildPlace,
): Promise<AskedEnvironment> {
  const { instance, recipe, storage } = request;
  const needs = await projectNeeds(request.tree, instance.repo, recipe);
  const base = await baseIdOf(request, place);
  const day = dayOf(instance.createdAt, recipe);
  const wanted = [
    ...new Set([...recipe.system, ...(request.system ?? []), ...compilersFor(needs)]),
  ].sort();
  const key = identityDigest(
    ...[builder, needs, recipe.extras, day ?? new Date().toISOString().slice(0, 10)],
    ...[base, wanted, recipe.programs, recipe.locales, recipe.services],
    indexesOf(request.network),
    // Requirements that the recipe states do not depend on R.
    needs.project === undefined ? '' : await requirementsDigest(request.tree, place.work.signal),
  );
  return { needs, base, day, wanted, key, known: await knownRequirements(storage, key) };
}

/** Opens the way to packages for the containers of a build. Close it at the end. */
export function packagesFor(
  { storage, network }: Pick<EnvironmentRequest, 'storage' | 'network'>,
  { hosts }: Pick<ProjectNeeds, 'hosts'>,
  place: BuildPlace,
): PackageAccess {
  const { index: settings, certificates, files } = network;
  return packageAccess(
    {
      ...{ storage, settings, hosts, limitMb: place.limits.diskMb },
      certificates: { env: certificates, files },
    },
    place,
  );
}

/**
 * The environment of a repository at a version, as of the instance's day. An environment that was
 * built before from the same versions of everything is reused. Otherwise it is built now on the
 * base image.
 *
 * @throws HumanError when the base image cannot be pulled or has another Python, or when the
 * requirements cannot be resolved or installed; Cancelled
 */
export async function environmentImage(
  request: EnvironmentRequest,
  place: BuildPlace,
): Promise<EnvironmentImage> {
  const { instance, baseImage, storage } = request;
  const { work } = place;
  const title = titleOf(instance);
  const asked = await askedEnvironment(request, place);
  const { needs, base, day, known } = asked;
  const present = known === undefined ? undefined : await builtBefore(request, known, base, place);
  if (present !== undefined) return present;

  const atHand = request.atHand?.base === base ? request.atHand : undefined;
  work.reporter.progress(`${instance.id}: looking at ${baseImage}`);
  const system = await systemImage(base, asked.wanted, request, place);
  const packages = packagesFor(request, needs, place);
  try {
    const ground = { packages, system, title };
    const wanted = { ...request, needs, day, atHand };
    const resolveAll = (of: string | undefined): Promise<string[]> =>
      resolved({ ...wanted, day: of }, ground, place);
    const record = known ?? (await newRecord(asked, system, resolveAll, place));
    if (known === undefined) await keepRequirements(storage, asked.key, record);
    const built = await builtBefore(request, record, base, place);
    if (built !== undefined) return built;
    const { lock, moved } = record;
    const { key, name } = environmentName(request, record, base);
    const wantedNow = { ...request, needs, day: moved?.taken ?? day };
    const id = await made(wantedNow, { ...ground, lock, key }, place);
    const image = await inspectImage(place.connection, name);
    await noteUse(storage, { name, id, kind: 'environment', bytes: image?.bytes });
    return { id, name, key, base, resolved: record };
  } catch (error) {
    const more = packages.refusals();
    // Refused addresses do not explain a more specific error, such as a limit.
    if (more !== '' && error instanceof CommandFailed) {
      throw new CommandFailed(`${error.what}${more}`, error.next, error.output);
    }
    if (more === '' || !(error instanceof HumanError) || error.constructor !== HumanError)
      throw error;
    throw new HumanError(`${error.what}${more}`, error.next);
  } finally {
    packages.close();
  }
}

/** Title for people, such as `sympy/sympy 1.7`. */
export const titleOf = ({ repo, version }: Pick<Instance, 'repo' | 'version'>): string =>
  `${repo} ${version}`.trim();

/**
 * Resolves what an environment needs as of its day, or the earliest later one that has a solution.
 */
async function newRecord(
  { day }: AskedEnvironment,
  system: SystemImage,
  resolveAll: (day: string | undefined) => Promise<string[]>,
  { log }: BuildPlace,
): Promise<ResolvedRequirements> {
  const today = new Date().toISOString().slice(0, 10);
  const { answer: lock, moved } = await asOfLeastDay(day, today, resolveAll);
  const taken = moved?.taken ?? day;
  log.line(`resolved${taken === undefined ? '' : ` as of ${taken}`}:\n  ${lock.join('\n  ')}`);
  return { lock, moved, packages: [...system.packages] };
}

/** Id of the base image, which is pulled when it is missing. */
async function baseIdOf(
  { baseImage, storage }: EnvironmentRequest,
  { connection, work, log }: BuildPlace,
): Promise<string> {
  const present = await inspectImage(connection, baseImage);
  if (present !== undefined) return present.id;
  log.line(`pulling the base image ${baseImage}`);
  await pullImage(connection, baseImage, work);
  const pulled = await inspectImage(connection, baseImage);
  if (pulled === undefined) throw new Error(`no such image: ${baseImage}`);
  await noteUse(storage, { name: baseImage, id: pulled.id, kind: 'pulled', bytes: pulled.bytes });
  return pulled.id;
}

/** The name of an environment with these packages, and the digest of everything in it. */
export function environmentName(
  { instance, recipe }: Pick<EnvironmentRequest, 'instance' | 'recipe'>,
  { lock, packages }: ResolvedRequirements,
  base: string,
): Pick<EnvironmentImage, 'key' | 'name'> {
  const services = recipe.services.map(identityOfService);
  const key = identityDigest(builder, instance.repo, recipe.python, base, packages, lock, services);
  return { key, name: `${environmentRepository}:${environmentTag(instance, key)}` };
}

/** The environment for these resolved requirements, if it was built before. */
async function builtBefore(
  request: EnvironmentRequest,
  record: ResolvedRequirements,
  base: string,
  { connection, log }: BuildPlace,
): Promise<EnvironmentImage | undefined> {
  const { key, name } = environmentName(request, record, base);
  const found = await inspectImage(connection, name);
  if (found === undefined) return undefined;
  const { id, bytes } = found;
  log.line(`${name} was built before from the same`);
  await noteUse(request.storage, { name, id, kind: 'environment', bytes });
  return { id, name, key, base, resolved: record };
}

interface Wanted extends EnvironmentRequest {
  readonly needs: ProjectNeeds;
  readonly day: string | undefined;
}

interface Ground {
  readonly packages: PackageAccess;
  readonly system: SystemImage;
  /** Title for people, such as `sympy/sympy 1.7`. */
  readonly title: string;
}

const indexesOf = ({ index }: BuildNetwork): string[] =>
  [index.usual, ...index.others].map(({ url }) => url);

/**
 * Resolves requirements to exact versions, in a container that is removed afterwards. R is in it,
 * unless the recipe states what R requires.
 */
function resolved(
  request: Wanted,
  { packages, system, title }: Ground,
  place: BuildPlace,
): Promise<string[]> {
  const { instance, needs } = request;
  const { work } = place;
  const isAlone = needs.project === undefined;
  const tree = isAlone ? undefined : request.atHand;
  const image = tree?.image ?? system.id;
  const asked = { image, purpose: purposeOf(instance), runs: 'foreign' } as const;
  return inContainer(place, asked, async (container) => {
    work.reporter.progress(`${instance.id}: resolving the requirements of ${title}`);
    const python = await (isAlone
      ? superviseWithBase(container, request)
      : (tree?.put(container) ?? putWholeTree(container, request, work.signal)));
    const env = await packages.enter(container, python);
    const folder = isAlone ? '/' : (tree?.folder ?? scratchTree);
    return lockOf(request, { container, python, env, folder, path: system.path });
  });
}

/** Puts R into {@link scratchTree} of a container. Returns the interpreter of the base image. */
async function putWholeTree(
  container: BuildContainer,
  request: EnvironmentRequest,
  signal: AbortSignal | undefined,
): Promise<string> {
  const executable = await superviseWithBase(container, request);
  await container.put(await treeArchive(request.tree, scratchTree.slice(1), signal));
  const own = `${foreignUser}:${foreignUser}`;
  await container.run(['chown', '-hR', own, scratchTree], 'let set-up programs write beside R');
  return executable;
}

/** Returns the interpreter of the base image, which from now on supervises foreign code. */
async function superviseWithBase(
  container: BuildContainer,
  request: EnvironmentRequest,
): Promise<string> {
  const { executable } = await rightPython(container, request);
  container.superviseWith(executable);
  return executable;
}

interface ResolvingPlace {
  readonly container: BuildContainer;
  /** Interpreter of the base image. */
  readonly python: string;
  /** The environment that {@link PackageAccess.enter} returned for the container. */
  readonly env: Readonly<Record<string, string>>;
  /** Folder of R, with its repository of one commit. */
  readonly folder: string;
  /** Requirements of R, where they are known without its set-up program. */
  readonly stated?: readonly string[] | undefined;
  /** Packages whose metadata is known; their set-up programs need not run. */
  readonly known?: readonly PackageMetadata[] | undefined;
}

/**
 * Resolves what an environment needs in a container that serves for more than this. Nothing is kept.
 *
 * @throws HumanError when it cannot be resolved, Cancelled
 */
export async function resolveInside(
  asked: AskedEnvironment,
  request: EnvironmentRequest,
  { stated, ...inside }: ResolvingPlace,
  place: BuildPlace,
): Promise<ResolvedRequirements> {
  const { instance } = request;
  const title = titleOf(instance);
  place.work.reporter.progress(`${instance.id}: resolving the requirements of ${title}`);
  const system = await systemImage(asked.base, asked.wanted, request, place);
  const { needs } = asked;
  const wanted = {
    ...request,
    needs: stated === undefined ? needs : { ...needs, project: undefined },
  };
  const resolveAll = (day: string | undefined): Promise<string[]> =>
    lockOf({ ...wanted, day }, { ...inside, stated, path: system.path });
  return newRecord(asked, system, resolveAll, place);
}

/** Runs the resolver in a container, and leaves R out of what it lists. */
async function lockOf(
  { instance, recipe, needs, day }: Wanted,
  { container, path, ...inside }: ResolvingPlace & { readonly path: string },
): Promise<string[]> {
  const scm = `SETUPTOOLS_SCM_PRETEND_VERSION_FOR_${scmName(needs.name)}`;
  const env = {
    ...inside.env,
    // Without the environment of the version, which an image with a tree has on its path.
    PATH: path,
    [scm]: projectVersion(instance, recipe),
  };
  const { extras } = recipe;
  const resolving = { ...inside, needs, extras, day, env, what: titleOf(instance) };
  const lock = await resolve(container, resolving);
  return lock.filter((line) => packageOf(line) !== plainName(needs.name));
}

/** Removes what only the build needed, and what foreign code may have left. */
export async function removeTools(container: BuildContainer): Promise<void> {
  await container.run(
    [
      'sh',
      '-c',
      `rm -rf ${scratch} ${toolFolder} ${environmentFolder}/.lock /tmp/* /tmp/.[!.]* /var/tmp/* /var/tmp/.[!.]* /root/.cache`,
    ],
    'remove what only the build needed',
  );
}

/** Makes the image from a lock, in a container that never contains R. */
function made(
  request: Wanted,
  {
    packages,
    system,
    title,
    lock,
    key,
  }: Ground & { readonly lock: readonly string[]; readonly key: string },
  place: BuildPlace,
): Promise<string> {
  const { instance, recipe, baseImage, day } = request;
  const { work } = place;
  const asked = { image: system.id, purpose: purposeOf(instance), runs: 'foreign' } as const;
  return inContainer(place, asked, async (container) => {
    const interpreter = await rightPython(container, request);
    work.reporter.progress(
      `${instance.id}: installing ${plural(lock.length, 'package')} for ${title}`,
    );
    container.superviseWith(interpreter.executable);
    const doing = `build the environment of ${title}`;
    const env = await packages.enter(container, interpreter.executable);
    await install(container, { interpreter, lock, day, env, doing });
    // Installs a pip that can install in editable mode both projects without setup.py (PEP 660,
    // from 21.3 on) and projects with nothing else (before 25). The pip that comes with Python may
    // be too old, and the newest is too new.
    await container.run(
      [uvPath, 'pip', 'install', '--python', builtPython, '--no-deps', 'pip>=21.3,<25'],
      doing,
      { env, isForeign: true },
    );
    await compileEnvironment(container, interpreter.executable, env);
    await installServices(container, recipe.services, { python: interpreter.executable, env });
    await container.run(['chown', '-hR', '0:0', madeFolder], 'take the environment back');
    await removeTools(container);
    work.reporter.progress(`${instance.id}: keeping the environment of ${title}`);
    const { repo, version } = instance;
    return container.commit(environmentRepository, environmentTag(instance, key), [
      ...labelLines({
        ...imageLabels('environment', { instance: '', repo, version, recipe: key }),
        [familyLabel]: familyOf(instance, recipe, baseImage),
      }),
      `ENV PATH=${posix.dirname(builtPython)}:${system.path}`,
      ...plainStart,
    ]);
  });
}

/** Makes an image start a shell instead of the command of its build container. */
export const plainStart = ['ENTRYPOINT []', 'CMD ["/bin/sh"]', 'WORKDIR /'];

interface Installing {
  readonly interpreter: Interpreter;
  readonly lock: readonly string[];
  readonly day: string | undefined;
  readonly env: Readonly<Record<string, string>>;
  readonly doing: string;
}

/** Makes the virtual environment and installs exactly what the lock lists. */
async function install(container: BuildContainer, installing: Installing): Promise<void> {
  const { interpreter, lock, day, env, doing } = installing;
  const own = [`${foreignUser}:${foreignUser}`, madeFolder];
  // No foreign code is in the container yet.
  const python = interpreter.executable;
  const made = await container.attempt([python, '-m', 'venv', environmentFolder]);
  const script = `mkdir -p ${environmentFolder} && chown -hR ${own.join(' ')}`;
  await container.run(['sh', '-c', script], doing);
  const foreign = { env, doing, isForeign: true };
  if (made.code !== 0) {
    // Debian's Python lacks a part of venv.
    await container.run(
      [uvPath, 'venv', '--clear', '--seed', '--python', python, environmentFolder],
      doing,
      foreign,
    );
  }
  const file = `${scratch}/in/lock.txt`;
  await container.put(
    await tarOf([
      { path: file.slice(1), content: Buffer.from(`${lock.join('\n')}\n`) },
      { path: `${scratch.slice(1)}/in/later.txt`, content: Buffer.from('setuptools<69\n') },
    ]),
  );
  const usual = [
    ...[uvPath, 'pip', 'install', '--python', builtPython, '--no-deps'],
    ...['-r', file],
  ];
  const first = await container.attempt([...usual, ...asOf(day, lock)], foreign);
  if (first.code === 0) return;
  const older = olderSetuptools(first.output);
  if (older !== undefined) {
    await putOlder(container, older);
    const building = [...asOf(day, lock), '--build-constraint', olderFile];
    if ((await container.attempt([...usual, ...building], foreign)).code === 0) return;
  }
  // A package built from source for a Python later than its day may need a setuptools that is also
  // later than its day.
  const later = ['--build-constraint', `${scratch}/in/later.txt`];
  const second = await container.attempt([...usual, ...later], foreign);
  if (second.code !== 0) throw container.failed(first, doing);
}

/** Names of the interpreter of a base image, the most specific one first. */
const interpretersOf = ({ python }: Recipe): string[] => [`python${python}`, 'python', 'python3'];

async function rightPython(
  container: BuildContainer,
  { recipe, baseImage, instance }: EnvironmentRequest,
): Promise<Interpreter> {
  const { python } = recipe;
  const found = await needInterpreter(container, baseImage, interpretersOf(recipe));
  if (found.version.startsWith(`${python}.`)) return found;
  throw new HumanError(
    `The base image ${baseImage} has Python ${found.version}, and ${instance.repo} ${instance.version} needs ${python}`,
    'Name one in the setting of the base image with {python} in the place of the version, such as python:{python}-bookworm',
  );
}

interface SystemImage {
  readonly id: string;
  /** The packages that were installed on the base image. */
  readonly packages: readonly string[];
  readonly path: string;
}

/**
 * The base image with the Debian packages that it lacks. All environments that need the same
 * packages share it.
 */
async function systemImage(
  base: string,
  wanted: readonly string[],
  { storage, network, recipe }: EnvironmentRequest,
  place: BuildPlace,
): Promise<SystemImage> {
  const { connection, work } = place;
  const { programs, locales } = recipe;
  const key = identityDigest(
    ...[builder, 'system', base, recipe.python, [...wanted].sort()],
    ...[programs, locales],
  );
  const extras = [...Object.values(programs).flat(), ...locales];
  const tag = `system-${key}`;
  const name = `${environmentRepository}:${tag}`;
  const present = await inspectImage(connection, name);
  if (present !== undefined) {
    await noteUse(storage, { name, id: present.id, kind: 'environment', bytes: present.bytes });
    return { id: present.id, packages: [...wanted, ...extras], path: present.path };
  }
  const { path = '' } = (await inspectImage(connection, base)) ?? {};
  const enough = { id: base, packages: [], path };
  if (await isEnough(storage, key)) return enough;
  return inContainer(place, { image: base, purpose: {}, runs: 'system' }, async (container) => {
    const missing: string[] = [];
    const interpreters = interpretersOf(recipe);
    for (const one of wanted) {
      if (!(await isThere(container, one, interpreters))) missing.push(one);
    }
    if ((await container.attempt(['git', '--version'])).code !== 0) missing.push('git');
    const more = await missingExtras(container, recipe);
    if (missing.length === 0 && more.length === 0) {
      await noteEnough(storage, key);
      return enough;
    }
    const all = [...missing, ...more.flatMap((each) => each.packages)].join(', ');
    work.reporter.progress(`Installing Debian packages: ${all}`);
    const env = { ...network.env, DEBIAN_FRONTEND: 'noninteractive' };
    const doing = `install the Debian packages ${all}`;
    if (network.files.length > 0) await container.put(await tarOf(network.files));
    const install = ['apt-get', '-q', 'install', '-y', '--no-install-recommends'];
    const updated = await container.attempt(['apt-get', '-q', 'update'], { env });
    if (missing.length > 0) {
      if (updated.code !== 0) throw container.failed(updated, doing);
      await container.run([...install, ...missing], doing, { env });
    }
    for (const { packages, then } of more) {
      const ended = await container.attempt([...install, ...packages], { env });
      if (ended.code === 0 && then !== undefined) await container.attempt(then);
      else if (ended.code !== 0)
        place.log.line(`without ${packages.join(', ')}, which tests may need`);
    }
    await container.attempt(['sh', '-c', nameCompilers]);
    await container.run(
      ['sh', '-c', `rm -rf /var/lib/apt/lists/* /var/cache/apt/*.bin ${scratch}`],
      'remove what only the build needed',
    );
    const id = await container.commit(environmentRepository, tag, [
      ...labelLines(imageLabels('environment', { recipe: key })),
      ...plainStart,
    ]);
    await noteUse(storage, { name, id, kind: 'environment' });
    return { id, packages: [...wanted, ...extras], path };
  });
}

const enoughPath = (storage: string, key: string): string => join(storage, 'images', 'enough', key);

/**
 * Whether a container of this base image was found to lack nothing. An image never changes, so it
 * is not asked again.
 */
const isEnough = (storage: string, key: string): Promise<boolean> =>
  access(enoughPath(storage, key)).then(
    () => true,
    () => false,
  );

/** Never fails: without the record, the image is asked again. */
const noteEnough = (storage: string, key: string): Promise<void> =>
  writeWholeFile(enoughPath(storage, key), '').catch(() => undefined);

/** Debian packages that tests may need, and the environment does not. */
interface Extra {
  readonly packages: readonly string[];
  /** Command that is run once they are installed. */
  readonly then?: readonly string[];
}

/** What the recipe would like to have beyond what the environment cannot be built without. */
async function missingExtras(container: BuildContainer, recipe: Recipe): Promise<Extra[]> {
  const found: Extra[] = [];
  for (const [program, packages] of Object.entries(recipe.programs)) {
    if (packages.length === 0) continue;
    const asked = await container.attempt(['sh', '-c', 'command -v "$1"', 'sh', program]);
    if (asked.code !== 0) found.push({ packages });
  }
  if (recipe.locales.length === 0) return found;
  const { standard } = await container.attempt(['locale', '-a']);
  const present = new Set(standard.toLowerCase().replaceAll('-', '').split('\n'));
  const absent = recipe.locales.filter(
    (name) => !present.has(name.toLowerCase().replaceAll('-', '')),
  );
  if (absent.length > 0) {
    const script = 'for name in "$@"; do localedef -i "${name%.*}" -f UTF-8 "$name"; done';
    found.push({ packages: ['locales'], then: ['sh', '-c', script, 'sh', ...absent] });
  }
  return found;
}

/** Debian's ccache has the names of all compilers but the two that some build systems use first. */
const nameCompilers =
  'cd /usr/lib/ccache && for name in cc c++; do [ -e "$name" ] || ln -s ../../bin/ccache "$name"; done';

/** @param interpreters names of the Python that is compiled for */
async function isThere(
  container: BuildContainer,
  debianPackage: string,
  interpreters: readonly string[],
): Promise<boolean> {
  if (debianPackage === 'build-essential') {
    return (await container.attempt(['cc', '--version'])).code === 0;
  }
  if (debianPackage === 'python3-dev') {
    // An interpreter that is not Debian's has its headers beside it, and no package.
    const script = `for name in "$@"; do command -v "$name" >/dev/null && exec "$name" -c '${hasHeaders}'; done; exit 1`;
    return (await container.attempt(['sh', '-c', script, 'sh', ...interpreters])).code === 0;
  }
  const asked = await container.attempt(['dpkg-query', '-W', '-f', '${Status}', debianPackage]);
  return asked.code === 0 && asked.standard.includes('install ok installed');
}

const hasHeaders = `import os, sys, sysconfig; sys.exit(not os.path.isfile(os.path.join(sysconfig.get_paths()["include"], "Python.h")))`;

/** A compiler, the headers of Python, and a cache of what was compiled. */
export const compilerPackages: readonly string[] = ['build-essential', 'ccache', 'python3-dev'];

/**
 * A compiler, when the build requirements of the project show that there is something to compile.
 */
const compilersFor = ({ build }: ProjectNeeds): string[] =>
  build.some((line) =>
    /^(cython|numpy|oldest-supported-numpy|pybind11|cffi|extension-helpers|scipy)\b/i.test(line),
  )
    ? [...compilerPackages]
    : [];

/** A tag that a person can read, and that its key makes unique. */
export const environmentTag = ({ repo, version }: Instance, key: string): string =>
  `${`${repo.replace('/', '__')}-${version}`
    .replace(/[^A-Za-z0-9_.-]/g, '-')
    .replace(/^[.-]+/, '')
    .slice(0, 100)}-${key}`;
