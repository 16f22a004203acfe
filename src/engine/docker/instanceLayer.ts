import { posix } from 'node:path';
import { z } from 'zod';
import type { Instance } from '../../domain/instance';
import { treeEntries } from '../../repository/treeFiles';
import type { Trees } from '../../repository/trees';
import { installCommand, pythonsOf, usualFolder } from '../containerImage';
import type { Recipe } from '../environments/recipes';
import { tarOf } from './archive';
import { inContainer, labelLines, type BuildContainer, type BuildPlace } from './building';
import { plainStart, projectVersion } from './environmentImage';
import { imageAt, type PresentImage } from './imageAt';
import { digestOf, noteUse } from './imageRecords';
import type { InstanceImage } from './images';
import { imageLabels, labels } from './labels';
import { needInterpreter, testUser, type Interpreter } from './probe';
import { cache } from './resolve';
import { treeArchive } from './treeArchive';

/** Repository of the names of instance images. */
export const instanceRepository = 'swt-bench/instance';

/** What an image says of itself, by labels beside those of everything that is made here. */
const ownLabels = {
  from: 'swt-bench.from',
  folder: 'swt-bench.folder',
  python: 'swt-bench.python',
  pythonVersion: 'swt-bench.python-version',
  pytest: 'swt-bench.pytest',
  tox: 'swt-bench.tox',
  user: 'swt-bench.user',
  install: 'swt-bench.install',
  digest: 'swt-bench.digest',
} as const;

const described = z.object({
  [labels.made]: z.literal('1'),
  [labels.recipe]: z.string(),
  [ownLabels.from]: z.enum(['row', 'prebuilt', 'built']),
  [ownLabels.folder]: z.string(),
  [ownLabels.python]: z.string(),
  [ownLabels.pythonVersion]: z.string(),
  [ownLabels.pytest]: z.string(),
  [ownLabels.tox]: z.string(),
  [ownLabels.user]: z.coerce.number().int(),
  [ownLabels.install]: z.string(),
  [ownLabels.digest]: z.string(),
});

/** What an instance image is called, and what it has to be made from to count. */
export interface InstanceName {
  readonly name: string;
  readonly tag: string;
  readonly key: string;
}

/**
 * The name of the image of an instance on a certain environment.
 * @param source everything that tells the environment apart, as far as it is known beforehand
 */
export function instanceName(
  instance: Instance,
  trees: Pick<Trees, 'digest'>,
  recipe: Recipe,
  source: readonly unknown[],
): InstanceName {
  const { id, version } = instance;
  const key = digestOf(layout, id, version, trees.digest.base, recipe, source);
  const tag = `${id.toLowerCase().slice(0, 100)}-${key}`;
  return { name: `${instanceRepository}:${tag}`, tag, key };
}

/** Raised when instance images are made otherwise. */
const layout = 1;

/** An instance image that was made before; undefined when it is not there, or not what its name says. */
export async function presentInstance(
  { name, key }: InstanceName,
  place: Pick<BuildPlace, 'connection'>,
  storage: string,
): Promise<InstanceImage | undefined> {
  const found = await imageAt(place.connection, name);
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
  const pytest = said[ownLabels.pytest];
  const tox = said[ownLabels.tox];
  const install = said[ownLabels.install];
  return {
    id: found.id,
    name,
    from: said[ownLabels.from],
    folder: said[ownLabels.folder],
    python: said[ownLabels.python],
    pythonVersion: said[ownLabels.pythonVersion],
    ...(pytest === '' ? {} : { pytest }),
    ...(tox === '' ? {} : { tox }),
    user: said[ownLabels.user],
    ...(install === '' ? {} : { install: install.split(' ') }),
    digest: said[ownLabels.digest],
  };
}

export interface LayerRequest {
  readonly instance: Instance;
  readonly trees: Trees;
  readonly recipe: Recipe;
  readonly named: InstanceName;
  /** The environment. */
  readonly source: {
    readonly image: string;
    readonly name: string;
    /** Equal for equal environments. */
    readonly digest: string;
    readonly from: InstanceImage['from'];
  };
  readonly storage: string;
}

/**
 * Makes the image of an instance: its environment with R in it, installed, compiled, and owned by the
 * user that tests run as.
 *
 * @throws HumanError when R cannot be installed, the image has no Python that will do; Cancelled
 */
