"""Finds interpreters, runs them under the tracer, and reads what the tracer wrote."""

import hashlib
import json
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
TRACER = os.path.join(os.path.dirname(os.path.dirname(HERE)), "src", "engine", "tracer")
WORKER = os.path.join(HERE, "worker.py")
FIRST, LAST = 6, 14
_PROBE = (
    "import sys, platform; print('%s %s %s %s' % (platform.python_implementation(), "
    "'%d.%d.%d' % sys.version_info[:3], sys.executable, sys.version_info[3]))"
)
# The usual program under test: main.py beside these modules, with some lines changed.
MOD = """\
def work(n):
    for i in range(n):
        i += 1
    return n


def gen():
    yield 1
    yield 2
"""
# Of a run with seals, as the engine makes one by chance.
KEY = bytes(range(100, 132))
FILES = {"pkg/mod.py": [1, 3, 4, 8, 9]}
SWITCH = "import sys; tracer = sys.modules['swt_tracer']\n"


class Python(object):
    """An interpreter: `path`, `version` as text, `minor` as in 3.minor."""

    def __init__(self, path, version):
        self.path = path
        self.version = version
        self.minor = int(version.split(".")[1])

    @property
    def technique(self):
        return "monitoring" if self.minor >= 12 else "bytecode"


def find_pythons(only=None):
    """One CPython for each minor version of 3.6 to 3.14 that is at hand, in order."""
    roots = [os.environ.get("PYENV_ROOT"), os.path.expanduser("~/.pyenv")]
    candidates = []
    for root in roots:
        folder = os.path.join(root, "versions") if root else ""
        if os.path.isdir(folder):
            for name in sorted(os.listdir(folder), key=_version_key, reverse=True):
                candidates.append(os.path.join(folder, name, "bin", "python"))
    for minor in range(FIRST, LAST + 1):
        candidates.append(shutil.which("python3.%d" % minor))
    candidates += [sys.executable, shutil.which("python3")]
    found, seen = {}, set()
    for path in candidates:
        if not path or not os.path.exists(path) or os.path.realpath(path) in seen:
            continue
        seen.add(os.path.realpath(path))
        try:
            answer = subprocess.run([path, "-I", "-c", _PROBE], stdout=subprocess.PIPE,
                                    stderr=subprocess.DEVNULL, timeout=600, check=True)
        except (OSError, subprocess.SubprocessError):
            continue  # a launcher of pyenv for a version that is not active, for one
        name, version, executable, _ = answer.stdout.decode().split()
        python = Python(executable, version)
        if name == "CPython" and FIRST <= python.minor <= LAST and version.startswith("3."):
            found.setdefault(python.minor, python)
    return [
        found[minor] for minor in sorted(found)
        if only in (None, "3.%d" % minor, found[minor].version)
    ]


def _version_key(name):
    return [int(part) for part in re.findall(r"\d+", name)]


