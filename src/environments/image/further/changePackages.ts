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
      ...[python, '-I', '-S', '-c', removing],
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
  await container.run(['sh', '-c', takeBack], 'take the environment back');
}

/** Python 3.6 takes names of files for ASCII where an image sets no locale. */
const utf8 = { LC_ALL: 'C.UTF-8' };

/**
 * Removes packages by the lists of their files, and lends the folders that others are installed in
 * to the user of foreign code. The lists come from the packages, so nothing outside of the
 * environment is removed. For CPython 3.6 and later, with the standard library only.
 *
 * https://packaging.python.org/en/latest/specifications/recording-installed-packages/#the-record-file
 */
const removing = `
import csv, glob, json, os, re, stat, sys
root, user, names = os.path.realpath(sys.argv[1]), int(sys.argv[2]), set(json.loads(sys.argv[3]))
places = [each for each in glob.glob(os.path.join(root, 'lib', 'python*', 'site-packages')) if not os.path.islink(os.path.dirname(each)) and not os.path.islink(each)]

def is_inside(path):
    return os.path.realpath(os.path.dirname(path)).startswith(root + os.sep) or os.path.realpath(os.path.dirname(path)) == root

def files_of(info, place):
    with open(os.path.join(info, 'RECORD'), newline='', encoding='utf-8', errors='surrogateescape') as file:
        return set(os.path.normpath(os.path.join(place, row[0])) for row in csv.reader(file) if row)

going, staying, found = set(), set(), set()
for place in places:
    for info in glob.glob(os.path.join(glob.escape(place), '*.dist-info')):
        name = re.sub(r'[-_.]+', '-', os.path.basename(info).split('-')[0]).lower()
        files = files_of(info, place)
        if name in names:
            found.add(name)
            going |= files
        else:
            staying |= files
if found != names:
    sys.exit('without a list of files: %s' % ', '.join(sorted(names - found)))
if going & staying:
    sys.exit('files of several packages: %s' % sorted(going & staying)[0])
folders = set()
for path in going:
    if not is_inside(path):
        sys.exit('a file outside of the environment: %s' % path)
    stem, ending = os.path.splitext(os.path.basename(path))
    folder = os.path.dirname(path)
    compiled = glob.glob(os.path.join(glob.escape(folder), '__pycache__', glob.escape(stem) + '.*.pyc')) if ending == '.py' else []
    for each in [path] + compiled:
        try:
            if not stat.S_ISDIR(os.lstat(each).st_mode):
                os.unlink(each)
        except FileNotFoundError:
            pass
        folders.add(os.path.dirname(each))
standing = set([root, os.path.join(root, 'bin'), os.path.join(root, 'lib')] + places + [os.path.dirname(each) for each in places])
for folder in sorted(folders, key=len, reverse=True):
    while folder not in standing and folder.startswith(root + os.sep):
        try:
            os.rmdir(folder)
        except OSError:
            break
        folder = os.path.dirname(folder)
for folder in standing | folders | set(os.path.join(each, '__pycache__') for each in places):
    if os.path.isdir(folder) and not os.path.islink(folder) and (folder == root or folder.startswith(root + os.sep)):
        os.chown(folder, user, user)
`;

/** New files are closed as those of an environment that was built at once. */
const takeBack = `find ${environmentFolder} -user ${foreignUser} '(' -type l -o -exec chmod go-w {} + ')' -exec chown -h 0:0 {} +`;
