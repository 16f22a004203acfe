"""
The processes of a run on the machine itself, among those of everybody else: how they are found, and
how they are ended. In a container of its own, a run is all that there is: see swt_processes.py.
"""

import os
import signal
import sys
import time

IS_LINUX = sys.platform.startswith("linux")
# Signals that end the run, and those that Python ignores, which child processes would inherit.
STOPPERS = tuple(getattr(signal, name) for name in ("SIGTERM", "SIGINT", "SIGHUP") if hasattr(signal, name))
IGNORED = tuple(getattr(signal, name) for name in ("SIGCHLD", "SIGPIPE", "SIGXFSZ") if hasattr(signal, name))
# Variable that all processes of a run have in their environment.
MARK = "SWT_BENCH_RUN"
# Seconds that killing may take.
TIMEOUT = 10


def adopt_orphans():
    """
    Makes this process a "child subreaper" (prctl(2), Linux): every descendant whose own parent ends
    becomes its child, whatever its session, folder or environment. So it knows all descendants, and
    that none is left when there is nothing to wait for. Returns whether that worked.
    """
    try:
        import ctypes

        PR_SET_CHILD_SUBREAPER = 36
        return IS_LINUX and ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0
    except Exception:
        return False


class Family(object):
    """
    All descendants of this process. Without `adopt_orphans`, they are found by the main process, its
    group and the mark of the run instead. Then one escapes that left its group, lost its parent and
    lacks the environment of the run; on macOS, no environment can be seen.
    """

    def __init__(self, mark, is_foreign=False):
        """`is_foreign`: it belongs to a process that is gone, or that somebody else has started."""
        self.mark = ("%s=%s" % (MARK, mark)).encode("utf-8")
        self.main = None
        self.is_sure = not is_foreign and adopt_orphans()
        self.has_children = False
        self.is_sweeping = False
        self.signalled = {}
        # How many processes were killed apart from the main one.
        self.killed = 0
        self.stopping = []
        for each in STOPPERS:
            signal.signal(each, lambda *_: self.stopping.append(1))

    def is_interrupted(self):
        return bool(self.stopping)

    def collect(self):
        """Reaps children that ended; returns (pid, status) of each."""
        found = []
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                self.has_children = False
                return found
            if pid == 0:
                self.has_children = True
                return found
            found.append((pid, status))
            is_killed = os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL
            if self.is_sweeping and is_killed and pid != self.main:
                self.killed += self.is_sure

    def kill_all(self):
        """Kills every process of the run; returns whether none is left."""
        self.collect()
        self.is_sweeping = True
        end = time.monotonic() + TIMEOUT
        pause = 0.001
        while not self._are_gone():
            if time.monotonic() > end:
                return False
            time.sleep(pause)
            pause = min(2 * pause, 0.05)
            self.collect()
        return True

    def _are_gone(self):
        """Kills what there is; returns whether there is nothing."""
        if self.is_sure and not self.has_children:
            return True
        table = {each.pid: each for each in processes() if each.pid != os.getpid()}
        found = self._members(table)
        # A process that is dying has lost its environment and its parent before it has closed its files.
        dying = [pid for pid, start in self.signalled.items() if pid in table and table[pid].start == start]
        for pid in found:
            kill(pid)
            if pid not in self.signalled and pid != self.main:
                self.killed += not self.is_sure
            self.signalled[pid] = table[pid].start
        return not found and not dying and not self.has_children

    def _members(self, table):
        own = os.getpid()
        found = {
            pid for pid, each in table.items()
            if each.parent == own
            or not self.is_sure and (each.group == self.main or each.has(self.mark))
        }
        grew = True
        while grew:
            more = {pid for pid, each in table.items() if each.parent in found} - found
            found |= more
            grew = bool(more)
        return found


class Process(object):
    """A living process. `start` tells it from a later one with its id, where that is known."""

    def __init__(self, pid, parent, group, start=None):
        self.pid, self.parent, self.group, self.start = pid, parent, group, start

    def has(self, mark):
        """Whether its environment has a variable, where the system shows it."""
        try:
            with open("/proc/%d/environ" % self.pid, "rb") as file:
                return mark in file.read()
        except OSError:
            return False


def kill(pid):
    # The whole group at once, so that no member can start another process meanwhile.
    for action in (
        lambda: os.getpgid(pid) != os.getpgrp() and os.killpg(os.getpgid(pid), signal.SIGKILL),
        lambda: os.kill(pid, signal.SIGKILL),
    ):
        try:
            action()
        except OSError:
            pass


def processes():
    """All living processes of the machine, as this user sees them."""
    return in_proc() if IS_LINUX else by_ps()


def in_proc():
    for name in os.listdir("/proc"):
        if not name.isdigit():
            continue
        try:
            with open("/proc/%s/stat" % name, "rb") as file:
                text = file.read()
        except OSError:
            continue
        # The command in parentheses may itself contain spaces and parentheses.
        fields = text[text.rindex(b")") + 2:].split()
        if fields[0] not in (b"Z", b"X"):
            yield Process(int(name), int(fields[1]), int(fields[2]), fields[19])


def by_ps():
    import subprocess

    try:
        listed = subprocess.check_output(["ps", "-axo", "pid=,ppid=,pgid=,state="], stderr=subprocess.DEVNULL)
    except (OSError, subprocess.CalledProcessError):
        return
    for line in listed.decode("ascii", "replace").splitlines():
        words = line.split()
        if len(words) == 4 and not words[3].startswith("Z"):
            yield Process(*map(int, words[:3]))


def kill_marked(mark, group=None):
    """Ends what somebody else has left of a run, by its mark and its group; returns whether all."""
    family = Family(mark, is_foreign=True)
    family.main = group
    return family.kill_all()
