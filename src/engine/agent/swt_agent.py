"""Works for the docker engine inside a sandbox: keeps the tree of the repository, runs tests as another
user, and leaves no process of theirs behind. Runs as root, on CPython 3.6 and later, with nothing but
the standard library.

Speaks frames over its standard input and output: a line of JSON, whose `bytes` says how many bytes
follow it. Requests come one at a time, and each is answered by `done` or `failed`; only `stop` comes
while tests run. When its input ends, the engine or the process that asked is gone: everything is
killed.

Paths are relative to the tree, with the bytes that are no UTF-8 escaped as PEP 383 has it.
"""

import errno
import hashlib
import io
import json
import os
import resource
import select
import signal
import stat
import sys
import tarfile
import time

OUTPUT_CHUNK = 1 << 16
TRACE_LIMIT = 256 << 20
FLAGS = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


class Wire(object):
    """Frames on two file descriptors."""

    def __init__(self, source, sink):
        self.source = source
        self.sink = sink
        self.rest = b""
        self.ended = False

    def send(self, kind, payload=b"", **header):
        header["kind"] = kind
        header["bytes"] = len(payload)
        data = json.dumps(header).encode("ascii") + b"\n" + payload
        view = memoryview(data)
        while view:
            view = view[os.write(self.sink, view):]

    def _fill(self):
        data = os.read(self.source, 1 << 20)
        if not data:
            self.ended = True
        self.rest += data
        return bool(data)

    def receive(self):
        """The next frame as (header, payload); None at the end of input."""
        while b"\n" not in self.rest:
            if not self._fill():
                return None
        line, self.rest = self.rest.split(b"\n", 1)
        header = json.loads(line.decode("ascii"))
        size = header.get("bytes", 0)
        pieces = [self.rest[:size]]
        have = len(pieces[0])
        self.rest = self.rest[size:]
        while have < size:
            data = os.read(self.source, min(1 << 20, size - have))
            if not data:
                self.ended = True
                return None
            pieces.append(data)
            have += len(data)
        return header, b"".join(pieces)


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
        """(relative path, lstat result) of everything but compiled Python, folders before contents."""
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
                is_folder = stat.S_ISDIR(info.st_mode)
                if is_folder and name == "__pycache__":
                    continue
                yield relative, info
                if is_folder:
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
            if relative == ".git" or relative.startswith(".git/"):
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
        gone = []
        for relative, before in left.items():
            if stat.S_ISDIR(before[0]):
                # With its contents, which are named by themselves.
                continue
            gone.append(relative)
        for relative in new + altered + replaced:
            remove(self.path(relative))
        for relative in altered + gone + replaced:
            self.known.pop(relative, None)
        return sorted(altered + gone)

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
            self.known[relative] = self.state(os.lstat(self.path(relative)))
            while relative:
                relative = os.path.dirname(relative)
                if relative and relative not in self.known:
                    self.known[relative] = self.state(os.lstat(self.path(relative)))

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
                os.rmdir(self.path(relative))
            except OSError:
                return
            self.known.pop(relative, None)
            relative = os.path.dirname(relative)


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


def read_number(path, key=None):
    """A number of the kernel, or of a line `KEY NUMBER`; 0 when there is none."""
    try:
        with open(path) as file:
            for line in file:
                words = line.split()
                if key is None:
                    return int(words[0])
                if words and words[0] == key:
                    return int(words[1])
    except (OSError, ValueError, IndexError):
        pass
    return 0


def killed_for_memory():
    return read_number("/sys/fs/cgroup/memory.events", "oom_kill") or read_number(
        "/sys/fs/cgroup/memory/memory.oom_control", "oom_kill"
    )


def refused_processes():
    return read_number("/sys/fs/cgroup/pids.events", "max") or read_number(
        "/sys/fs/cgroup/pids/pids.events", "max"
    )


def others():
    """Living processes besides this one and the first."""
    found = []
    for name in os.listdir("/proc"):
        if name.isdigit() and int(name) not in (1, os.getpid()):
            try:
                with open("/proc/%s/stat" % name, "rb") as file:
                    text = file.read()
            except OSError:
                continue
            if text[text.rindex(b")") + 2:].split()[0] not in (b"Z", b"X"):
                found.append(int(name))
    return found


def collect():
    """Takes note of children that ended; (pid, status) of each."""
    found = []
    while True:
        try:
            pid, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return found
        if pid == 0:
            return found
        found.append((pid, status))


def kill_all():
    """
    Kills every process that this one may signal, which in a container of its own is all of them but the
    first. One call reaches all at once, so that none can start another meanwhile.
    """
    pause = 0.001
    for _ in range(200):
        try:
            os.kill(-1, signal.SIGKILL)
        except OSError as error:
            if error.errno != errno.ESRCH:
                raise
        collect()
        if not others():
            return True
        time.sleep(pause)
        pause = min(pause * 2, 0.05)
    return False


