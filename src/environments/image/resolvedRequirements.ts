import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { treeEntries } from '../../repository/treeFiles';
import { writeWholeFile } from '../../files/wholeFile';
import { identityDigest } from './imageRecords';
import { setupInputs } from '../plan/setupInputs';

/** An earlier result of resolving requirements. */
const recordSchema = z.object({
  /** Lines of a requirement file. */
  lock: z.array(z.string()),
  /** Debian packages that were installed on the base image. */
  packages: z.array(z.string()),
  /** Absent where packages are as of the instance's day. */
  moved: z.object({ wanted: z.string(), taken: z.string() }).optional(),
});
export type ResolvedRequirements = z.infer<typeof recordSchema>;

/**
 * A digest that is equal for two trees with the same requirements, as far as that shows without
 * running them.
 *
 * @param tree a pristine tree
 */
export async function requirementsDigest(tree: string, signal?: AbortSignal): Promise<string> {
  return identityDigest(await setupInputs(tree, await treeEntries(tree, signal)));
}

const pathOf = (storage: string, key: string): string =>
  join(storage, 'images', 'locks', `${key}.json`);

/** The earlier result for the same requirements; undefined when there is none. */
export async function knownRequirements(
  storage: string,
  key: string,
): Promise<ResolvedRequirements | undefined> {
  try {
    return recordSchema.parse(JSON.parse(await readFile(pathOf(storage, key), 'utf8')));
  } catch {
    return undefined;
  }
}

/** Never fails: without the record, the requirements are resolved again. */
export async function keepRequirements(
  storage: string,
  key: string,
  record: ResolvedRequirements,
): Promise<void> {
  await writeWholeFile(pathOf(storage, key), JSON.stringify(record)).catch(() => undefined);
}
