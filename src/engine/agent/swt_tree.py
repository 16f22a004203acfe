"""The tree of the repository in a sandbox: its known state, the changes that tests made, and their
removal."""

import fcntl
import hashlib
import importlib.util
import io
import os
import stat
import struct
import tarfile
import time

from swt_repository import Repository

# Modification time of every folder of the tree, in seconds since 1970. A folder's own time would
# reveal when something was written into it.
FOLDER_TIME = 400000000
# The clock that the kernel takes file times from. It advances only every few milliseconds.
FILE_CLOCK = 5


class Tree(object):
    """The files of the repository, with their states when the engine last wrote them."""

    def __init__(self, root, user):
        self.root = root
        self.user = user
        self.known = {}
        self.repository = None
        # Sources whose compiled file is gone because tests changed or removed it.
        self.uncompiled = set()
        # Time of the latest change to a known file.
        self.latest = 0
        # Time before which all that is built was built, in seconds since 1970.
        self.built = time.clock_gettime(FILE_CLOCK)
        # Bytes on the disk in the known state.
        self.bytes = 0
        if not is_folder(root):
            os.makedirs(root)
            os.chown(root, user, user)

    def path(self, relative):
        return os.path.join(self.root, relative) if relative else self.root

    def walk(self):
        """Yields (relative path, lstat result) of everything, folders before contents."""
        folders = [""]
        while folders:
            folder = folders.pop()
            try:
                with os.scandir(self.path(folder)) as entries:
                    listed = [(entry.name, entry.stat(follow_symlinks=False)) for entry in entries]
            except OSError:
                continue
            for name, info in listed:
                relative = folder + "/" + name if folder else name
                yield relative, info
                if stat.S_ISDIR(info.st_mode):
                    folders.append(relative)

    def state(self, info):
        # A process without privileges cannot set the time of an inode's last change. So this time
        # reveals changes to contents, permissions, further names and extended attributes, even if
        # all else looks the same.
        self.latest = max(self.latest, info.st_ctime_ns)
        if stat.S_ISDIR(info.st_mode):
            return (info.st_mode, info.st_uid, info.st_ctime_ns, info.st_ino)
        return (info.st_mode, info.st_uid, info.st_ctime_ns, info.st_ino, info.st_size, info.st_mtime_ns)

    def remember(self):
        self.known, self.bytes = {}, 0
        for relative, info in self.walk():
            self.known[relative] = self.state(info)
            self.bytes += info.st_blocks * 512

    def let_time_pass(self):
        """Waits until a file that is changed now gets a later time than all known files."""
        # At most 50 times, since a clock may be set back.
        for _ in range(50):
            if time.clock_gettime(FILE_CLOCK) * 1e9 > self.latest + 1e6:
                return
            time.sleep(0.001)

    def let_second_pass(self):
        """
        Waits until a file that is changed now gets a later second than all that was built. The
        distutils compare whole seconds, so they would take a change within the second of the last
        build for one that is built already.
        """
        # At most as often as a second needs, since a clock may be set back.
        for _ in range(1100):
            if int(time.clock_gettime(FILE_CLOCK)) > int(self.built):
                return
            time.sleep(0.001)

    def own(self):
        """Gives the tests' user the files that a program wrote as another user."""
        for relative, info in self.walk():
            if (info.st_uid, info.st_gid) != (self.user, self.user):
                os.lchown(self.path(relative), self.user, self.user)

    def note_build(self):
        """Remembers that a build ends now."""
        self.built = time.clock_gettime(FILE_CLOCK)

    def touch(self, paths):
        """Gives regular files the time of now; returns their times before, by path."""
        times = {}
        for relative in paths:
            self._check(relative)
            try:
                info = os.lstat(self.path(relative))
            except OSError:
                continue
            if stat.S_ISREG(info.st_mode):
                times[relative] = info.st_mtime_ns
                os.utime(self.path(relative))
        return times

    def set_times(self, times):
        for relative, nanoseconds in times.items():
            try:
                os.utime(self.path(relative), ns=(nanoseconds, nanoseconds), follow_symlinks=False)
            except OSError:
                # The program removed it.
                continue

    def digests(self):
        """
        Maps each path of the known state to [mode, object id] as git has them, without the
        repository's own folder.
        """
        found = {}
        for relative, (mode, *_) in self.known.items():
            if is_git(relative) or is_compiled(relative):
                continue
            if stat.S_ISLNK(mode):
                content = os.fsencode(os.readlink(self.path(relative)))
                found[relative] = ["120000", blob(content)]
            elif stat.S_ISREG(mode):
                with open(self.path(relative), "rb") as file:
                    content = file.read()
                found[relative] = ["100755" if mode & 0o100 else "100644", blob(content)]
        return found

    def scan(self):
        """
        Compares the tree with the known state. Removes what is new, restores folders and the
        repository, and returns the files that were changed or are gone. Called when none of the
        tests' processes lives.
        """
        left = dict(self.known)
        new, altered, replaced, folders = [], [], [], set()
        if not is_folder(self.root):
            remove(self.root)
            os.mkdir(self.root)
        self.put_back_folder(self.root, 0o755)
        for relative, info in self.walk():
            before = left.pop(relative, None)
            if before is None:
                new.append(relative)
            elif before != self.state(info):
                if not stat.S_ISDIR(before[0]):
                    altered.append(relative)
                elif stat.S_ISDIR(info.st_mode):
                    folders.add(relative)
                else:
                    replaced.append(relative)
        gone = [path for path, before in left.items() if not stat.S_ISDIR(before[0])]
        removed_folders = [path for path, before in left.items() if stat.S_ISDIR(before[0])]
        for relative in new + altered + replaced:
            remove(self.path(relative))
            folders.add(os.path.dirname(relative))
        for relative in sorted(replaced + removed_folders):
            self._folder(relative)
            folders.add(relative)
        for relative in sorted(folders):
            if relative in self.known and is_folder(self.path(relative)):
                mode = stat.S_IMODE(self.known[relative][0])
                self.put_back_folder(self.path(relative), mode)
                self.known[relative] = self.state(os.lstat(self.path(relative)))
        lost = altered + gone
        for relative in lost:
            self.known.pop(relative, None)
        if self.repository is not None and any(is_git(path) for path in new + lost + replaced):
            only_index = set(new + lost + replaced) - {Repository.INDEX}
            if any(is_git(path) for path in only_index):
                self.lay_repository()
            else:
                self._write_index()
        self.uncompiled |= {source_of(path) for path in lost if is_compiled(path)}
        return sorted(path for path in lost if not is_compiled(path) and not is_git(path))

    def put_back_folder(self, path, mode):
        for name in extended_attributes(path):
            os.removexattr(path, name, follow_symlinks=False)
        clear_flags(path)
        info = os.lstat(path)
        if (info.st_uid, info.st_gid) != (self.user, self.user):
            os.chown(path, self.user, self.user)
        if stat.S_IMODE(info.st_mode) != mode:
            os.chmod(path, mode)
        os.utime(path, (FOLDER_TIME, FOLDER_TIME))

    def set_repository(self, archive, bytes_of_id):
        """Replaces whatever repository is there, and keeps the new one to restore it later."""
        self.repository = Repository(archive, bytes_of_id)
        self.lay_repository()
        self.bytes += len(archive)

    def lay_repository(self):
        remove(self.path(".git"))
        for path in [path for path in self.known if is_git(path)]:
            del self.known[path]
        files = self.repository.files()
        for relative, mode, content, seconds in files:
            self._write(relative, mode, content, seconds)
        self.repository.stamp_all(self.path)
        self._write_index()
        for relative, _, _, _ in files:
            self._know(relative)
        self._settle_folders([relative for relative, _, _, _ in files])

    def _write_index(self):
        index = self.repository
        self._write(index.INDEX, "100644", index.content(), index.INDEX_TIME)
        self._know(index.INDEX)
        self._settle_folders([index.INDEX])

    def write(self, removed, files, content, settle=()):
        """
        Removes paths, writes files, and adds the result to the known state. The folders of `settle`
        are touched as if something had been written into them.

        `files` has [path, mode] as git has them; member N of the tar `content` is the contents of
        the N-th. So paths may have bytes that a tar cannot store, and nothing else in the tar takes
        effect.
        """
        for relative in removed:
            self._check(relative)
            self._forget(relative)
            self._remove_empty(os.path.dirname(relative))
        written = {}
        if files:
            with tarfile.open(fileobj=io.BytesIO(content), mode="r:") as archive:
                for member in archive:
                    relative, mode = files[int(member.name)]
                    self._check(relative)
                    self._forget(relative)
                    written[relative] = archive.extractfile(member).read()
                    self._write(relative, mode, written[relative], member.mtime)
        for relative, _ in files:
            self._know(relative)
        compiled = [self.compiled(relative) for relative in settle]
        self._settle_folders(
            list(removed)
            + [relative for relative, _ in files]
            + list(settle)
            + [relative for relative in compiled if relative is not None]
        )
        if self.repository is not None:
            stamped = [
                self.repository.stamp(relative, mode, written[relative], self.path(relative))
                for relative, mode in files
            ]
            if any(stamped):
                self._write_index()

    def _forget(self, relative):
        """Removes a file and its compiled file."""
        remove(self.path(relative))
        self.known.pop(relative, None)
        self.uncompiled.discard(relative)
        compiled = self.compiled(relative)
        if compiled in self.known:
            remove(self.path(compiled))
            del self.known[compiled]
            folder = os.path.dirname(compiled)
            try:
                os.rmdir(self.path(folder))
                self.known.pop(folder, None)
            except OSError:
                # The folder has other files.
                pass

    def _know(self, relative):
        self.known[relative] = self.state(os.lstat(self.path(relative)))
        while relative:
            relative = os.path.dirname(relative)
            if relative and relative not in self.known:
                self.known[relative] = self.state(os.lstat(self.path(relative)))

    def _settle_folders(self, paths):
        """Sets the usual time of the folders above some paths, and adds them to the known state."""
        folders = set()
        for path in paths:
            while path:
                path = os.path.dirname(path)
                folders.add(path)
        for relative in folders:
            if is_folder(self.path(relative)):
                os.utime(self.path(relative), (FOLDER_TIME, FOLDER_TIME))
                if relative:
                    self.known[relative] = self.state(os.lstat(self.path(relative)))

    def compiled(self, relative):
        """Path of the compiled file of a module; None for other files."""
        if not relative.endswith(".py"):
            return None
        path = importlib.util.cache_from_source(self.path(relative))
        return os.path.relpath(path, self.root)

    def know_compiled(self, files):
        """Adds the compiled files of sources to the known state, because tests had no part in them."""
        compiled = [self.compiled(relative) for relative in files]
        for relative in compiled:
            if relative is not None and os.path.isfile(self.path(relative)):
                self._know(relative)
        self._settle_folders([relative for relative in compiled if relative is not None])

    def take_uncompiled(self):
        """Returns unchanged sources whose compiled file tests changed or removed, and forgets them."""
        files = sorted(path for path in self.uncompiled if path in self.known)
        self.uncompiled.clear()
        return files

    def _check(self, relative):
        parts = relative.split("/")
        if relative.startswith("/") or ".." in parts or "" in parts:
            raise ValueError("a path outside of the tree: %r" % relative)

    def _folder(self, relative):
        """Makes a folder and those above it; replaces whatever else is in their places."""
        path = self.root
        for part in relative.split("/") if relative else []:
            path = os.path.join(path, part)
            if is_folder(path):
                continue
            remove(path)
            os.mkdir(path, 0o755)
            os.chown(path, self.user, self.user)

    def _write(self, relative, mode, content, seconds):
        self._folder(os.path.dirname(relative))
        path = self.path(relative)
        remove(path)
        if mode == "120000":
            os.symlink(content, os.fsencode(path))
            os.utime(path, (seconds, seconds), follow_symlinks=False)
        else:
            with open(path, "wb") as file:
                file.write(content)
            os.chmod(path, 0o755 if mode == "100755" else 0o644)
            os.utime(path, (seconds, seconds))
        os.lchown(path, self.user, self.user)

    def _remove_empty(self, relative):
        while relative:
            try:
                if os.listdir(self.path(relative)) == ["__pycache__"]:
                    remove(self.path(relative + "/__pycache__"))
                os.rmdir(self.path(relative))
            except OSError:
                return
            for path in [each for each in self.known if (each + "/").startswith(relative + "/")]:
                del self.known[path]
            relative = os.path.dirname(relative)


