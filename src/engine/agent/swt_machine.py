"""Limits of a run on the machine itself: it is stopped while others can still work."""

import os
import time

# Threads of a run, together.
MANY = 4096
# Seconds between two looks.
PAUSE = 0.2


class MachineLimits(object):
    """
    Stops a run that takes nearly all memory of the machine, or that starts processes without end, on
    Linux. No other system says so in a file that is cheap to read.
    """

    def __init__(self):
        self.reached = None
        self.looked = 0
        try:
            self.begun = tasks()
        except (OSError, ValueError, IndexError):
            self.begun = None

    def look(self):
        """The limit that the run has reached, or None; mostly two small files are read."""
        now = time.monotonic()
        if self.begun is None or now < self.looked + PAUSE:
            return None
        self.looked = now
        try:
            self.reached = self._look()
        except (OSError, ValueError, IndexError, KeyError):
            return None
        return self.reached

    def _look(self):
        sizes = dict(line.split(":") for line in read("/proc/meminfo").splitlines())
        whole, left = (int(sizes[name].split()[0]) << 10 for name in ("MemTotal", "MemAvailable"))
        if left * 32 > whole and tasks() - self.begun < MANY:
            return None
        threads, memory = descendants()
        if threads >= MANY:
            return "too many processes"
        return "out of memory" if left * 32 <= whole and memory * 4 > whole else None

    def at_stop(self, why):
        return self.reached or why

    def note(self):
        """Does nothing: no counter of the kernel belongs to the run alone."""

    def killed(self):
        return 0

    def remarks(self):
        return []


def read(path):
    with open(path) as file:
        return file.read()


def tasks():
    """Threads of the machine."""
    return int(read("/proc/loadavg").split()[3].partition("/")[2])


def descendants():
    """Threads, and bytes in memory, of all descendants of this process."""
    page = os.sysconf("SC_PAGE_SIZE")
    below, sizes = {}, {}
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                text = read("/proc/%s/stat" % name)
            except (OSError, UnicodeError):
                continue
            fields = text[text.rindex(")") + 2:].split()
            below.setdefault(int(fields[1]), []).append(int(name))
            sizes[int(name)] = int(fields[17]), int(fields[21]) * page
    found, left = [], [os.getpid()]
    while left:
        found += below.get(left[0], [])
        left = left[1:] + below.get(left[0], [])
    return [sum(sizes[each][index] for each in found) for index in (0, 1)]
