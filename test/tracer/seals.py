"""Seals of records: who has the key, what carries it, and that nobody finds it by looking.

Each function `check_…` gets an interpreter and an empty folder, and raises AssertionError.
"""

import os

from harness import KEY, Seals, quiet, traced

# Everything that a program can read of itself without calling the tracer, one hexadecimal line each.
_HUNT = """
import gc, os, sys, subprocess

def look():
    seen, left, found = set(), list(gc.get_objects()) + [sys.modules], []
    left += [vars(module) for module in list(sys.modules.values()) if hasattr(module, "__dict__")]
    while left:
        each = left.pop()
        if id(each) in seen:
            continue
        seen.add(id(each))
        if isinstance(each, (bytes, bytearray)):
            found.append(bytes(each))
        elif isinstance(each, memoryview):
            found.append(each.tobytes())
        elif isinstance(each, str):
            found.append(each.encode("utf-8", "surrogatepass"))
        elif type(each) is int:
            found.append(abs(each).to_bytes(each.bit_length() // 8 + 1, "little"))
            found.append(abs(each).to_bytes(each.bit_length() // 8 + 1, "big"))
        else:
            left += gc.get_referents(each)
            for name in ("cell_contents", "__closure__", "__defaults__", "__code__"):
                try:
                    left.append(getattr(each, name))
                except Exception:
                    pass
    for path in ("/proc/self/environ", "/proc/self/cmdline", "/proc/%d/environ" % os.getppid(),
                 "/proc/%d/cmdline" % os.getppid()):
        try:
            found.append(open(path, "rb").read())
        except OSError:
            pass
    config = os.environ["SWT_TRACE_CONFIG"]
    for top in (os.path.dirname(config), os.getcwd()):
        for folder, _, names in os.walk(top):
            for name in names:
                found.append(open(os.path.join(folder, name), "rb").read())
    for name in os.listdir("/proc/self/fd"):
        try:
            if os.path.isfile("/proc/self/fd/" + name):
                found.append(open("/proc/self/fd/" + name, "rb").read())
        except OSError:
            pass
    return found

def memory():
    found = []
    with open("/proc/self/maps") as maps, open("/proc/self/mem", "rb", 0) as mem:
        for line in maps:
            words = line.split()
            start, end = [int(part, 16) for part in words[0].split("-")]
            if "w" in words[1] and end - start < 1 << 28 and "[v" not in line:
                try:
                    mem.seek(start)
                    found.append(mem.read(end - start))
                except OSError:
                    pass
    return found
"""


def _sealed(python, folder, script, relay=False, status=0, **options):
    path = os.path.join(folder, "key")
    with open(path, "wb") as stream:
        stream.write(KEY)
    config = {"key": path, "relay": relay, "outcomes": True}
    run = traced(python, folder, script, config=config, **options)
    assert run.status == status, (run.status, run.errors)
    assert not os.path.exists(path), "the key is still there"
    return run, Seals(run.out)


def check_seals(python, folder):
    """The first process and its forks have the key, what they start has not."""
    run, sealed = _sealed(python, folder, (
        "import os, subprocess, sys\nfrom pkg.mod import work\nwork(3)\n"
        "pid = os.fork()\nif pid == 0:\n    work(2)\n    os._exit(0)\nos.waitpid(pid, 0)\n"
        "child = subprocess.Popen([sys.executable, '-c', 'import pkg.mod; pkg.mod.work(4)'])\n"
        "child.wait()\nos.system('true')\nprint(child.pid)\n"))
    quiet(run)
    sealed.check_whole()
    assert len(sealed.of("process")) == 2 and len(sealed.of("process", False)) == 1
    forked = [record for record in sealed.of("process") if "forked" in record]
    assert len(forked) == 1 and forked[0]["forked"] in sealed.numbers
    child = sealed.of("process", False)[0]
    assert child["pid"] == int(run.output)
    assert [record["pid"] for record in sealed.of("started")] == [child["pid"], None]
    first = [record for record in sealed.of("process") if "forked" not in record][0]
    assert child["above"][0] == first["pid"], child
    assert run.total("pkg/mod.py:3") == 9, run.counts()


def check_key_is_not_found(python, folder):
    """By looking at every object, file, argument and variable, nor as bytes in memory."""
    run, sealed = _sealed(python, folder, _HUNT + (
        "import pkg.mod\npkg.mod.work(2)\n"
        "with open(os.path.join(os.path.dirname(os.getcwd()), 'found'), 'w') as stream:\n"
        "    for each in look() + memory():\n        stream.write(each.hex() + '\\n')\n"))
    sealed.check_whole()
    assert len(sealed.of("exit")) == 1
    with open(os.path.join(folder, "found")) as stream:
        lines = stream.read().splitlines()
    assert len(lines) > 10000 or len("".join(lines)) > 1000000, len(lines)
    for what in (KEY, KEY[::-1], KEY.hex().encode("ascii")):
        assert not [line for line in lines if what.hex() in line], what


def check_seals_in_threads(python, folder):
    run, sealed = _sealed(python, folder, (
        "import sys, threading\nsys.setswitchinterval(1e-6)\ntracer = sys.modules['swt_tracer']\n"
        "from pkg.mod import work\n"
        "def run(name):\n"
        "    for turn in range(100):\n        work(2)\n        tracer.switch('%s %d' % (name, turn))\n"
        "threads = [threading.Thread(target=run, args=(name,)) for name in 'abcd']\n"
        "for t in threads: t.start()\nfor t in threads: t.join()\n"))
    quiet(run)
    sealed.check_whole()
    assert run.total("pkg/mod.py:3") == 800, run.total("pkg/mod.py:3")


