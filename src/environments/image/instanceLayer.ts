import { posix } from 'node:path';
import { z } from 'zod';
import type { Instance } from '../../domain/instance';
import { treeEntries } from '../../repository/treeFiles';
import type { Trees } from '../../repository/trees';
import {
  environmentFolder,
  installCommand,
  pythonsOf,
  defaultFolder,
} from '../../engine/containerImage';
import type { Recipe } from '../recipes';
import {
  inContainer,
  labelLines,
  type BuildContainer,
  type BuildPlace,
  type ImageCommands,
} from '../../engine/docker/build/buildContainer';
import { compileFolder } from './compileFolder';
import { openCompilerCache } from './further/compilerCache';
import { foreignUser } from '../../engine/docker/build/confinement';
import { layTree } from './layTree';
import { projectNeeds } from '../projectNeeds';
import { projectVersion } from '../projectVersion';
import { plainStart } from './environmentImage';
import { installedName, keepInstalled, presentInstalled } from './further/installedImage';
import { statedRequirements } from './further/statedRequirements';
import { installedMetadata } from './packageMetadata';
import { inspectImage, type PresentImage } from '../../engine/docker/images/inspectImage';
import { identityDigest, noteUse } from './imageRecords';
import { clearImageLeftovers } from './imageLeftovers';
import { closeImage } from './closeImage';
import { imageLabels, labels, purposeOf } from '../../engine/docker/labels';
import { needInterpreter, type Interpreter } from './askInterpreter';
import type { MovedDay } from '../leastDay';
import type { ResolvedRequirements } from './resolvedRequirements';
import { repositoryArchive, treeArchive } from '../../engine/sandbox/treeArchive';
import { compiledOf, versionImage, versionRecord, versionRecordPath } from './versionImage';
import { packagesOfRunners } from '../../engine/runners/runners';

/** The image that the sandboxes of an instance are made from. */
export interface InstanceImage {
  readonly id: string;
  /** Name for people. */
  readonly name: string;
  /** Origin of its environment. */
  readonly from: 'row' | 'prebuilt' | 'built';
  /** Folder of the repository in it. */
  readonly folder: string;
  /** Interpreter with the dependencies of the repository. */
  readonly python: string;
  /** Python version, such as `3.9.2`. */
  readonly pythonVersion: string;
  /** Versions of the packages that runners need. */
  readonly packages: Readonly<Record<string, string>>;
  /** Number of the user (and of the group) of the tests; 0 where the image allows nothing else. */
  readonly user: number;
  /**
   * The command that installs the repository again without a network. It runs as root in the
   * folder.
   */
  readonly install?: readonly string[];
  /** Absent where its packages are as of the instance's day, or of no day. */
  readonly moved?: MovedDay | undefined;
  /** Digest of everything that tests could see, and of nothing else. */
  readonly digest: string;
}

/** Repository part of the names of instance images. */
export const instanceRepository = 'swt-bench/instance';

/** Labels that describe an image, in addition to those of everything that is made here. */
const ownLabels = {
  from: 'swt-bench.from',
  folder: 'swt-bench.folder',
  python: 'swt-bench.python',
  pythonVersion: 'swt-bench.python-version',
  packages: 'swt-bench.packages',
  user: 'swt-bench.user',
  install: 'swt-bench.install',
  wantedDay: 'swt-bench.wanted-day',
  takenDay: 'swt-bench.taken-day',
  digest: 'swt-bench.digest',
} as const;

const described = z.object({
  [labels.made]: z.literal('1'),
  [labels.recipe]: z.string(),
  [ownLabels.from]: z.enum(['row', 'prebuilt', 'built']),
  [ownLabels.folder]: z.string(),
  [ownLabels.python]: z.string(),
  [ownLabels.pythonVersion]: z.string(),
  [ownLabels.packages]: z.string(),
  [ownLabels.user]: z.coerce.number().int(),
  [ownLabels.install]: z.string(),
  [ownLabels.wantedDay]: z.string().default(''),
  [ownLabels.takenDay]: z.string().default(''),
  [ownLabels.digest]: z.string(),
});

/** The name of an instance image, and the parts that it must have been made from to count. */
interface InstanceName {
  readonly name: string;
  readonly tag: string;
  readonly key: string;
}