def used(path):
    """Bytes in use on the file system of a path, and bytes left."""
    info = os.statvfs(path)
    return (info.f_blocks - info.f_bfree) * info.f_frsize, info.f_bavail * info.f_frsize


def allocated(roots):
    """Bytes that the files below some folders take on their disk."""
    total = 0
    folders = list(roots)
    while folders:
        try:
            with os.scandir(folders.pop()) as entries:
                for entry in entries:
                    info = entry.stat(follow_symlinks=False)
                    total += info.st_blocks * 512
                    if entry.is_dir(follow_symlinks=False):
                        folders.append(entry.path)
        except OSError:
            continue
    return total


class Agent(object):
    def __init__(self, wire, config):
        self.wire = wire
        self.tree = Tree(config["folder"], config["user"])
        self.user = config["user"]
        self.runs = 0

    def serve(self):
        while True:
            frame = self.wire.receive()
            if frame is None:
                kill_all()
                return
            header, payload = frame
            try:
                action = getattr(self, "do_" + header["kind"])
                action(header, payload)
            except Exception as error:
                self.wire.send("failed", why="%s: %s" % (type(error).__name__, error))

    def do_digests(self, header, payload):
        """Also the state from which later changes are told."""
        self.tree.remember()
        self.wire.send("done", json.dumps(self.tree.digests()).encode("ascii"))

    def do_write(self, header, payload):
        self.tree.write(header["remove"], header["files"], payload)
        self.wire.send("done")

    def do_stop(self, header, payload):
        """Too late: what it was to stop has ended."""

    def do_install(self, header, payload):
        """Runs a program of the image as root in the tree, and takes what it changes as known."""
        result = self._run(header, root=True)
        for relative, _ in self.tree.walk():
            os.lchown(self.tree.path(relative), self.user, self.user)
        self.tree.remember()
        self.wire.send("done", **result)

    def do_run(self, header, payload):
        self.runs += 1
        folder = "/tmp/swt-%d" % self.runs
        remove(folder)
        os.mkdir(folder, 0o755)
        for name in ("home", "tmp", "trace"):
            path = os.path.join(folder, name)
            os.mkdir(path, 0o700)
            os.chown(path, self.user, self.user)
        config = os.path.join(folder, "trace.json")
        with open(config, "wb") as file:
            trace = json.loads(payload.decode("ascii"))
            trace["out"] = os.path.join(folder, "trace")
            file.write(json.dumps(trace).encode("ascii"))
        header["env"].update(
            HOME=os.path.join(folder, "home"),
            TMPDIR=os.path.join(folder, "tmp"),
            TEMP=os.path.join(folder, "tmp"),
            TMP=os.path.join(folder, "tmp"),
            SWT_TRACE_CONFIG=config,
        )
        result = self._run(header, root=False)
        trace, cut = pack(os.path.join(folder, "trace"))
        if cut:
            result["remarks"].append("the records of the run were too long, and only a part was read")
        for name in os.listdir("/tmp"):
            remove(os.path.join("/tmp", name))
        altered = self.tree.scan()
        self.wire.send("done", trace, altered=altered, **result)

    def _start(self, header, root):
        """Starts a program; (its number, the end of the pipe with its output)."""
        reading, writing = os.pipe()
        trouble, tell = os.pipe()
        program = os.fork()
        if program == 0:
            try:
                os.setsid()
                os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
                os.dup2(writing, 1)
                os.dup2(writing, 2)
                for number in signal.SIGPIPE, signal.SIGXFSZ, signal.SIGCHLD:
                    signal.signal(number, signal.SIG_DFL)
                try:
                    # When memory runs out, this goes and not the agent.
                    with open("/proc/self/oom_score_adj", "w") as file:
                        file.write("1000")
                except OSError:
                    pass
                resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
                if not root:
                    limit = header["disk"] + (64 << 20)
                    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
                    if self.user != 0:
                        os.setgroups([])
                        os.setgid(self.user)
                        os.setuid(self.user)
                os.chdir(self.tree.path(header["cwd"] if header["cwd"] != "." else ""))
                env = dict(os.environ)
                env.update(header["env"])
                if header["bin"]:
                    env["PATH"] = header["bin"] + os.pathsep + env.get("PATH", os.defpath)
                os.execvpe(header["argv"][0], header["argv"], env)
            except BaseException as error:
                text = str(getattr(error, "strerror", None) or error)
                os.write(tell, text.encode("utf-8", "replace"))
            os._exit(127)
        os.close(writing)
        os.close(tell)
        why = os.read(trouble, 4096)
        os.close(trouble)
        if why:
            os.waitpid(program, 0)
            os.close(reading)
            raise ValueError(why.decode("utf-8", "replace"))
        return program, reading

    def _run(self, header, root):
        """
        Runs a program to its end, or until it is to stop; then no process is left. Its output goes out
        as it comes: when nobody reads on, it has to wait.
        """
        memory, processes = killed_for_memory(), refused_processes()
        places = [self.tree.root, "/tmp"]
        start = {place: used(place)[0] for place in places}
        began = time.time()
        wakened, waken = os.pipe()
        for end in wakened, waken:
            os.set_blocking(end, False)
        signal.set_wakeup_fd(waken)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        ending, status = "exited", None
        try:
            program, output = self._start(header, root)
        except ValueError as error:
            return {"ending": "not started", "why": str(error), "remarks": [], "seconds": 0}
        is_open = True
        try:
            while status is None:
                wanted = [self.wire.source, wakened] + ([output] if is_open else [])
                ready = select.select(wanted, [], [], 0.25)[0]
                if wakened in ready:
                    os.read(wakened, 4096)
                for pid, how in collect():
                    if pid == program:
                        status = how
                if output in ready:
                    is_open = self._pass_on(output)
                if self.wire.source in ready:
                    frame = self.wire.receive()
                    if frame is None:
                        kill_all()
                        os._exit(0)
                    if frame[0]["kind"] == "stop":
                        ending = frame[0]["why"]
                        break
                why = None if root else self._full(places, start, header["disk"])
                if why is not None:
                    ending = why
                    break
                if time.time() - began > header["seconds"]:
                    ending = "timed out"
                    break
            left = len([pid for pid in others() if pid != program])
            gone = kill_all()
            # What was written before the end is still in the pipe.
            os.set_blocking(output, False)
            while ending == "exited" and is_open:
                is_open = self._pass_on(output)
        finally:
            os.close(output)
            signal.set_wakeup_fd(-1)
            os.close(wakened)
            os.close(waken)
        remarks = []
        memory = killed_for_memory() - memory
        processes = refused_processes() - processes
        if memory > 0 and status is not None and os.WIFSIGNALED(status):
            ending = "out of memory"
        elif memory > 0:
            remarks.append("a process of the tests was killed because the memory was used up")
        if processes > 0:
            remarks.append("the tests reached the limit of processes")
        if not gone:
            remarks.append("a process of the tests could not be killed")
        return {
            "ending": ending,
            "exit": os.WEXITSTATUS(status) if status is not None and os.WIFEXITED(status) else None,
            "signal": os.WTERMSIG(status) if status is not None and os.WIFSIGNALED(status) else None,
            "seconds": time.time() - began,
            "left": left,
            "remarks": remarks,
        }

    def _pass_on(self, output):
        """Sends on what is there; whether there may be more."""
        try:
            data = os.read(output, OUTPUT_CHUNK)
        except BlockingIOError:
            return False
        if data:
            self.wire.send("output", data)
        return bool(data)

    def _full(self, places, start, limit):
        for place in places:
            now, left = used(place)
            if place == "/tmp" and left < 1 << 20:
                return "disk full"
            # The disk is shared with others: only then look at the files themselves.
            if place != "/tmp" and now - start[place] >= limit:
                if allocated([place, "/var/tmp", "/dev/shm"]) - self.tree.bytes >= limit:
                    return "disk full"
                start[place] = now - limit // 2
        return None


