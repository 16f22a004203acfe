import { throwIfAborted } from '../../../domain/work';
import { treeEntries, type TreeEntry } from '../../../repository/treeFiles';
import { builtFolder, type BuildContainer, foreignUser } from '../../../engine/docker';
import { earliestTime, filesInTar, tarOf } from '../../../engine/sandbox';
import { identityDigest } from '../imageRecords';
import { generatedKey, generatedName, generatedPath } from './generatedSources';
import { cachedFilesPath, readCachedFiles, writeCachedFiles } from './cachedFiles';

/** Folder of ccache's objects in an image. Root owns it there, and tests cannot write to it. */
const cacheFolder = `${builtFolder}/ccache`;

/** Folder of Debian's package with the names of compilers that lead to ccache. */
const programs = '/usr/lib/ccache';

/** Bytes of compiled and generated files that are kept for one repository at one version. */
const limit = 512 << 20;

interface Caching {
  readonly storage: string;
  /** R. */
  readonly tree: string;
  /** Folder of R in the container. */
  readonly folder: string;
  /** Everything that separates these files from those of other builds. */
  readonly identity: readonly unknown[];
  /** Packages of the environment, as `name==version`: those that generate sources count. */
  readonly packages: readonly string[];
  /** The folders that programs are looked for in. */
  readonly path: string;
  readonly say: (line: string) => void;
  readonly signal?: AbortSignal | undefined;
}

/** What was compiled for other instances of a version, for one build. */
interface CompilerCache {
  /** Variables of the build, and of each later one in the image. */
  readonly env: Readonly<Record<string, string>>;
  /**
   * Keeps what the build compiled for further instances, and leaves it in the image for builds of
   * changed sources. Call this when nothing foreign runs any more.
   */
  keep(): Promise<void>;
}

/**
 * Lets a build take objects that were compiled from the same preprocessed source by the same
 * compiler with the same options, and sources that Cython generated from the same files. So a
 * further instance of a version compiles only what differs, whatever its build system is.
 *
 * Code of R can write to these files. So they serve instances of one repository and version only.
 *
 * @returns undefined where the image has no ccache
 */
export async function openCompilerCache(
  container: BuildContainer,
  caching: Caching,
): Promise<CompilerCache | undefined> {
  const { storage, tree, folder, identity, packages, path: search, say, signal } = caching;
  if ((await container.attempt(['test', '-x', `${programs}/gcc`])).code !== 0) return undefined;
  const entries = await treeEntries(tree, signal);
  const key = generatedKey(entries, packages);
  const path = cachedFilesPath(storage, identityDigest('compiler', folder, ...identity));
  const kept = await readCachedFiles(path, say);
  throwIfAborted(signal);
  await putKept(container, { kept, key, entries, folder, say });
  const env = {
    PATH: `${programs}:${search}`,
    CCACHE_DIR: cacheFolder,
    // Nobody debugs compiled code here, and without this the files are several times larger.
    CFLAGS: '-g0',
    CXXFLAGS: '-g0',
  };
  return {
    env,
    async keep() {
      const said = await container.attempt(['ccache', '--print-stats'], { env });
      const { compiled, reused } = compilations(said.standard);
      say(`compiled ${compiled} sources and reused ${reused} objects from earlier builds`);
      await container.run(['sh', '-c', close, 'sh', cacheFolder], 'save the compiler cache');
      const used = await madeByBuild(container, { key, entries, folder });
      await writeCachedFiles(path, within(limit, used, kept));
    },
  };
}

interface CacheContent {
  readonly kept: ReadonlyMap<string, Buffer>;
  /** Digest of what Cython reads beside a `.pyx`. */
  readonly key: string;
  readonly entries: ReadonlyMap<string, TreeEntry>;
  readonly folder: string;
  readonly say: (line: string) => void;
}

