import { mkdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import lockfile from 'proper-lockfile';
import { z } from 'zod';
import { sha256, sha256OfFile } from '../../files/digest';
import { writeWholeFile } from '../../files/wholeFile';
import { HumanError, throwIfAborted, systemCode, type Reporter } from '../../domain/work';
import { unsafePath } from '../../patch/unsafePath';
import type { DatasetFile } from '../rows/datasetFiles';
import { download, unwritableStorage, type Downloaded } from './download';

export interface CacheOptions {
  readonly signal?: AbortSignal | undefined;
  readonly reporter: Reporter;
  readonly refresh?: boolean | undefined;
  /** What the files are, for messages. */
  readonly kind?: 'dataset' | 'filter list' | undefined;
  /** Sent with every download. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** A file on a server. */
const remote = z.object({
  /** Path below the folder, with `/` between its parts. */
  name: z.string().refine((name) => unsafePath(name) === undefined),
  url: z.string(),
  /** Bytes. */
  size: z.number().optional(),
  sha256: z.string().optional(),
  /** Changes with the content; absent if only a request can show a change. */
  version: z.string().optional(),
});
export type RemoteFile = Readonly<z.infer<typeof remote>>;

/** `manifest.json`: the description of a folder of downloaded files. */
const manifestSchema = z.object({
  format: z.literal(1),
  /** The address or name from which the files come. */
  from: z.string(),
  /** ISO 8601: the time of the last request to the server. */
  asked: z.string(),
  /** All files of the server. */
  listing: z.array(remote),
  /** The files that are in the folder. */
  files: z.array(
    z.object({
      name: z.string(),
      size: z.number(),
      /** Milliseconds since 1970, as in the file system. */
      modified: z.number(),
      sha256: z.string(),
      tag: z.string().optional(),
      version: z.string().optional(),
    }),
  ),
});

type Manifest = z.infer<typeof manifestSchema>;
type KeptFile = Manifest['files'][number];

/**
 * Files of a server, kept in a folder. A file that is still as downloaded is used without a
 * request. If several processes call this at once, one downloads and the others wait.
 *
 * @param from names the dataset; distinguishes datasets whose folders have the same name
 * @param list requests the list of files from the server
 * @param choose selects the wanted files; throws a HumanError if there are none
 */
export async function cachedFiles(
  folder: string,
  from: string,
  list: () => Promise<readonly RemoteFile[]>,
  choose: (files: readonly RemoteFile[]) => readonly RemoteFile[],
  options: CacheOptions,
): Promise<DatasetFile[]> {
  const complete = async (manifest: Manifest | undefined): Promise<DatasetFile[] | undefined> => {
    if (manifest === undefined || options.refresh === true) return undefined;
    const chosen = choose(manifest.listing);
    for (const { name } of chosen) {
      if ((await intact(folder, manifest, name)) === undefined) return undefined;
    }
    return chosen.map(({ name }) => ({ name, path: join(folder, name) }));
  };
  const before = await complete(await readManifest(folder, from));
  if (before !== undefined) return before;
  return locked(folder, from, options, async () => {
    const manifest = await readManifest(folder, from);
    const meanwhile = await complete(manifest);
    if (meanwhile !== undefined) return meanwhile;
    if (manifest === undefined || options.refresh !== true) {
      return fetchFiles(
        folder,
        from,
        manifest?.listing ?? (await list()),
        manifest,
        choose,
        options,
      );
    }
    try {
      return await fetchFiles(folder, from, await list(), manifest, choose, options);
    } catch (error) {
      if (!(error instanceof HumanError)) throw error;
      const day = manifest.asked.slice(0, 10);
      const next = `${error.next ?? ''}. Without a refresh, SWT-Bench uses the files downloaded on ${day}`;
      throw new HumanError(error.what, next);
    }
  });
}

/** Downloads the chosen files that are missing or have changed. */
async function fetchFiles(
  folder: string,
  from: string,
  listing: readonly RemoteFile[],
  manifest: Manifest | undefined,
  choose: (files: readonly RemoteFile[]) => readonly RemoteFile[],
  options: CacheOptions,
): Promise<DatasetFile[]> {
  const chosen = choose(listing);
  const files = new Map((manifest?.files ?? []).map((file) => [file.name, file]));
  // A refresh replaces all files at the end, so that a failed one changes nothing.
  const isRefresh = manifest !== undefined && options.refresh === true;
  const arrived: { at: string; path: string; file: RemoteFile; result: Downloaded }[] = [];
  const place = async ({ at, path, file, result }: (typeof arrived)[number]): Promise<void> => {
    if (at !== path) await rename(at, path);
    files.set(file.name, await described(path, file, result));
  };
  try {
    for (const file of chosen) {
      const kept =
        manifest === undefined ? undefined : await intact(folder, manifest, file.name, options);
      const isSame = file.version !== undefined && kept?.version === file.version;
      if (kept !== undefined && (isSame || !isRefresh)) {
        files.set(file.name, kept);
        continue;
      }
      options.reporter.progress(`downloading ${file.name} of ${from}`);
      const path = join(folder, file.name);
      const at = isRefresh ? `${path}.new` : path;
      const kind = options.kind ?? 'dataset';
      const result = await download(
        {
          ...file,
          path: at,
          what: chosen.length === 1 ? `${kind} ${from}` : `file ${file.name} of ${from}`,
          ...(options.headers === undefined ? {} : { headers: options.headers }),
          ...(file.version === undefined ? { unlessTag: kept?.tag } : {}),
        },
        options,
      );
      if (result === 'unchanged') continue;
      arrived.push({ at, path, file, result });
      if (isRefresh) continue;
      for (const each of arrived.splice(0)) await place(each);
      await writeManifest(folder, from, listing, files);
    }
    for (const each of arrived.splice(0)) await place(each);
  } finally {
    for (const { at } of arrived) await rm(at, { force: true });
  }
  await writeManifest(folder, from, listing, files);
  return chosen.map(({ name }) => ({ name, path: join(folder, name) }));
}

async function described(
  path: string,
  { name, version }: RemoteFile,
  { size, sha256, tag }: Downloaded,
): Promise<KeptFile> {
  const { mtimeMs: modified } = await stat(path);
  return { name, size, modified, sha256, tag, version };
}

/**
 * The manifest's entry of a file that is still as downloaded; undefined otherwise. Reads the
 * content only if size or time raise a doubt.
 */
async function intact(
  folder: string,
  manifest: Manifest,
  name: string,
  options?: CacheOptions,
): Promise<KeptFile | undefined> {
  const kept = manifest.files.find((file) => file.name === name);
  if (kept === undefined) return undefined;
  const path = join(folder, name);
  const state = await stat(path).catch(() => undefined);
  if (state?.size === kept.size) {
    if (state.mtimeMs === kept.modified) return kept;
    if ((await sha256OfFile(path)) === kept.sha256) return { ...kept, modified: state.mtimeMs };
  }
  const why = state === undefined ? 'is gone' : 'has changed since the download';
  options?.reporter.log(`${path} ${why}; downloading it again`);
  return undefined;
}

async function readManifest(folder: string, from: string): Promise<Manifest | undefined> {
  try {
    const text = await readFile(join(folder, 'manifest.json'), 'utf8');
    const manifest = manifestSchema.parse(JSON.parse(text));
    return manifest.from === from ? manifest : undefined;
  } catch {
    return undefined;
  }
}

async function writeManifest(
  folder: string,
  from: string,
  listing: readonly RemoteFile[],
  files: ReadonlyMap<string, KeptFile>,
): Promise<void> {
  const versions = new Map(listing.map(({ name, version }) => [name, version]));
  const manifest: Manifest = {
    format: 1,
    from,
    asked: new Date().toISOString(),
    listing: listing.map((file) => ({ ...file })),
    // Drop a file of which the server has another version, so that it is downloaded again.
    files: [...files.values()].filter(
      ({ name, version }) => versions.has(name) && versions.get(name) === version,
    ),
  };
  const path = join(folder, 'manifest.json');
  await writeWholeFile(path, `${JSON.stringify(manifest, null, 2)}\n`).catch((error: unknown) => {
    throw unwritableStorage(path, error);
  });
}

/** Milliseconds after which a lock counts as left by a killed process. */
const stale = 10_000;

async function locked<Result>(
  folder: string,
  from: string,
  { signal, reporter }: CacheOptions,
  work: () => Promise<Result>,
): Promise<Result> {
  try {
    await mkdir(folder, { recursive: true });
  } catch (error) {
    throw unwritableStorage(folder, error);
  }
  let release: (() => Promise<void>) | undefined;
  for (let waited = false; release === undefined; waited = true) {
    throwIfAborted(signal);
    try {
      release = await lockfile.lock(folder, {
        stale,
        lockfilePath: `${folder}.lock`,
        // Two downloads at once do no harm either, since each writes beside and renames.
        onCompromised: (error) => reporter.log(`the lock of ${folder} was lost (${error.message})`),
      });
    } catch (error) {
      if (systemCode(error) !== 'ELOCKED') throw unwritableStorage(folder, error);
      if (!waited) reporter.progress(`waiting for another process to download ${from}`);
      await new Promise((done) => setTimeout(done, 200));
    }
  }
  try {
    return await work();
  } finally {
    await release().catch(() => undefined);
  }
}

/** A readable folder name that is unique to `from`. */
export function cacheFolderName(readable: string, from: string): string {
  const digest = sha256(from).slice(0, 10);
  return `${readable
    .replace(/[^A-Za-z0-9._@-]+/g, '-')
    .replace(/^[-.]+/, '')
    .slice(0, 80)}-${digest}`;
}
