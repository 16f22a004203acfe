import { z } from 'zod';
import {
  builtFolder,
  labelLines,
  type BuildContainer,
  type BuildPlace,
  inspectImage,
  imageLabels,
} from '../../../engine/docker';
import { asciiJson, tarOf } from '../../../engine/sandbox';
import { withLock } from '../../../repository/lock';
import { lockPath } from '../../../repository/storage';
import { treeEntries, type TreeEntry } from '../../../repository/treeFiles';
import { interpreterAnswer } from '../askInterpreter';
import {
  environmentRepository,
  environmentTag,
  familyLabel,
  plainStart,
  type InstanceParts,
} from '../imageNames';
import { identityDigest, noteUse } from '../imageRecords';
import { packageMetadata } from '../packageMetadata';
import { installationDigest } from './installationDigest';

const lines = z.array(z.string());

const recorded = z.object({
  /** Interpreter of the base image, which no foreign code could write to. */
  base: z.string(),
  /** Id of the base image. */
  baseImage: z.string(),
  /** Interpreter with the dependencies of the repository. */
  interpreter: interpreterAnswer,
  /** Number of the user of tests. */
  user: z.number().int(),
  /** The command that installs R again; empty where R is not installed. */
  install: lines,
  /** Files of the environment that the installation wrote. */
  added: lines,
  /** Packages of the environment. */
  lock: lines,
  /** Debian packages that were installed on the base image. */
  packages: lines,
  /** What R requires, as it stated when it was installed; null where that cannot be read. */
  stated: lines.nullable(),
  /** What the packages of the environment state, as far as that can be read. */
  metadata: z.array(packageMetadata),
  /** Path, mode and object id of each file of the tree. */
  files: z.array(z.tuple([z.string(), z.string(), z.string()])),
});

/** What a kept image records about itself, in a file that only root reads. */
export interface CachedImageRecord extends Omit<z.infer<typeof recorded>, 'files'> {
  readonly files: ReadonlyMap<string, TreeEntry>;
}

/** Path of the record in an image that others are made from. No image of an instance has it. */
export const recordPath = `${builtFolder}/kept.json`;
/** Bytes of the longest record. */
const recordLimit = 64 << 20;

const tagStart = 'kept-';

interface KeptName {
  readonly key: string;
  readonly tag: string;
  readonly name: string;
  /** Whether an installation of R does the same in every image of this name. */
  readonly isAlike: boolean;
}

/**
 * The name of the image that an instance can be built from. All with the same installation share one.
 * An R whose installation depends on too much shares one too, and is installed again in it: where it
 * compiles, or where the recipe has steps of its own.
 *
 * @param family a digest that all instances share whose environments may be the same
 */
export async function cachedImageName(
  { instance, trees, plan, folder }: InstanceParts,
  family: string,
  signal: AbortSignal | undefined,
): Promise<KeptName> {
  const { install, preInstall, version } = plan.installation;
  const installation =
    preInstall.length > 0
      ? undefined
      : install === 'path'
        ? install
        : await installationDigest(trees.base, await treeEntries(trees.base, signal), version);
  const key = identityDigest(family, folder, installation ?? null);
  const tag = environmentTag(instance, `${tagStart}${key}`);
  const isAlike = installation !== undefined;
  return { key, tag, name: `${environmentRepository}:${tag}`, isAlike };
}

/** Id of the image of that name; undefined when there is none. */
export async function cachedImageId(
  { name }: KeptName,
  storage: string,
  { connection }: Pick<BuildPlace, 'connection'>,
): Promise<string | undefined> {
  const found = await inspectImage(connection, name);
  if (found === undefined) return undefined;
  await noteUse(storage, { name, id: found.id, kind: 'environment', bytes: found.bytes });
  return found.id;
}

/**
 * Id of an image of the family with a different installation of R; undefined if there is none.
 * It is the first that was made, so that images do not form ever longer chains.
 */
export async function relatedImageId(
  { instance }: Pick<InstanceParts, 'instance'>,
  family: string,
  { connection }: Pick<BuildPlace, 'connection'>,
): Promise<{ readonly id: string; readonly name: string } | undefined> {
  const start = `${environmentRepository}:${environmentTag(instance, tagStart)}`;
  const filters = { label: [`${familyLabel}=${family}`] };
  const found = await connection.docker.listImages({ filters });
  const images = found.flatMap(({ Id: id, RepoTags, Created }) => {
    // Podman names images made on the machine `localhost/…`, and leaves out empty fields.
    const tags: string[] = (RepoTags ?? []).map((tag) => tag.replace(/^localhost\//, ''));
    const name = tags.find((tag) => tag.startsWith(start));
    return name === undefined ? [] : [{ id, name, Created }];
  });
  return images.sort((one, other) => one.Created - other.Created)[0];
}

/**
 * Saves a container as an image from which further instances are built. R of the first of them is in
 * it, installed and compiled, and it is closed to the user of tests.
 */
export async function cacheImage(
  container: BuildContainer,
  { files, ...record }: CachedImageRecord,
  { key, tag, ...named }: KeptName,
  { instance, storage }: Pick<InstanceParts, 'instance'> & { readonly storage: string },
  place: BuildPlace,
): Promise<void> {
  const listed = [...files].map(([path, { mode, id }]) => [path, mode, id]);
  const content = Buffer.from(asciiJson({ ...record, files: listed }));
  const path = recordPath.slice(1);
  const { repo, version } = instance;
  const options = { ...place.work, what: `keeps ${repo} ${version} as it is installed` };
  await withLock(lockPath(storage, 'environment', `kept-${key}`), options, async () => {
    // Another process may have kept it meanwhile.
    if ((await cachedImageId({ key, tag, ...named }, storage, place)) !== undefined) return;
    await container.put(await tarOf([{ path, content, mode: 0o600 }]));
    await container.commit(environmentRepository, tag, [
      ...labelLines(imageLabels('environment', { instance: '', repo, version, recipe: key })),
      ...plainStart,
    ]);
    await container.run(['rm', '-f', recordPath], 'remove build files');
  });
}

/**
 * Reads the record in a container that was started from a kept image. Undefined where it cannot be
 * read.
 */
export async function readCachedImageRecord(
  container: BuildContainer,
): Promise<CachedImageRecord | undefined> {
  try {
    const content = await container.take(recordPath, recordLimit);
    const { files, ...record } = recorded.parse(JSON.parse(content.toString('utf8')));
    return { ...record, files: new Map(files.map(([path, mode, id]) => [path, { mode, id }])) };
  } catch {
    return undefined;
  }
}
