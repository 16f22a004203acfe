import { z } from 'zod';
import type { Instance } from '../../../domain/instance';
import { withLock } from '../../../repository/lock';
import { lockPath } from '../../../repository/storage';
import { treeEntries } from '../../../repository/treeFiles';
import type { Trees } from '../../../repository/trees';
import { projectVersion } from '../../projectVersion';
import type { Recipe } from '../../recipes';
import { asciiJson } from '../../../engine/sandbox/agentProtocol';
import { tarOf } from '../../../engine/sandbox/archive';
import { imageLabels } from '../../../engine/docker/labels';
import { interpreterAnswer } from '../askInterpreter';
import {
  labelLines,
  type BuildContainer,
  type BuildPlace,
} from '../../../engine/docker/build/buildContainer';
import {
  environmentRepository,
  environmentTag,
  familyLabel,
  plainStart,
} from '../environmentImage';
import { identityDigest, noteUse } from '../imageRecords';
import { inspectImage } from '../../../engine/docker/images/inspectImage';
import { packageMetadata } from '../packageMetadata';
import { filesOf, recordedFiles, recordLimit, versionRecordPath } from '../versionImage';
import { installationDigest } from './installationDigest';

const lines = z.array(z.string());

const recorded = z.object({
  /** Interpreter of the base image, which no foreign code could write to. */
  base: z.string(),
  /** Id of the base image. */
  baseImage: z.string(),
  /** Interpreter with the dependencies of the repository. */
  interpreter: interpreterAnswer,
  /** The command that installs R again. */
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
  files: recordedFiles,
});

/** What an installed image says of itself, in a file that only root reads. */
export interface InstalledRecord extends Omit<z.infer<typeof recorded>, 'files'> {
  readonly files: ReturnType<typeof filesOf>;
}

/** How their tags go on after the version. The number is raised with each change to these images. */
const tagStart = 'installed2-';

interface InstalledRequest {
  readonly instance: Instance;
  readonly trees: Pick<Trees, 'base'>;
  readonly recipe: Recipe;
  /** Folder of R in the image. */
  readonly folder: string;
  /** A digest that all instances share whose environments may be the same. */
  readonly family: string;
  readonly signal?: AbortSignal | undefined;
}

interface InstalledName {
  readonly key: string;
  readonly tag: string;
  readonly name: string;
}

/**
 * The name of the image that an instance can be made from without its being installed. Undefined
 * where an installation depends on too much: where it compiles, or where the recipe has steps of its
 * own.
 */
export async function installedName(request: InstalledRequest): Promise<InstalledName | undefined> {
  const { instance, trees, recipe, folder, family, signal } = request;
  if (recipe.install !== 'editable' || recipe.preInstall.length > 0) return undefined;
  const version = projectVersion(instance, recipe);
  const entries = await treeEntries(trees.base, signal);
  const installation = await installationDigest(trees.base, entries, version);
  if (installation === undefined) return undefined;
  const key = identityDigest('installed', family, folder, installation);
  const tag = environmentTag(instance, `${tagStart}${key}`);
  return { key, tag, name: `${environmentRepository}:${tag}` };
}

/** Id of the image of that name; undefined when there is none. */
export async function presentInstalled(
  { name }: InstalledName,
  storage: string,
  { connection }: Pick<BuildPlace, 'connection'>,
): Promise<string | undefined> {
  const found = await inspectImage(connection, name);
  if (found === undefined) return undefined;
  await noteUse(storage, { name, id: found.id, kind: 'environment', bytes: found.bytes });
  return found.id;
}

/**
 * Id of an image of the family in which R is installed in another way; undefined when there is none.
 * It is the first that was made, so that images do not stand on ever more others.
 */
export async function otherInstalled(
  { family, instance }: Pick<InstalledRequest, 'family' | 'instance'>,
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
 * Keeps a container as an image that further instances are made from. R of the first of them is
 * installed in it, and it is closed to the user of tests. Their set-up programs need not run.
 */
export async function keepInstalled(
  container: BuildContainer,
  { instance, files, ...record }: InstalledRecord & Pick<InstalledRequest, 'instance'>,
  named: InstalledName & { readonly storage: string },
  place: BuildPlace,
): Promise<void> {
  const { key, tag, storage } = named;
  const listed = [...files].map(([path, { mode, id }]) => [path, mode, id]);
  const content = Buffer.from(asciiJson({ ...record, files: listed }));
  const path = versionRecordPath.slice(1);
  const { repo, version } = instance;
  const options = { ...place.work, what: `keeps ${repo} ${version} as it is installed` };
  await withLock(lockPath(storage, 'environment', `installed-${key}`), options, async () => {
    // Another process may have kept it meanwhile.
    if ((await presentInstalled(named, storage, place)) !== undefined) return;
    await container.put(await tarOf([{ path, content, mode: 0o600 }]));
    await container.commit(environmentRepository, tag, [
      ...labelLines(imageLabels('environment', { instance: '', repo, version, recipe: key })),
      ...plainStart,
    ]);
    await container.run(['rm', '-f', versionRecordPath], 'remove what only the build needed');
  });
}

/**
 * Reads the record in a container that was started from an installed image. Undefined where it
 * cannot be read.
 */
export async function installedRecord(
  container: BuildContainer,
): Promise<InstalledRecord | undefined> {
  try {
    const content = await container.take(versionRecordPath, recordLimit);
    const { files, ...record } = recorded.parse(JSON.parse(content.toString('utf8')));
    return { ...record, files: filesOf(files) };
  } catch {
    return undefined;
  }
}
