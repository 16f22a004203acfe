import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { treeEntries } from '../../../repository/treeFiles';
import { writeWholeFile } from '../../../files/wholeFile';
import { identityDigest } from './imageRecords';

/** What requirements were resolved to before. */
const recordSchema = z.object({
  /** Lines of a requirement file. */
  lock: z.array(z.string()),
  /** Debian packages that were installed on the base image. */
  packages: z.array(z.string()),
});
export type ResolvedRequirements = z.infer<typeof recordSchema>;

/** Files that what a project requires may be read from, or the version of the project itself. */
const telling =
  /^[^/]+$|(^|\/)(setup[^/]*\.(py|cfg)|pyproject\.toml|[^/]*(requirements|dependenc|version|release)[^/]*|__init__\.py|[^/]*\.in)$/i;
/** Where they are not. */
const silentFolders = /(^|\/)(tests?|docs?|doc|examples|benchmarks)\//;

/**
 * The same for two trees that require the same, as far as can be told without running them.
 * @param tree a pristine tree
 */
export async function requirementsDigest(tree: string, signal?: AbortSignal): Promise<string> {
  const entries = await treeEntries(tree, signal);
  const parts = [...entries].flatMap(([path, { id }]) =>
    telling.test(path) && !silentFolders.test(path) ? [[path, id]] : [],
  );
  return identityDigest(parts.sort());
}

const pathOf = (storage: string, key: string): string =>
  join(storage, 'images', 'locks', `${key}.json`);

/** What was resolved before from the same; undefined when nothing was. */
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

/** Never fails: without it, it is resolved again. */
export async function keepRequirements(
  storage: string,
  key: string,
  record: ResolvedRequirements,
): Promise<void> {
  await writeWholeFile(pathOf(storage, key), JSON.stringify(record)).catch(() => undefined);
}
