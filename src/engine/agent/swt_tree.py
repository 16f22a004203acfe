"""The tree of the repository in a sandbox: what it should be, what tests did to it, and putting it back."""

import hashlib
import importlib.util
import io
import os
import stat
import tarfile

from swt_processes import allocated


class Tree(object):
    """The files of the repository, and what they were when they were last written by the engine."""

    def __init__(self, root, user):
        self.root = root
        self.user = user
        self.known = {}
        # What they took on the disk when all was as it should be.
        self.bytes = 0
        if not is_folder(root):
            os.makedirs(root)
            os.chown(root, user, user)

    def path(self, relative):
        return os.path.join(self.root, relative) if relative else self.root

    def walk(self):
        """(relative path, lstat result) of everything, folders before contents."""
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

    @staticmethod
    def state(info):
        if stat.S_ISDIR(info.st_mode):
            return (info.st_mode, info.st_uid)
        # A process without privileges cannot set the time of the last change of an inode.
        return (info.st_mode, info.st_uid, info.st_size, info.st_mtime_ns, info.st_ctime_ns, info.st_ino)

    def remember(self):
        self.known = {path: self.state(info) for path, info in self.walk()}
        self.bytes = allocated([self.root])

    def digests(self):
        """Path to [mode, object id] as git has them, without the repository's own folder."""
        found = {}
        for relative, info in self.walk():
            if relative == ".git" or relative.startswith(".git/") or is_compiled(relative):
                continue
            if stat.S_ISLNK(info.st_mode):
                content = os.fsencode(os.readlink(self.path(relative)))
                found[relative] = ["120000", blob(content)]
            elif stat.S_ISREG(info.st_mode):
                with open(self.path(relative), "rb") as file:
                    content = file.read()
                mode = "100755" if info.st_mode & 0o100 else "100644"
                found[relative] = [mode, blob(content)]
        return found

    def scan(self):
        """
        What is not as the engine left it: removes what is new, and names what was changed or is gone.
        Called when no process of the tests lives.
        """
        left = dict(self.known)
        new, altered = [], []
        replaced = []
        if not is_folder(self.root):
            remove(self.root)
            os.mkdir(self.root)
        os.chmod(self.root, 0o755)
        os.chown(self.root, self.user, self.user)
        for relative, info in self.walk():
            before = left.pop(relative, None)
            if before is None:
                new.append(relative)
            elif before != self.state(info):
                if not stat.S_ISDIR(before[0]):
                    altered.append(relative)
                elif stat.S_ISDIR(info.st_mode):
                    os.chown(self.path(relative), before[1], before[1])
                    os.chmod(self.path(relative), stat.S_IMODE(before[0]))
                else:
                    # What was in the folder is gone, and is named by itself.
                    replaced.append(relative)
        # Folders go with their contents, which are named by themselves.
        gone = [path for path, before in left.items() if not stat.S_ISDIR(before[0])]
        for relative in new + altered + replaced:
            remove(self.path(relative))
        for relative in altered + gone + replaced:
            self.known.pop(relative, None)
        # Of what is compiled nothing is missed: it is compiled again.
        return sorted(path for path in altered + gone if not is_compiled(path))

    def write(self, removed, files, content):
        """
        Removes paths, writes files, and takes the result as the known state.

        `files` holds [path, mode] as git has them; member N of the tar `content` is the contents of
        the N-th. So paths keep bytes that a tar cannot have, and nothing else of a tar is obeyed.
        """
        for relative in removed:
            self._check(relative)
            remove(self.path(relative))
            self.known.pop(relative, None)
            self._remove_empty(os.path.dirname(relative))
        if not files:
            return
        with tarfile.open(fileobj=io.BytesIO(content), mode="r:") as archive:
            for member in archive:
                relative, mode = files[int(member.name)]
                self._check(relative)
                self._write(relative, mode, archive.extractfile(member).read(), member.mtime)
        for relative, _ in files:
            self._know(relative)

    def _know(self, relative):
        self.known[relative] = self.state(os.lstat(self.path(relative)))
        while relative:
            relative = os.path.dirname(relative)
            if relative and relative not in self.known:
                self.known[relative] = self.state(os.lstat(self.path(relative)))

    def compiled(self, relative):
        """Where the compiled form of a file lies, if it is one that is imported."""
        if not relative.endswith(".py"):
            return None
        path = importlib.util.cache_from_source(self.path(relative))
        return os.path.relpath(path, self.root)

    def know_compiled(self, files):
        """Takes what was compiled of files as known: tests had no part in it."""
        for relative, _ in files:
            compiled = self.compiled(relative)
            if compiled is not None and os.path.isfile(self.path(compiled)):
                self._know(compiled)

    def _check(self, relative):
        parts = relative.split("/")
        if relative.startswith("/") or ".." in parts or "" in parts:
            raise ValueError("a path outside of the tree: %r" % relative)

    def _folder(self, relative):
        """Makes a folder and those above it, in the place of whatever else is there."""
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
            self.known.pop(relative, None)
            relative = os.path.dirname(relative)


def is_compiled(relative):
    return relative.endswith(".pyc") and "__pycache__" in relative


def blob(content):
    """The object id that git gives to contents: https://git-scm.com/book/en/v2/Git-Internals-Git-Objects"""
    return hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()


def is_folder(path):
    try:
        return stat.S_ISDIR(os.lstat(path).st_mode)
    except OSError:
        return False


def remove(path):
    """Removes a file, a link, or a folder with all that is in it, whatever its permissions."""
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
