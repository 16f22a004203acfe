import { posix } from 'node:path';
import { installCommand, pythonsOf } from '../../engine/docker';
import type { FilledImage, FillRequest, ImageCommands } from '../../engine/environmentMaker';
import { treeArchive } from '../../engine/sandbox';
import { treeEntries } from '../../repository/treeFiles';
import { projectVersion, recipeOf } from '../recipes';
import { needInterpreter, testUser } from './askInterpreter';
import { compileFolder } from './compileFolder';
import { differingFiles } from './differingFiles';
import { clearImageLeftovers, closeAround } from './imageLeftovers';

/**
 * Puts R into an image that someone else made, compiled and closed to the user of the tests. Its
 * repository of one commit replaces one that may contain later commits.
 *
 * @throws HumanError when the image has no usable Python or cannot be changed
 */
export async function fillImage(
  commands: ImageCommands,
  { instance, trees, folder, image, path }: FillRequest,
): Promise<FilledImage> {
  const found = await needInterpreter(commands, image, pythonsOf(folder));
  const { executable: python } = found;
  const doing = `copy R of ${instance.id} into ${image}`;
  await commands.run(['rm', '-rf', `${folder}/.git`], doing);
  await commands.run(['mkdir', '-p', folder], doing);
  const entries = await treeEntries(trees.base);
  const paths = await differingFiles(commands, { entries, folder, python, doing });
  // The repository tells what R ignores, and is removed once that is known.
  const archived = { paths, hasIndex: false, hasObjects: false };
  await commands.put(await treeArchive(trees.base, folder.slice(1), undefined, archived));
  await commands.run(['chown', '0:0', folder, `${folder}/.git`], doing);
  // Files that R does not have are removed, except those that its build needs.
  await clearImageLeftovers(commands, { paths: entries.keys(), folder, python, doing });
  const env = { PATH: `${posix.dirname(python)}:${path}`, HOME: '/tmp' };
  await compileFolder(commands, python, folder, { env });
  const version = projectVersion(instance, recipeOf(instance.repo, instance.version));
  const isConda = /\/envs\/testbed\//.test(python);
  const install = isConda
    ? ['env', `SETUPTOOLS_SCM_PRETEND_VERSION=${version}`, ...installCommand(python)]
    : [];
  const user = await closeImage(commands, { folder, python, base: undefined, inherited: path });
  // Before foreign code runs, which could put links in place of folders that root walks.
  await handOver(commands, folder, user);
  return { python, after: await needInterpreter(commands, image, [python]), user, install };
}

export async function handOver(
  container: ImageCommands,
  folder: string,
  user: number,
): Promise<void> {
  const doing = 'give the files to the test user';
  const own = String(user);
  // To change an owner, even to the same one, makes a second copy of a file of a lower layer.
  const others = ['(', '!', '-user', own, '-o', '!', '-group', own, ')'];
  const change = ['-exec', 'chown', '-h', `${own}:${own}`, '{}', '+'];
  await container.run(['find', folder, ...others, ...change], doing);
}

/** The number of the user that tests usually run as. */
const defaultUser = 1000;

/**
 * Hides from tests what they must not see, and protects what they must not change. Each sandbox
 * gets a repository of its own.
 *
 * @returns the number of the user that tests run as
 */
export async function closeImage(
  container: ImageCommands,
  {
    folder,
    python,
    base,
    inherited,
    within,
  }: {
    readonly folder: string;
    readonly python: string;
    readonly base: string | undefined;
    readonly inherited: string;
    /** The only other folder that may have to be closed; absent for every one. */
    readonly within?: string | undefined;
  },
): Promise<number> {
  const doing = "remove the test user's access to the image";
  await container.run(['rm', '-rf', `${folder}/.git`], doing);
  const user = await closeAround(container, {
    ...{ folder, python, doing, within },
    ...(base === undefined ? {} : { interpreter: base }),
    ...{ path: inherited, user: defaultUser },
  });
  return testUser(container, python, folder, user, base !== undefined);
}
