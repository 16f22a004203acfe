import { HumanError, messageOf, throwIfAborted } from '../../../domain/work';
import { plural } from '../../../domain/text';
import {
  builtPython,
  environmentFolder,
  CommandFailed,
  inContainer,
  type BuildContainer,
  type BuildPlace,
  foreignUser,
  inspectImage,
  purposeOf,
} from '../../../engine/docker';
import type { FilledImage } from '../../../engine/environmentMaker';
import { repositoryArchive } from '../../../engine/sandbox';
import { treeEntries } from '../../../repository/treeFiles';
import { compilerPackages } from '../../environmentPlan';
import { NoSolution } from '../../plan/packageDay';
import { packageOf } from '../../plan/projectNeeds';
import { needInterpreter } from '../askInterpreter';
import {
  askedEnvironment,
  environmentName,
  packagesFor,
  removeTools,
  resolveInside,
  type AskedEnvironment,
  type EnvironmentRequest,
} from '../environmentImage';
import { handOver } from '../fillImage';
import { keepInstance } from '../imageNames';
import { syncTree } from '../syncTree';
import {
  closeInstance,
  compiledOf,
  installR,
  cacheForReuse,
  type BuiltParts,
  type Filling,
  type Installation,
} from '../makeInstance';
import { metadataSettings } from '../packageMetadata';
import { keepRequirements, type ResolvedRequirements } from '../resolvedRequirements';
import { changePackages, packageChange } from './changePackages';
import {
  cachedImageName,
  readCachedImageRecord,
  relatedImageId,
  cachedImageId,
  recordPath,
  type CachedImageRecord,
} from './cachedImage';
import { removeInstallation } from './removeInstallation';
import { declaredRequirements } from './declaredRequirements';

interface ReuseRequest extends BuiltParts, EnvironmentRequest {}

/** The cached image cannot be used for this instance, which is then built without it. */
class NotAlike extends HumanError {}

/** An image in which R of another instance is. */
interface KeptImage {
  readonly id: string;
  readonly name: string;
  /** Whether an installation of R would do the same. */
  readonly isAlike: boolean;
}

/**
 * Makes the image of an instance from one of the same version with R of another instance. Its tree
 * is laid over that tree, and only the packages that differ are replaced. R is installed again only
 * where that would do something else. The result is the image that a build without it would give.
 *
 * @returns whether it is made; false where there is no such image, or where it does not serve
 * @throws HumanError when the requirements have no solution, or a limit is reached; Cancelled
 */
export async function reuseInstalledImage(
  request: ReuseRequest,
  place: BuildPlace,
): Promise<boolean> {
  const { instance } = request;
  const { work, log } = place;
  const image = await openCachedImage(request, place);
  if (image === undefined) return false;
  // While the container starts.
  const asked = askedEnvironment(request, place);
  asked.catch(() => undefined);
  try {
    work.reporter.progress(`${instance.id}: adding R to ${image.name}`);
    const from = { image: image.id, purpose: purposeOf(instance), runs: 'foreign' } as const;
    await inContainer(place, from, async (container) =>
      fill({ container, image, asked: await asked, request }, place),
    );
    return true;
  } catch (error) {
    throwIfAborted(work.signal);
    if (!(error instanceof NotAlike) && !(error instanceof CommandFailed)) throw error;
    log.line(`${image.name} cannot be reused for ${instance.id}: ${messageOf(error)}`);
    return false;
  }
}

async function openCachedImage(
  request: ReuseRequest,
  place: BuildPlace,
): Promise<KeptImage | undefined> {
  const { family, storage } = request;
  const named = await cachedImageName(request, family, place.work.signal);
  const id = await cachedImageId(named, storage, place);
  if (id !== undefined) return { id, name: named.name, isAlike: named.isAlike };
  const other = await relatedImageId(request, family, place);
  return other && { ...other, isAlike: false };
}