/**
 * The name of the image of an instance on a certain environment.
 *
 * @param source everything that distinguishes the environment, as far as it is known beforehand
 */
export function instanceName(
  instance: Instance,
  trees: Pick<Trees, 'digest'>,
  recipe: Recipe,
  source: readonly unknown[],
): InstanceName {
  const { id, version } = instance;
  const key = identityDigest(layout, id, version, trees.digest.base, recipe, source);
  const tag = `${id.toLowerCase().slice(0, 100)}-${key}`;
  return { name: `${instanceRepository}:${tag}`, tag, key };
}

/** Version of the way instance images are made; raised with each change. */
const layout = 3;

/**
 * An instance image that was made before. Undefined when it is missing or does not match its name.
 */
export async function presentInstance(
  { name, key }: InstanceName,
  place: Pick<BuildPlace, 'connection'>,
  storage: string,
): Promise<InstanceImage | undefined> {
  const found = await inspectImage(place.connection, name);
  if (found === undefined) return undefined;
  const image = describedImage(found, name, key);
  if (image !== undefined) {
    await noteUse(storage, { name, id: found.id, kind: 'instance', bytes: found.bytes });
  }
  return image;
}

function describedImage(found: PresentImage, name: string, key: string): InstanceImage | undefined {
  const read = described.safeParse(found.labels);
  if (!read.success || read.data[labels.recipe] !== key) return undefined;
  const said = read.data;
  const install = said[ownLabels.install];
  const moved = { wanted: said[ownLabels.wantedDay], taken: said[ownLabels.takenDay] };
  return {
    id: found.id,
    name,
    from: said[ownLabels.from],
    folder: said[ownLabels.folder],
    python: said[ownLabels.python],
    pythonVersion: said[ownLabels.pythonVersion],
    packages: packagesOfRunners(said[ownLabels.packages].split(' ')),
    user: said[ownLabels.user],
    ...(install === '' ? {} : { install: install.split(' ') }),
    ...(moved.taken === '' ? {} : { moved }),
    digest: said[ownLabels.digest],
  };
}

export interface InstanceLayerRequest {
  readonly instance: Instance;
  readonly trees: Trees;
  readonly recipe: Recipe;
  readonly named: InstanceName;
  /** The environment. */
  readonly source: {
    readonly image: string;
    readonly name: string;
    /** Digest of the environment; equal for equal environments. */
    readonly digest: string;
    readonly from: InstanceImage['from'];
    /** Id of the image that it was built on. */
    readonly base?: string;
    /** What it has, where that is known. */
    readonly resolved?: ResolvedRequirements | undefined;
    readonly moved?: MovedDay | undefined;
  };
  /**
   * The environment that turns out to be right, where `source` is only likely. The image is kept
   * once both have the same digest.
   */
  readonly certain?: Promise<InstanceLayerRequest['source']>;
  readonly storage: string;
  /** Digest that all instances share whose environments may be the same; absent where none do. */
  readonly family?: string;
}

/** The environment that was likely is not the one that the instance needs. */
export class OtherEnvironment extends Error {
  override readonly name = 'OtherEnvironment';
}

/**
 * Makes the image of an instance: its environment with R, installed, compiled, and owned by the
 * user that tests run as.
 *
 * @throws HumanError when R cannot be installed or the image has no usable Python; OtherEnvironment,
 * what `certain` throws, Cancelled
 */
export async function makeInstanceLayer(
  request: InstanceLayerRequest,
  place: BuildPlace,
): Promise<InstanceImage> {
  const { instance, named, source, storage } = request;
  const { connection, work } = place;
  const folder = instance.environment?.folder ?? defaultFolder;
  work.reporter.progress(`${instance.id}: putting R into ${source.name}`);

  const image =
    source.from === 'built' ? await versionImage({ ...request, folder }, place) : source.image;
  const asked = { image, purpose: purposeOf(instance), runs: 'foreign' } as const;
  await inContainer(place, asked, async (container) => {
    const inherited = (await inspectImage(connection, image))?.path ?? '';
    const filling = { container, request, place, folder, inherited };
    const filled = await (source.from === 'built' ? layOnVersion(filling) : fillFound(filling));
    const certain = (await request.certain) ?? source;
    if (certain.digest !== source.digest) throw new OtherEnvironment(certain.name);
    if (certain.resolved !== undefined) await filled.keep?.(certain.resolved);
    await keepInstance(container, { ...request, source: certain, folder }, filled, place);
  });
  const made = await presentInstance(named, place, storage);
  if (made === undefined) throw new Error(`${named.name} disappeared as soon as it was made`);
  return made;
}

