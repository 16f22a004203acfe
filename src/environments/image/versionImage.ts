import { posix } from 'node:path';
import { z } from 'zod';
import type { Instance } from '../../domain/instance';
import { withLock } from '../../repository/lock';
import { lockPath } from '../../repository/storage';
import { treeEntries, type TreeEntry } from '../../repository/treeFiles';
import type { Trees } from '../../repository/trees';
import { builtFolder, builtPython } from '../../engine/containerImage';
import type { Recipe } from '../recipes';
import { asciiJson } from '../../engine/sandbox/agentProtocol';
import { tarOf } from '../../engine/sandbox/archive';
import { repositoryArchive } from '../../engine/sandbox/treeArchive';
import { imageLabels, purposeOf } from '../../engine/docker/labels';
import { interpreterAnswer, needInterpreter, type Interpreter } from './askInterpreter';
import {
  inContainer,
  labelLines,
  type BuildContainer,
  type BuildPlace,
} from '../../engine/docker/build/buildContainer';
import { CompiledFiles } from './further/compiledFiles';
import { foreignUser } from '../../engine/docker/build/confinement';
import { layTree } from './layTree';
import { closeImage } from './closeImage';
import {
  environmentRepository,
  environmentTag,
  plainStart,
  type TreeAtHand,
} from './environmentImage';
import { identityDigest, noteUse } from './imageRecords';
import { inspectImage } from '../../engine/docker/images/inspectImage';

interface VersionRequest {
  readonly instance: Instance;
  readonly trees: Trees;
  readonly recipe: Recipe;
  /** Folder of R in the image. */
  readonly folder: string;
  /** The environment. */
  readonly source: {
    readonly image: string;
    readonly name: string;
    readonly digest: string;
    /** Id of the image that it was built on. */
    readonly base?: string;
  };
  readonly storage: string;
}

/** What the image of a version says of itself, in a file that only root reads. */
export interface VersionRecord {
  /** Interpreter of the base image, which no foreign code could write to. */
  readonly base: string;
  /** Interpreter with the dependencies of the repository. */
  readonly interpreter: Interpreter;
  /** Number of the user of tests. */
  readonly user: number;
  /** Files of the tree. */
  readonly files: ReadonlyMap<string, TreeEntry>;
}

/** Path, mode and object id of each file of a tree. */
export const recordedFiles = z.array(z.tuple([z.string(), z.string(), z.string()]));

export const filesOf = (
  recordedOnes: z.infer<typeof recordedFiles>,
): ReadonlyMap<string, TreeEntry> =>
  new Map(recordedOnes.map(([path, mode, id]) => [path, { mode, id }]));

const recorded = z.object({
  base: z.string(),
  interpreter: interpreterAnswer,
  user: z.number().int(),
  files: recordedFiles,
});

/** Path of the record in an image that others are made from. No image of an instance has it. */
export const versionRecordPath = `${builtFolder}/version.json`;
/** Bytes of the longest record. */
export const recordLimit = 64 << 20;

/** Version of the way these images are made; raised with each change. */
const layout = 1;

/**
 * The image that the images of a version's instances are made from. It is their environment with
 * the tree of the first of them, compiled, and closed to the user of tests. So a further instance
 * only needs what differs from that tree. Nothing of the repository has run in it.
 *
 * @returns its id
 * @throws HumanError when it cannot be made, Cancelled
 */
export async function versionImage(request: VersionRequest, place: BuildPlace): Promise<string> {
  const { instance, storage } = request;
  const { work } = place;
  const { repo, version } = instance;
  const { key, tag, name } = versionName(request);
  const present = async (): Promise<string | undefined> => {
    const found = await inspectImage(place.connection, name);
    if (found === undefined) return undefined;
    await noteUse(storage, { name, id: found.id, kind: 'environment', bytes: found.bytes });
    return found.id;
  };
  const known = await present();
  if (known !== undefined) return known;
  const options = { ...work, what: `compiles ${repo} ${version ?? ''}`.trim() };
  return withLock(lockPath(storage, 'environment', `tree-${key}`), options, async (signal) => {
    const made = await present();
    if (made !== undefined) return made;
    await make(request, { tag, key }, { ...place, work: { ...work, signal } });
    const id = await present();
    if (id === undefined) throw new Error(`${name} disappeared as soon as it was made`);
    return id;
  });
}

