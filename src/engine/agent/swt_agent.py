"""Works for an engine inside a sandbox. Keeps the tree of the repository, runs tests as
another user, and leaves none of their processes behind. Runs as root, on CPython 3.6 and later,
with the standard library only.

Exchanges frames over its standard input and output: a line of JSON, whose `bytes` says how many
bytes follow it. Requests come one at a time, and each is answered by `done` or `failed`; only
`stop` comes while tests run. After the `done` of a run comes `settled`, when the tree is restored.
When its input ends, the engine or the process that asked is gone: everything is killed. Where the
configuration asks for `beats`, both ends send a sign of life every 10 seconds. The agent then ends
the whole sandbox when it hears nothing for a minute.

Paths are relative to the tree. Bytes that are not UTF-8 are escaped as in PEP 383.
"""

import io
import json
import os
import pwd
import py_compile
import re
import resource
import shutil
import signal
import stat
import sys
import tarfile
import threading
import time

# The agent runs with `-I`, so that neither the current folder nor its own is searched for modules.
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from swt_limits import Limits
from swt_network import Reach
from swt_processes import (
    QUIET,
    SANDBOX,
    collect,
    kill_all,
    names_in,
    namespace_objects,
    others,
    remove_namespace_objects,
    restore_signals,
)
from swt_run import Ahead, NotStarted, Run, start_program
from swt_services import start_service, wait_for
from swt_shell import FOLDER, Shell
from swt_tree import Tree, remove
from swt_wire import Wire
from swt_workspace import change_archive, read_file, write_file

TRACE_LIMIT = 256 << 20
# Files of records, of which each process of a run has two, and their names.
TRACE_FILES = 100000
RECORDS = re.compile(r"^\d+-[0-9a-f]{8}\.(jsonl|counts)$")
# Folders outside of the tree that any user may write to. In all others of an image, only root may
# write.
OPEN_PLACES = ("/tmp", "/var/tmp", "/dev/shm", "/dev/mqueue", "/run/lock")
FLAGS = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


