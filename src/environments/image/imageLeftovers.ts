import { posix } from 'node:path';
import { z } from 'zod';
import { programFolder } from '../../engine/engine';
import { earliestTime, tarOf, asciiJson } from '../../engine/sandbox';
import type { ImageCommands } from '../../engine/docker';

/**
 * Decides which files stay that an image has in its tree and R does not. `git clean` is no help: it
 * keeps ignored files, such as caches and logs of later states. With ignored files included, it
 * removes what was built in place, and nothing runs without that. So the lists follow what a build
 * needs:
 *
 * - Files from running, testing and editing are listed by name and removed, since no build reads
 *   them. These include compiled files, which are made again from R.
 * - Files that building leaves beside the sources are listed by name and stay: extension modules,
 *   metadata of the installed project, its generated version.
 * - All other files that R does not ignore are removed, because a person or a script put them
 *   there.
 * - All other files that R ignores stay. A project ignores what its build generates, such as
 *   sources made from templates. It also ignores what its tools leave, which the first list covers.
 *
 * Copies of the sources below `build/lib*` and `dist/` are removed: nothing imports them, and a
 * build makes them anew.
 */
const clearing = `
import json, os, re, shutil, subprocess, sys
folder, listed = sys.argv[1:]
with open(listed) as file:
    keep = set(path.encode('utf-8', 'surrogateescape') for path in json.load(file))
root = os.fsencode(folder)
TRACES = re.compile(br'''(?x)
    (^|/)(__pycache__|\\.pytest_cache|\\.cache|\\.mypy_cache|\\.ruff_cache|\\.hypothesis|\\.tox|\\.nox|\\.testmondata
        |htmlcov|\\.coverage(\\..*)?|\\.git|\\.svn|\\.hg|\\.idea|\\.vscode|\\.vs|\\.ipynb_checkpoints|\\.DS_Store)(/|$)
    | ^build/(lib|bdist)[^/]*(/|$) | ^dist/
    | \\.(py[co]|orig|rej|patch|diff|bak|log|prof|lprof|sw[a-p]|tmp)$ | \\$py\\.class$ | ~$ | (^|/)(\\.\\#[^/]*|\\#[^/]*\\#)$
    | (^|/)(coverage\\.xml|coverage\\.json|nosetests\\.xml|junit[^/]*\\.xml|pip-log\\.txt|pip-delete-this-directory\\.txt)$
''')
BUILT = re.compile(br'''(?x)
    \\.(so(\\.[0-9]+)*|pyd|dylib|egg-link)$ | (^|/)[^/]*\\.(egg-info|dist-info)(/|$) | ^\\.eggs/ | (^|/)_version\\.py$
''')

rest, gone = [], []
for place, folders, names in os.walk(root):
    links = [name for name in folders if os.path.islink(os.path.join(place, name))]
    for name in list(folders):
        path = os.path.relpath(os.path.join(place, name), root)
        if path == b'.git' or name in links:
            folders.remove(name)
        elif TRACES.search(path) and not any(each.startswith(path + b'/') for each in keep):
            folders.remove(name)
            gone.append(path)
    for name in names + links:
        path = os.path.relpath(os.path.join(place, name), root)
        if path in keep:
            continue
        if TRACES.search(path):
            gone.append(path)
        elif not BUILT.search(path):
            rest.append(path)
try:
    asked = subprocess.Popen(
        ['git', 'check-ignore', '-z', '--stdin'], cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
    )
    answer = asked.communicate(b''.join(path + b'\\0' for path in rest))[0]
    if asked.returncode not in (0, 1):
        raise OSError('git failed')
    ignored = set(answer.split(b'\\0'))
except OSError:
    # Without git, only remove what could be run by mistake.
    ignored = set(path for path in rest if not path.endswith(b'.py'))
gone += [path for path in rest if path not in ignored]
for path in gone:
    path = os.path.join(root, path)
    if os.path.isdir(path) and not os.path.islink(path):
        shutil.rmtree(path)
    else:
        os.remove(path)
for place, folders, names in os.walk(root, topdown=False):
    if place != root and not place.startswith(os.path.join(root, b'.git')) and not os.listdir(place):
        relative = os.path.relpath(place, root)
        if any(path.startswith(relative + b'/') for path in gone):
            os.rmdir(place)
for path in sorted(gone)[:200]:
    print('removed ' + os.fsdecode(path).encode('ascii', 'backslashreplace').decode('ascii'))
print('removed %d in all' % len(gone))
`;

