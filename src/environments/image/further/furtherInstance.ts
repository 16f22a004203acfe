import { HumanError, messageOf, throwIfAborted } from '../../../domain/work';
import { plural } from '../../../domain/text';
import { treeEntries } from '../../../repository/treeFiles';
import { environmentFolder, defaultFolder } from '../../../engine/containerImage';
import { NoSolution } from '../../leastDay';
import { packageOf } from '../../projectVersion';
import { repositoryArchive } from '../../../engine/sandbox/treeArchive';
import { needInterpreter } from '../askInterpreter';
import {
  CommandFailed,
  inContainer,
  type BuildContainer,
  type BuildPlace,
} from '../../../engine/docker/build/buildContainer';
import { foreignUser } from '../../../engine/docker/build/confinement';
import { layTree } from '../layTree';
import {
  askedEnvironment,
  environmentName,
  packagesFor,
  removeTools,
  resolveInside,
  titleOf,
  type AskedEnvironment,
  type EnvironmentRequest,
} from '../environmentImage';
import { purposeOf } from '../../../engine/docker/labels';
import { inspectImage } from '../../../engine/docker/images/inspectImage';
import {
  closeInstalled,
  installR,
  keepInstance,
  presentInstance,
  type Filled,
  type Filling,
  type Installation,
  type InstanceImage,
  type InstanceLayerRequest,
} from '../instanceLayer';
import { keepRequirements, type ResolvedRequirements } from '../resolvedRequirements';
import { compiledOf, versionRecordPath } from '../versionImage';
import { changePackages, packageChange } from './changePackages';
import {
  installedName,
  installedRecord,
  otherInstalled,
  presentInstalled,
  type InstalledRecord,
} from './installedImage';
import { removeInstallation } from './removeInstallation';
import { statedRequirements } from './statedRequirements';

interface FurtherRequest
  extends
    Pick<InstanceLayerRequest, 'instance' | 'trees' | 'recipe' | 'named' | 'storage'>,
    Omit<EnvironmentRequest, 'atHand'> {
  /** A digest that all instances share whose environments may be the same. */
  readonly family: string;
}

/** The installed image does not serve for this instance, which is made in the usual way then. */
class NotAlike extends HumanError {}

/** An image in which R of another instance is installed. */
interface InstalledImage {
  readonly id: string;
  readonly name: string;
  /** Whether an installation of R would do the same. */
  readonly isAlike: boolean;
}

/**
 * Makes the image of an instance from one of the same version in which R of another instance is
 * installed. Its tree is laid over that tree, and only the packages that differ are replaced. R is
 * installed again only where that would do something else. The result is the image that would be
 * made in the usual way.
 *
 * @returns undefined where there is no such image, or where it does not serve
 * @throws HumanError when the requirements have no solution, or a limit is reached; Cancelled
 */
export async function furtherInstance(
  request: FurtherRequest,
  place: BuildPlace,
): Promise<InstanceImage | undefined> {
  const { instance, named, storage } = request;
  const { work, log } = place;
  const folder = instance.environment?.folder ?? defaultFolder;
  const image = await installedFor({ ...request, folder }, place);
  if (image === undefined) return undefined;
  // While the container starts.
  const asked = askedEnvironment(request, place);
  asked.catch(() => undefined);
  try {
    work.reporter.progress(`${instance.id}: putting R into ${image.name}`);
    const from = { image: image.id, purpose: purposeOf(instance), runs: 'foreign' } as const;
    await inContainer(place, from, async (container) =>
      fill({ container, image, asked: await asked, request: { ...request, folder } }, place),
    );
  } catch (error) {
    throwIfAborted(work.signal);
    if (!(error instanceof NotAlike) && !(error instanceof CommandFailed)) throw error;
    log.line(`${image.name} does not serve for ${instance.id}: ${messageOf(error)}`);
    return undefined;
  }
  return presentInstance(named, place, storage);
}

async function installedFor(
  request: FurtherRequest & { readonly folder: string },
  place: BuildPlace,
): Promise<InstalledImage | undefined> {
  const name = await installedName({ ...request, signal: place.work.signal });
  if (name === undefined) return undefined;
  const id = await presentInstalled(name, request.storage, place);
  if (id !== undefined) return { id, name: name.name, isAlike: true };
  const other = await otherInstalled(request, place);
  return other && { ...other, isAlike: false };
}

/** A container of an installed image that becomes the image of an instance. */
interface OnInstalled {
  readonly container: BuildContainer;
  readonly image: InstalledImage;
  readonly asked: AskedEnvironment;
  readonly request: FurtherRequest & { readonly folder: string };
}

