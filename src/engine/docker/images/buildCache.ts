import type Dockerode from 'dockerode';
import { z } from 'zod';
import { imageRecords } from './imageRecords';

/**
 * The volume that builds of earlier versions shared. Code of repositories could write to it, so nothing
 * uses it any more; it is listed, to be removed.
 */
const earlierCache = 'swt-bench-cache';

/** A volume, and what it takes. */
export interface BuildCacheUse {
  /** Name of the volume. */
  readonly name: string;
  readonly bytes: number;
  /** ISO 8601. */
  readonly lastUsed: string;
  /** Whether a container has it. */
  readonly inUse: boolean;
}

/**
 * What a volume takes; undefined when there is none.
 *
 * @param storage the storage folder, where what it took after the last build is kept
 * @param isMeasured whether it is measured now: seconds, on an engine that cannot measure volumes alone
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
      if ((error as { statusCode?: number }).statusCode === 404) return undefined;
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

/** Bytes of a volume; engines before API 1.42 measure everything, whatever is asked for. */
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