def is_compiled(relative):
    return relative.endswith(".pyc") and "__pycache__" in relative


def source_of(relative):
    """The source of a compiled file below `__pycache__`: `a/b.py` for
    `a/__pycache__/b.cpython-39.pyc`."""
    folder, name = os.path.split(relative)
    return os.path.join(os.path.dirname(folder), name.split(".")[0] + ".py")


def is_git(relative):
    return relative == ".git" or relative.startswith(".git/")


def extended_attributes(path):
    """Names of the extended attributes that a user may set, access control lists included."""
    try:
        names = os.listxattr(path, follow_symlinks=False)
    except OSError:
        return []
    return [name for name in names if name.startswith(("user.", "system.posix_acl_"))]


FLAGS = struct.Struct("l")
# Inode flags that the owner may set: https://man7.org/linux/man-pages/man2/ioctl_iflags.2.html
# (secrm, unrm, compr, sync, nodump, noatime, notail, dirsync, topdir, nocow). Whatever is created
# in a folder inherits them.
GET_FLAGS, SET_FLAGS = 0x80086601, 0x40086602
OWNERS_FLAGS = 0x1 | 0x2 | 0x4 | 0x8 | 0x40 | 0x80 | 0x8000 | 0x10000 | 0x20000 | 0x800000


def clear_flags(path):
    """Clears the flags that a user may have set on a folder."""
    handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        try:
            flags = FLAGS.unpack(fcntl.ioctl(handle, GET_FLAGS, FLAGS.pack(0)))[0]
        except OSError:
            # The file system has no flags.
            return
        if flags & OWNERS_FLAGS:
            fcntl.ioctl(handle, SET_FLAGS, FLAGS.pack(flags & ~OWNERS_FLAGS))
    finally:
        os.close(handle)


def blob(content):
    """The object id that git gives to contents:
    https://git-scm.com/book/en/v2/Git-Internals-Git-Objects"""
    return hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()


def is_folder(path):
    try:
        return stat.S_ISDIR(os.lstat(path).st_mode)
    except OSError:
        return False


def remove(path):
    """Removes a file, a link, or a folder with all its contents, whatever its permissions."""
    try:
        info = os.lstat(path)
    except OSError:
        return
    if stat.S_ISDIR(info.st_mode):
        os.chmod(path, 0o700)
        for name in os.listdir(path):
            remove(os.path.join(path, name))
        os.rmdir(path)
    else:
        os.unlink(path)