/**
 * Removes traces of states other than R from the tree of an image that already contains R.
 *
 * @param paths files of R
 * @throws HumanError when it cannot be done
 */
export async function clearImageLeftovers(
  container: ImageCommands,
  {
    paths,
    folder,
    python,
    doing,
  }: {
    readonly paths: Iterable<string>;
    readonly folder: string;
    readonly python: string;
    readonly doing: string;
  },
): Promise<void> {
  const list = { path: 'tmp/swt-bench-paths', content: Buffer.from(asciiJson([...paths])) };
  await container.put(await tarOf([list]));
  const env = {
    HOME: '/tmp',
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_COUNT: '1',
    GIT_CONFIG_KEY_0: 'safe.directory',
    GIT_CONFIG_VALUE_0: folder,
  };
  await container.run([python, ...alone, clearing, folder, `/${list.path}`], doing, { env });
}

/**
 * Options that let the Python of an image run our own code without the code of installed packages.
 */
const alone = ['-I', '-S', '-c'];

/**
 * Folders that every user may write to. A sandbox empties them before its first run and after each
 * run.
 */
const openPlaces = ['/tmp', '/var/tmp', '/dev', '/run/lock', '/proc', '/sys'];

/**
 * Closes the surroundings of the tree to the user of tests. That covers scripts, patches, logs and
 * further clones in the root, the homes and similar folders of the image. It also covers whatever
 * users other than root may write. The files that the interpreter and programs on the path need
 * stay readable.
 */
