import { posix } from 'node:path';
import { HumanError } from '../../domain/work';
import type { Instance } from '../../domain/instance';
import { plural } from '../../domain/text';
import {
  builtPython,
  environmentFolder,
  CommandFailed,
  inContainer,
  labelLines,
  type BuildContainer,
  type BuildPlace,
  foreignUser,
  inspectImage,
  pullImage,
  imageLabels,
  purposeOf,
} from '../../engine/docker';
import { servicePython, treeArchive } from '../../engine/sandbox';
import {
  pipOfEnvironment,
  planDigest,
  planVersion,
  type EnvironmentPlan,
} from '../environmentPlan';
import type { BuildNetwork } from '../packages/buildNetwork';
import { packageAccess, toolFolder, type PackageAccess } from '../packages/packageAccess';
import { asOf, asOfLeastDay } from '../plan/packageDay';
import { installPackages, resolvePackages, type KnownMetadata } from '../plan/resolvePackages';
import { needInterpreter, type Interpreter } from './askInterpreter';
import { compileEnvironment } from './compileFolder';
import { containerPlace, scratch, uvPath } from './containerPlace';
import {
  environmentRepository,
  environmentTag,
  familyLabel,
  familyOf,
  plainStart,
} from './imageNames';
import { identityDigest, noteUse } from './imageRecords';
import {
  keepRequirements,
  knownRequirements,
  requirementsDigest,
  type ResolvedRequirements,
} from './resolvedRequirements';
import { interpretersOf, systemImage, type SystemImage } from './systemImage';

interface EnvironmentImage {
  readonly id: string;
  readonly name: string;
  /** Digest of everything that it was made from: equal keys mean equal environments. */
  readonly key: string;
  /** Id of the image that it was built on. */
  readonly base: string;
  /** What it has. */
  readonly resolved: ResolvedRequirements;
}

export interface EnvironmentRequest {
  readonly instance: Instance;
  readonly plan: EnvironmentPlan;
  /** R. */
  readonly tree: string;
  /** Name of the base image, with `{python}` replaced. */
  readonly baseImage: string;
  readonly storage: string;
  readonly network: BuildNetwork;
}

const madeFolder = posix.dirname(environmentFolder);

/** What is known of the environment of an instance before anything is made. */
export interface AskedEnvironment {
  /** Id of the base image. */
  readonly base: string;
  /** The versions of its packages, where they were resolved before by the same plan. */
  readonly known: ResolvedRequirements | undefined;
  /** Digest of everything that its packages are resolved from. */
  readonly key: string;
}

/**
 * Asks what is known of the environment of a plan. The base image is pulled when it is missing.
 *
 * @throws HumanError when the base image cannot be pulled; Cancelled
 */
export async function askedEnvironment(
  request: EnvironmentRequest,
  place: BuildPlace,
): Promise<AskedEnvironment> {
  const { plan, tree, storage, network } = request;
  const base = await baseIdOf(request, place);
  const key = identityDigest(
    ...[
      planDigest(plan),
      base,
      [network.index.usual, ...network.index.others].map(({ url }) => url),
    ],
    plan.day === undefined ? today() : '',
    // Requirements that the recipe states do not depend on R.
    plan.packages.project === undefined ? '' : await requirementsDigest(tree, place.work.signal),
  );
  return { base, key, known: await knownRequirements(storage, key) };
}

const today = (): string => new Date().toISOString().slice(0, 10);

