import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { writeWholeFile } from '../../files/wholeFile';
import type { DockerConnection } from '../../engine/docker/connection/connect';
import type { EnvironmentImage } from './environmentImage';
import { inspectImage } from '../../engine/docker/images/inspectImage';

const recordSchema = z.object({
  id: z.string(),
  name: z.string(),
  key: z.string(),
  base: z.string(),
});

/** An environment as far as it is known without what it was resolved from. */
export type LikelyEnvironment = Pick<EnvironmentImage, 'id' | 'name' | 'key' | 'base'>;

const pathOf = (storage: string, family: string): string =>
  join(storage, 'images', 'families', `${family}.json`);

/**
 * The environment that the latest instance of a family got. Most instances of a version get the
 * same, so work on it can begin while their requirements are resolved. Undefined when none is known
 * or its image is gone.
 *
 * @param family digest that all instances share whose environments may be the same
 */
export async function likelyEnvironment(
  connection: DockerConnection,
  storage: string,
  family: string,
): Promise<LikelyEnvironment | undefined> {
  try {
    const record = recordSchema.parse(JSON.parse(await readFile(pathOf(storage, family), 'utf8')));
    const found = await inspectImage(connection, record.name);
    return found?.id === record.id ? record : undefined;
  } catch {
    return undefined;
  }
}

/** Never fails: without the record, work on an environment begins once it is certain. */
export async function noteEnvironment(
  storage: string,
  family: string,
  { id, name, key, base }: LikelyEnvironment,
): Promise<void> {
  const text = JSON.stringify({ id, name, key, base });
  await writeWholeFile(pathOf(storage, family), text).catch(() => undefined);
}