function versionName({
  instance,
  source,
  folder,
}: Pick<VersionRequest, 'instance' | 'source' | 'folder'>): Record<'key' | 'tag' | 'name', string> {
  const { repo, version } = instance;
  const key = identityDigest('version', layout, repo, version, source.digest, folder);
  const tag = environmentTag(instance, `tree-${key}`);
  return { key, tag, name: `${environmentRepository}:${tag}` };
}

/** The tree in the image of a version that was made before; undefined when there is none. */
export async function treeAtHand(
  { trees, source, ...request }: Omit<VersionRequest, 'recipe' | 'storage'>,
  { connection, work: { signal } }: Pick<BuildPlace, 'connection' | 'work'>,
): Promise<TreeAtHand | undefined> {
  const { folder, instance } = request;
  const { base } = source;
  const found = await inspectImage(connection, versionName({ source, ...request }).name);
  if (found === undefined || base === undefined) return undefined;
  return {
    ...{ image: found.id, base, folder },
    async put(container) {
      const { base: python, files } = await versionRecord(container);
      container.superviseWith(python);
      const doing = `put R of ${instance.id} beside ${source.name}`;
      await layTree(container, { tree: trees.base, present: files, folder, python, doing, signal });
      // Set-up programs ask git for files and versions.
      await container.put(repositoryArchive(trees.base, folder.slice(1), foreignUser, signal));
      return python;
    },
  };
}

async function make(
  request: VersionRequest,
  named: { readonly tag: string; readonly key: string },
  place: BuildPlace,
): Promise<void> {
  const { instance, trees, recipe, source, folder } = request;
  const { connection, work } = place;
  const { id, repo, version } = instance;
  const asked = { image: source.image, purpose: purposeOf(instance) };
  await inContainer(place, { ...asked, runs: 'foreign' }, async (container) => {
    const inherited = (await inspectImage(connection, source.image))?.path ?? '';
    const base = await basePython(container, recipe, inherited);
    container.superviseWith(base);
    const doing = `put R of ${id} into ${source.name}`;
    await container.run(['mkdir', '-p', folder], doing);
    await container.run(['chown', '-hR', `${foreignUser}:${foreignUser}`, folder], doing);
    work.reporter.progress(`${id}: compiling R`);
    const compiled = compiledOf(request, base, place);
    const { signal } = work;
    const laying = { tree: trees.base, present: new Map(), folder, python: base };
    await layTree(container, { ...laying, compiled, doing, signal });
    const interpreter = await needInterpreter(container, source.name, [builtPython], true);
    const { executable: python } = interpreter;
    const user = await closeImage(container, { folder, python, base, inherited });
    const entries = [...(await treeEntries(trees.base, signal))];
    const files = entries.map(([path, entry]) => [path, entry.mode, entry.id]);
    const record = Buffer.from(asciiJson({ base, interpreter, user, files }));
    const path = versionRecordPath.slice(1);
    await container.put(await tarOf([{ path, content: record, mode: 0o600 }]));
    await container.commit(environmentRepository, named.tag, [
      ...labelLines(imageLabels('environment', { instance: '', repo, version, recipe: named.key })),
      ...plainStart,
    ]);
  });
}

/** Reads the record in a container that was started from the image of a version. */
export async function versionRecord(container: BuildContainer): Promise<VersionRecord> {
  const content = await container.take(versionRecordPath, recordLimit);
  const { files, ...rest } = recorded.parse(JSON.parse(content.toString('utf8')));
  return { ...rest, files: filesOf(files) };
}

/** Where compiled files of the version are kept on this machine. */
export function compiledOf(
  { instance, storage, folder, source }: VersionRequest,
  base: string,
  { log }: BuildPlace,
): CompiledFiles {
  const identity = [folder, instance.repo, instance.version ?? '', source.base ?? '', base];
  return new CompiledFiles(storage, identity, (line) => log.line(line));
}

/** The interpreter of the image that the environment was built on. */
async function basePython(
  container: BuildContainer,
  { python }: Recipe,
  path: string,
): Promise<string> {
  const own = posix.dirname(builtPython);
  const PATH = path
    .split(':')
    .filter((folder) => folder !== own)
    .join(':');
  const script = `for name in python${python} python python3; do command -v "$name" && exit; done; exit 1`;
  const found = await container.run(['sh', '-c', script], 'find the Python of the base image', {
    env: { PATH },
  });
  return found.trim();
}
