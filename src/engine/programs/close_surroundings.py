"""
Closes the surroundings of the tree to the user of tests. That covers scripts, patches, logs and
further clones in the root, the homes and similar folders of the image. It also covers whatever
users other than root may write. The files that the interpreter and programs on the path need
stay readable.
"""

import glob, json, os, shutil, stat, sys
folder, wanted, standing, time, python, within, program_folder = sys.argv[1:]
wanted, standing, time = int(wanted), standing.split(':'), int(time)
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
        if path == program_folder and os.path.ismount(path):
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
# Mounted folders, such as caches of builds, are left out too.
apart = standing + [folder]

def around():
    """Folders with what is in them, without links. An entry is asked for its state only once."""
    left = [within]
    while left:
        place = left.pop()
        try:
            listed = list(os.scandir(place))
        except OSError:
            continue
        entries = []
        for entry in listed:
            if entry.is_symlink():
                continue
            if entry.is_dir(follow_symlinks=False):
                if entry.path in apart or entry.stat(follow_symlinks=False).st_dev != device:
                    continue
                left.append(entry.path)
            entries.append(entry)
        yield place, entries

owned, clones = {}, []
for place, entries in around():
    for entry in entries:
        try:
            info = entry.stat(follow_symlinks=False)
        except OSError:
            continue
        owned[info.st_uid] = owned.get(info.st_uid, 0) + 1
        if entry.name == '.git' and not place.startswith(folder + '/'):
            clones.append(entry.path)
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
                if os.lstat(within).st_uid == user or os.access(within, os.W_OK):
                    file.write(os.fsencode(within) + b'\0')
                for _, entries in around():
                    for entry in entries:
                        try:
                            mine = entry.stat(follow_symlinks=False).st_uid == user
                        except OSError:
                            continue
                        if mine or os.access(entry.path, os.W_OK):
                            file.write(os.fsencode(entry.path) + b'\0')
        finally:
            os._exit(0)
    os.close(writing)
    with os.fdopen(reading, 'rb') as file:
        writable = [path for path in file.read().split(b'\0') if path]
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