class Process(object):
    """What one process wrote: `records`, and `totals` by slot from its mapped file."""

    def __init__(self, path):
        with open(path, "rb") as stream:
            lines = stream.read().split(b"\n")[:-1]
        # Behind a record may stand its seal.
        self.records = [json.loads(line.partition(b"\t")[0].decode("ascii")) for line in lines]
        self.first = self.records[0]
        counts = path[:-len(".jsonl")] + ".counts"
        data = b""
        if os.path.exists(counts):
            with open(counts, "rb") as stream:
                data = stream.read()
        self.totals = struct.unpack("<%dQ" % (len(data) // 8), data)

    def of(self, kind):
        return [record for record in self.records if record["kind"] == kind]

    def by_test(self):
        """{test: {"path:line": count}}, what the process could not write included."""
        slots = ["%s:%d" % tuple(slot) for slot in self.first["slots"]]
        result, left = {}, list(self.totals)
        test = None
        for record in self.records:
            if record["kind"] == "begin":
                test = record["test"]
            elif record["kind"] == "counts":
                for slot, count in record["counts"].items():
                    left[int(slot)] -= count
                    counts = result.setdefault(record["test"], {})
                    name = slots[int(slot)]
                    counts[name] = counts.get(name, 0) + count
        for slot, count in enumerate(left):
            assert count >= 0, "more was written than counted"
            if count:
                counts = result.setdefault(test, {})
                counts[slots[slot]] = counts.get(slots[slot], 0) + count
        return result


def read_processes(out):
    """The processes that wrote into the folder `out`."""
    names = sorted(os.listdir(out)) if os.path.isdir(out) else []
    return [Process(os.path.join(out, name)) for name in names if name.endswith(".jsonl")]


class Seals(object):
    """What carries the key of a run in the folder `out`: wrong seals fail.

    `records` of each journal, and the `numbers` of those with a seal.
    """

    def __init__(self, out):
        self.numbers = {}
        self.records = {}
        for name in sorted(os.listdir(out)):
            if not name.endswith(".jsonl"):
                continue
            stem = name[:-len(".jsonl")]
            with open(os.path.join(out, name)) as stream:
                lines = stream.read().splitlines()
            self.numbers[stem], self.records[stem] = [], []
            first = json.loads(lines[0].partition("\t")[0])
            key = _digest(KEY, "relay %d" % first["relay"]) if "relay" in first else KEY
            for line in lines:
                text, _, seal = line.partition("\t")
                self.records[stem].append(json.loads(text))
                number, _, digits = seal.partition(" ")
                if digits:
                    wanted = _digest(key, "%s %s %s" % (stem, number, text)).hex()[:32]
                    assert digits == wanted, line
                    self.numbers[stem].append(int(number))

    def check_whole(self):
        """Asserts that no number is missing in any journal with seals, and no seal in it."""
        for stem, numbers in self.numbers.items():
            assert numbers == list(range(len(numbers))), (stem, numbers[:50])
            assert len(numbers) in (0, len(self.records[stem])), stem

    def of(self, kind, sealed=True):
        return [record for stem, records in self.records.items() for record in records
                if record["kind"] == kind and bool(self.numbers[stem]) == sealed]


def _digest(key, text):
    return hashlib.sha256(key + bytes(96) + text.encode("ascii")).digest()


class Run(object):
    """A finished run: `status`, `output` (stdout), `errors` (stderr), `processes`, `out` (folder)."""

    def __init__(self, done, out):
        self.out = out
        self.status = done.returncode
        self.output = done.stdout.decode("utf-8", "replace").replace("\r\n", "\n")
        self.errors = done.stderr.decode("utf-8", "replace").replace("\r\n", "\n")
        self.processes = read_processes(out) if out else []

    def of(self, kind):
        return [record for process in self.processes for record in process.of(kind)]

    def counts(self):
        """{test: {"path:line": count}} of all processes."""
        result = {}
        for process in self.processes:
            for test, counts in process.by_test().items():
                whole = result.setdefault(test, {})
                for name, count in counts.items():
                    whole[name] = whole.get(name, 0) + count
        return result

    def total(self, name):
        return sum(counts.get(name, 0) for counts in self.counts().values())


def environment(**more):
    """The environment of this process without what could change an interpreter's behaviour."""
    kept = {
        key: value for key, value in os.environ.items()
        if not key.startswith(("PYTHON", "SWT_", "COVERAGE_", "VIRTUAL_ENV"))
    }
    kept.update(PYTHONHASHSEED="0", PYTHONDONTWRITEBYTECODE="1", PYTHONIOENCODING="utf-8")
    kept.update(more)
    return kept


def run_plain(python, arguments, cwd, **more):
    """Runs `python` without the tracer."""
    return Run(_call([python.path] + arguments, cwd, environment(**more)), None)


def run_traced(python, arguments, root, files, cwd=None, config=None, **more):
    """Runs `python` under the tracer, for the lines in `files` ({path below root: [line]})."""
    out = tempfile.mkdtemp(prefix="out-", dir=os.path.dirname(root))
    settings = {"format": 1, "root": root, "files": files, "out": out, "outcomes": False}
    settings.update(config or {})
    path = os.path.join(out, "config.json")
    with open(path, "w") as stream:
        json.dump(settings, stream)
    paths = os.pathsep.join([TRACER] + ([more.pop("PYTHONPATH")] if "PYTHONPATH" in more else []))
    env = environment(SWT_TRACE_CONFIG=path, PYTHONPATH=paths, **more)
    return Run(_call([python.path] + arguments, cwd or root, env), out)


def _call(command, cwd, env):
    return subprocess.run(command, cwd=cwd, env=env, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, timeout=600)


def write_files(folder, files):
    """Writes {path: text} below `folder`."""
    for name, text in files.items():
        path = os.path.join(folder, *name.split("/"))
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8", newline="") as stream:
            stream.write(text)


def traced(python, folder, script, files=None, arguments=None, more=None, **options):
    """Runs `script` as main.py beside pkg/mod.py; the lines of pkg/mod.py are the changed ones."""
    root = os.path.join(folder, "root")
    write_files(root, dict({"pkg/__init__.py": "", "pkg/mod.py": MOD, "main.py": script},
                           **(more or {})))
    options.setdefault("cwd", root)
    return run_traced(python, arguments or ["main.py"], root, files or FILES, **options)


def quiet(run, status=0):
    """Asserts that the run ended as it should and that the tracer has nothing to complain about."""
    assert run.status == status, (run.status, run.errors)
    assert not run.of("problem"), run.of("problem")
