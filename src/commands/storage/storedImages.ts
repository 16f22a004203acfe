import { HumanError } from '../../domain/work';
import { imageUse, removeImages, type ImageUse } from '../../environments/imageBudget';
import { connect, type DockerConnection, type DockerSettings } from '../../engine/docker';
import type { EngineWork } from '../../engine/engine';
import { layOut } from '../../domain/text';

/** The images that this program made or pulled, or why they are unknown. */
export type StoredImages =
  | { readonly engine: string; readonly images: readonly ImageUse[]; readonly freed: number }
  | { readonly unknown: string };

/**
 * Removes the requested images, then lists the remaining ones. A request is the id of an instance,
 * `owner/name` of a repository, `owner/name@version`, the name of an image, or `all`. An
 * environment that instances share is removed only with the repository or `all`, not with the last
 * of these instances.
 *
 * @param kept called for each requested image that stays, with the reason
 * @throws HumanError when images are to be removed and no engine answers, or there are none;
 *   Cancelled
 */
export async function storedImages(
  request: {
    readonly storage: string;
    readonly settings: DockerSettings;
    readonly free: readonly string[];
    readonly kept: (why: string) => void;
  },
  work: EngineWork,
): Promise<StoredImages> {
  const { storage, settings, free, kept } = request;
  let connection: DockerConnection;
  try {
    connection = await connect({ host: settings.host, signal: work.signal });
  } catch (error) {
    if (!(error instanceof HumanError) || free.length > 0) throw error;
    return { unknown: error.what };
  }
  try {
    const engine = `${connection.product === 'podman' ? 'Podman' : 'Docker Engine'} ${connection.version} at ${connection.address}`;
    const images = await imageUse(connection, storage);
    if (free.length === 0) return { engine, images, freed: 0 };
    const { ids, missing } = chosen(images, free);
    if (missing.length > 0) {
      throw new HumanError(
        `No images were built on this machine for ${missing.join(', ')}`,
        'Run `swt-bench storage` to list the images',
      );
    }
    const removed = await removeImages(connection, storage, ids, work);
    for (const { image, why } of removed.kept) kept(`${image.name} was not removed: ${why}`);
    return { engine, images: await imageUse(connection, storage), freed: removed.bytes };
  } finally {
    await connection.close();
  }
}

function chosen(
  images: readonly ImageUse[],
  wanted: readonly string[],
): { ids: readonly string[]; missing: readonly string[] } {
  const ids = new Set<string>();
  const missing: string[] = [];
  for (const name of wanted) {
    const found = images.filter(
      (image) =>
        name === 'all' ||
        [image.instance, image.repo, `${image.repo}@${image.version}`, image.name].includes(name),
    );
    for (const { id } of found) ids.add(id);
    if (found.length === 0 && name !== 'all') missing.push(name);
  }
  return { ids: [...ids], missing };
}

/**
 * A table of the images with their total and the budget, sorted by repository, version and
 * instance.
 */
export function imageTable(images: readonly ImageUse[], budgetGb: number): string {
  const order = ({ repo, version, instance }: ImageUse): string =>
    [repo || '~', version, instance].join('\0');
  const rows = [...images]
    .sort((one, other) => order(one).localeCompare(order(other), 'en', { numeric: true }))
    .map((image) => [
      image.repo === '' ? image.name : image.repo,
      image.version,
      image.instance === '' ? `(${image.kind})` : image.instance,
      inGigabytes(image.bytes),
      `${image.lastUsed.slice(0, 16).replace('T', ' ')}${image.inUse ? ' (in use)' : ''}`,
    ]);
  const total = totalBytes(images);
  const budget = budgetGb * 2 ** 30;
  return layOut([
    ['Repository', 'Version', 'Image for', 'Disk', 'Last used (UTC)'],
    ...rows,
    ['all', '', '', inGigabytes(total), `limit: ${inGigabytes(budget)}`],
  ]);
}

export const totalBytes = (images: readonly ImageUse[]): number =>
  images.reduce((sum, { bytes }) => sum + bytes, 0);

const inGigabytes = (bytes: number): string => `${(bytes / 1e9).toFixed(2)} GB`;