/** Makes the image of an instance of a container that is finished. */
export async function keepInstance(
  container: BuildContainer,
  request: Omit<InstanceLayerRequest, 'certain' | 'storage'> & { readonly folder: string },
  { python, after, user, install }: Filled,
  { work }: BuildPlace,
): Promise<void> {
  const { instance, named, source, trees, recipe, folder } = request;
  const digest = identityDigest(
    ...[layout, source.digest, trees.digest.base, folder, user],
    ...[recipe.preInstall, install, after.version, after.packages],
  );
  work.reporter.progress(`${instance.id}: keeping the image`);
  await container.commit(instanceRepository, named.tag, [
    ...labelLines({
      ...imageLabels('instance', { ...purposeOf(instance), recipe: named.key }),
      [ownLabels.from]: source.from,
      [ownLabels.folder]: folder,
      [ownLabels.python]: python,
      [ownLabels.pythonVersion]: after.version,
      [ownLabels.packages]: Object.entries(packagesOfRunners(after.packages))
        .map((each) => each.join('=='))
        .join(' '),
      [ownLabels.user]: String(user),
      [ownLabels.install]: install.join(' '),
      [ownLabels.wantedDay]: source.moved?.wanted ?? '',
      [ownLabels.takenDay]: source.moved?.taken ?? '',
      [ownLabels.digest]: digest,
    }),
    ...plainStart,
  ]);
}

/** A container that becomes the image of an instance. */
export interface Filling {
  readonly container: BuildContainer;
  readonly request: InstanceLayerRequest;
  readonly place: BuildPlace;
  readonly folder: string;
  /** PATH of the image that it was started from. */
  readonly inherited: string;
}

/** What the container is once R is in it and its surroundings are closed. */
export interface Filled {
  /** Interpreter with the dependencies of the repository. */
  readonly python: string;
  /** What that interpreter reports at the end. */
  readonly after: Interpreter;
  readonly user: number;
  /** The command that installs R again; empty where R is not installed. */
  readonly install: readonly string[];
  /**
   * Keeps the container as an image that further instances are made from. Absent where none is, or
   * where there is one.
   *
   * @param resolved what the environment has
   */
  readonly keep?: ((resolved: ResolvedRequirements) => Promise<void>) | undefined;
}

/** Puts R into an image that somebody else made. */
async function fillFound(filling: Filling): Promise<Filled> {
  const { container, request, place, folder, inherited } = filling;
  const { instance, source } = request;
  const { executable: python } = await needInterpreter(
    container,
    source.name,
    pythonsOf(folder),
    false,
  );
  await putTree(container, request, folder, python);
  const env = { PATH: `${posix.dirname(python)}:${inherited}`, HOME: '/tmp' };
  place.work.reporter.progress(`${instance.id}: compiling R`);
  await compileFolder(container, python, folder, { env });
  const isConda = /\/envs\/testbed\//.test(python);
  const install = isConda ? installWords(request, python) : [];
  return { ...(await finished(filling, python, undefined)), python, install };
}

/**
 * Turns the tree of the version's image into R, and installs R where the recipe says so. Nothing
 * foreign runs otherwise, so the surroundings stay as closed as they are in that image.
 */
async function layOnVersion(filling: Filling): Promise<Filled> {
  const { container, request, place, folder } = filling;
  const { instance, trees, recipe, source } = request;
  const version = await versionRecord(container);
  const { base, interpreter } = version;
  container.superviseWith(base);
  await layTree(container, {
    ...{ tree: trees.base, folder, python: base, present: version.files },
    compiled: compiledOf({ ...request, folder }, base, place),
    obsolete: [versionRecordPath],
    doing: `put R of ${instance.id} into ${source.name}`,
    signal: place.work.signal,
  });
  const python = interpreter.executable;
  const installs = recipe.install === 'editable';
  if (!installs && recipe.preInstall.length === 0) {
    if (version.user !== foreignUser) await handOver(container, folder, version.user);
    return { python, after: interpreter, user: version.user, install: [] };
  }
  return installFilled(filling, { python, base, packages: interpreter.packages }, installs);
}