def check_seals_and_signals(python, folder):
    """An exception at any moment loses no number, though a record may be there twice."""
    run, sealed = _sealed(python, folder, (
        "import signal, sys, time\ntracer = sys.modules['swt_tracer']\nfrom pkg.mod import work\n"
        "class Late(Exception): pass\n"
        "def late(*args): raise Late()\n"
        "signal.signal(signal.SIGALRM, late)\n"
        "raised = 0\n"
        "for turn in range(3000):\n"
        "    try:\n"
        "        signal.setitimer(signal.ITIMER_REAL, 1e-6 * (turn % 97 + 1))\n"
        "        work(1)\n        tracer.switch('t%d' % turn)\n        tracer.switch(None)\n"
        "        signal.setitimer(signal.ITIMER_REAL, 0)\n"
        "    except Late:\n        raised += 1\n"
        "signal.setitimer(signal.ITIMER_REAL, 0)\nprint(raised)\n"))
    assert int(run.output) > 100, run.output
    (numbers,), (records,) = sealed.numbers.values(), sealed.records.values()
    assert numbers == sorted(numbers) and set(numbers) == set(range(max(numbers) + 1))
    assert len(records) == len(numbers) and records[-1]["kind"] == "exit"


def check_relay(python, folder):
    """What a process that runs nothing of the repository starts has a key of its own, one at a time."""
    run, sealed = _sealed(python, folder, (
        "import subprocess, sys\n"
        "code = ('import os, subprocess, sys\\n'\n"
        "        'subprocess.call([sys.executable, \"-c\", \"1\"])\\n'\n"
        "        'pid = os.fork()\\n'\n"
        "        'if pid == 0: os._exit(0)\\n'\n"
        "        'os.waitpid(pid, 0)\\n')\n"
        "for _ in range(2): subprocess.check_call([sys.executable, '-c', code])\n"), relay=True)
    sealed.check_whole()
    relays = sorted(str(record.get("relay")) for record in sealed.of("process"))
    assert relays == ["1", "1", "2", "2", "None"], relays
    assert len(sealed.of("process", False)) == 2


def check_no_key_left(python, folder):
    """A process that comes too late records no outcomes, and runs as ever."""
    path = os.path.join(folder, "key")
    run = traced(python, folder, "import unittest\nclass A(unittest.TestCase):\n"
                 "    def test_a(self): pass\nunittest.main()\n",
                 config={"key": path, "outcomes": True})
    quiet(run)
    assert run.of("process") and not run.of("outcome") and not run.of("session"), run.processes


def check_strangers(python, folder):
    """Whoever calls the recorder as if it were its part is recorded in the place of what it wrote."""
    run, sealed = _sealed(python, folder, (
        "import sys\nimport unittest\n"
        "class A(unittest.TestCase):\n"
        "    def test_a(self):\n"
        "        sys.modules['swt_outcomes'].outcome('x', 'passed', 0.0, 'call')\n"
        "        sys.modules['swt_tracer'].write({'kind': 'counts', 'test': 'x', 'counts': {'0': 1}})\n"
        "unittest.main()\n"))
    found = sorted(record["what"] for record in sealed.of("foreign"))
    assert found == ["counts", "outcome"], found
    assert all("main.py:" in record["where"] for record in sealed.of("foreign"))
    assert [record["test"] for record in sealed.of("outcome")] == ["main.py::A::test_a"]
    assert not sealed.of("counts")


def check_full_disk(python, folder):
    """What cannot be written for a while is there in the end, whole and in order."""
    run, sealed = _sealed(python, folder, (
        "import resource, signal, sys\ntracer = sys.modules['swt_tracer']\nfrom pkg.mod import work\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "_, hard = resource.getrlimit(resource.RLIMIT_FSIZE)\n"
        "import os\nsize = os.path.getsize(tracer.current_journal())\n"
        "for turn in range(200):\n"
        "    if turn == 20: resource.setrlimit(resource.RLIMIT_FSIZE, (size + 5000, hard))\n"
        "    work(1)\n    tracer.switch('t%d' % turn)\n"
        "assert os.path.getsize(tracer.current_journal()) <= size + 5000\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))\n"))
    quiet(run)
    sealed.check_whole()
    assert [record["test"] for record in sealed.of("begin")][-1] == "t199"
    assert run.total("pkg/mod.py:3") == 200 and sealed.of("exit")


def check_names_of_the_interpreter(python, folder):
    """Modules of the repository that hide some of the interpreter's do not see the key."""
    spy = "open('spied', 'a').write(__name__)\nraise ImportError\n"
    names = ["_sha256", "_sha2", "hashlib", "_json", "json", "mmap", "swt_seal", "swt_tracer"]
    more = {name + ".py": spy for name in names}
    root = os.path.join(folder, "root")
    run, sealed = _sealed(python, folder, "from pkg.mod import work\nwork(2)\n", more=more,
                          PYTHONPATH=root)
    quiet(run)
    sealed.check_whole()
    assert not os.path.exists(os.path.join(root, "spied")), open(os.path.join(root, "spied")).read()
    assert run.total("pkg/mod.py:3") == 2
