import { readdir, readFile, rm, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { sha256 } from '../../files/digest';
import { isNameBeside, writeWholeFile } from '../../files/wholeFile';
import type { DatasetFile } from './datasetFiles';
import { listingSchema, type Listing } from './listing';

/** Increase this when the listing of a row, or the choice of rows, changes. */
const format = 3;

/**
 * The size of a file, and a signature that changes whenever the file does. It does not read the
 * file.
 */
export async function fileSignature(path: string): Promise<{ size: number; signature: string }> {
  // A program can set mtime back, but not ctime.
  const { size, mtimeNs, ctimeNs } = await stat(path, { bigint: true });
  return { size: Number(size), signature: `${size} ${mtimeNs} ${ctimeNs}` };
}

/** Paths of a dataset's index and of the copied rows beside it. */
export interface IndexPaths {
  readonly key: string;
  readonly index: string;
  readonly rows: string;
  /** The start of the names of all indexes of this dataset, for any state of its files. */
  readonly prefix: string;
}

/** @param folder `data/swt-bench/` of the storage folder */
export function datasetIndexPaths(
  folder: string,
  files: readonly DatasetFile[],
  signatures: readonly string[],
): IndexPaths {
  const digest = (...parts: string[]): string => sha256(parts.join('\n'));
  const paths = files.map(({ path }) => path);
  const readable = basename(paths[0] ?? '')
    .replace(/[^A-Za-z0-9._-]/g, '_')
    .slice(0, 60);
  const prefix = `${readable}-${digest(...paths).slice(0, 12)}`;
  const key = digest(String(format), ...paths, ...signatures);
  const stem = join(folder, 'indexes', `${prefix}-${key.slice(0, 16)}`);
  return { key, index: `${stem}.json`, rows: `${stem}.rows.jsonl`, prefix };
}

/**
 * The stored listing; undefined if it is damaged, or there is none for the present state of the
 * files.
 */
export async function readDatasetIndex({ index, key }: IndexPaths): Promise<Listing | undefined> {
  try {
    const content = await readFile(index);
    const end = content.indexOf('\n');
    const body = content.subarray(end + 1);
    if (content.toString('utf8', 0, end) !== header(key, body)) return undefined;
    const listing = listingSchema.safeParse(JSON.parse(body.toString('utf8')));
    return listing.success && listing.data.entries.length === listing.data.places.length
      ? listing.data
      : undefined;
  } catch {
    return undefined;
  }
}

const header = (key: string, body: Buffer): string => `${key} ${sha256(body)}`;

/** Writes a listing, and deletes those of earlier states of the same files. */
export async function writeDatasetIndex(paths: IndexPaths, listing: Listing): Promise<void> {
  const folder = dirname(paths.index);
  const body = Buffer.from(JSON.stringify(listing));
  await writeWholeFile(
    paths.index,
    Buffer.concat([Buffer.from(`${header(paths.key, body)}\n`), body]),
  );
  for (const name of await readdir(folder)) {
    const path = join(folder, name);
    // Files that another process is still writing stay.
    const isWhole = !name.endsWith('.part') && !isNameBeside(name);
    const isOurs = name.startsWith(`${paths.prefix}-`) && isWhole;
    if (isOurs && path !== paths.index && path !== paths.rows) await rm(path, { force: true });
  }
}
