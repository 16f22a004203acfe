"""Processes, memory and disk of a sandbox, as the agent sees and limits them."""

import errno
import os
import signal
import time

# Signals that must not end this process, and those that Python ignores.
QUIET = (signal.SIGTERM, signal.SIGHUP, signal.SIGINT, signal.SIGPIPE)


def restore_signals():
    """Restores the default handling of these signals, because programs inherit ignored ones."""
    for number in QUIET + (signal.SIGXFSZ, signal.SIGCHLD):
        signal.signal(number, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_SETMASK, [])


def names_in(folder):
    try:
        return set(os.listdir(folder))
    except OSError:
        return set()


def read_number(path, key=None):
    """Reads a number of the kernel, or of a line `KEY NUMBER`; 0 when there is none."""
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


def memory_is_full():
    """
    Whether almost all memory is taken by what cannot be dropped, as the cache of files can. A
    program then waits for memory most of its time, and may be killed for it never.
    """
    folder = "/sys/fs/cgroup/memory/"
    limit = read_number(folder + "memory.limit_in_bytes") or read_number("/sys/fs/cgroup/memory.max")
    stat, names = folder + "memory.stat", ("total_rss", "total_shmem")
    if not os.path.exists(stat):
        stat, names = "/sys/fs/cgroup/memory.stat", ("anon", "shmem")
    return limit > 0 and sum(read_number(stat, name) for name in names) > 0.97 * limit


def refused_processes():
    return read_number("/sys/fs/cgroup/pids.events", "max") or read_number(
        "/sys/fs/cgroup/pids/pids.events", "max"
    )


def others():
    """Ids of the living processes besides this one and the first."""
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
    """Reaps children that ended; returns (pid, status) of each."""
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
    Kills every process that this one may signal. In a container of its own, these are all but the
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


class Sandbox(object):
    """All processes of a container but the first one and this: those of a run."""

    def collect(self):
        return collect()

    def kill_all(self):
        return kill_all()

    def is_interrupted(self):
        return False


SANDBOX = Sandbox()


def namespace_objects():
    """(kind, number) of System V shared memory, semaphores and message queues. They outlive
    processes."""
    found = []
    for kind in "shm", "sem", "msg":
        try:
            with open("/proc/sysvipc/" + kind) as file:
                found += [(kind, int(line.split()[1])) for line in file.read().splitlines()[1:]]
        except OSError:
            continue
    return found


def remove_namespace_objects():
    """Removes these objects, as the user who made them: root may not without further capabilities."""
    import ctypes

    library = ctypes.CDLL(None)
    remove = 0  # IPC_RMID
    for kind, number in namespace_objects():
        if kind == "sem":
            library.semctl(number, 0, remove)
        else:
            getattr(library, kind + "ctl")(number, remove, None)


def used(path):
    """Bytes in use on the file system of a path, and bytes left."""
    info = os.statvfs(path)
    return (info.f_blocks - info.f_bfree) * info.f_frsize, info.f_bavail * info.f_frsize


def allocated(roots):
    """Bytes that the files below some folders occupy on their disk."""
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
