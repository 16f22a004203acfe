"""Which limit of its sandbox a program reaches first, and when it has to be stopped for one."""

import errno
import os
import select
import signal
import stat
import time

from swt_processes import (
    allocated,
    killed_for_memory,
    memory_is_full,
    others,
    refused_processes,
    used,
)

# Bytes of output after which a run is stopped, as of the engine: pytest keeps what it captures in a
# file, where the engine does not see it.
OUTPUT_LIMIT = 64 << 20
# Refused processes after which a program is a fork bomb. No test continues after nearly as many.
REFUSAL_LIMIT = 1 << 10
# Seconds between two looks, and between two looks at captured output, which need a process.
PAUSE = 0.1
LONG_PAUSE = 1
TEMPORARY = "/tmp"


class Limits(object):
    """
    Watches a program that runs. `reached` is the first limit that it hit, as `Limit` of reason.ts
    names it. A program can reach one and go on: it waits for a process that was killed, say.
    """

    def __init__(self, tree, user, disk, places, tell=None):
        """`places`: further folders where the program may write. `tell` is called with `reached`."""
        self.tree, self.user, self.disk, self.places = tree, user, disk, places
        self.tell = tell
        self.reached = None
        self.memory, self.refused = killed_for_memory(), refused_processes()
        self.start = {place: used(place)[0] for place in (tree.root, TEMPORARY)}
        self.looked = self.looked_at_output = 0

    def killed(self):
        """How many processes the kernel killed for memory since the start."""
        return killed_for_memory() - self.memory

    def refusals(self):
        """How often the kernel refused a process or thread since the start."""
        return refused_processes() - self.refused

    def look(self):
        """Why the program has to be stopped now; None when it may go on."""
        now = time.monotonic()
        if now < self.looked + PAUSE:
            return None
        self.looked = now
        self.note()
        if self.refusals() > REFUSAL_LIMIT:
            return self.reached
        return self._reach(self._full() or self._captures_too_much())

    def at_stop(self, why):
        """
        The first limit that a program has reached which is stopped. It is frozen before, so that a
        thousand processes do not keep this one from looking.
        """
        freeze()
        self.note()
        if why != "timed out":
            return self.reached or why
        if self.reached is None and memory_is_full():
            self._reach("out of memory")
        if self.reached is None and cannot_fork():
            self._reach("too many processes")
        if self.reached is None and self._captured() >= OUTPUT_LIMIT:
            self._reach("too much output")
        return self.reached or why

    def remarks(self):
        """What a reader should know of a program that reached limits, whatever its end."""
        remarks = []
        if self.killed() > 0:
            remarks.append("a process was killed because the memory was used up")
        if self.refusals() > 0:
            remarks.append("the limit of processes was reached")
        return remarks

    def note(self):
        """Takes note of what the kernel has refused or killed."""
        if self.refusals() > 0:
            self._reach("too many processes")
        if self.killed() > 0:
            self._reach("out of memory")

    def _reach(self, limit):
        if limit is not None and self.reached is None:
            self.reached = limit
            if self.tell is not None:
                self.tell(limit)
        return limit

    def _full(self):
        for place, start in self.start.items():
            now, left = used(place)
            grown = now - start
            # Applies also when other programs filled the disk: the results then say nothing about
            # the candidate.
            if left < 1 << 20:
                captured = place == TEMPORARY and 2 * self._captured() > grown
                return "too much output" if captured else "disk full"
            if place == TEMPORARY or grown < self.disk:
                continue
            # The disk is shared, so the files themselves are measured, but only in this case. Open
            # files that were removed are not among them.
            own = allocated([place] + [each for each in self.places if each != TEMPORARY])
            if own - self.tree.bytes >= self.disk or grown >= 4 * self.disk:
                return "disk full"
        return None

    def _captures_too_much(self):
        now = time.monotonic()
        if used(TEMPORARY)[0] - self.start[TEMPORARY] < OUTPUT_LIMIT:
            return None
        if now < self.looked_at_output + LONG_PAUSE:
            return None
        self.looked_at_output = now
        return "too much output" if self._captured() >= OUTPUT_LIMIT else None

    def _captured(self):
        """
        Bytes of the largest file that is the output of a process, 0 where that is unknown. Only the
        tests' user may see what its processes have open, so a process of that user looks.
        """
        reading, writing = os.pipe()
        try:
            program = os.fork()
        except OSError:
            os.close(reading)
            os.close(writing)
            return 0
        if program == 0:
            try:
                # Root has no capability to look at the processes of others.
                if self.user != 0:
                    os.setgroups([])
                    os.setgid(self.user)
                    os.setuid(self.user)
                os.write(writing, b"%d" % largest_output())
            finally:
                os._exit(0)
        os.close(writing)
        # The tests may stop or kill the process that looks.
        ready = select.select([reading], [], [], 5)[0]
        data = os.read(reading, 64) if ready else b""
        os.close(reading)
        os.kill(program, signal.SIGKILL)
        os.waitpid(program, 0)
        return int(data) if data.isdigit() else 0


def largest_output():
    """
    Bytes of the largest file without a name that is the standard output or error of a process, as
    pytest makes it. A file with a name is one that a program wants.
    """
    largest = 0
    for pid in others():
        for descriptor in 1, 2:
            try:
                info = os.stat("/proc/%d/fd/%d" % (pid, descriptor))
            except OSError:
                continue
            if stat.S_ISREG(info.st_mode) and info.st_nlink == 0:
                # A hole takes no room, and nobody printed it.
                largest = max(largest, min(info.st_size, info.st_blocks * 512))
    return largest


def freeze():
    """Stops all other processes of the sandbox, which are to be killed."""
    try:
        os.kill(-1, signal.SIGSTOP)
    except OSError:
        pass  # there is none


def cannot_fork():
    """Whether there is no process left to have. A limit around the sandbox has no counter in it."""
    try:
        program = os.fork()
    except OSError as error:
        return error.errno == errno.EAGAIN
    if program == 0:
        os._exit(0)
    os.waitpid(program, 0)
    return False