/** Installs R in a container with its tree and its environment, and closes the container. */
export async function installFilled(
  filling: Filling,
  tools: Tools,
  installs = true,
): Promise<Filled> {
  return closeInstalled(filling, tools, await installR(filling, tools, installs));
}

/**
 * Closes a container in which R is installed.
 *
 * @param within the only folder, besides that of R, that foreign code could write to; absent for
 * every one
 */
export async function closeInstalled(
  filling: Filling,
  { python, base }: Pick<Tools, 'python' | 'base'>,
  { words: install, added }: Installation,
  within?: string,
): Promise<Filled> {
  const filled = { ...(await finished(filling, python, base, within)), python, install };
  return { ...filled, keep: await keeping(filling, filled, { base, added }) };
}

/** How an installed container is kept for further instances; undefined where it is not. */
async function keeping(
  { container, request, place, folder }: Filling,
  { python, after, user, install }: Filled,
  { base, added }: { readonly base: string; readonly added: readonly string[] },
): Promise<Filled['keep']> {
  const { instance, trees, recipe, source, family, storage } = request;
  const { signal } = place.work;
  // A tree is laid as the user that runs foreign code.
  if (family === undefined || source.base === undefined || user !== foreignUser) return undefined;
  const named = await installedName({ instance, trees, recipe, folder, family, signal });
  if (named === undefined) return undefined;
  if ((await presentInstalled(named, storage, place)) !== undefined) return undefined;
  const baseImage = source.base;
  return async ({ lock, packages }) => {
    const { name } = await projectNeeds(trees.base, instance.repo, recipe);
    const stated = await statedRequirements(container, { python, name, extras: recipe.extras });
    const metadata = await installedMetadata(container, base, lock);
    const files = await treeEntries(trees.base, signal);
    await keepInstalled(
      container,
      {
        ...{ instance, base, baseImage, lock, packages, files, interpreter: after, metadata },
        ...{ install: [...install], added: [...added], stated: stated ?? null },
      },
      { ...named, storage },
      place,
    );
  };
}

/** Closes the image, hands the tree over to the user of tests, and asks the interpreter. */
async function finished(
  { container, request, folder, inherited }: Filling,
  python: string,
  base: string | undefined,
  within?: string,
): Promise<Pick<Filled, 'after' | 'user'>> {
  const user = await closeImage(container, { folder, python, base, inherited, within });
  // Before foreign code runs, which could put links in the places of folders that root walks.
  await handOver(container, folder, user);
  const after = await needInterpreter(container, request.source.name, [python], base !== undefined);
  return { after, user };
}

async function handOver(container: BuildContainer, folder: string, user: number): Promise<void> {
  const doing = 'hand the files over to the user of tests';
  const own = String(user);
  // To change an owner, even to the same one, makes a second copy of a file of a lower layer.
  const others = ['(', '!', '-user', own, '-o', '!', '-group', own, ')'];
  const change = ['-exec', 'chown', '-h', `${own}:${own}`, '{}', '+'];
  await container.run(['find', folder, ...others, ...change], doing);
}

/** The command that installs R again without a network. */
function installWords(
  { instance, recipe }: Pick<InstanceLayerRequest, 'instance' | 'recipe'>,
  python: string,
): readonly string[] {
  const version = `SETUPTOOLS_SCM_PRETEND_VERSION=${projectVersion(instance, recipe)}`;
  return ['env', version, ...installCommand(python)];
}

interface Tools {
  /** Interpreter with the dependencies of the repository. */
  readonly python: string;
  /** Interpreter of the base image, which no foreign code could write to. */
  readonly base: string;
  /** Installed packages, as `name==version`. */
  readonly packages: readonly string[];
}

/** What installing R has done. */
export interface Installation {
  /** The command that installs R again; empty where R is not installed. */
  readonly words: readonly string[];
  /** Files of the environment that it wrote, and its scripts. */
  readonly added: readonly string[];
}