/** Opens the way to packages for the containers of a build. Close it at the end. */
export function packagesFor(
  { storage, network, plan }: EnvironmentRequest,
  place: BuildPlace,
): PackageAccess {
  const { index: settings, certificates, files } = network;
  const { hosts } = plan.packages;
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
  const { instance, plan, baseImage, storage } = request;
  const { work } = place;
  const asked = await askedEnvironment(request, place);
  const { base, known } = asked;
  const present = known === undefined ? undefined : await builtBefore(request, known, base, place);
  if (present !== undefined) return present;
  work.reporter.progress(`${instance.id}: inspecting ${baseImage}`);
  const system = await systemImage(base, plan, request, place);
  const packages = packagesFor(request, place);
  try {
    const resolve = inOwn(request, packages, system, place);
    const record = known ?? (await resolved(plan, system, resolve, place));
    if (known === undefined) await keepRequirements(storage, asked.key, record);
    const built = await builtBefore(request, record, base, place);
    if (built !== undefined) return built;
    const { key, name } = environmentName(request, record, base);
    const id = await made(request, { packages, system, record, key }, place);
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

/** Resolves requirements as of a day. */
type Resolver = (day: string | undefined) => Promise<string[]>;

/** Resolves what an environment needs as of its day, or the earliest later one with a solution. */
async function resolved(
  { day }: EnvironmentPlan,
  system: SystemImage,
  resolve: Resolver,
  { log }: BuildPlace,
): Promise<ResolvedRequirements> {
  const { answer: lock, moved } = await asOfLeastDay(day, today(), resolve);
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
  { instance, plan }: Pick<EnvironmentRequest, 'instance' | 'plan'>,
  { lock, packages }: ResolvedRequirements,
  base: string,
): Pick<EnvironmentImage, 'key' | 'name'> {
  const { repo, python, services } = plan;
  const key = identityDigest(planVersion, repo, python, base, packages, lock, services);
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
  log.line(`${name} was built before from the same inputs`);
  await noteUse(request.storage, { name, id, kind: 'environment', bytes });
  return { id, name, key, base, resolved: record };
}

/**
 * Resolves requirements in containers of their own, which are removed afterwards. R is in them,
 * unless the recipe states what R requires.
 */
function inOwn(
  { instance, plan, tree, baseImage }: EnvironmentRequest,
  packages: PackageAccess,
  system: SystemImage,
  place: BuildPlace,
): Resolver {
  const asked = { image: system.id, purpose: purposeOf(instance), runs: 'foreign' } as const;
  const folder = plan.packages.project === undefined ? '/' : `${scratch}/tree`;
  return (day) =>
    inContainer(place, asked, async (container) => {
      const { work } = place;
      work.reporter.progress(`${instance.id}: resolving the requirements of ${plan.title}`);
      const { executable: python } = await rightPython(container, plan, baseImage);
      container.superviseWith(python);
      if (folder !== '/') {
        await container.put(await treeArchive(tree, folder.slice(1), work.signal));
        const own = ['chown', '-hR', `${foreignUser}:${foreignUser}`, folder];
        await container.run(own, 'allow setup programs to write next to R');
      }
      const env = { ...(await packages.enter(container, python)), PATH: system.path };
      return resolvePackages(plan, containerPlace(container, plan, { python, env, folder }), day);
    });
}

/**
 * Resolves what an environment needs in a container that serves for more than this. Nothing is kept.
 *
 * @param inside the interpreter of its base image, the environment that {@link PackageAccess.enter}
 * returned for it, and the folder of R
 * @throws HumanError when it cannot be resolved, Cancelled
 */
export async function resolveInside(
  asked: AskedEnvironment,
  request: EnvironmentRequest,
  container: BuildContainer,
  inside: Parameters<typeof containerPlace>[2] & { readonly known: KnownMetadata },
  place: BuildPlace,
): Promise<ResolvedRequirements> {
  const { instance, plan } = request;
  place.work.reporter.progress(`${instance.id}: resolving the requirements of ${plan.title}`);
  const system = await systemImage(asked.base, plan, request, place);
  // Without the environment of the version, which the image has on its path.
  const env = { ...inside.env, PATH: system.path };
  const at = containerPlace(container, plan, { ...inside, env });
  const resolve: Resolver = (day) => resolvePackages(plan, at, day, inside.known);
  return resolved(plan, system, resolve, place);
}

/** Removes what only the build needed, and what foreign code may have left. */
export async function removeTools(container: BuildContainer): Promise<void> {
  const left = `${scratch} ${toolFolder} ${environmentFolder}/.lock /tmp/* /tmp/.[!.]* /var/tmp/* /var/tmp/.[!.]* /root/.cache`;
  await container.run(['sh', '-c', `rm -rf ${left}`], 'remove build files');
}

/** Makes the image from a lock, in a container that never contains R. */
function made(
  { instance, plan, baseImage }: EnvironmentRequest,
  {
    packages,
    system,
    record: { lock, moved },
    key,
  }: {
    readonly packages: PackageAccess;
    readonly system: SystemImage;
    readonly record: ResolvedRequirements;
    readonly key: string;
  },
  place: BuildPlace,
): Promise<string> {
  const { title } = plan;
  const { reporter } = place.work;
  const asked = { image: system.id, purpose: purposeOf(instance), runs: 'foreign' } as const;
  return inContainer(place, asked, async (container) => {
    const { executable: python } = await rightPython(container, plan, baseImage);
    reporter.progress(`${instance.id}: installing ${plural(lock.length, 'package')} for ${title}`);
    container.superviseWith(python);
    const doing = `build the environment of ${title}`;
    const env = await packages.enter(container, python);
    await makeVirtual(container, python, env, doing);
    const at = containerPlace(container, plan, { python, env });
    await installPackages(lock, builtPython, at, { day: moved?.taken ?? plan.day, doing });
    const pip = ['pip', 'install', '--python', builtPython, '--no-deps', pipOfEnvironment];
    const installed = await at.uv(pip, doing);
    if (installed.code !== 0) throw at.failed(installed, doing);
    await compileEnvironment(container, python, env);
    await installServices(container, plan, python, env);
    await container.run(['chown', '-hR', '0:0', madeFolder], "restore the environment's owner");
    await removeTools(container);
    reporter.progress(`${instance.id}: saving the environment of ${title}`);
    const { repo, version } = instance;
    return container.commit(environmentRepository, environmentTag(instance, key), [
      ...labelLines({
        ...imageLabels('environment', { instance: '', repo, version, recipe: key }),
        [familyLabel]: familyOf(instance, baseImage),
      }),
      `ENV PATH=${posix.dirname(builtPython)}:${system.path}`,
      ...plainStart,
    ]);
  });
}

/** Makes the virtual environment of an image, for foreign code to install into. */
async function makeVirtual(
  container: BuildContainer,
  python: string,
  env: Readonly<Record<string, string>>,
  doing: string,
): Promise<void> {
  // No foreign code is in the container yet.
  const made = await container.attempt([python, '-m', 'venv', environmentFolder]);
  const own = `${foreignUser}:${foreignUser}`;
  const script = `mkdir -p ${environmentFolder} && chown -hR ${own} ${madeFolder}`;
  await container.run(['sh', '-c', script], doing);
  if (made.code === 0) return;
  // Debian's Python lacks a part of venv.
  const command = [uvPath, 'venv', '--clear', '--seed', '--python', python, environmentFolder];
  await container.run(command, doing, { env, isForeign: true });
}

/**
 * Gives services that tests expect an environment each, apart from that of the tests. One that
 * cannot be installed is left out: runs say that it is missing.
 */
async function installServices(
  container: BuildContainer,
  plan: EnvironmentPlan,
  python: string,
  env: Readonly<Record<string, string>>,
): Promise<void> {
  const at = containerPlace(container, plan, { python, env });
  for (const { name, requirements, day } of plan.services) {
    const own = servicePython(name);
    const folder = posix.dirname(posix.dirname(own));
    const doing = `install ${name}`;
    const install = ['pip', 'install', '--python', own, '--compile-bytecode'];
    const isMade =
      (await at.uv(['venv', '--python', python, folder], doing)).code === 0 &&
      (await at.uv([...install, ...asOf(day, requirements), ...requirements], doing)).code === 0;
    if (!isMade) await container.run(['rm', '-rf', folder], `skip ${name}`);
  }
}

/** @throws HumanError when the base image has another Python than the plan */
async function rightPython(
  container: BuildContainer,
  { python, title }: EnvironmentPlan,
  baseImage: string,
): Promise<Interpreter> {
  const found = await needInterpreter(container, baseImage, interpretersOf(python));
  if (found.version.startsWith(`${python}.`)) return found;
  throw new HumanError(
    `The base image ${baseImage} has Python ${found.version}, but ${title} needs ${python}`,
    'Specify one in the base image setting, with {python} in place of the version, such as python:{python}-bookworm',
  );
}
