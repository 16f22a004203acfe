import { throwIfAborted } from '../../../../domain/humanError';
import { treeEntries } from '../../../../repository/treeFiles';
import { builtFolder } from '../../../containerImage';
import { filesInTar, tarOf } from '../../../sandbox/archive';
import { identityDigest } from '../imageRecords';
import type { BuildContainer } from './buildContainer';
import { foreignUser } from './confinement';
import { generatedKey, generatedName, generatedPath } from './generatedSources';
import { keptPath, readKeptFiles, writeKeptFiles } from './keptFiles';

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
export interface CompilerCache {
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
  if ((await container.attempt(['test', '-x', `${programs}/cc`])).code !== 0) return undefined;
  const entries = await treeEntries(tree, signal);
  const key = generatedKey(entries, packages);
  const path = keptPath(storage, identityDigest('compiler', folder, ...identity));
  const kept = await readKeptFiles(path, say);
  throwIfAborted(signal);
  const time = Math.floor(Date.now() / 1000);
  const objects = [...kept].filter(([name]) => isObject(name));
  const files = objects.map(([name, content]) => ({
    path: `${cacheFolder.slice(1)}/${name.slice(objectPrefix.length)}`,
    ...{ content, time },
  }));
  const generated = [...kept].flatMap(([name, content]) => {
    const place = generatedPath(name, key, entries);
    // Cython generates a file again that is older than its sources.
    return place === undefined ? [] : [{ path: place, content, time }];
  });
  await container.put(
    await tarOf([
      ...files,
      { path: `${cacheFolder.slice(1)}/ccache.conf`, content: settings, time },
    ]),
  );
  await container.put(await tarOf(generated, foreignUser), folder);
  const own = `${foreignUser}:${foreignUser}`;
  await container.run(['chown', '-hR', own, cacheFolder], 'lend the compiler its cache');
  say(`at hand: ${files.length} files of ccache, ${generated.length} sources made by Cython`);
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
      say(`compiled ${compiled} sources, and took ${reused} objects from earlier builds`);
      await container.run(['chown', '-hR', '0:0', cacheFolder], 'take the cache back');
      await container.run(['chmod', '-R', 'go-w', cacheFolder], 'take the cache back');
      const packed = '/tmp/swt-compiled.tar';
      await container.run(['tar', '-C', cacheFolder, '-cf', packed, '.'], 'pack the cache');
      const next = new Map<string, Buffer>();
      for (const { path: name, content } of await filesInTar(await container.take(packed, limit))) {
        const within = `${objectPrefix}${name.replace(/^\.\//, '')}`;
        if (isObject(within)) next.set(within, content);
      }
      for (const { path: name, content } of await sourcesMade(container, folder)) {
        const within = generatedName(name, key, entries);
        if (within !== undefined) next.set(within, content);
      }
      await container.run(['rm', '-f', packed], 'remove what only the build needed');
      await writeKeptFiles(path, next);
    },
  };
}

const objectPrefix = 'objects/';

/** A result or manifest of ccache 4, below one or more folders of one character each. */
const isObject = (name: string): boolean => /^objects\/(?:[0-9a-f]\/)+[0-9a-z_]+[RM]$/.test(name);

/** https://ccache.dev/manual/4.7.html#_configuration_options */
const settings = Buffer.from('max_size = 400M\ncompression_level = 3\ntemporary_dir = /tmp\n');

/** Sources beside those of Cython, as the build left them. */
async function sourcesMade(
  container: BuildContainer,
  folder: string,
): ReturnType<typeof filesInTar> {
  const packed = '/tmp/swt-generated.tar';
  const script = `cd "$1" && find . -type f \\( -name '*.c' -o -name '*.cpp' \\) -print0 | tar --null -T - -cf "$2"`;
  const ended = await container.attempt(['sh', '-c', script, 'sh', folder, packed]);
  if (ended.code !== 0) return [];
  try {
    return await filesInTar(await container.take(packed, limit));
  } finally {
    await container.attempt(['rm', '-f', packed]);
  }
}

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