/** A container of a kept image that becomes the image of an instance. */
interface OnKept {
  readonly container: BuildContainer;
  readonly image: KeptImage;
  readonly asked: AskedEnvironment;
  readonly request: ReuseRequest;
}

/** Turns a container of the kept image into one of the instance, and keeps it. */
async function fill(made: OnKept, place: BuildPlace): Promise<void> {
  const { container, image, asked, request } = made;
  const record = await readCachedImageRecord(container);
  if (record === undefined) throw new NotAlike('its record cannot be read');
  if (record.baseImage !== asked.base) throw new NotAlike('it has a different base image');
  container.superviseWith(record.base);
  const isReady = asked.known !== undefined && isSame(record.lock, asked.known.lock);
  const packages = isReady ? undefined : packagesFor(request, place);
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
    const { key: digest } = environmentName(request, resolved, asked.base);
    const removing = packages === undefined ? Promise.resolve() : removeTools(container);
    // Closing an image looks at all that is left.
    if (installation !== undefined) await removing;
    const [filled] = await Promise.all([
      installation === undefined
        ? asKept(at, resolved)
        : // The image is closed, so foreign code could write only there.
          closeInstance(await fillingOf(at, resolved.lock, place), installation, environmentFolder),
      removing,
    ]);
    const source = { from: 'built', digest, moved: resolved.moved } as const;
    await keepInstance(container, request, source, filled, place);
    if (asked.known === undefined) await keepRequirements(request.storage, asked.key, resolved);
    if (installation === undefined) return;
    // The next instance can do without, so this one does not wait.
    const filling = await fillingOf(at, resolved.lock, place);
    container.afterwards(() => cacheForReuse(filling, filled, installation, resolved));
  } finally {
    packages?.close();
  }
}

/** Makes the tree of a container equal to R. Nothing foreign may have run in it. */
async function layOver(
  { container, request }: OnKept,
  { base, baseImage, files, user }: CachedImageRecord,
  place: BuildPlace,
): Promise<void> {
  const { instance, trees, folder } = request;
  // A tree is laid as the user that runs foreign code.
  if (user !== foreignUser) await handOver(container, folder, foreignUser);
  await syncTree(container, {
    ...{ tree: trees.base, folder, python: base, present: files },
    compiled: compiledOf(request, { base, baseImage }, place),
    obsolete: [recordPath],
    doing: `copy R of ${instance.id} into the image of its version`,
    signal: place.work.signal,
  });
}

interface Laid extends OnKept {
  readonly record: CachedImageRecord;
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
  const { asked, record, request } = at;
  const stated = statedByOther(at);
  const first = asked.known ?? (await resolveThere(at, stated, place));
  // Without what the other one states, the set-up program has run in the tree.
  const isUntouched = asked.known !== undefined || stated !== undefined;
  const isInstalled = request.plan.installation.install === 'editable';
  const isKept = isUntouched && !(isInstalled && changesTools(at, record.lock, first.lock));
  if (!isKept) await clear(at, place);
  const resolved = await takePackages(at, record.lock, first, place);
  return isKept
    ? { resolved }
    : { resolved, installation: await installThere(at, resolved, place) };
}

/**
 * Installs R. To ask its set-up program before that what it requires takes as long again. So it is
 * taken to require what the other one does until it is installed, and can tell.
 */
async function installedAgain(at: Laid, place: BuildPlace): Promise<Installed> {
  const { asked, record, container, request } = at;
  await clear(at, place);
  const likely = statedByOther(at);
  const guessed = asked.known ?? (await resolveThere(at, likely, place).catch(notOfThisR));
  // The set-up program has run in the tree.
  if (asked.known === undefined && likely === undefined) await clear(at, place);
  const first = await takePackages(at, record.lock, guessed, place);
  const installation = await installThere(at, first, place);
  const { name, extras, project } = request.plan.packages;
  const isKnown = asked.known !== undefined || project === undefined;
  if (isKnown || likely === undefined) return { resolved: first, installation };
  const stated = await declaredRequirements(container, { python: builtPython, name, extras });
  if (stated?.join('\n') === likely.join('\n')) return { resolved: first, installation };
  const second = await resolveThere(at, stated, place);
  const isKept = stated !== undefined && !changesTools(at, first.lock, second.lock);
  if (!isKept) await clear(at, place, installation.added);
  const resolved = await takePackages(at, first.lock, second, place);
  return {
    resolved,
    installation: isKept ? installation : await installThere(at, resolved, place),
  };
}

