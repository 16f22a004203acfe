import { pythonText } from '../../../engine/pythonProgram';
import {
  builtPython,
  environmentFolder,
  type BuildContainer,
  foreignUser,
} from '../../../engine/docker';
import { asOf } from '../../plan/packageDay';
import { packageOf } from '../../plan/projectNeeds';
import { tarOf } from '../../../engine/sandbox';
import { compileEnvironment } from '../compileFolder';
import { scratch, uvPath } from '../containerPlace';

/** What has to be done to an environment to give it the packages of another one. */
interface PackageChange {
  /** Plain names of the packages that are removed, those that get another version included. */
  readonly remove: readonly string[];
  /** Lines of a requirement file for the packages that are installed. */
  readonly add: readonly string[];
}

/** The difference between two environments, as lines of requirement files. */
export function packageChange(from: readonly string[], to: readonly string[]): PackageChange {
  const [before, after] = [new Set(from), new Set(to)];
  return {
    remove: from.filter((line) => !after.has(line)).map(packageOf),
    add: to.filter((line) => !before.has(line)),
  };
}

interface Changing {
  readonly change: PackageChange;
  /** All packages that the environment has afterwards. */
  readonly lock: readonly string[];
  /** Day as of which packages are taken. */
  readonly day: string | undefined;
  /** Interpreter of the base image. */
  readonly python: string;
  readonly env: Readonly<Record<string, string>>;
  /** Purpose, as in "could not …". */
  readonly doing: string;
}

/**
 * Gives the environment of a container other packages. Files are the same as in an environment that
 * is built from its lock at once, since each package has a list of its own files and shares none.
 *
 * @throws HumanError where a package shares files with another one or cannot be installed; then the
 * container is of no use. Cancelled
 */
export async function changePackages(container: BuildContainer, changing: Changing): Promise<void> {
  const { change, lock, day, python, env, doing } = changing;
  await container.run(
    [
      ...[python, '-I', '-S', '-c', pythonText('remove_packages.py')],
      ...[environmentFolder, String(foreignUser), JSON.stringify(change.remove)],
    ],
    doing,
    { env: utf8 },
  );
  if (change.add.length > 0) {
    const file = `${scratch}/in/changed.txt`;
    const content = Buffer.from(`${change.add.join('\n')}\n`);
    await container.put(await tarOf([{ path: file.slice(1), content }]));
    const install = [
      ...[uvPath, 'pip', 'install', '--python', builtPython, '--no-deps', '-r', file],
      ...asOf(day, lock),
    ];
    await container.run(install, doing, { env, isForeign: true });
    await compileEnvironment(container, python, env);
  }
  await container.run(['sh', '-c', takeBack], "restore the environment's owner");
}

/** Python 3.6 takes names of files for ASCII where an image sets no locale. */
const utf8 = { LC_ALL: 'C.UTF-8' };

/** New files are closed as those of an environment that was built at once. */
const takeBack = `find ${environmentFolder} -user ${foreignUser} '(' -type l -o -exec chmod go-w {} + ')' -exec chown -h 0:0 {} +`;