class Agent(object):
    def __init__(self, wire, config):
        self.wire = wire
        self.tree = Tree(config["folder"], config["user"])
        self.user = config["user"]
        self.shell = Shell(self)
        # An interpreter that waits for the next run, what it has in common with that one, and
        # whether it has loaded R; or None.
        self.ahead = None
        self.reach = Reach()
        empty_open_places()
        name_user(self.user)

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
        """Sends the digests of all files, and remembers this state as the base for later changes."""
        self.tree.remember()
        self.wire.send("done", json.dumps(self.tree.digests()).encode("ascii"))

    def do_write(self, header, payload):
        settle = header["settle"]
        self.tree.write(header["remove"], header["files"], payload, settle)
        # The other side may have something to compile: process numbers must advance equally on
        # both.
        is_due = any(relative.endswith(".py") for relative in settle)
        self._compile([relative for relative, _ in header["files"]], is_due)
        self.wire.send("done")

    def do_repository(self, header, payload):
        """Replaces the tree's git repository by another one, given as a tar of its files."""
        self.tree.set_repository(payload, header["idBytes"])
        self.wire.send("done")

    def _compile(self, files, is_due=False):
        """
        Compiles written files, as tests would at their first run, without executing them. Files
        that tests compile are not kept, since they may contain something else. When it `is_due`, a
        process is started even if there is nothing to compile.
        """
        files = [each for each in files if self.tree.compiled(each) is not None]
        if not files and not is_due:
            return

        def compile_all():
            for relative in files:
                py_compile.compile(self.tree.path(relative), doraise=False, quiet=2)

        self._apart(compile_all, 20)
        self.tree.know_compiled(files)

    def _apart(self, work, seconds):
        """Does work of our own in a process of the tests' user, for at most so many seconds."""
        program = os.fork()
        if program == 0:
            try:
                self.drop_rights(1 << 30)
                work()
            finally:
                os._exit(0)
        end = time.monotonic() + seconds
        ended = []
        while time.monotonic() < end and program not in ended:
            time.sleep(0.002)
            ended += [pid for pid, _ in collect()]
        if self.ahead is None or self.ahead[0].started[0] in ended or program not in ended:
            self._end_ahead()
            kill_all()

    def drop_rights(self, limit):
        restore_signals()
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
        if self.user != 0:
            os.setgroups([])
            os.setgid(self.user)
            os.setuid(self.user)

    def do_beat(self, header, payload):
        """Does nothing: that it arrived is all that it says."""

    def do_prepare(self, header, payload):
        """Runs a program that prepares the image, before any tests, as the given user."""
        usual, self.user = self.user, header["user"]
        try:
            result = self._run(header, root=header["user"] == 0)
        finally:
            self.user = usual
        self.wire.send("done", **result)

    def do_reach(self, header, payload):
        """
        Begins to connect to addresses that a sandbox must not reach: the given ones, and that of the
        API server in its cluster.
        """
        targets = [tuple(each) for each in header["targets"]]
        server = os.environ.get("KUBERNETES_SERVICE_HOST")
        if server:
            targets.append((server, int(os.environ.get("KUBERNETES_SERVICE_PORT", "443"))))
        self.reach.begin(targets, header["seconds"])
        self.wire.send("done")

    def do_reached(self, header, payload):
        """Says which of these addresses answered."""
        self.wire.send("done", reached=self.reach.reached())

    def do_unpack(self, header, payload):
        """Unpacks a part of an archive below a folder, as root. Tests have no part in it."""
        with tarfile.open(fileobj=io.BytesIO(payload), mode="r:") as archive:
            for member in archive:
                archive.extract(member, header["folder"], numeric_owner=True)
        self.wire.send("done")

    def do_user(self, header, payload):
        """Chooses the user of the tests."""
        self.user = self.tree.user = header["user"]
        name_user(self.user)
        self.wire.send("done")

    def do_stop(self, header, payload):
        """Does nothing: the run that it was to stop has ended."""

    def do_shell(self, header, payload):
        """Runs a command in the shell of the workspace."""
        result = self.shell.run(header, payload)
        self.wire.send("done", **result)

    def do_read(self, header, payload):
        """The contents of a file, as the tests' user may read it, up to a limit."""
        path = os.path.join(self.tree.root, header["path"])
        self._answer(lambda: read_file(path, header["limit"]))

    def do_put(self, header, payload):
        """Writes a file as the tests' user, with the folders that it needs."""
        self.make_places()
        path = os.path.join(self.tree.root, header["path"])
        self._answer(lambda: write_file(path, payload))

    def do_changes(self, header, payload):
        """A tar of what differs from the tree that the engine wrote, which stays as it is."""
        self._answer(lambda: change_archive(self.tree))

    def do_reset(self, header, payload):
        """Ends the shell and what it started, and puts the tree back."""
        self.shell = Shell(self)
        self._end_ahead()
        kill_all()
        self.wire.send("done")
        self._settle()

    def _answer(self, work):
        """Sends what work returns, which is done as the tests' user; or why there is nothing."""
        reading, writing = os.pipe()
        program = os.fork()
        if program == 0:
            try:
                self.drop_rights(1 << 30)
                data = b"+" + work()
            except Exception as error:
                said = getattr(error, "strerror", None) or str(error) or type(error).__name__
                data = b"-" + said.encode("utf-8", "replace")
            try:
                with os.fdopen(writing, "wb") as file:
                    file.write(data)
            finally:
                os._exit(0)
        os.close(writing)
        with os.fdopen(reading, "rb") as file:
            data = file.read()
        os.waitpid(program, 0)
        if data.startswith(b"+"):
            self.wire.send("done", data[1:])
        else:
            self.wire.send("done", why=data[1:].decode("utf-8", "replace") or "it was killed")

    def make_places(self):
        """Folders for the home and the temporary files of the tests' user."""
        for path, mode, owner in (
            (FOLDER, 0o755, 0),
            (FOLDER + "/home", 0o700, self.user),
            (FOLDER + "/tmp", 0o700, self.user),
        ):
            if not os.path.isdir(path):
                os.mkdir(path, mode)
                os.chown(path, owner, owner)

    def environment(self, header):
        """All variables of a program that runs in the tree."""
        env = dict(os.environ)
        env.update(header["env"])
        env.update(HOME=FOLDER + "/home", TMPDIR=FOLDER + "/tmp")
        if header["bin"]:
            env["PATH"] = header["bin"] + os.pathsep + env.get("PATH", os.defpath)
        return env

    def do_install(self, header, payload):
        """
        Runs a program of the image as root in the tree, and adds its changes to the known state.
        Build systems compare times, and all files of R are older than what was built from them. So
        the files to build again get the time of now until the program ends.
        """
        self.tree.let_second_pass()
        times = self.tree.touch(header["changed"])
        result = self._run(header, root=True)
        self.tree.note_build()
        self.tree.set_times(times)
        self.tree.own()
        self.tree.remember()
        self.wire.send("done", **result)

    def do_expect(self, header, payload):
        """
        Starts the interpreter of a run that loads modules of R: see swt_warm.py. The tree has no
        candidate. Everything else in the sandbox ends it.
        """
        self._end_ahead()
        self._make_folders(header, payload)
        ahead = Ahead(header["argv"][:3], *self._surroundings(header, root=False), tells=True)
        self.ahead = ahead, common(header), True
        loaded = ahead.loaded(self.wire, header["loads"])
        if loaded["why"] is not None or loaded["seconds"] is None:
            self._end_ahead()
            kill_all()
        self.wire.send("done", **{name: each for name, each in loaded.items() if each is not None})

    def _make_folders(self, header, payload):
        """Makes the folders of a run and the configuration of its tracer; completes its variables."""
        # The same folder each time, since it appears in messages and in results derived from paths.
        folder = FOLDER
        remove(folder)
        os.mkdir(folder, 0o755)
        for name in ("home", "tmp", "trace", "key"):
            path = os.path.join(folder, name)
            os.mkdir(path, 0o700)
            os.chown(path, self.user, self.user)
        with open(os.path.join(folder, "trace.json"), "wb") as file:
            trace = json.loads(payload.decode("ascii"))
            trace["out"] = os.path.join(folder, "trace")
            trace["key"] = os.path.join(folder, "key", "key")
            file.write(json.dumps(trace).encode("ascii"))
        self._complete(header)

    def _complete(self, header):
        header["env"].update(
            HOME=os.path.join(FOLDER, "home"),
            TMPDIR=os.path.join(FOLDER, "tmp"),
            TEMP=os.path.join(FOLDER, "tmp"),
            TMP=os.path.join(FOLDER, "tmp"),
            SWT_TRACE_CONFIG=os.path.join(FOLDER, "trace.json"),
        )

    def do_run(self, header, payload):
        folder = FOLDER
        if header.get("isLoaded") and self.ahead is not None and self.ahead[2]:
            self._complete(header)
        else:
            if self.ahead is not None and self.ahead[2]:
                self._end_ahead()
            self._make_folders(header, payload)
        self._lay_key(os.path.join(folder, "key", "key"), header["key"])
        self.tree.let_time_pass()
        remarks = self._serve(header)
        path = self.environment(header)["PATH"]
        missing = [name for name in header.get("programs", []) if shutil.which(name, path=path) is None]
        result = self._run(header, root=False, ahead=self._take_ahead(header))
        result["missing"] = missing
        result["remarks"] += remarks
        # Whatever tests leave there is theirs to answer for: without records the run is unsound.
        try:
            trace, cut = pack(os.path.join(folder, "trace"))
        except (OSError, ValueError, MemoryError) as error:
            trace, cut = b"", False
            result["remarks"].append("the records of the run could not be read (%s)" % error)
        if cut:
            result["remarks"].append("the records of the run were too long, and only a part was read")
        self.wire.send("done", trace, **result)
        if self._settle() and header.get("isAwaited"):
            self._start_ahead(header)

    def _start_ahead(self, header):
        """Starts the interpreter of the next run, where nothing is left of the one before."""
        folder = FOLDER
        remove(folder)
        try:
            ahead = Ahead(header["argv"][:3], *self._surroundings(header, root=False))
        except (NotStarted, OSError):
            return  # The next run says why.
        self.ahead = ahead, common(header), False

    def _take_ahead(self, header):
        """The interpreter that waits for this run, or None."""
        if self.ahead is None or self.ahead[1] != common(header):
            self._end_ahead()
            return None
        found, self.ahead = self.ahead[0], None
        return found

    def _end_ahead(self):
        if self.ahead is not None:
            self.ahead[0].end()
            self.ahead = None

    def _serve(self, header):
        """
        Starts the services that tests expect, which end with the run. Returns remarks on those that
        are missing. They get nothing of the tracer.
        """
        remarks = []
        names = ("HOME", "TMPDIR", "LANG", "PYTHONHASHSEED")
        given = {name: header["env"][name] for name in names if name in header["env"]}
        env = dict(os.environ, **given)
        for service in header.get("services", []):
            if not os.path.exists(service["argv"][0]):
                remarks.append(service["missing"])
                continue
            program = start_service(
                service["argv"], env, lambda: self.drop_rights(header["disk"] + (64 << 20)))
            if not wait_for(service["port"], program):
                remarks.append("%s did not start" % service["name"])
        return remarks

    def _settle(self):
        """Puts everything back after the answer, so that nobody waits: it takes as long as a short
        test. Returns whether that worked."""
        settled = {"altered": []}
        try:
            if others():
                raise OSError("a process that could not be killed")
            empty_open_places()
            if namespace_objects():
                self._apart(remove_namespace_objects, 20)
            if namespace_objects():
                raise OSError("shared memory, semaphores or message queues")
            settled["altered"] = self.tree.scan()
            self._compile(self.tree.take_uncompiled())
        except (OSError, RecursionError) as error:
            settled["spoiled"] = "what tests left cannot be removed (%s)" % error
        self.wire.send("settled", **settled)
        return "spoiled" not in settled

    def _lay_key(self, path, key):
        """
        Writes the key of the run to a file. Its folder lets the tests' user remove the file, which
        the first process of the tests does.
        """
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        try:
            os.write(handle, bytes.fromhex(key))
        finally:
            os.close(handle)
        os.chown(path, self.user, self.user)

    def _run(self, header, root, ahead=None):
        """
        Runs a program; then no process is left. As root there are no limits but that of time. It may
        have begun `ahead`.
        """
        if ahead is None:
            self._end_ahead()
        run = Run(self.wire, SANDBOX, self.limits(header), self._abandon)
        env, folder, prepare = self._surroundings(header, root)

        def start():
            if ahead is not None:
                if ahead.become(header["argv"], env, folder, header.get("tests", ())):
                    return ahead.started
                ahead.end()
            return start_program(header["argv"], env, folder, prepare)

        return run.run(start, header["seconds"], is_limited=not root)

    def _surroundings(self, header, root):
        """Variables, folder, and preparation of the process of a program."""
        env = dict(os.environ)
        env.update(header["env"])
        if header["bin"]:
            env["PATH"] = header["bin"] + os.pathsep + env.get("PATH", os.defpath)

        def prepare():
            restore_signals()
            try:
                # When memory runs out, the kernel kills this process rather than the agent.
                with open("/proc/self/oom_score_adj", "w") as file:
                    file.write("1000")
            except OSError:
                pass
            if not root:
                self.drop_rights(header["disk"] + (64 << 20))

        return env, self.tree.path(header["cwd"] if header["cwd"] != "." else ""), prepare

    def _abandon(self):
        if self.wire.beats:
            end_sandbox()
        os._exit(0)

    def limits(self, header):
        """Watches the limits of a program that is about to start."""
        tell = lambda limit: self.wire.send("limit", what=limit)
        return Limits(self.tree, self.user, header["disk"], OPEN_PLACES, tell)


