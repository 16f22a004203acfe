import { readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { sha256OfJson } from '../../files/digest';
import { writeWholeFile } from '../../files/wholeFile';

/** What is known of an image beyond the engine's own data. */
const recordSchema = z.object({
  /** Name with its tag, or the id of an image without a name. */
  name: z.string(),
  id: z.string(),
  /**
   * `pulled`: an image of someone else, pulled for an instance; `cache`: the volume that builds
   * share, which is no image.
   */
  kind: z.enum(['environment', 'instance', 'pulled', 'cache']),
  /** ISO 8601. */
  lastUsed: z.iso.datetime(),
  bytes: z.number().optional(),
});
export type ImageRecord = z.infer<typeof recordSchema>;

const recordsFolder = (storage: string): string => join(storage, 'images', 'records');

const recordPath = (storage: string, name: string): string =>
  join(recordsFolder(storage), `${identityDigest(name)}.json`);

export const identityDigest = (...parts: unknown[]): string => sha256OfJson(parts).slice(0, 24);

/**
 * Records that an image is used now. Never fails: without the record the image only seems to be
 * older than it is.
 */
export async function noteUse(
  storage: string,
  image: Omit<ImageRecord, 'lastUsed'>,
): Promise<void> {
  const record: ImageRecord = { ...image, lastUsed: new Date().toISOString() };
  await writeWholeFile(recordPath(storage, image.name), JSON.stringify(record)).catch(
    () => undefined,
  );
}

export const forget = (storage: string, name: string): Promise<void> =>
  rm(recordPath(storage, name), { force: true });

/** Records by the name of the image, without damaged ones. */
export async function imageRecords(storage: string): Promise<ReadonlyMap<string, ImageRecord>> {
  const records = new Map<string, ImageRecord>();
  const folder = recordsFolder(storage);
  for (const file of await readdir(folder).catch(() => [])) {
    const text = await readFile(join(folder, file), 'utf8').catch(() => '');
    const read = recordSchema.safeParse(parsed(text));
    if (read.success) records.set(read.data.name, read.data);
  }
  return records;
}

const missingSchema = z.record(z.string(), z.iso.datetime());
const missingPath = (storage: string): string => join(storage, 'images', 'missing.json');
/** Milliseconds for which an image that could not be pulled is not tried again. */
const retryAfter = 3600_000;

/** Whether a pull of the image found within the last hour that it is not available. */
export async function recentlyMissing(storage: string, name: string): Promise<boolean> {
  const since = (await readMissing(storage))[name];
  return since !== undefined && Math.abs(Date.now() - Date.parse(since)) < retryAfter;
}

export async function noteMissing(storage: string, name: string): Promise<void> {
  const now = Date.now();
  const recent = Object.entries(await readMissing(storage)).filter(
    ([, since]) => Math.abs(now - Date.parse(since)) < retryAfter,
  );
  const all = { ...Object.fromEntries(recent), [name]: new Date(now).toISOString() };
  await writeWholeFile(missingPath(storage), JSON.stringify(all)).catch(() => undefined);
}

async function readMissing(storage: string): Promise<Record<string, string>> {
  const text = await readFile(missingPath(storage), 'utf8').catch(() => '');
  const read = missingSchema.safeParse(parsed(text));
  return read.success ? read.data : {};
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