/** Does what the recipe says before the installation, installs R, and compiles what that made. */
export async function installR(
  filling: Filling,
  tools: Tools,
  installs: boolean,
): Promise<Installation> {
  const { container, request, place, folder, inherited } = filling;
  const { instance, recipe, trees } = request;
  const { work } = place;
  work.reporter.progress(`${instance.id}: installing R`);
  const env = {
    PATH: `${posix.dirname(tools.python)}:${inherited}`,
    HOME: '/tmp',
    SETUPTOOLS_SCM_PRETEND_VERSION: projectVersion(instance, recipe),
  };
  const command = { env, cwd: folder, isForeign: true };
  // Set-up programs ask git for files and versions.
  const repository = repositoryArchive(trees.base, folder.slice(1), foreignUser, work.signal);
  await container.put(repository);
  for (const step of recipe.preInstall) {
    await container.run(step, `prepare the installation of ${instance.id}`, command);
  }
  const made = installs ? await installed(filling, { ...tools, env }) : { words: [], added: [] };
  await compileFolder(container, tools.base, folder, { env, isForeign: true });
  return made;
}

/** Installs R in editable mode, with what was compiled for other instances of its version. */
async function installed(
  { container, request, place, folder }: Filling,
  tools: Tools & { readonly env: Readonly<Record<string, string>> },
): Promise<Installation> {
  const { instance, trees, storage, source } = request;
  const { work, log } = place;
  const { python, base, packages, env } = tools;
  const own = `${foreignUser}:${foreignUser}`;
  const cache = await openCompilerCache(container, {
    ...{ storage, folder, packages, path: env['PATH'] ?? '', signal: work.signal },
    tree: trees.base,
    identity: [instance.repo, instance.version, source.base ?? '', base],
    say: (line) => log.line(line),
  });
  await container.run(['sh', '-c', lend, 'sh', own], 'let R be installed');
  await container.run(installCommand(python), `install R of ${instance.id}`, {
    ...{ env: { ...env, ...cache?.env }, cwd: folder, isForeign: true },
  });
  const written = await container.run(
    ['sh', '-c', takeBack, 'sh', own],
    'take the environment back',
  );
  await cache?.keep();
  const { HOME, PATH, ...kept } = { ...env, ...cache?.env };
  void HOME;
  // A sandbox puts the environment on the path of programs by itself.
  const variables = { ...kept, ...(cache === undefined ? {} : { PATH }) };
  const words = Object.entries(variables).map(([name, value]) => `${name}=${value}`);
  // The label of the image has the words with a space between them.
  const usable = words.filter((word) => !/\s/.test(word));
  return {
    words: ['env', ...usable, ...installCommand(python)],
    added: written.split('\n').filter((line) => line !== ''),
  };
}

/**
 * Makes the folder of an image equal to R. Our repository of one commit replaces one that may
 * contain later commits. Files that R does not have are removed, except those that its build needs.
 */
export async function putTree(
  container: ImageCommands,
  {
    trees,
    source,
    instance,
  }: Pick<InstanceLayerRequest, 'trees' | 'instance'> & {
    readonly source: Pick<InstanceLayerRequest['source'], 'from' | 'name'>;
  },
  folder: string,
  python: string,
): Promise<void> {
  const doing = `put R of ${instance.id} into ${source.name}`;
  await container.run(['rm', '-rf', `${folder}/.git`], doing);
  await container.run(['mkdir', '-p', folder], doing);
  await container.put(await treeArchive(trees.base, folder.slice(1)));
  await container.run(['chown', '0:0', folder, `${folder}/.git`], doing);
  const paths = (await treeEntries(trees.base)).keys();
  await clearImageLeftovers(container, { paths, folder, python, doing });
}

/**
 * A shell script that gives a user the folders that an installation writes to; they are taken back
 * afterwards. Only folders change owners: existing files stay as they are, and need no second copy
 * on the disk. `$1` is the owner.
 */
const lend = `
for place in ${environmentFolder} ${environmentFolder}/bin ${environmentFolder}/lib ${environmentFolder}/lib/python*; do
  [ -d "$place" ] && [ ! -L "$place" ] || continue
  chown -h "$1" "$place"
done
for place in ${environmentFolder}/lib/python*/site-packages ${environmentFolder}/lib/python*/site-packages/__pycache__; do
  [ -d "$place" ] && [ ! -L "$place" ] && chown -h "$1" "$place"
done
true
`;

/** Prints the files that it takes back. */
const takeBack = `
find ${environmentFolder} -user "\${1%:*}" ! -type d -print
find ${environmentFolder} -user "\${1%:*}" -exec chown -h 0:0 {} +
`;
