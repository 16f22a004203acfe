import type { Instance } from '../../domain/instance';
import { Cancelled, HumanError, messageOf } from '../../domain/work';
import { withLock } from '../../repository/lock';
import { lockPath } from '../../repository/storage';
import type { Trees } from '../../repository/trees';
import { prebuiltName, defaultFolder } from '../../engine/containerImage';
import type { EngineWork } from '../../engine/engine';
import { recipeOf, type Recipe } from '../recipes';
import { enforceImageBudget } from '../imageBudget';
import { holdLog, openBuildLog } from '../../engine/docker/build/buildLog';
import { CommandFailed, type BuildPlace } from '../../engine/docker/build/buildContainer';
import { buildNetwork } from '../packages/buildNetwork';
import { engineProblem, type DockerConnection } from '../../engine/docker/connection/connect';
import {
  builder,
  compilerPackages,
  environmentImage,
  type EnvironmentImage,
  type TreeAtHand,
  familyLabel,
  familyOf,
} from './environmentImage';
import { inspectImage, type PresentImage } from '../../engine/docker/images/inspectImage';
import { furtherInstance } from './further/furtherInstance';
import { likelyEnvironment, noteEnvironment, type LikelyEnvironment } from './likelyEnvironment';
import { parseImageName } from '../../engine/docker/images/imageName';
import { noteMissing, noteUse, wasMissing } from './imageRecords';
import {
  instanceName,
  makeInstanceLayer,
  presentInstance,
  type InstanceImage,
  type InstanceLayerRequest,
} from './instanceLayer';
import { pullImage } from '../../engine/docker/images/pull/pullImage';
import { ImageMissing, RegistryUnreachable } from '../../engine/docker/images/pull/pullProblem';
import { scratch } from './resolve';
import type { DockerSettings } from '../../engine/docker/dockerSettings';
import { treeAtHand } from './versionImage';

interface ImageRequest {
  readonly connection: DockerConnection;
  readonly instance: Instance;
  readonly trees: Trees;
  readonly settings: DockerSettings;
  /** The storage folder. */
  readonly storage: string;
  readonly env?: NodeJS.ProcessEnv | undefined;
}

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
export async function instanceImage(
  request: ImageRequest,
  work: EngineWork,
): Promise<InstanceImage> {
  const { instance, storage } = request;
  const atHand = await presentImage(request);
  if (atHand !== undefined) return atHand;
  const options = { ...work, what: `makes the image of ${instance.id}` };
  return withLock(lockPath(storage, 'image', instance.id), options, async (signal) => {
    // Another process may have made it during the wait.
    const made = await presentImage(request);
    return made ?? makeWithLog(request, { ...work, signal });
  });
}