def pack(folder):
    """The regular files of a folder as a tar, and whether some had to be left out."""
    content = io.BytesIO()
    cut = False
    with tarfile.open(fileobj=content, mode="w:", format=tarfile.PAX_FORMAT) as archive:
        for name in sorted(os.listdir(folder)):
            try:
                handle = os.open(os.path.join(folder, name), FLAGS)
            except OSError:
                continue
            with os.fdopen(handle, "rb") as file:
                info = os.fstat(handle)
                if not stat.S_ISREG(info.st_mode):
                    continue
                if content.tell() + info.st_size > TRACE_LIMIT:
                    cut = True
                    continue
                member = tarfile.TarInfo(name)
                member.size = info.st_size
                archive.addfile(member, file)
    return content.getvalue(), cut


def compile_tracer(folder):
    """So that not every process of the tests has to."""
    import compileall

    compileall.compile_dir(folder, quiet=2)


def in_sandbox():
    """Whether the first process is that of a sandbox: anywhere else, killing all others is no help."""
    try:
        with open("/proc/1/cmdline", "rb") as file:
            return b"swt-bench sandbox" in file.read()
    except OSError:
        return False


def main():
    if not in_sandbox():
        sys.exit("this runs in a sandbox of SWT-Bench only")
    config = json.loads(sys.argv[1])
    source, sink = os.dup(0), os.dup(1)
    # Nothing that is printed by accident may get between the frames.
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(2, 1)
    for number in signal.SIGTERM, signal.SIGHUP, signal.SIGINT, signal.SIGPIPE:
        signal.signal(number, signal.SIG_IGN)
    os.umask(0o022)
    compile_tracer(config["tracer"])
    wire = Wire(source, sink)
    wire.send("ready", python="%d.%d.%d" % sys.version_info[:3])
    Agent(wire, config).serve()


main()
