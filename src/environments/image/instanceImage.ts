import { HumanError, Cancelled, messageOf } from '../../domain/work';
import {
  prebuiltName,
  defaultFolder,
  CommandFailed,
  inContainer,
  type BuildPlace,
  openBuildLog,
  engineProblem,
  parseImageName,
  inspectImage,
  type PresentImage,
  pullImage,
  ImageMissing,
  RegistryUnreachable,
  purposeOf,
} from '../../engine/docker';
import type { EngineWork } from '../../engine/engine';
import type { ImageRequest, InstanceImage } from '../../engine/environmentMaker';
import { withLock } from '../../repository/lock';
import { lockPath } from '../../repository/storage';
import { environmentPlan, withCompilers, type EnvironmentPlan } from '../environmentPlan';
import { enforceImageBudget } from '../imageBudget';
import { buildNetwork, type BuildNetwork } from '../packages/buildNetwork';
import { scratch } from './containerPlace';
import { environmentImage } from './environmentImage';
import { fillImage } from './fillImage';
import { reuseInstalledImage } from './further/reuseInstalledImage';
import { familyLabel, familyOf, instanceName, keepInstance, presentInstance } from './imageNames';
import { noteMissing, noteUse, recentlyMissing } from './imageRecords';
import { makeInstance } from './makeInstance';

/**
 * Finds or makes the image of an instance. Its environment is the first of these that is available:
 *
 * - the row's own image;
 * - the prebuilt one of SWE-bench, if present;
 * - one that was built here before;
 * - the prebuilt one, pulled;
 * - one that is built now.
 *
 * All steps are logged in `images/logs/ID.log` of the storage folder.
 *
 * @throws HumanError naming what is not available, and the log; Cancelled. No unfinished image is
 * left.
 */
export async function instanceImage(asked: ImageRequest, work: EngineWork): Promise<InstanceImage> {
  const { instance, storage } = asked;
  const plan = await environmentPlan(instance, asked.trees.base);
  const baseImage = asked.settings.baseImage.replaceAll('{python}', plan.python);
  const request = { ...asked, plan, baseImage };
  const atHand = await presentImage(request);
  if (atHand !== undefined) return atHand;
  const options = { ...work, what: `makes the image of ${instance.id}` };
  return withLock(lockPath(storage, 'image', instance.id), options, async (signal) => {
    // Another process may have made it during the wait.
    const made = await presentImage(request);
    return made ?? makeWithLog(request, { ...work, signal });
  });
}

/** A request with its plan. */
interface PlannedImage extends ImageRequest {
  readonly plan: EnvironmentPlan;
  /** Name of the base image, with `{python}` replaced. */
  readonly baseImage: string;
}

async function makeWithLog(request: PlannedImage, work: EngineWork): Promise<InstanceImage> {
  const { connection, instance, storage, env = process.env } = request;
  const network = await buildNetwork(env, scratch);
  const log = await openBuildLog(storage, instance.id, network.secrets);
  work.reporter.log(`${instance.id}: building its image (log: ${log.path})`);
  log.line(`image of ${instance.id} with ${connection.product} at ${connection.address}`);
  try {
    const { settings: limits } = request;
    const made = await make(request, network, { connection, log, work, limits });
    await enforceImageBudget(connection, storage, request.settings.budgetGb, work, made.id).catch(
      (error: unknown) => {
        if (error instanceof Cancelled) throw error;
        // The image exists nevertheless.
        work.reporter.log(`could not keep images within the disk limit: ${messageOf(error)}`);
      },
    );
    return made;
  } catch (error) {
    log.line(error instanceof Error ? error.message : String(error));
    if (error instanceof Cancelled) throw error;
    throw engineProblem(error, connection, `making the image of ${instance.id}`);
  } finally {
    await log.close();
  }
}

/** The origin of an environment, as far as it is known without making one. */
interface Source {
  readonly from: InstanceImage['from'];
  readonly name: string;
  readonly image?: PresentImage;
}

/** The name under which the instance image is looked up. */
function namedOn({ instance, trees, plan, baseImage }: PlannedImage, { from, image }: Source) {
  const told = image === undefined ? ['built', baseImage] : [from, image.id];
  return instanceName(instance, trees, plan, told);
}

/** An instance image that can be used as it is; undefined when one has to be made or pulled. */
async function presentImage(request: PlannedImage): Promise<InstanceImage | undefined> {
  const source = await localSource(request);
  if (source === undefined) return undefined;
  return presentInstance(namedOn(request, source), request, request.storage);
}

/**
 * The first environment in the order that needs no network. Undefined when the row names an image
 * that is not present. `built` stands for an environment that may have to be built.
 */
async function localSource(request: ImageRequest): Promise<Source | undefined> {
  const { connection, instance, settings } = request;
  const own = instance.environment?.image;
  if (own !== undefined) {
    const image = await inspectImage(connection, own);
    return image === undefined ? undefined : { from: 'row', name: own, image };
  }
  const name = settings.prebuilt === '' ? '' : prebuiltName(instance.id, settings.prebuilt);
  const image = name === '' ? undefined : await inspectImage(connection, name);
  return image === undefined ? { from: 'built', name: '' } : { from: 'prebuilt', name, image };
}

async function make(
  request: PlannedImage,
  network: BuildNetwork,
  place: BuildPlace,
): Promise<InstanceImage> {
  const { connection, instance, settings, storage, baseImage } = request;
  const { log, work } = place;
  await enforceImageBudget(connection, storage, settings.budgetGb, work);
  const local = await localSource(request);
  if (local?.image !== undefined) return onFound(request, local, place);
  const own = instance.environment?.image;
  if (own !== undefined) {
    log.line(`the row names ${own}`);
    const image = await pulled(request, own, place);
    return onFound(request, { from: 'row', name: own, image }, place);
  }
  const isKnown = await isBuilt(connection, familyOf(instance, baseImage));
  const prebuilt = isKnown ? undefined : await pulledPrebuilt(request, place);
  if (prebuilt !== undefined) return onFound(request, prebuilt, place);
  return build(request, network, place);
}

