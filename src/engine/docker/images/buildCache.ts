import type Dockerode from 'dockerode';
import { z } from 'zod';
import { imageRecords } from './imageRecords';
import { refusedStatus } from '../connection/engineProblem';

/**
 * The volume that builds of earlier versions shared. Code of repositories could write to it, so
 * nothing uses it any more. It is listed only so that users can remove it.
 */
const earlierCache = 'swt-bench-cache';

/** A volume and the space that it takes. */
interface BuildCacheUse {
  /** Name of the volume. */
  readonly name: string;
  readonly bytes: number;
  /** ISO 8601. */
  readonly lastUsed: string;
  /** Whether a container uses it. */
  readonly inUse: boolean;
}

/**
 * The space that a volume takes; undefined when there is no volume.
 *
 * @param storage the storage folder, which has the size after the last build
 * @param isMeasured whether to measure now, which takes seconds on an engine that cannot measure
 * volumes alone
 * @throws what the engine answers
 */
export async function buildCacheUse(
  docker: Dockerode,
  storage: string,
  isMeasured: boolean,
  name = earlierCache,
): Promise<BuildCacheUse | undefined> {
  const made = await docker
    .getVolume(name)
    .inspect()
    .catch((error: unknown) => {
      if (refusedStatus(error) === 404) return undefined;
      throw error;
    });
  if (made === undefined) return undefined;
  const record = (await imageRecords(storage)).get(name);
  const known = isMeasured ? undefined : record?.bytes;
  const bytes = known ?? (await measured(docker, name));
  const created = (made as { CreatedAt?: string }).CreatedAt;
  const lastUsed =
    record?.lastUsed ?? (created === undefined ? new Date(0) : new Date(created)).toISOString();
  const users = await docker.listContainers({ all: true, filters: { volume: [name] } });
  return { name, bytes, lastUsed, inUse: users.length > 0 };
}

/** Bytes of a volume. Engines before API 1.42 always measure everything. */
async function measured(docker: Dockerode, name: string): Promise<number> {
  const answer = await new Promise<unknown>((resolve, reject) => {
    docker.modem.dial(
      {
        path: '/system/df?',
        method: 'GET',
        options: { type: 'volume' },
        statusCodes: { 200: true, 500: 'server error' },
      },
      (error, data) => (error === null ? resolve(data) : reject(error)),
    );
  });
  const { Volumes } = diskUse.parse(answer);
  const size = Volumes?.find(({ Name }) => Name === name)?.UsageData?.Size ?? 0;
  // -1 where the driver cannot tell.
  return Math.max(0, size);
}

/** https://docs.docker.com/reference/api/engine/version/v1.42/#tag/System/operation/SystemDataUsage */
const diskUse = z.object({
  Volumes: z
    .array(z.object({ Name: z.string(), UsageData: z.object({ Size: z.number() }).nullish() }))
    .nullish(),
});