async function makeWithLog(request: ImageRequest, work: EngineWork): Promise<InstanceImage> {
  const { connection, instance, storage, env = process.env } = request;
  const network = await buildNetwork(env, scratch);
  const log = await openBuildLog(storage, instance.id, network.secrets);
  work.reporter.log(`${instance.id}: making its image, log: ${log.path}`);
  log.line(`image of ${instance.id} with ${connection.product} at ${connection.address}`);
  try {
    const { settings: limits } = request;
    const made = await make(request, network, { connection, log, work, limits });
    await enforceImageBudget(connection, storage, request.settings.budgetGb, work, made.id).catch(
      (error: unknown) => {
        if (error instanceof Cancelled) throw error;
        // The image exists nevertheless.
        work.reporter.log(`images were not kept within the budget: ${messageOf(error)}`);
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

const baseImageOf = ({ settings }: ImageRequest, recipe: Recipe): string =>
  settings.baseImage.replaceAll('{python}', recipe.python);

/** The name under which the instance image is looked up. */
function namedOn(request: ImageRequest, source: Source) {
  const { instance, trees } = request;
  const recipe = recipeOf(instance.repo, instance.version);
  const told =
    source.image === undefined
      ? ['built', builder, baseImageOf(request, recipe), instance.createdAt]
      : [source.from, source.image.id];
  return instanceName(instance, trees, recipe, told);
}

/** An instance image that can be used as it is; undefined when one has to be made or pulled. */
async function presentImage(request: ImageRequest): Promise<InstanceImage | undefined> {
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

type Network = Awaited<ReturnType<typeof buildNetwork>>;

async function make(
  request: ImageRequest,
  network: Network,
  place: BuildPlace,
): Promise<InstanceImage> {
  const { connection, instance, settings, storage } = request;
  const { log, work } = place;
  await enforceImageBudget(connection, storage, settings.budgetGb, work);
  const local = await localSource(request);
  if (local?.image !== undefined) return onFound(request, local, place);
  const own = instance.environment?.image;
  if (own !== undefined) {
    log.line(`the row names ${own}`);
    return onFound(
      request,
      { from: 'row', name: own, image: await pulled(request, own, place) },
      place,
    );
  }
  const recipe = recipeOf(instance.repo, instance.version);
  const family = familyOf(instance, recipe, baseImageOf(request, recipe));
  const prebuilt = (await isBuilt(connection, family))
    ? undefined
    : await pulledPrebuilt(request, place);
  if (prebuilt !== undefined) return onFound(request, prebuilt, place);
  return build(request, recipe, network, place);
}

/** Makes the image of an instance on an environment that somebody else made. */
function onFound(request: ImageRequest, source: Source, place: BuildPlace): Promise<InstanceImage> {
  const { instance, trees, storage } = request;
  const image = source.image?.id ?? source.name;
  place.log.line(`on ${source.name}, ${image}`);
  return makeInstanceLayer(
    {
      ...{ instance, trees, storage, recipe: recipeOf(instance.repo, instance.version) },
      named: namedOn(request, source),
      source: { image, name: source.name, digest: image, from: source.from },
    },
    place,
  );
}

async function pulled(
  { connection, storage }: ImageRequest,
  name: string,
  { work }: BuildPlace,
): Promise<PresentImage> {
  await pullImage(connection, name, work);
  const image = await inspectImage(connection, name);
  if (image === undefined) throw new ImageMissing(`The image ${name} is gone`, 'Repeat this');
  await noteUse(storage, { name, id: image.id, kind: 'pulled', bytes: image.bytes });
  return image;
}

/** The prebuilt image from its registry; undefined when it is not available. */
async function pulledPrebuilt(
  request: ImageRequest,
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
  if ((await wasMissing(storage, name)) || (await wasMissing(storage, registry))) {
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
    say(`no prebuilt image, so the environment is built: ${error.what}`);
    return undefined;
  }
}

/** Whether an environment of the repository and version was built here before. */
async function isBuilt(connection: DockerConnection, family: string): Promise<boolean> {
  const found = await connection.docker.listImages({
    filters: { label: [`${familyLabel}=${family}`] },
  });
  return found.length > 0;
}

/** Matches the output of a build that lacks a compiler. */
const noCompiler =
  /(\b(cc|gcc|g\+\+|c\+\+|clang)['"]?\b.{0,80}(No such file or directory|not found))|unable to execute|Unknown compiler|no acceptable C compiler|command '[^']*g(cc|\+\+)' failed: No such|Python\.h: No such file/i;

async function build(
  request: ImageRequest,
  recipe: Recipe,
  network: Network,
  place: BuildPlace,
): Promise<InstanceImage> {
  const { connection, instance, trees, storage } = request;
  const family = familyOf(instance, recipe, baseImageOf(request, recipe));
  const named = namedOn(request, { from: 'built', name: '' });
  const layerOn = (environment: LikelyEnvironment): InstanceLayerRequest => ({
    ...{ instance, trees, storage, recipe, named, family, source: builtSource(environment) },
  });
  const baseImage = baseImageOf(request, recipe);
  const parts = { instance, trees, tree: trees.base, recipe, baseImage, storage, network };
  const further = await furtherInstance({ ...parts, named, family }, place);
  if (further !== undefined) return further;
  const attempt = async (system: readonly string[]): Promise<InstanceImage> => {
    const likely = await likelyEnvironment(connection, storage, family);
    const folder = instance.environment?.folder ?? defaultFolder;
    const atHand =
      likely && (await treeAtHand({ instance, trees, folder, source: builtSource(likely) }, place));
    const certain = environmentOf(request, { recipe, network, system, atHand }, place);
    const made = await (likely === undefined
      ? makeInstanceLayer(layerOn(await certain), place)
      : makeEarly(layerOn, likely, certain, place));
    await noteEnvironment(storage, family, await certain);
    return made;
  };
  try {
    return await attempt([]);
  } catch (error) {
    const said = error instanceof CommandFailed ? error.output : messageOf(error);
    if (!(error instanceof HumanError) || !noCompiler.test(said.slice(-10_000))) throw error;
    place.log.line('there is something to compile: again with a compiler');
    return attempt(compilerPackages);
  }
}

const builtSource = ({
  id,
  name,
  key,
  base,
  resolved,
}: LikelyEnvironment & Partial<EnvironmentImage>): InstanceLayerRequest['source'] => ({
  ...{ image: id, name, from: 'built', digest: key, base, resolved, moved: resolved?.moved },
});

/** Finds or builds the environment of an instance, once at a time for each repository and version. */
function environmentOf(
  request: ImageRequest,
  asked: {
    readonly recipe: Recipe;
    readonly network: Network;
    readonly system: readonly string[];
    readonly atHand: TreeAtHand | undefined;
  },
  place: BuildPlace,
): Promise<EnvironmentImage> {
  const { instance, trees, storage } = request;
  const { work } = place;
  const lock = `${instance.repo}-${instance.version}`.replace(/[^A-Za-z0-9_.-]+/g, '__');
  const options = { ...work, what: `builds the environment of ${instance.repo}` };
  const baseImage = baseImageOf(request, asked.recipe);
  return withLock(lockPath(storage, 'environment', lock), options, (signal) =>
    environmentImage(
      { ...asked, instance, storage, baseImage, tree: trees.base },
      { ...place, work: { ...work, signal } },
    ),
  );
}

/**
 * Makes the image on the environment that is likely while requirements are resolved, which takes as
 * long. If another environment turns out to be right, the image is made on that one.
 */
async function makeEarly(
  layerOn: (environment: LikelyEnvironment) => InstanceLayerRequest,
  likely: LikelyEnvironment,
  certain: Promise<EnvironmentImage>,
  place: BuildPlace,
): Promise<InstanceImage> {
  const log = holdLog(place.log);
  const early = { ...layerOn(likely), certain: certain.then(builtSource) };
  // A layer that fails before it asks leaves this promise to nobody.
  early.certain.catch(() => undefined);
  const [made, environment] = await Promise.allSettled([
    makeInstanceLayer(early, { ...place, log }),
    certain,
  ]);
  log.line(`R was put into ${likely.name} while the requirements were resolved`);
  log.release();
  if (environment.status === 'rejected') throw environment.reason;
  if (made.status === 'fulfilled') return made.value;
  if (environment.value.key === likely.key) throw made.reason;
  place.log.line(`${environment.value.name} is needed instead`);
  return makeInstanceLayer(layerOn(environment.value), place);
}
