import type { ImageInfo } from 'dockerode';
import type { EngineWork } from '../engine/engine';
import { throwIfAborted } from '../domain/work';
import {
  engineProblem,
  type DockerConnection,
  labels,
  madeHere,
  refusedStatus,
} from '../engine/docker';
import { environmentRepository, instanceRepository } from './image/imageNames';
import { downloadsUse, removeDownloads } from './packages/downloads';
import { forget, imageRecords, type ImageRecord } from './image/imageRecords';

type Reached = Pick<DockerConnection, 'docker' | 'address'>;

/** An image that was made here or pulled here for an instance, or the packages that were fetched. */
export interface ImageUse {
  readonly id: string;
  readonly name: string;
  readonly kind: ImageRecord['kind'];
  readonly repo: string;
  readonly version: string;
  /** Id of the instance; empty for an image that several instances share. */
  readonly instance: string;
  /** Bytes beyond those of the image that it is based on. */
  readonly bytes: number;
  /** ISO 8601; the latest use of this image or of one that is based on it. */
  readonly lastUsed: string;
  /** Whether a container was made from it or from an image that is based on it. */
  readonly inUse: boolean;
  /** Ids of our images that are based on it. */
  readonly carries: readonly string[];
}

/**
 * Everything that the budget covers, with its size: the images, and the packages that were fetched.
 * Shared layers count once, for the image that brought them.
 *
 * @param storage the storage folder, the only source for which images were pulled
 * @throws HumanError when the engine does not answer
 */
export async function imageUse(connection: Reached, storage: string): Promise<ImageUse[]> {
  const { docker } = connection;
  try {
    const records = await imageRecords(storage);
    const [all, containers, downloads] = await Promise.all([
      docker.listImages({ all: true }),
      docker.listContainers({ all: true }),
      downloadsUse(storage),
    ]);
    const made = await docker.listImages({ filters: madeHere });
    const used = new Set(containers.map(({ ImageID }) => ImageID));
    const ours = ownImages(all, made, records);
    const byId = new Map(all.map((image) => [image.Id, image]));
    const parentOf = new Map(
      await Promise.all(
        ours.map(async ({ image }) => [image.Id, await parent(docker, image, byId)] as const),
      ),
    );
    const images = ours.map((own): ImageUse => {
      const { image, name, isPulled } = own;
      const above = ours.filter((other) => isOn(other.image.Id, image.Id, parentOf));
      const carries = above.map((other) => other.image.Id);
      const said = image.Labels ?? {};
      const below = byId.get(parentOf.get(image.Id) ?? '');
      const uses = [own, ...above].map(
        (each) => records.get(each.name)?.lastUsed ?? timeOf(each.image.Created),
      );
      return {
        id: image.Id,
        name,
        kind: isPulled ? 'pulled' : said[labels.kind] === 'instance' ? 'instance' : 'environment',
        repo: isPulled ? '' : (said[labels.repo] ?? ''),
        version: isPulled ? '' : (said[labels.version] ?? ''),
        instance: isPulled ? '' : (said[labels.instance] ?? ''),
        bytes: Math.max(0, image.Size - (below?.Size ?? 0)),
        lastUsed: uses.sort().at(-1) ?? timeOf(image.Created),
        inUse: [image.Id, ...carries].some((id) => used.has(id)),
        carries,
      };
    });
    if (downloads === undefined) return images;
    const shared = { kind: 'cache', repo: '', version: '', instance: '', carries: [] } as const;
    const cache = { id: downloadsName, name: downloadsName, inUse: false, ...shared, ...downloads };
    return [...images, cache];
  } catch (error) {
    throw engineProblem(error, connection, 'asking what its images take');
  }
}

/**
 * The name under which fetched packages are listed. They are on this machine rather than in the
 * engine.
 */
const downloadsName = 'packages';

interface OwnImage {
  readonly image: ImageInfo;
  readonly name: string;
  readonly isPulled: boolean;
}

/** The images that were made here, and those that the records name as pulled. */
function ownImages(
  all: readonly ImageInfo[],
  made: readonly ImageInfo[],
  records: ReadonlyMap<string, ImageRecord>,
): OwnImage[] {
  const madeIds = new Set(made.map(({ Id }) => Id));
  return all.flatMap((image) => {
    const tags = (image.RepoTags ?? []).map(shortName);
    const own = madeIds.has(image.Id) ? tags.find(isOurName) : undefined;
    const pulled = tags.find((tag) => {
      const record = records.get(tag);
      return record?.kind === 'pulled' && record.id === image.Id;
    });
    const name = own ?? pulled;
    return name === undefined ? [] : [{ image, name, isPulled: own === undefined }];
  });
}

