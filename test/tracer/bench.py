"""Prints what the tracer costs: the time of a traced run in multiples of a plain one. Not a test.

    python3 bench.py [--only 3.9] [--turns 9]
    python3 bench.py --root TREE --file PATH:LINE[,LINE…] … -- ARGUMENT…

The first form runs a program of its own that computes a lot and seldom reaches a changed line; the
second runs `python ARGUMENT…` in TREE. Plain and traced runs alternate, in CPU seconds of the
process; the ratio of the medians is given, and that of the minima. With --instructions, valgrind
counts machine instructions instead: slow, but the same each time, also on a busy machine.
"""

import argparse
import json
import os
import re
import resource
import shutil
import statistics
import subprocess
import tempfile

import harness

PROGRAM = """\
import heavy
print(heavy.run(%d))
"""
HEAVY = """\
class Node:
    def __init__(self, value, left=None, right=None):
        self.value = value
        self.left = left
        self.right = right

    def total(self):
        return self.value + (self.left.total() if self.left else 0) + (
            self.right.total() if self.right else 0)


def build(depth):
    if depth == 0:
        return Node(1)
    return Node(depth, build(depth - 1), build(depth - 1))


def sieve(n):
    flags = [True] * n
    for i in range(2, n):
        if flags[i]:
            for j in range(i * i, n, i):
                flags[j] = False
    return [i for i in range(2, n) if flags[i]]


def words(n):
    counts = {}
    for i in range(n):
        key = 'k%d' % (i * 7919 % 1009)
        counts[key] = counts.get(key, 0) + len(key)
    return sorted(counts.items(), key=lambda item: (-item[1], item[0]))[0]


def changed(n):
    total = 0
    for i in range(n):
        total += i
    return total


def run(n):
    result = 0
    for turn in range(n):
        tree = build(10)
        result += tree.total() + len(sieve(20000))
        result += changed(20)
        words(5000)
    return result
"""


def _seconds(command, cwd, env):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, cwd=cwd, env=env, stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def _instructions(command, cwd, env):
    """Millions of them, without those of child processes."""
    command = ["valgrind", "--tool=cachegrind", "--cache-sim=no",
               "--cachegrind-out-file=" + os.devnull] + command
    done = subprocess.run(command, cwd=cwd, env=env, stdout=subprocess.DEVNULL,
                          stderr=subprocess.PIPE, stdin=subprocess.DEVNULL)
    found = re.findall(r"I\s+refs:\s+([\d,]+)", done.stderr.decode("utf-8", "replace"))
    return int(found[-1].replace(",", "")) / 1e6


def measure(path, arguments, root, files, turns, cost=_seconds):
    """(ratio of medians, ratio of minima, median cost of a plain run, executions counted)."""
    work = tempfile.mkdtemp(prefix="swt-bench-")
    try:
        config = os.path.join(work, "config.json")
        out = os.path.join(work, "out")
        with open(config, "w") as stream:
            json.dump({"format": 1, "root": root, "files": files, "out": out}, stream)
        plain_env = harness.environment()
        traced_env = harness.environment(SWT_TRACE_CONFIG=config, PYTHONPATH=harness.TRACER)
        for env in (plain_env, traced_env):
            env.pop("PYTHONDONTWRITEBYTECODE")
        plain, traced = [], []
        for turn in range(turns + 1):
            one = cost([path] + arguments, root, plain_env)
            other = cost([path] + arguments, root, traced_env)
            if turn:  # the first fills caches
                plain.append(one)
                traced.append(other)
        counts = sum(
            sum(counts.values()) for process in harness.read_processes(out)
            for counts in process.by_test().values()) // (turns + 1)
        median = statistics.median
        return (median(traced) / median(plain), min(traced) / min(plain), median(plain), counts)
    finally:
        shutil.rmtree(work)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--only")
    parser.add_argument("--turns", type=int, default=9)
    parser.add_argument("--size", type=int, default=120, help="of the own program")
    parser.add_argument("--instructions", action="store_true")
    parser.add_argument("--python", help="an interpreter, for instance of a virtual environment")
    parser.add_argument("--root")
    parser.add_argument("--file", action="append", default=[])
    parser.add_argument("arguments", nargs="*")
    options = parser.parse_args()
    work = tempfile.mkdtemp(prefix="swt-bench-")
    try:
        root, arguments, files = options.root, options.arguments, {}
        for item in options.file:
            path, _, lines = item.rpartition(":")
            files[path] = [int(line) for line in lines.split(",")]
        if root is None:
            root, arguments = work, ["main.py"]
            first = HEAVY[:HEAVY.index("def changed")].count("\n") + 1
            files = {"heavy.py": [first, first + 1, first + 2, first + 3, first + 4]}
            harness.write_files(root, {"heavy.py": HEAVY, "main.py": PROGRAM % options.size})
        if options.python:
            paths = [options.python]
        else:
            paths = [python.path for python in harness.find_pythons(options.only)]
        for path in paths:
            if options.instructions:
                ratio, _, plain, counts = measure(path, arguments, root, files, 1, _instructions)
                print("%s: %.4f of a plain run of %.0f million instructions; %d executions counted"
                      % (path, ratio, plain, counts))
                continue
            median, least, plain, counts = measure(path, arguments, root, files, options.turns)
            start, _, empty, _ = measure(path, ["-c", "pass"], root, files, options.turns)
            print("%s: %.3f (medians), %.3f (minima) of a plain run of %.2f s; %d executions "
                  "counted; %.0f ms more to start" % (
                      path, median, least, plain, counts, (start - 1) * empty * 1000))
    finally:
        shutil.rmtree(work)


if __name__ == "__main__":
    main()