def common(header):
    """What a program that waits has in common with the run that it waits for."""
    return [header["argv"][:3]] + [header[name] for name in ("bin", "cwd", "env", "disk")]


def empty_open_places():
    """Empties the folders that any user may write to. This includes files of the image, which may
    reveal what came after R."""
    for place in OPEN_PLACES:
        for name in names_in(place):
            remove(os.path.join(place, name))


def name_user(number):
    """Gives the tests' user a name and a home, which Node and others expect of whoever runs them."""
    try:
        pwd.getpwuid(number)
        return
    except KeyError:
        pass
    try:
        for path, line in (
            ("/etc/passwd", "sandbox:x:%d:%d::%s/home:/bin/sh" % (number, number, FOLDER)),
            ("/etc/group", "sandbox:x:%d:" % number),
        ):
            with open(path, "a+") as file:
                file.seek(0)
                text = file.read()
                file.write(("" if not text or text.endswith("\n") else "\n") + line + "\n")
    except OSError:
        # An image without these files has programs that do without a name.
        pass


def pack(folder):
    """Packs the records of a run into a tar; returns it, and whether some had to be left out.

    Tests can leave anything in the folder, under any name, and put a link in its place.
    """
    content = io.BytesIO()
    top = os.open(folder, FLAGS | os.O_DIRECTORY)
    try:
        names = sorted(name for name in os.listdir(top) if RECORDS.match(name))
        cut = len(names) > TRACE_FILES
        with tarfile.open(fileobj=content, mode="w:", format=tarfile.PAX_FORMAT) as archive:
            for name in names[:TRACE_FILES]:
                cut = not pack_file(archive, top, name, TRACE_LIMIT - content.tell()) or cut
    finally:
        os.close(top)
    return content.getvalue(), cut


