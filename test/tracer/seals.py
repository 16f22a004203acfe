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


# Ways to raise the count of pkg/mod.py:3 without executing it, from the nearest at hand.
_FORGERIES = {
    "names": """
for module in [m for n, m in sys.modules.items() if n.startswith("swt_")]:
    for name, value in list(vars(module).items()) + list(vars(module.state).items() if hasattr(module, "state") else ()):
        for each in (value if isinstance(value, (list, tuple)) else [value]):
            is_counter = hasattr(each, "__next__") and not isinstance(each, type)
            assert not is_counter, (module, name)
""",
    "constants": """
for code in pkg.mod.work.__code__, pkg.mod.gen.__code__:
    for const in code.co_consts:
        if isinstance(const, list):
            for cell in const: next(cell)
""",
    "the collector": """
for each in gc.get_objects():
    if type(each).__name__ == "Cells":
        for cell in list(each):
            try: next(cell)
            except ValueError: pass
""",
    "callbacks": """
if hasattr(sys, "monitoring"):
    for tool in range(6):
        line = sys.monitoring.register_callback(tool, sys.monitoring.events.LINE, None)
        if line is not None:
            sys.monitoring.register_callback(tool, sys.monitoring.events.LINE, line)
            line(pkg.mod.work.__code__, 3)
""",
    "iterators of earlier tests": """
found = [each for each in gc.get_objects() if type(each).__name__ == "Cells"]
kept = [list(each) for each in found]
pkg.mod.work(1)
tracer.switch("t")
for cells in kept:
    for cell in cells: next(cell)
""",
    "code of that name": """
exec(compile("\\n\\ni = 1\\n", pkg.mod.__file__, "exec"), {})
""",
    "another source": """
import importlib
with open(pkg.mod.__file__, "w") as stream: stream.write("x = 1\\nx = 2\\nx = 3\\n")
os.utime(pkg.mod.__file__, (1, 1))
importlib.reload(pkg.mod)
""",
    "a frame that calls back": """
class Calls(object):
    def __index__(self):
        for each in gc.get_objects():
            if type(each).__name__ == "Cells":
                for cell in list(each): next(cell)
        return 0
pkg.mod.work(Calls())
""",
}


def check_forged_counts(python, folder):
    """Whatever advances a counter but its line is recorded, in its place."""
    for index, (name, forgery) in enumerate(sorted(_FORGERIES.items())):
        script = (
            "import gc, os, sys, pkg.mod\ntracer = sys.modules['swt_tracer']\n"
            "tracer.switch('before')\nexec(%r)\ntracer.switch(None)\n" % forgery)
        place = os.path.join(folder, str(index))
        os.mkdir(place)
        run, sealed = _sealed(python, place, script)
        found = [record["where"] for record in sealed.of("foreign") if record["what"] == "total"]
        counted = [record["counts"].get("1", 0) for record in sealed.of("counts")]
        is_honest = name == "names" or (name == "callbacks" and python.minor < 12) or (
            name == "constants" and python.minor > 11) or (
            name == "code of that name" and python.minor < 12)
        assert is_honest == ("pkg/mod.py:3" not in found), (name, found, run.processes[0].records)
        assert sum(counted) == (name == "iterators of earlier tests"), (name, counted)


def check_honest_counts(python, folder):
    """Threads, generators, recursion, copies, tracers of the program: no count is doubted."""
    run, sealed = _sealed(python, folder, (
        "import os, sys, threading, types\nsys.setswitchinterval(1e-6)\n"
        "tracer = sys.modules['swt_tracer']\nfrom pkg.mod import work, gen\n"
        "def run():\n    for _ in range(300): work(7); list(gen())\n"
        "threads = [threading.Thread(target=run) for _ in range(4)]\n"
        "for t in threads: t.start()\n"
        "for turn in range(300): tracer.switch('t%d' % turn)\n"
        "for t in threads: t.join()\n"
        "types.FunctionType(work.__code__, {'range': range})(3)\n"
        "code = work.__code__\n"
        "if hasattr(code, 'replace'):\n"
        "    types.FunctionType(code.replace(co_flags=code.co_flags | 0x100), {'range': range})(3)\n"
        "def trace(frame, event, arg): return trace\n"
        "sys.settrace(trace)\nwork(2)\ntracer.switch('traced')\nwork(2)\nsys.settrace(None)\n"
        "pid = os.fork()\nwork(2)\n"
        "if pid == 0: os._exit(0)\nos.waitpid(pid, 0)\n"
        "exec(compile(open('pkg/mod.py').read(), 'pkg/mod.py', 'exec'), {'__name__': 'x'})\n"))
    sealed.check_whole()
    assert not sealed.of("foreign") and not sealed.of("problem"), sealed.records
    assert run.total("pkg/mod.py:3") >= 4 * 300 * 7 + 3 + 4, run.counts()


def check_replaced_recorder(python, folder):
    """Nobody joins the recorder, and whoever replaces a part of it is recorded."""
    ways = {
        "trust": "sys.modules['swt_tracer'].trust(sys.modules['__main__'], True)",
        "trust of outcomes": "sys.modules['swt_outcomes']._trust(sys.modules['__main__'], True)",
        "_error_of": "sys.modules['swt_outcomes']._error_of = lambda error: ('', '', [])",
        "_identify": "sys.modules['swt_runner_unittest']._identify.__code__ = (lambda t: 0).__code__",
        "_HERE": "sys.modules['swt_outcomes']._HERE = '/tmp'",
    }
    for index, (name, way) in enumerate(sorted(ways.items())):
        place = os.path.join(folder, str(index))
        os.mkdir(place)
        run, sealed = _sealed(python, place, (
            "import sys\nimport unittest\n"
            "class A(unittest.TestCase):\n    def test_a(self):\n        %s\n"
            "unittest.main(exit=False)\n" % way))
        found = [record["where"] for record in sealed.of("foreign") if record["what"] == "code"]
        assert len(found) == 1 and name.partition(" ")[0] in found[0], (name, found)