/** Turns a container of the installed image into one of the instance, and keeps it. */
async function fill(made: OnInstalled, place: BuildPlace): Promise<void> {
  const { container, image, asked, request } = made;
  const record = await installedRecord(container);
  if (record === undefined) throw new NotAlike('its record cannot be read');
  if (record.baseImage !== asked.base) throw new NotAlike('it is on another base image');
  container.superviseWith(record.base);
  const isReady = asked.known !== undefined && isSame(record.lock, asked.known.lock);
  const packages = isReady ? undefined : packagesFor(request, asked.needs, place);
  try {
    // Nothing foreign runs before R is compiled.
    const [env = {}] = await Promise.all([
      packages?.enter(container, record.base),
      layOver(made, record, place),
    ]);
    const at = { ...made, record, env };
    const { resolved, installation } = await (image.isAlike
      ? installedAlike(at, place)
      : installedAgain(at, place));
    const { key, name } = environmentName(request, resolved, asked.base);
    const { moved } = resolved;
    const source = { image: image.id, name, digest: key, base: asked.base, moved };
    const layer = { ...request, source: { ...source, from: 'built' as const } };
    const removing = packages === undefined ? Promise.resolve() : removeTools(container);
    // Closing an image looks at all that is left.
    if (installation !== undefined) await removing;
    const [filled] = await Promise.all([
      installation === undefined ? asInstalled(at, resolved) : closed(at, installation, place),
      removing,
    ]);
    await keepInstance(container, layer, filled, place);
    if (asked.known === undefined) {
      await keepRequirements(request.storage, asked.key, resolved);
    }
    // The next instance can do without, so this one does not wait.
    const { keep } = filled;
    if (keep !== undefined) container.afterwards(() => keep(resolved));
  } finally {
    packages?.close();
  }
}

/** Makes the tree of a container equal to R. Nothing foreign may have run in it. */
async function layOver(
  { container, request }: OnInstalled,
  { base: python, baseImage, files }: InstalledRecord,
  place: BuildPlace,
): Promise<void> {
  const { instance, trees, folder } = request;
  const source = { image: '', name: '', digest: '', base: baseImage };
  await layTree(container, {
    ...{ tree: trees.base, folder, python, present: files },
    compiled: compiledOf({ ...request, source }, python, place),
    obsolete: [versionRecordPath],
    doing: `put R of ${instance.id} into the image of its version`,
    signal: place.work.signal,
  });
}

interface Laid extends OnInstalled {
  readonly record: InstalledRecord;
  /** The environment of programs that run uv. */
  readonly env: Readonly<Record<string, string>>;
}

/** What a container has once R and its packages are in it. */
interface Installed {
  readonly resolved: ResolvedRequirements;
  /** What the installation of R did; undefined where that of the other instance stays. */
  readonly installation?: Installation;
}

/** Gives R, which would be installed as the other one is, its packages. */
async function installedAlike(at: Laid, place: BuildPlace): Promise<Installed> {
  const { asked, record } = at;
  const stated = statedByOther(at);
  const resolved = asked.known ?? (await resolveThere(at, stated, place));
  // Without what the other one states, the set-up program has run in the tree.
  const isUntouched = asked.known !== undefined || stated !== undefined;
  const isKept = isUntouched && !changesTools(at, record.lock, resolved.lock);
  if (!isKept) await clear(at, place);
  await takePackages(at, record.lock, resolved, place);
  return isKept ? { resolved } : { resolved, installation: await installThere(at, place) };
}

/**
 * Installs R. To ask its set-up program before that what it requires takes as long again. So it is
 * taken to require what the other one does until it is installed, and can tell.
 */
async function installedAgain(at: Laid, place: BuildPlace): Promise<Installed> {
  const { asked, record, container, request } = at;
  await clear(at, place);
  const likely = statedByOther(at);
  const first = asked.known ?? (await resolveThere(at, likely, place).catch(notOfThisR));
  // The set-up program has run in the tree.
  if (asked.known === undefined && likely === undefined) await clear(at, place);
  await takePackages(at, record.lock, first, place);
  const installation = await installThere(at, place);
  const isKnown = asked.known !== undefined || asked.needs.project === undefined;
  if (isKnown || likely === undefined) {
    return { resolved: first, installation };
  }
  const { executable: python } = record.interpreter;
  const project = { python, name: asked.needs.name, extras: request.recipe.extras };
  const stated = await statedRequirements(container, project);
  if (stated?.join('\n') === likely.join('\n')) return { resolved: first, installation };
  const resolved = await resolveThere(at, stated, place);
  const isKept = stated !== undefined && !changesTools(at, first.lock, resolved.lock);
  if (!isKept) await clear(at, place, installation.added);
  await takePackages(at, first.lock, resolved, place);
  return { resolved, installation: isKept ? installation : await installThere(at, place) };
}

