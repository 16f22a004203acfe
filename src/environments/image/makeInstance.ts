import { posix } from 'node:path';
import {
  builtPython,
  environmentFolder,
  installCommand,
  inContainer,
  type BuildContainer,
  type BuildPlace,
  foreignUser,
  inspectImage,
  purposeOf,
} from '../../engine/docker';
import type { FilledImage } from '../../engine/environmentMaker';
import { repositoryArchive } from '../../engine/sandbox';
import { treeEntries } from '../../repository/treeFiles';
import { needInterpreter } from './askInterpreter';
import { compileFolder } from './compileFolder';
import type { environmentImage } from './environmentImage';
import { closeImage, handOver } from './fillImage';
import { CompiledFiles } from './further/compiledFiles';
import { openCompilerCache } from './further/compilerCache';
import { cacheImage, cachedImageName, cachedImageId } from './further/cachedImage';
import { declaredRequirements } from './further/declaredRequirements';
import { keepInstance, type InstanceParts } from './imageNames';
import { syncTree } from './syncTree';
import { installedMetadata } from './packageMetadata';
import type { ResolvedRequirements } from './resolvedRequirements';
import { interpretersOf } from './systemImage';

/** An instance whose image is made on an environment that is built here. */
export interface BuiltParts extends InstanceParts {
  readonly storage: string;
  /** A digest that all instances share whose environments may be the same. */
  readonly family: string;
}

/** A container that becomes the image of an instance. */
export interface Filling {
  readonly container: BuildContainer;
  readonly parts: BuiltParts;
  readonly place: BuildPlace;
  /** Interpreter of the base image, which no foreign code could write to. */
  readonly base: string;
  /** Id of the base image. */
  readonly baseImage: string;
  /** Packages of the environment, as lines of a requirement file. */
  readonly packages: readonly string[];
  /** PATH of the image that the container was started from. */
  readonly path: string;
}

/** What installing R has done. */
export interface Installation {
  /** The command that installs R again; empty where R is not installed. */
  readonly words: readonly string[];
  /** Files of the environment that it wrote, and its scripts. */
  readonly added: readonly string[];
}

/**
 * Makes the image of an instance on its environment, and keeps what further instances of its version
 * are made from.
 *
 * @throws HumanError when R cannot be installed; Cancelled
 */
export async function makeInstance(
  parts: BuiltParts,
  environment: Awaited<ReturnType<typeof environmentImage>>,
  place: BuildPlace,
): Promise<void> {
  const { instance, trees, plan, folder } = parts;
  const { id: image, name, base: baseImage, resolved, key: digest } = environment;
  const { connection, work } = place;
  work.reporter.progress(`${instance.id}: adding R to ${name}`);
  const asked = { image, purpose: purposeOf(instance), runs: 'foreign' } as const;
  await inContainer(place, asked, async (container) => {
    const path = (await inspectImage(connection, image))?.path ?? '';
    const base = await basePython(container, plan.python, path);
    container.superviseWith(base);
    const doing = `copy R of ${instance.id} into ${name}`;
    const own = `${foreignUser}:${foreignUser}`;
    await container.run(['mkdir', '-p', folder], doing);
    await container.run(['chown', '-hR', own, folder], doing);
    work.reporter.progress(`${instance.id}: compiling R`);
    const laying = { tree: trees.base, present: new Map(), folder, python: base };
    const compiled = compiledOf(parts, { base, baseImage }, place);
    await syncTree(container, { ...laying, compiled, doing, signal: work.signal });
    const packages = resolved.lock;
    const filling = { container, parts, place, base, baseImage, packages, path };
    const installation = await installR(filling);
    const filled = await closeInstance(filling, installation);
    await cacheForReuse(filling, filled, installation, resolved);
    const source = { from: 'built', digest, moved: resolved.moved } as const;
    await keepInstance(container, parts, source, filled, place);
  });
}

/** Where compiled files of the version are kept on this machine. */
export function compiledOf(
  { instance, storage, folder }: BuiltParts,
  { base, baseImage }: Pick<Filling, 'base' | 'baseImage'>,
  { log }: BuildPlace,
): CompiledFiles {
  const identity = [folder, instance.repo, instance.version, baseImage, base];
  return new CompiledFiles(storage, identity, (line) => log.line(line));
}

/** The interpreter of the image that the environment was built on. */
async function basePython(
  container: BuildContainer,
  version: string,
  path: string,
): Promise<string> {
  const own = posix.dirname(builtPython);
  const folders = path.split(':').filter((folder) => folder !== own);
  const script = 'for name in "$@"; do command -v "$name" && exit; done; exit 1';
  const found = await container.run(
    ['sh', '-c', script, 'sh', ...interpretersOf(version)],
    "find the base image's Python",
    { env: { PATH: folders.join(':') } },
  );
  return found.trim();
}