def pack_file(archive, top, name, limit):
    """Adds a file of a folder if it is a regular one; returns whether it is within the limit."""
    try:
        handle = os.open(name, FLAGS, dir_fd=top)
    except OSError:
        return True
    try:
        info = os.fstat(handle)
        if not stat.S_ISREG(info.st_mode):
            return True
        if info.st_size > limit:
            return False
        member = tarfile.TarInfo(name)
        member.size = info.st_size
        with os.fdopen(os.dup(handle), "rb") as file:
            archive.addfile(member, file)
        return True
    finally:
        os.close(handle)


def compile_tracer(folder):
    """Compiles the tracer once, so that not every process of the tests has to."""
    import compileall

    compileall.compile_dir(folder, quiet=2)


def in_sandbox():
    """Whether the first process is that of a sandbox. Anywhere else, killing all others would do
    harm. A container counts as started just before the engine's own program becomes that process."""
    end = time.monotonic() + BECOMING
    while True:
        try:
            with open("/proc/1/cmdline", "rb") as file:
                if b"swt-bench sandbox" in file.read():
                    return True
        except OSError:
            return False
        if time.monotonic() > end:
            return False
        time.sleep(0.01)


# Seconds that the first process of a container may take to become that of the sandbox.
BECOMING = 2


BEAT = 10
# Seconds without a word of the engine, after which nobody is believed to be there.
TIMEOUT = 60