/** Makes the image of an instance on an environment that someone else made. */
async function onFound(
  request: PlannedImage,
  source: Source,
  place: BuildPlace,
): Promise<InstanceImage> {
  const { instance, trees, plan } = request;
  const { from, name: image } = source;
  const id = source.image?.id ?? image;
  const folder = instance.environment?.folder ?? defaultFolder;
  place.log.line(`on ${image}, ${id}`);
  place.work.reporter.progress(`${instance.id}: adding R to ${image}`);
  const asked = { image: id, purpose: purposeOf(instance), runs: 'foreign' } as const;
  const named = namedOn(request, source);
  await inContainer(place, asked, async (container) => {
    const path = (await inspectImage(place.connection, id))?.path ?? '';
    const filled = await fillImage(container, { instance, trees, folder, image, path });
    const parts = { instance, trees, plan, named, folder };
    await keepInstance(container, parts, { from, digest: id }, filled, place);
  });
  return certainly(request, named, place);
}

/** The image that was made under a name. */
async function certainly(
  { storage }: PlannedImage,
  named: ReturnType<typeof namedOn>,
  place: BuildPlace,
): Promise<InstanceImage> {
  const made = await presentInstance(named, place, storage);
  if (made === undefined) throw new Error(`${named.name} disappeared as soon as it was built`);
  return made;
}

async function pulled(
  { connection, storage }: ImageRequest,
  name: string,
  { work }: BuildPlace,
): Promise<PresentImage> {
  await pullImage(connection, name, work);
  const image = await inspectImage(connection, name);
  if (image === undefined)
    throw new ImageMissing(`The image ${name} no longer exists`, 'Try again');
  await noteUse(storage, { name, id: image.id, kind: 'pulled', bytes: image.bytes });
  return image;
}

/** The prebuilt image from its registry; undefined when it is not available. */
async function pulledPrebuilt(
  request: PlannedImage,
  place: BuildPlace,
): Promise<Source | undefined> {
  const { connection, instance, settings, storage } = request;
  const say = (line: string): void => {
    place.log.line(line);
    place.work.reporter.log(`${instance.id}: ${line}`);
  };
  if (settings.prebuilt === '') return undefined;
  const name = prebuiltName(instance.id, settings.prebuilt);
  if (connection.architecture !== 'x86_64') {
    say(`not pulling ${name}: it would have to be emulated on ${connection.architecture}`);
    return undefined;
  }
  // A registry that cannot be reached is recorded once for all of its images.
  const { registry } = parseImageName(name);
  if ((await recentlyMissing(storage, name)) || (await recentlyMissing(storage, registry))) {
    place.log.line(
      `not pulling ${name}: an attempt within the last hour found that it is not available`,
    );
    return undefined;
  }
  try {
    return { from: 'prebuilt', name, image: await pulled(request, name, place) };
  } catch (error) {
    if (!(error instanceof ImageMissing) && !(error instanceof RegistryUnreachable)) throw error;
    await noteMissing(storage, error instanceof ImageMissing ? name : registry);
    say(`no prebuilt image, building the environment: ${error.what}`);
    return undefined;
  }
}

/** Whether an environment of the repository and version was built here before. */
async function isBuilt(connection: ImageRequest['connection'], family: string): Promise<boolean> {
  const found = await connection.docker.listImages({
    filters: { label: [`${familyLabel}=${family}`] },
  });
  return found.length > 0;
}

/** Matches the output of a build that lacks a compiler. */
const noCompiler =
  /(\b(cc|gcc|g\+\+|c\+\+|clang)['"]?\b.{0,80}(No such file or directory|not found))|unable to execute|Unknown compiler|no acceptable C compiler|command '[^']*g(cc|\+\+)' failed: No such|Python\.h: No such file/i;

async function build(
  request: PlannedImage,
  network: BuildNetwork,
  place: BuildPlace,
): Promise<InstanceImage> {
  const { instance, trees, storage, baseImage } = request;
  const named = namedOn(request, { from: 'built', name: '' });
  const parts = {
    ...{
      instance,
      trees,
      tree: trees.base,
      plan: request.plan,
      named,
      storage,
      baseImage,
      network,
    },
    folder: instance.environment?.folder ?? defaultFolder,
    family: familyOf(instance, baseImage),
  };
  if (await reuseInstalledImage(parts, place)) return certainly(request, named, place);
  const attempt = async (plan: EnvironmentPlan): Promise<InstanceImage> => {
    const { work } = place;
    const lock = `${instance.repo}-${instance.version}`.replace(/[^A-Za-z0-9_.-]+/g, '__');
    const options = { ...work, what: `builds the environment of ${instance.repo}` };
    // Once at a time for each repository and version.
    const environment = await withLock(lockPath(storage, 'environment', lock), options, (signal) =>
      environmentImage({ ...parts, plan }, { ...place, work: { ...work, signal } }),
    );
    await makeInstance({ ...parts, plan }, environment, place);
    return certainly(request, named, place);
  };
  try {
    return await attempt(request.plan);
  } catch (error) {
    const said = error instanceof CommandFailed ? error.output : messageOf(error);
    if (!(error instanceof HumanError) || !noCompiler.test(said.slice(-10_000))) throw error;
    place.log.line('R has code to compile; trying again with a compiler');
    return attempt(withCompilers(request.plan));
  }
}