export async function makeInstance(
  request: LayerRequest,
  place: BuildPlace,
): Promise<InstanceImage> {
  const { instance, recipe, named, source, storage, trees } = request;
  const { connection, work } = place;
  const purpose = { instance: instance.id, repo: instance.repo, version: instance.version };
  const folder = instance.environment?.folder ?? usualFolder;
  work.reporter.progress(`${instance.id}: putting R into ${source.name}`);

  await inContainer(
    place,
    { image: source.image, purpose, hasNetwork: false, cache },
    async (container) => {
      const python = await needInterpreter(container, source.name, pythonsOf(folder));
      const inherited = (await imageAt(connection, source.image))?.path ?? '';
      const env = {
        PATH: `${posix.dirname(python.executable)}:${inherited}`,
        HOME: '/tmp',
        SETUPTOOLS_SCM_PRETEND_VERSION: projectVersion(instance, recipe),
      };
      await putTree(container, request, folder, python.executable);
      const isConda = /\/envs\/testbed\//.test(python.executable);
      const installs = source.from === 'built' ? recipe.install === 'editable' : isConda;
      const version = `SETUPTOOLS_SCM_PRETEND_VERSION=${env.SETUPTOOLS_SCM_PRETEND_VERSION}`;
      const install = installs ? ['env', version, ...installCommand(python.executable)] : [];
      if (source.from === 'built') {
        work.reporter.progress(`${instance.id}: installing R`);
        const doing = `install R of ${instance.id}`;
        for (const step of recipe.preInstall) {
          await container.run(step, `prepare the installation of ${instance.id}`, {
            env,
            cwd: folder,
          });
        }
        if (installs) await container.run(install, doing, { env, cwd: folder });
      }
      const user = await testUser(container, python.executable, folder);
      work.reporter.progress(`${instance.id}: compiling R`);
      await compile(container, python, folder, instance.repo, env);
      await container.run(
        ['chown', '-R', `${user}:${user}`, folder],
        'hand the files over to the user of tests',
      );
      await container.run(['sh', '-c', 'rm -rf /tmp/* /tmp/.[!.]*'], 'empty /tmp');
      const after = await needInterpreter(container, source.name, [python.executable]);
      const digest = digestOf(
        layout,
        source.digest,
        trees.digest.base,
        folder,
        user,
        recipe.preInstall,
        install,
        after.version,
        after.packages,
      );
      work.reporter.progress(`${instance.id}: keeping the image`);
      await container.commit(instanceRepository, named.tag, [
        ...labelLines({
          ...imageLabels('instance', { ...purpose, recipe: named.key }),
          [ownLabels.from]: source.from,
          [ownLabels.folder]: folder,
          [ownLabels.python]: python.executable,
          [ownLabels.pythonVersion]: after.version,
          [ownLabels.pytest]: after.pytest ?? '',
          [ownLabels.tox]: after.tox ?? '',
          [ownLabels.user]: String(user),
          [ownLabels.install]: install.join(' '),
          [ownLabels.digest]: digest,
        }),
        ...plainStart,
      ]);
    },
  );
  const made = await presentInstance(named, place, storage);
  if (made === undefined) throw new Error(`${named.name} is gone as soon as it was made`);
  return made;
}

/**
 * Makes the folder of an image equal to R: with our repository of one commit in the place of one that
 * may hold what came later, and without files that R does not have. What git ignores stays: the built
 * parts of an image that has R installed.
 */
async function putTree(
  container: BuildContainer,
  { trees, source, instance }: LayerRequest,
  folder: string,
  python: string,
): Promise<void> {
  const doing = `put R of ${instance.id} into ${source.name}`;
  const quiet = { HOME: '/tmp', GIT_CONFIG_NOSYSTEM: '1' };
  await container.run(['rm', '-rf', `${folder}/.git`], doing);
  await container.run(['mkdir', '-p', folder], doing);
  await container.put(await treeArchive(trees.base, folder.slice(1)));
  if (source.from === 'built') return;
  await container.run(['chown', '0:0', folder, `${folder}/.git`], doing);
  const built = ['*.egg-info', '*.egg-link', '*.so', '*.pyd', '_version.py'];
  const cleaned = await container.attempt(
    [...['git', 'clean', '-fdq'], ...built.flatMap((pattern) => ['-e', pattern])],
    { cwd: folder, env: quiet },
  );
  if (cleaned.code !== 0) await removeOthers(container, { trees, folder, python, doing });
}

/** Without git in the image: files of Python that R does not have are what could be run by mistake. */
async function removeOthers(
  container: BuildContainer,
  { trees, folder, python, doing }: { trees: Trees; folder: string; python: string; doing: string },
): Promise<void> {
  const paths = [...(await treeEntries(trees.base)).keys()];
  const list = { path: 'tmp/swt-bench-paths', content: Buffer.from(paths.join('\0')) };
  await container.put(await tarOf([list]));
  await container.run([python, '-c', removeUnlisted, folder, `/${list.path}`], doing);
}

const removeUnlisted = `
import os, sys
folder, listed = sys.argv[1:]
with open(listed, 'rb') as file:
    keep = set(file.read().split(b'\\0'))
root = os.fsencode(folder)
for place, folders, names in os.walk(root):
    for name in names:
        path = os.path.join(place, name)
        if name.endswith(b'.py') and name != b'_version.py' and os.path.relpath(path, root) not in keep:
            os.remove(path)
`;

/**
 * Compiles R, with what was compiled before for another instance of the repository: a compiled file counts
 * for a source of the same time and size, and these times are made from contents.
 */
async function compile(
  container: BuildContainer,
  python: Interpreter,
  folder: string,
  repo: string,
  env: Readonly<Record<string, string>>,
): Promise<void> {
  const kept = `${cache.folder}/compiled/${digestOf(repo, python.version, folder)}.tar`;
  // Files that are no Python of this version, such as test data, are not compiled: no error.
  await container.attempt([python.executable, '-c', compileTree, folder, kept], { env });
}

const compileTree = `
import compileall, os, sys, tarfile
folder, kept = sys.argv[1:]
os.chdir(folder)
def compiled():
    for place, folders, names in os.walk('.'):
        if os.path.basename(place) == '__pycache__':
            for name in names:
                if name.endswith('.pyc'):
                    yield place, name
try:
    with tarfile.open(kept) as archive:
        for member in archive:
            place = os.path.dirname(os.path.dirname(member.name))
            source = os.path.join(place, os.path.basename(member.name).split('.')[0] + '.py')
            if member.isfile() and not os.path.isabs(member.name) and '..' not in member.name.split('/') and os.path.isfile(source):
                archive.extract(member, '.')
except (OSError, tarfile.TarError):
    pass
compileall.compile_dir(folder, quiet=2, maxlevels=40) if sys.version_info < (3, 9) else compileall.compile_dir(folder, quiet=2)
try:
    os.makedirs(os.path.dirname(kept), exist_ok=True)
    beside = '%s.%d' % (kept, os.stat(folder).st_ino)
    with tarfile.open(beside, 'w') as archive:
        for place, name in compiled():
            archive.add(os.path.normpath(os.path.join(place, name)))
    os.replace(beside, kept)
except OSError:
    pass
`;