def beat(wire):
    """Sends signs of life, also while the agent works. The first process of the sandbox ends when it
    gets none; so does the sandbox when the engine is silent although somebody listens."""
    while True:
        time.sleep(BEAT)
        silent = wire.silence() > TIMEOUT
        try:
            if not silent:
                wire.send("beat")
                os.kill(1, signal.SIGUSR1)
        except OSError:
            silent = True
        if silent:
            end_sandbox()


def end_sandbox():
    os.kill(1, signal.SIGTERM)
    os._exit(0)


def use_utf8():
    """
    Starts this program again where names of files cannot have all characters: Python 3.6 takes them
    for ASCII where an image sets no locale. Programs that the agent starts get what the image sets.
    """
    if "SWT_AGENT_LOCALE" in os.environ:
        before = json.loads(os.environ.pop("SWT_AGENT_LOCALE"))
        if before is None:
            del os.environ["LC_ALL"]
        else:
            os.environ["LC_ALL"] = before
    elif sys.getfilesystemencoding().lower().replace("-", "") != "utf8":
        before = json.dumps(os.environ.get("LC_ALL"))
        env = dict(os.environ, LC_ALL="C.UTF-8", SWT_AGENT_LOCALE=before)
        words = [sys.executable, "-I", "-B", os.path.abspath(__file__)] + sys.argv[1:]
        os.execve(sys.executable, words, env)


def main():
    if not in_sandbox():
        sys.exit("this runs in a sandbox of SWT-Bench only")
    use_utf8()
    config = json.loads(sys.argv[1])
    source, sink = os.dup(0), os.dup(1)
    # No accidental output may get between the frames.
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(2, 1)
    for number in QUIET:
        signal.signal(number, signal.SIG_IGN)
    os.umask(0o022)
    compile_tracer(config["tracer"])
    wire = Wire(source, sink)
    wire.send("ready", python="%d.%d.%d" % sys.version_info[:3])
    if config.get("beats"):
        wire.beats = True
        thread = threading.Thread(target=beat, args=(wire,))
        thread.daemon = True
        thread.start()
    try:
        Agent(wire, config).serve()
    finally:
        kill_all()
        if wire.beats:
            end_sandbox()


main()