/**
 * What the other R requires beyond what is asked of every R of the version; undefined where that is
 * not known.
 */
const statedByOther = ({ request, record }: Laid): readonly string[] | undefined =>
  request.plan.packages.project === undefined ? [] : (record.stated ?? undefined);

/** @throws NotAlike where only requirements that R may not have lack a solution */
function notOfThisR(error: unknown): never {
  throw error instanceof NoSolution ? new NotAlike(error.message) : error;
}

const installThere = async (
  at: Laid,
  { lock }: ResolvedRequirements,
  place: BuildPlace,
): Promise<Installation> => installR(await fillingOf(at, lock, place));

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
  const known = { stated, settings: metadataSettings(record.metadata) };
  const inside = { python: record.base, env, folder, known };
  return resolveInside(asked, request, container, inside, place);
}

/**
 * Whether a package that builds R gets another version. R was installed with the version before,
 * and another one might install it in another way.
 */
function changesTools({ request }: Laid, from: readonly string[], to: readonly string[]): boolean {
  const { add, remove } = packageChange(from, to);
  const tools = new Set(request.plan.packages.build.map(packageOf));
  return [...add.map(packageOf), ...remove].some((name) => tools.has(name));
}

/**
 * Gives the environment of a container the packages that its instance needs.
 *
 * @param from the packages that it has
 * @returns what it has then
 * @throws NotAlike when it has different Debian packages
 */
async function takePackages(
  { container, request, record, env }: Laid,
  from: readonly string[],
  wanted: ResolvedRequirements,
  place: BuildPlace,
): Promise<ResolvedRequirements> {
  const { lock, moved, packages } = wanted;
  // That there is something to compile may have shown only when the other one was built.
  const [has, needs] = [record.packages, packages].map((names) =>
    names.filter((name) => !compilerPackages.includes(name)).join(),
  );
  const lacks = packages.some((name) => !record.packages.includes(name));
  if (has !== needs || lacks) throw new NotAlike('it has different Debian packages');
  if (!isSame(from, lock)) {
    const { instance, plan } = request;
    const change = packageChange(from, lock);
    const count = plural(change.add.length, 'package');
    place.work.reporter.progress(`${instance.id}: changing ${count} for ${plan.title}`);
    await changePackages(container, {
      ...{ change, lock, day: moved?.taken ?? plan.day, python: record.base, env },
      doing: `change the packages of ${plan.title}`,
    });
  }
  return { ...wanted, packages: record.packages };
}

/** What a container is in which the installation of the other instance stays. */
async function asKept(
  { container, request, record }: Laid,
  { lock }: ResolvedRequirements,
): Promise<FilledImage> {
  const { interpreter, install, user } = record;
  if (user !== foreignUser) await handOver(container, request.folder, user);
  const after = isSame(record.lock, lock)
    ? interpreter
    : await needInterpreter(container, request.plan.title, [builtPython], true);
  return { python: builtPython, after, user, install };
}

async function fillingOf(
  { container, image, request, record }: Laid,
  packages: readonly string[],
  place: BuildPlace,
): Promise<Filling> {
  const { base, baseImage } = record;
  const path = (await inspectImage(place.connection, image.id))?.path ?? '';
  return { container, parts: request, place, base, baseImage, packages, path };
}

const isSame = (from: readonly string[], to: readonly string[]): boolean => {
  const { add, remove } = packageChange(from, to);
  return add.length === 0 && remove.length === 0;
};