/** Podman names images made on the machine `localhost/…`. */
const shortName = (tag: string): string => tag.replace(/^localhost\//, '');

const isOurName = (tag: string): boolean =>
  tag.startsWith(`${environmentRepository}:`) || tag.startsWith(`${instanceRepository}:`);

const timeOf = (seconds: number): string => new Date(seconds * 1000).toISOString();

async function parent(
  docker: Reached['docker'],
  image: { Id: string; ParentId?: string },
  byId: ReadonlyMap<string, unknown>,
): Promise<string> {
  const listed = image.ParentId ?? '';
  if (byId.has(listed)) return listed;
  const { Parent } = await docker.getImage(image.Id).inspect();
  return Parent;
}

/** Whether an image is based on another one, directly or indirectly. */
function isOn(id: string, other: string, parentOf: ReadonlyMap<string, string>): boolean {
  for (let at = parentOf.get(id) ?? ''; at !== ''; at = parentOf.get(at) ?? '') {
    if (at === other) return true;
  }
  return false;
}

/** The result of removing images. */
interface Removed {
  readonly removed: readonly ImageUse[];
  /** The images that are still there, and why. */
  readonly kept: readonly { readonly image: ImageUse; readonly why: string }[];
  /** Bytes that were freed, by the engine's earlier count. */
  readonly bytes: number;
}

/**
 * Removes those of our images that no container uses and no other image is based on. Ids and names
 * that are not ours are ignored.
 *
 * @param ids ids or names
 * @throws HumanError when the engine does not answer, Cancelled
 */
export async function removeImages(
  connection: Reached,
  storage: string,
  ids: readonly string[],
  work: EngineWork,
): Promise<Removed> {
  const wanted = new Set(ids);
  const all = await imageUse(connection, storage);
  const chosen = all
    .filter(({ id, name }) => wanted.has(id) || wanted.has(name))
    // Images that are based on others come first.
    .sort((one, other) => one.carries.length - other.carries.length);
  const gone = new Set<string>();
  const removed: ImageUse[] = [];
  const kept: { image: ImageUse; why: string }[] = [];
  for (const image of chosen) {
    throwIfAborted(work.signal);
    const left = image.carries.filter((id) => !gone.has(id));
    if (image.inUse) kept.push({ image, why: 'a container uses it' });
    else if (left.length > 0) kept.push({ image, why: `${left.length} other images are on it` });
    else {
      work.reporter.progress(`Removing ${image.name}`);
      const why = await removeOne(connection, storage, image);
      if (why === undefined) {
        removed.push(image);
        gone.add(image.id);
        await forget(storage, image.name);
        work.reporter.log(`removed ${image.name}, ${(image.bytes / 1e6).toFixed(0)} MB`);
      } else kept.push({ image, why });
    }
  }
  return { removed, kept, bytes: removed.reduce((sum, { bytes }) => sum + bytes, 0) };
}

/** Removes an image by its name. An image that someone gave another name stays under that name. */
async function removeOne(
  connection: Reached,
  storage: string,
  image: ImageUse,
): Promise<string | undefined> {
  const { docker } = connection;
  if (image.kind === 'cache') {
    await removeDownloads(storage);
    return undefined;
  }
  try {
    await docker.getImage(image.name).remove();
    return undefined;
  } catch (error) {
    const status = refusedStatus(error);
    if (status === 404) return undefined;
    if (status === 409) return 'something else uses it';
    throw engineProblem(error, connection, `removing ${image.name}`);
  }
}

/**
 * Removes our images, the least recently used first, until they fit the budget. Images in use stay.
 *
 * @param budgetGb GiB
 * @param kept id of an image that stays, with the images that it is based on
 * @throws HumanError when the engine does not answer, Cancelled
 */
export async function enforceImageBudget(
  connection: Reached,
  storage: string,
  budgetGb: number,
  work: EngineWork,
  kept?: string,
): Promise<Removed> {
  const leaving = beyondImageBudget(await imageUse(connection, storage), budgetGb * 2 ** 30, kept);
  const ids = leaving.map(({ id }) => id);
  return ids.length === 0
    ? { removed: [], kept: [], bytes: 0 }
    : removeImages(connection, storage, ids, work);
}

/** The share of the budget that fetched packages may take, so that they do not displace images. */
const cachePart = 1 / 4;

/**
 * Chooses what to remove so that the rest fits into a number of bytes, if possible. Fetched
 * packages that exceed their share come first, then the least recently used images. Images in use
 * are never chosen.
 *
 * @param kept id of an image that stays, with the images that it is based on
 */
export function beyondImageBudget(
  all: readonly ImageUse[],
  bytes: number,
  kept?: string,
): ImageUse[] {
  let over = all.reduce((sum, image) => sum + image.bytes, 0) - bytes;
  const leaving: ImageUse[] = [];
  const isLarge = (image: ImageUse): boolean =>
    image.kind === 'cache' && image.bytes > bytes * cachePart;
  const oldest = all
    .filter(({ inUse, id, carries }) => {
      const stays = inUse || (kept !== undefined && (id === kept || carries.includes(kept)));
      return !stays;
    })
    .sort(
      (one, other) =>
        Number(isLarge(other)) - Number(isLarge(one)) ||
        one.lastUsed.localeCompare(other.lastUsed) ||
        // An image is never older than those based on it. Of equal age, those based on others come
        // first.
        one.carries.length - other.carries.length,
    );
  for (const image of oldest) {
    if (over <= 0) break;
    leaving.push(image);
    over -= image.bytes;
  }
  return leaving;
}