/** Puts kept objects where ccache finds them, and sources that Cython made into R. */
async function putKept(
  container: BuildContainer,
  { kept, key, entries, folder, say }: CacheContent,
): Promise<void> {
  const time = Math.floor(Date.now() / 1000);
  const place = cacheFolder.slice(1);
  const objects = [...kept].flatMap(([name, content]) =>
    // ccache gives an object the time of its use. So those that keep this time were not used.
    isObject(name)
      ? [{ path: `${place}/${name.slice(objectPrefix.length)}`, content, time: earliestTime }]
      : [],
  );
  const generated = [...kept].flatMap(([name, content]) => {
    const path = generatedPath(name, key, entries);
    // Cython generates a file again that is older than its sources.
    return path === undefined ? [] : [{ path, content, time }];
  });
  const configuration = { path: `${place}/ccache.conf`, content: settings, time };
  // An image with R of another instance has its cache, which may be of a later commit.
  await container.run(['rm', '-rf', cacheFolder], 'clear the compiler cache');
  await container.put(await tarOf([...objects, configuration]));
  await container.put(await tarOf(generated, foreignUser), folder);
  const own = `${foreignUser}:${foreignUser}`;
  await container.run(['chown', '-hR', own, cacheFolder], 'prepare the compiler cache');
  say(`available: ${objects.length} ccache files, ${generated.length} sources generated by Cython`);
}

/** Objects of the build and sources that Cython made for it, by the names that they are kept under. */
async function madeByBuild(
  container: BuildContainer,
  { key, entries, folder }: Pick<CacheContent, 'key' | 'entries' | 'folder'>,
): Promise<ReadonlyMap<string, Buffer>> {
  const used = new Map<string, Buffer>();
  const inCache = await packed(container, ['tar', '-C', cacheFolder, '-cf', packedFile, '.']);
  for (const { path, content } of inCache) {
    const name = `${objectPrefix}${path.replace(/^\.\//, '')}`;
    if (isObject(name)) used.set(name, content);
  }
  const script = `cd "$1" && find . -type f \\( -name '*.c' -o -name '*.cpp' \\) -print0 | tar --null -T - -cf "$2"`;
  for (const { path, content } of await packed(container, [
    ...['sh', '-c', script, 'sh', folder, packedFile],
  ])) {
    const name = generatedName(path, key, entries);
    if (name !== undefined) used.set(name, content);
  }
  return used;
}

const packedFile = '/tmp/swt-compiled.tar';

/** The files that a command packs; none when there is nothing to pack. */
async function packed(
  container: BuildContainer,
  argv: readonly string[],
): ReturnType<typeof filesInTar> {
  if ((await container.attempt(argv)).code !== 0) return [];
  try {
    return await filesInTar(await container.take(packedFile, limit));
  } finally {
    await container.attempt(['rm', '-f', packedFile]);
  }
}

/**
 * Removes objects that this build did not use: they may come from a later commit, and tests must not
 * see what comes after R. Root alone can read the rest. `$1` is the folder.
 */
const close =
  'find "$1" -type f ! -newermt 2000-01-01 -delete && chown -hR 0:0 "$1" && chmod -R go-rwx "$1"';

/** The files of this build, and as many of earlier ones as there is room for. */
function within(
  bytes: number,
  used: ReadonlyMap<string, Buffer>,
  earlier: ReadonlyMap<string, Buffer>,
): ReadonlyMap<string, Buffer> {
  const all = new Map(used);
  let left = bytes - [...used.values()].reduce((sum, { length }) => sum + length, 0);
  for (const [name, content] of earlier) {
    left -= all.has(name) ? 0 : content.length;
    if (left < 0) break;
    if (!all.has(name)) all.set(name, content);
  }
  return all;
}

const objectPrefix = 'objects/';

/** A result or manifest of ccache 4, below one or more folders of one character each. */
const isObject = (name: string): boolean => /^objects\/(?:[0-9a-f]\/)+[0-9a-z_]+[RM]$/.test(name);

/** https://ccache.dev/manual/4.7.html#_configuration_options */
const settings = Buffer.from('max_size = 400M\ncompression_level = 3\ntemporary_dir = /tmp\n');

/**
 * How many sources were compiled, and how many objects were taken from the cache.
 *
 * @param statistics output of `ccache --print-stats`, a name and a number on each line
 */
export function compilations(statistics: string): {
  readonly compiled: number;
  readonly reused: number;
} {
  const count = (...names: readonly string[]): number =>
    statistics
      .split('\n')
      .map((line) => line.split('\t'))
      .filter(([name = '']) => names.includes(name))
      .reduce((sum, [, value]) => sum + (Number(value) || 0), 0);
  return {
    compiled: count('cache_miss'),
    reused: count('direct_cache_hit', 'preprocessed_cache_hit'),
  };
}