const closing = `
import glob, json, os, shutil, stat, sys
folder, wanted, standing, time, python, within = sys.argv[1], int(sys.argv[2]), sys.argv[3].split(':'), int(sys.argv[4]), sys.argv[5], sys.argv[6]
USUAL = set('.dockerenv bin boot dev etc lib lib32 lib64 libx32 opt proc run sbin sys tmp usr var'.split())
# Only read files: an interpreter that is asked for its folders runs the code that is installed for it.
needed = set([folder])
for executable in python, os.path.realpath(python):
    prefix = os.path.dirname(os.path.dirname(executable))
    needed.update([os.path.dirname(executable), prefix])
    try:
        with open(os.path.join(prefix, 'pyvenv.cfg')) as file:
            for line in file:
                key, _, value = line.partition('=')
                if key.strip() == 'home':
                    needed.add(os.path.dirname(value.strip()))
    except OSError:
        pass
    for path in glob.glob(os.path.join(prefix, 'lib*', 'python*', '*-packages', '*.pth')):
        with open(path, errors='replace') as file:
            needed.update(line.strip() for line in file if line.startswith('/'))
needed.update(each for each in os.environ.get('PATH', '').split(':') if each)
needed.update(each for each in os.environ.get('LD_LIBRARY_PATH', '').split(':') if each)
needed |= set(os.path.realpath(each) for each in needed)
needed = set(each.rstrip('/') for each in needed if each.startswith('/') and os.path.exists(each)) - set([''])

def is_needed(path):
    return any(path == each or path.startswith(each + '/') for each in needed)

def leads_to_needed(path):
    return any(each.startswith(path + '/') for each in needed)

def close(place, spared=()):
    """Leaves needed paths to the user, and makes all others accessible to root only."""
    for name in sorted(os.listdir(place)):
        path = os.path.join(place, name)
        info = os.lstat(path)
        if name in spared or is_needed(path) or stat.S_ISLNK(info.st_mode):
            continue
        # A pod has the program of an agent here, which everybody may read and nobody can change.
        if path == ${JSON.stringify(programFolder)} and os.path.ismount(path):
            continue
        if leads_to_needed(path):
            os.chmod(path, stat.S_IMODE(info.st_mode) | 0o111)
            close(path)
        elif stat.S_ISDIR(info.st_mode):
            os.chown(path, 0, 0)
            os.chmod(path, 0o700)
        elif place == '/':
            # Removed, because a test that must run as root could read it whatever its mode.
            os.remove(path)
        else:
            os.chown(path, 0, 0)
            os.chmod(path, 0o600)

close('/', USUAL)
for place in standing:
    if place in ('/tmp', '/var/tmp', '/run/lock') and os.path.isdir(place):
        for name in os.listdir(place):
            path = os.path.join(place, name)
            if os.path.isdir(path) and not os.path.islink(path):
                shutil.rmtree(path, True)
            else:
                os.remove(path)

device = os.lstat('/').st_dev

def is_around(path):
    # Mounted folders, such as caches of builds, are left out too.
    return path not in standing + [folder] and not os.path.islink(path) and os.lstat(path).st_dev == device

def around():
    for place, folders, names in os.walk(within):
        folders[:] = [name for name in folders if is_around(os.path.join(place, name))]
        yield place, folders + [name for name in names if not os.path.islink(os.path.join(place, name))]

owned, clones = {}, []
for place, names in around():
    for name in names:
        path = os.path.join(place, name)
        try:
            info = os.lstat(path)
        except OSError:
            continue
        owned[info.st_uid] = owned.get(info.st_uid, 0) + 1
        if name == '.git' and not place.startswith(folder + '/'):
            clones.append(path)
for path in clones:
    os.chown(path, 0, 0)
    os.chmod(path, 0o700)
user = wanted
if wanted != 0 and owned.get(wanted, 0) > 1000:
    # Changing the owner of so many files would copy them all, so another user is chosen.
    user = next(number for number in range(61000, 65000) if number not in owned)
if user != 0:
    reading, writing = os.pipe()
    program = os.fork()
    if program == 0:
        try:
            os.close(reading)
            os.setgroups([])
            os.setgid(user)
            os.setuid(user)
            with os.fdopen(writing, 'wb') as file:
                for place, names in around():
                    for name in ['.'] + names:
                        path = os.path.join(place, name)
                        try:
                            mine = os.lstat(path).st_uid == user
                        except OSError:
                            continue
                        if mine or os.access(path, os.W_OK):
                            file.write(os.fsencode(os.path.normpath(path)) + b'\\0')
        finally:
            os._exit(0)
    os.close(writing)
    with os.fdopen(reading, 'rb') as file:
        writable = [path for path in file.read().split(b'\\0') if path]
    os.waitpid(program, 0)
    for path in writable:
        info = os.lstat(path)
        if not (stat.S_ISREG(info.st_mode) or stat.S_ISDIR(info.st_mode)):
            continue
        for name in ('system.posix_acl_access', 'system.posix_acl_default'):
            try:
                os.removexattr(path, name)
            except OSError:
                pass
        os.chown(path, 0, 0)
        mode = stat.S_IMODE(info.st_mode)
        if info.st_uid == user:
            mode |= (mode & 0o500) >> 3 | (mode & 0o500) >> 6
        os.chmod(path, mode & ~0o22)
for place, folders, names in os.walk(folder, topdown=False):
    # To set a time, even the same one, makes a second copy of a folder of a lower layer.
    if os.lstat(place).st_mtime_ns != time * 10**9:
        os.utime(place, (time, time))
print(json.dumps({'user': user}))
`;

const closed = z.object({ user: z.number().int() });

/**
 * Closes the surroundings of an image's tree (see `closing`), as the last step of making the image.
 *
 * @param user number of the user that tests are meant to run as
 * @returns the number that they run as: another one where that user owns a large part of the image
 * @throws HumanError when it cannot be done
 */
export async function closeAround(
  container: ImageCommands,
  {
    folder,
    python,
    interpreter = python,
    path,
    user,
    within = '/',
    doing,
  }: {
    readonly folder: string;
    /** Interpreter of the tests. */
    readonly python: string;
    /** The interpreter that does the closing, where it is not that of the tests. */
    readonly interpreter?: string;
    /** PATH of the tests. */
    readonly path: string;
    readonly user: number;
    /**
     * The only folder, besides that of R, which something may have been written to since the image
     * was closed; everything by default.
     */
    readonly within?: string | undefined;
    readonly doing: string;
  },
): Promise<number> {
  const answer = await container.run(
    [
      ...[interpreter, ...alone, closing],
      ...[folder, String(user), openPlaces.join(':'), String(earliestTime), python, within],
    ],
    doing,
    { env: { PATH: [posix.dirname(python), path].join(':') }, cwd: '/' },
  );
  return closed.parse(JSON.parse(answer.trim().split('\n').at(-1) ?? '')).user;
}