/**
 * Does what the recipe says before the installation, installs R where the recipe says so, and
 * compiles what that made.
 */
export async function installR(filling: Filling): Promise<Installation> {
  const { container, parts, place, base, path } = filling;
  const { instance, trees, plan, folder } = parts;
  const { install, preInstall, version } = plan.installation;
  const installs = install === 'editable';
  if (!installs && preInstall.length === 0) return { words: [], added: [] };
  place.work.reporter.progress(`${instance.id}: installing R`);
  const env = {
    PATH: `${posix.dirname(builtPython)}:${path}`,
    HOME: '/tmp',
    SETUPTOOLS_SCM_PRETEND_VERSION: version,
  };
  // Set-up programs ask git for files and versions.
  const { signal } = place.work;
  await container.put(repositoryArchive(trees.base, folder.slice(1), foreignUser, signal));
  const command = { env, cwd: folder, isForeign: true };
  for (const step of preInstall) {
    await container.run(step, `prepare the installation of ${instance.id}`, command);
  }
  const made = installs ? await installed(filling, env) : { words: [], added: [] };
  await compileFolder(container, base, folder, { env, isForeign: true });
  return made;
}

/** Installs R in editable mode, with what was compiled for other instances of its version. */
async function installed(
  { container, parts, place, base, baseImage, packages }: Filling,
  env: Readonly<Record<string, string>>,
): Promise<Installation> {
  const { instance, trees, storage, folder } = parts;
  const { work, log } = place;
  const own = `${foreignUser}:${foreignUser}`;
  const cache = await openCompilerCache(container, {
    ...{ storage, folder, packages, path: env['PATH'] ?? '', signal: work.signal },
    tree: trees.base,
    identity: [instance.repo, instance.version, baseImage, base],
    say: (line) => log.line(line),
  });
  await container.run(['sh', '-c', lend, 'sh', own], 'allow R to be installed');
  const command = { env: { ...env, ...cache?.env }, cwd: folder, isForeign: true };
  await container.run(installCommand(builtPython), `install R of ${instance.id}`, command);
  const taking = ['sh', '-c', takeBack, 'sh', own];
  const written = await container.run(taking, "restore the environment's owner");
  await cache?.keep();
  const { HOME, PATH, ...kept } = { ...env, ...cache?.env };
  void HOME;
  // A sandbox puts the environment on the path of programs on its own.
  const variables = { ...kept, ...(cache === undefined ? {} : { PATH }) };
  const words = Object.entries(variables).map(([name, value]) => `${name}=${value}`);
  // The label of the image has the words with a space between them.
  const usable = words.filter((word) => !/\s/.test(word));
  return {
    words: ['env', ...usable, ...installCommand(builtPython)],
    added: written.split('\n').filter((line) => line !== ''),
  };
}

/**
 * Closes a container with R to the user of tests, and hands the tree over.
 *
 * @param within the only folder, apart from that of R, that foreign code could write to; absent for
 * every one
 */
export async function closeInstance(
  { container, parts, base, path }: Filling,
  { words: install }: Installation,
  within?: string,
): Promise<FilledImage> {
  const { folder, plan } = parts;
  const closing = { folder, python: builtPython, base, inherited: path, within };
  const user = await closeImage(container, closing);
  // Before foreign code runs, which could put links in place of folders that root walks.
  await handOver(container, folder, user);
  const after = await needInterpreter(container, plan.title, [builtPython], true);
  return { python: builtPython, after, user, install };
}

/** Keeps a container with R as an image for further instances, unless there is one. */
export async function cacheForReuse(
  { container, parts, place, base, baseImage }: Filling,
  { after, user, install }: FilledImage,
  { added }: Installation,
  { lock, packages }: ResolvedRequirements,
): Promise<void> {
  const { trees, plan, family, storage } = parts;
  const { signal } = place.work;
  const named = await cachedImageName(parts, family, signal);
  if ((await cachedImageId(named, storage, place)) !== undefined) return;
  const { name, extras } = plan.packages;
  const stated = await declaredRequirements(container, { python: builtPython, name, extras });
  const record = {
    ...{ base, baseImage, user, lock, packages, stated: stated ?? null },
    ...{ install: [...install], added: [...added] },
    interpreter: { ...after, executable: builtPython, packages: [...after.packages] },
    metadata: await installedMetadata(container, base, lock),
    files: await treeEntries(trees.base, signal),
  };
  await cacheImage(container, record, named, parts, place);
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
