import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { treeEntries, type TreeEntry } from '../../../repository/treeFiles';
import { writeWholeFile } from '../../../files/wholeFile';
import { identityDigest } from './imageRecords';

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

/** Files that may state a project's requirements, or a version that these depend on. */
const telling =
  /^[^/]+$|^((src|lib)\/)?[^/]+\/__init__\.py$|(^|\/)(setup[^/]*\.(py|cfg)|pyproject\.toml|[^/]*(requirements|dependenc|version|release)[^/]*|[^/]*\.in|requirements\/[^/]*)$/i;
/** Folders in which files of these names state neither. */
const silentFolders = /(^|\/)(tests?|docs?|doc|examples|benchmarks|\.github)\//;
/**
 * Files of the top folder that are written for people, for git, or for services that run tests.
 * A set-up program may fail without them, so only their names count.
 */
const silentFiles =
  /^(\.[^/]*|(readme|authors|contribut|credits|thanks|chang|history|news|licen[cs]e|copying|code_of_conduct|codeowners|citation|security|[a-z_]*template)[^/]*|(azure-pipelines|appveyor|codecov)\.ya?ml)$/i;

/**
 * A digest that is equal for two trees with the same requirements, as far as that shows without
 * running them.
 *
 * @param tree a pristine tree
 */
export async function requirementsDigest(tree: string, signal?: AbortSignal): Promise<string> {
  return digestOfTelling(await treeEntries(tree, signal));
}

/** The digest for the files of a tree. */
export function digestOfTelling(entries: ReadonlyMap<string, TreeEntry>): string {
  const parts = [...entries].flatMap(([path, { id }]) =>
    telling.test(path) && !silentFolders.test(path)
      ? [silentFiles.test(path) ? [path] : [path, id]]
      : [],
  );
  return identityDigest(parts.sort());
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