/**
 * What the other R requires beyond what is asked of every R of the version; undefined where that is
 * not known.
 */
const statedByOther = ({ asked, record }: Laid): readonly string[] | undefined =>
  asked.needs.project === undefined ? [] : (record.stated ?? undefined);

/** @throws NotAlike where only requirements that R may not have lack a solution */
function notOfThisR(error: unknown): never {
  throw error instanceof NoSolution ? new NotAlike(error.message) : error;
}

const installThere = async (at: Laid, place: BuildPlace): Promise<Installation> =>
  installR(await fillingOf(at, place), toolsOf(at.record), true);

/**
 * Removes an installation, and all files of the tree that R does not have.
 *
 * @param added what it wrote into the environment; by default that of the other instance
 */
async function clear(
  { container, request, record }: Laid,
  { work }: BuildPlace,
  added: readonly string[] = record.added,
): Promise<void> {
  const { trees, folder } = request;
  const files = await treeEntries(trees.base, work.signal);
  await removeInstallation(container, { added, files, python: record.base, folder });
}

/** @param stated what R requires; undefined to ask its set-up program */
async function resolveThere(
  { container, asked, request, record, env }: Laid,
  stated: readonly string[] | undefined,
  place: BuildPlace,
): Promise<ResolvedRequirements> {
  const { trees, folder } = request;
  if (stated === undefined) {
    // Set-up programs ask git for files and versions.
    const { signal } = place.work;
    await container.put(repositoryArchive(trees.base, folder.slice(1), foreignUser, signal));
  }
  const { base: python, metadata: known } = record;
  const inside = { container, python, env, folder, stated, known };
  return resolveInside(asked, request, inside, place);
}

/**
 * Whether a package that builds R gets another version. R was installed with the version before,
 * and another one might install it in another way.
 */
function changesTools({ asked }: Laid, from: readonly string[], to: readonly string[]): boolean {
  const { add, remove } = packageChange(from, to);
  const tools = new Set(asked.needs.build.map(packageOf));
  return [...add.map(packageOf), ...remove].some((name) => tools.has(name));
}

/**
 * Gives the environment of a container the packages that its instance needs.
 *
 * @param from the packages that it has
 * @throws NotAlike when it has other Debian packages
 */
async function takePackages(
  { container, asked, request, record, env }: Laid,
  from: readonly string[],
  { lock, moved, packages }: ResolvedRequirements,
  place: BuildPlace,
): Promise<void> {
  if (packages.join() !== record.packages.join()) {
    throw new NotAlike('it has other Debian packages');
  }
  if (isSame(from, lock)) return;
  const { instance } = request;
  const title = titleOf(instance);
  const change = packageChange(from, lock);
  const count = plural(change.add.length, 'package');
  place.work.reporter.progress(`${instance.id}: changing ${count} for ${title}`);
  await changePackages(container, {
    ...{ change, lock, day: moved?.taken ?? asked.day, python: record.base, env },
    doing: `change the packages of ${title}`,
  });
}

/** What a container is in which the installation of the other instance stays. */
async function asInstalled(
  { container, request, record }: Laid,
  { lock }: ResolvedRequirements,
): Promise<Filled> {
  const { interpreter, install } = record;
  const { executable: python } = interpreter;
  const title = titleOf(request.instance);
  const after = isSame(record.lock, lock)
    ? interpreter
    : await needInterpreter(container, title, [python], true);
  return { python, after, user: foreignUser, install };
}

/** Closes a container in which R was installed again. */
async function closed(at: Laid, installation: Installation, place: BuildPlace): Promise<Filled> {
  const filling = await fillingOf(at, place);
  // The image is closed, so foreign code could write only there.
  return closeInstalled(filling, toolsOf(at.record), installation, environmentFolder);
}

/** R in its container, before the packages are known that name the environment. */
async function fillingOf(
  { container, image, asked, request }: Laid,
  place: BuildPlace,
): Promise<Filling> {
  const inherited = (await inspectImage(place.connection, image.id))?.path ?? '';
  const source = { image: image.id, name: image.name, digest: '', base: asked.base };
  const layer = { ...request, source: { ...source, from: 'built' as const } };
  return { container, request: layer, place, folder: request.folder, inherited };
}

const toolsOf = ({ base, interpreter: { executable: python, packages } }: InstalledRecord) => ({
  ...{ python, base, packages },
});

const isSame = (from: readonly string[], to: readonly string[]): boolean => {
  const { add, remove } = packageChange(from, to);
  return add.length === 0 && remove.length === 0;
};
