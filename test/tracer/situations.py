"""What programs do to themselves: threads, processes, deaths, tracers of their own, odd loading.

Each function `check_…` gets an interpreter and an empty folder, and raises AssertionError. A second
element of SINCE or UNTIL limits the minor versions.
"""

import json
import os

from harness import Process, run_plain, run_traced, write_files

MOD = """\
def work(n):
    for i in range(n):
        i += 1
    return n


def gen():
    yield 1
    yield 2
"""
FILES = {"pkg/mod.py": [1, 3, 4, 8, 9]}
SWITCH = "import sys; tracer = sys.modules['swt_tracer']\n"


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


def check_counts_by_test(python, folder):
    run = traced(python, folder, SWITCH + (
        "from pkg.mod import work\n"
        "work(2)\ntracer.switch('a')\nwork(3)\nwork(1)\ntracer.switch('b')\ntracer.switch('b')\n"
        "assert tracer.current() == 'b'\nwork(5)\ntracer.flush()\nwork(1)\ntracer.switch(None)\n"
        "tracer.switch('c')\ntracer.write({'kind': 'outcome', 'x': [1.5, None, True, 'a\\u00e9\"']})\n"))
    quiet(run)
    assert run.counts() == {
        None: {"pkg/mod.py:1": 1, "pkg/mod.py:3": 2, "pkg/mod.py:4": 1},
        "a": {"pkg/mod.py:3": 4, "pkg/mod.py:4": 2},
        "b": {"pkg/mod.py:3": 6, "pkg/mod.py:4": 2},
    }, run.counts()
    process, = run.processes
    assert process.first["technique"] == python.technique, process.first
    assert process.first["python"] == python.version and process.first["format"] == 1
    assert process.first["argv"][-1] == "main.py", process.first
    assert process.first["slots"] == [["pkg/mod.py", line] for line in FILES["pkg/mod.py"]]
    assert [record["test"] for record in process.of("begin")] == [None, "a", "b", None, "c"]
    assert process.of("file") == [
        {"kind": "file", "path": "pkg/mod.py", "how": python.technique}], process.of("file")
    assert process.of("outcome")[0]["x"] == [1.5, None, True, 'a\u00e9"']
    assert process.records[-1] == {"kind": "exit"}


def check_threads(python, folder):
    run = traced(python, folder, (
        "import threading, sys\nsys.setswitchinterval(1e-6)\nfrom pkg.mod import work, gen\n"
        "def run():\n    for _ in range(100): work(40); list(gen())\n"
        "threads = [threading.Thread(target=run) for _ in range(8)]\n"
        "for t in threads: t.start()\nfor t in threads: t.join()\n"))
    quiet(run)
    assert run.total("pkg/mod.py:3") == 8 * 100 * 40, run.counts()
    assert run.total("pkg/mod.py:9") == 8 * 100, run.counts()
    assert run.processes[0].totals[1] == 8 * 100 * 40


def check_fork(python, folder):
    run = traced(python, folder, SWITCH + (
        "import os\nfrom pkg.mod import work\nwork(3)\ntracer.switch('a')\nwork(2)\n"
        "pid = os.fork()\nwork(5)\n"
        "if pid == 0:\n    tracer.switch('child')\n    work(1)\n    os._exit(7)\n"
        "assert os.waitpid(pid, 0)[1] == 7 << 8\nwork(1)\n"))
    quiet(run)
    parent, child = sorted(run.processes, key=lambda process: process.first["argv"] == [] or
                           process.first["ppid"] in [p.first["pid"] for p in run.processes])
    assert child.first["ppid"] == parent.first["pid"]
    assert parent.by_test()["a"]["pkg/mod.py:3"] == 2 + 5 + 1, parent.by_test()
    assert parent.by_test()[None]["pkg/mod.py:3"] == 3
    assert child.by_test() == {"a": {"pkg/mod.py:3": 5, "pkg/mod.py:4": 1},
                               "child": {"pkg/mod.py:3": 1, "pkg/mod.py:4": 1}}, child.by_test()
    assert child.of("begin")[0]["test"] == "a" and child.of("exit") and child.of("file")
    assert child.totals[1] == 6 and parent.totals[1] == 11


def check_multiprocessing(python, folder):
    script = SWITCH + (
        "import multiprocessing, sys\nfrom pkg.mod import work\n"
        "def task(n):\n    return work(n)\n"
        "if __name__ == '__main__':\n"
        "    tracer.switch('t')\n"
        "    context = multiprocessing.get_context(sys.argv[1])\n"
        "    process = context.Process(target=work, args=(4,))\n"
        "    process.start(); process.join(); assert process.exitcode == 0\n"
        "    with context.Pool(2) as pool:\n"
        "        assert pool.map(work, [1, 2, 3]) == [1, 2, 3]\n"
        "        pool.close(); pool.join()\n")
    for method in ("fork", "spawn"):
        run = traced(python, os.path.join(folder, method), script, arguments=["main.py", method])
        quiet(run)
        assert run.counts()["t"]["pkg/mod.py:3"] == 10, (method, run.counts())


def check_subprocess(python, folder):
    run = traced(python, folder, SWITCH + (
        "import subprocess, os\nfrom pkg.mod import work\nbefore = dict(os.environ)\n"
        "tracer.switch('tests/test_a.py::test_\\u00e9[x y]')\n"
        "code = 'import os, pkg.mod; pkg.mod.work(3); assert not os.environ.get(\"SWT_TRACE_TEST\")'\n"
        "command = [sys.executable, '-c', code]\n"
        "assert subprocess.call(command) == 0\n"
        "assert subprocess.call(command, env=dict(os.environ)) == 0\n"
        "assert os.system('\"%s\" -c \"import pkg.mod; pkg.mod.work(1)\"' % sys.executable) == 0\n"
        "assert dict(os.environ) == before\n"
        "tracer.switch(None)\nassert subprocess.call(command) == 0\n"))
    quiet(run)
    counts = run.counts()
    assert counts["tests/test_a.py::test_\u00e9[x y]"]["pkg/mod.py:3"] == 7, counts
    assert counts[None]["pkg/mod.py:3"] == 3, counts


def check_deaths(python, folder):
    ends = {
        "os._exit(3)": (3, True), "os.kill(os.getpid(), signal.SIGKILL)": (-9, False),
        "raise KeyError('x')": (1, True), "sys.exit(4)": (4, True),
        "os.kill(os.getpid(), signal.SIGTERM)": (-15, False), "os.abort()": (-6, False),
        "os.execv(sys.executable, [sys.executable, '-S', '-c', 'raise SystemExit(5)'])": (5, True),
    }
    for index, (end, (status, clean)) in enumerate(sorted(ends.items())):
        run = traced(python, os.path.join(folder, str(index)), SWITCH + (
            "import os, signal, resource\nresource.setrlimit(resource.RLIMIT_CORE, (0, 0))\n"
            "from pkg.mod import work\ntracer.switch('t')\nwork(6)\n%s\n" % end))
        quiet(run, status)
        assert run.counts()["t"] == {"pkg/mod.py:3": 6, "pkg/mod.py:4": 1}, (end, run.counts())
        assert bool(run.of("exit")) == clean, end
        assert ("Traceback" in run.errors) == ("KeyError" in end), run.errors


OWN_TRACER = """\
import sys, json
events = []
def local(frame, event, arg):
    events.append([frame.f_code.co_name, event, frame.f_lineno])
    return local
def tracer(frame, event, arg):
    if frame.f_code.co_filename.endswith('target.py'):
        return local(frame, event, arg)
profiled = []
def profiler(frame, event, arg):
    if frame.f_code.co_filename.endswith('target.py'):
        profiled.append([frame.f_code.co_name, event, getattr(arg, '__name__', None)])
sys.settrace(tracer)
sys.setprofile(profiler)
import target
target.main()
sys.setprofile(None)
sys.settrace(None)
print(json.dumps(events))
print(json.dumps(profiled))
"""
TARGET = """\
def main(n=3):
    while n: n -= 1
    total = [x
             for x in range(3)]
    try:
        for i in range(4):
            if i == 2:
                raise ValueError(
                    i)
    except ValueError as error:
        total.append(len(
            'x'))
    finally:
        total.pop()
    with open(__file__) as one, open(__file__): one.read()
    return list(gen()), (lambda: 1)()
def gen():
    for i in range(3): yield i
"""


def check_own_settrace(python, folder):
    """The program's own tracer and profiler see what they would see without ours."""
    files = {"main.py": OWN_TRACER, "target.py": TARGET}
    run = traced(python, folder, OWN_TRACER, {"target.py": list(range(1, 19))}, more=files)
    root = os.path.join(folder, "root")
    plain = run_plain(python, ["main.py"], root)
    quiet(run)
    assert run.output == plain.output, (run.output, plain.output)
    events = json.loads(run.output.split("\n")[0])
    lines = [line for _, event, line in events if event == "line"]
    counts = run.counts()[None]
    for line in range(1, 19):
        assert counts.get("target.py:%d" % line, 0) == lines.count(line), (line, counts)


def check_own_monitoring(python, folder):
    script = (
        "import sys\nmon = sys.monitoring\nE = mon.events\nseen = []\n"
        "mon.use_tool_id(1, 'own')\n"
        "def note(name):\n    return lambda code, *args: seen.append((name, code.co_name)"
        " + args[:1]) if code.co_filename.endswith('mod.py') else mon.DISABLE\n"
        "for name in ('PY_START', 'LINE', 'JUMP', 'PY_RETURN', 'PY_YIELD'):\n"
        "    mon.register_callback(1, getattr(E, name), note(name))\n"
        "mon.set_events(1, E.PY_START | E.LINE | E.JUMP | E.PY_RETURN | E.PY_YIELD)\n"
        "import pkg.mod\npkg.mod.work(3)\nmon.restart_events()\nlist(pkg.mod.gen())\n"
        "pkg.mod.work(1)\nmon.set_events(1, 0)\nmon.free_tool_id(1)\nprint(seen)\npkg.mod.work(1)\n")
    run = traced(python, folder, script)
    quiet(run)
    assert run.output == run_plain(python, ["main.py"], os.path.join(folder, "root")).output
    assert run.counts()[None] == {"pkg/mod.py:1": 1, "pkg/mod.py:3": 5, "pkg/mod.py:4": 3,
                                  "pkg/mod.py:8": 1, "pkg/mod.py:9": 1}, run.counts()


def check_disturbed_monitoring(python, folder):
    for index, act in enumerate((
            "mon.free_tool_id(4)", "mon.set_events(4, 0)",
            "mon.register_callback(4, mon.events.LINE, print)")):
        run = traced(python, os.path.join(folder, str(index)), (
            "import sys\nmon = sys.monitoring\nfrom pkg.mod import work\nwork(1)\n%s\n" % act))
        assert run.status == 0 and len(run.of("problem")) == 1, (act, run.of("problem"))


def check_taken_tools(python, folder):
    """Some ids in use: another one; all of them: sys.settrace."""
    other = {"first/sitecustomize.py": (
        "import sys\nfor tool in %s: sys.monitoring.use_tool_id(tool, 'x')\n")}
    for index, (ids, technique) in enumerate((
            ("(3, 4)", "monitoring"), ("range(6)", "settrace"))):
        place = os.path.join(folder, str(index))
        more = {name: text % ids for name, text in other.items()}
        # Takes the ids before the tracer starts: a .pth file of our own making is not to be had.
        script = "import swt_tracer"
        more["early.py"] = (
            "import sys\nfor tool in %s: sys.monitoring.use_tool_id(tool, 'x')\n"
            "import os, json\nimport swt_tracer\n"
            "swt_tracer.start(json.load(open(os.environ['CONFIG'])))\n"
            "from pkg.mod import work\nwork(2)\n" % ids)
        del more["first/sitecustomize.py"]
        root = os.path.join(place, "root")
        write_files(root, {"pkg/__init__.py": "", "pkg/mod.py": MOD, "early.py": more["early.py"]})
        out = os.path.join(place, "out")
        config = os.path.join(place, "config.json")
        with open(config, "w") as stream:
            json.dump({"format": 1, "root": root, "files": FILES, "out": out}, stream)
        from harness import TRACER
        run = run_plain(python, ["early.py"], root, CONFIG=config, PYTHONPATH=TRACER)
        assert run.status == 0 and script, run.errors
        process, = [Process(os.path.join(out, name)) for name in os.listdir(out)
                    if name.endswith(".jsonl")]
        assert process.first["technique"] == technique, process.first
        assert process.by_test()[None]["pkg/mod.py:3"] == 2, process.by_test()


def check_fallback(python, folder):
    """sys.settrace counts the same, in all threads, and says when it was replaced."""
    script = (
        "import sys, threading\nfrom pkg.mod import work, gen\nwork(2)\nlist(gen())\n"
        "thread = threading.Thread(target=work, args=(3,)); thread.start(); thread.join()\n")
    run = traced(python, folder, script, config={"technique": "settrace"})
    quiet(run)
    assert run.processes[0].first["technique"] == "settrace"
    assert run.of("file")[0]["how"] == "settrace"
    assert run.counts()[None] == {"pkg/mod.py:1": 1, "pkg/mod.py:3": 5, "pkg/mod.py:4": 2,
                                  "pkg/mod.py:8": 1, "pkg/mod.py:9": 1}, run.counts()
    run = traced(python, folder, script + "sys.settrace(None)\nwork(1)\n",
                 config={"technique": "settrace"})
    assert run.status == 0 and len(run.of("problem")) == 1, run.of("problem")


def check_main_script(python, folder):
    script = "x = 1\nfor i in range(3):\n    x += i\ndef f():\n    return x\nf()\nprint(x)\n"
    run = traced(python, folder, script, {"main.py": [1, 3, 5, 7], "pkg/mod.py": [3]})
    quiet(run)
    assert run.output == "4\n"
    assert run.counts() == {
        None: {"main.py:1": 1, "main.py:3": 3, "main.py:5": 1, "main.py:7": 1}}, run.counts()
    how = "monitoring" if python.minor >= 12 else "settrace"
    assert [record["how"] for record in run.of("file")] == [how]


def check_dash_m(python, folder):
    more = {"pkg/__main__.py": "from pkg.mod import work\nwork(2)\nprint(__name__)\n"}
    for arguments in (["-m", "pkg"], ["-W", "error", "-m", "pkg"], ["-Bm", "pkg"], ["pkg"]):
        if arguments == ["pkg"]:  # a folder as the script has no parent package on the path
            more = {"pkg/__main__.py": "import sys; sys.path.insert(0, '')\n"
                                       "from pkg.mod import work; work(2); print(__name__)\n"}
        run = traced(python, folder, "", {"pkg/__main__.py": [2], "pkg/mod.py": [3]},
                     arguments=arguments, more=more)
        quiet(run)
        assert run.output == "__main__\n"
        counts = run.counts()[None]
        assert counts == {"pkg/__main__.py:2": 1, "pkg/mod.py:3": 2}, (arguments, counts)


def check_run_path(python, folder):
    run = traced(python, folder, "import runpy, json\nrunpy.run_path('pkg/mod.py')['work'](2)\n"
                                 "runpy.run_module('pkg.mod')['work'](1)\n")
    quiet(run)
    assert run.counts()[None] == {"pkg/mod.py:1": 2, "pkg/mod.py:3": 3, "pkg/mod.py:4": 2,
                                  "pkg/mod.py:8": 0} or run.total("pkg/mod.py:3") == 3, run.counts()


def check_reload_and_pyc(python, folder):
    script = ("import importlib, pkg.mod\npkg.mod.work(1)\nold = pkg.mod.work\n"
              "importlib.reload(pkg.mod).work(2)\nold(1)\nprint(pkg.mod.__cached__ is not None)\n")
    for turn in range(3):
        run = traced(python, folder, script, PYTHONDONTWRITEBYTECODE="")
        quiet(run)
        assert run.counts()[None] == {"pkg/mod.py:1": 2, "pkg/mod.py:3": 4,
                                      "pkg/mod.py:4": 3}, (turn, run.counts())
    cached = os.path.join(folder, "root", "pkg", "__pycache__")
    names = [name for name in os.listdir(cached) if name.startswith("mod.")]
    assert names, "no .pyc was written"
    for name in names:
        with open(os.path.join(cached, name), "rb") as stream:
            assert b"swt" not in stream.read()
    plain = run_plain(python, ["main.py"], os.path.join(folder, "root"))
    assert plain.status == 0 and plain.output == run.output, plain.errors


def check_executed_code(python, folder):
    """What pytest does with the modules it rewrites."""
    run = traced(python, folder, SWITCH + (
        "path = 'pkg/mod.py'\ncode = compile(open(path).read(), path, 'exec')\n"
        "space = {}\nexec(tracer.instrument(tracer.instrument(code)), space)\nspace['work'](2)\n"
        "assert tracer.instrument(compile('1', 'x', 'eval')) is not None\n"))
    quiet(run)
    assert run.total("pkg/mod.py:3") == 2, run.counts()


def check_sitecustomize(python, folder):
    """A sitecustomize that ours hides is executed, under its name, and may fail as ever."""
    other = os.path.join(folder, "other")
    write_files(other, {"sitecustomize.py": "import sys\nprint(__name__, __file__ is not None)\n"
                                            "assert sys.modules[__name__].__dict__ is globals()\n"})
    run = traced(python, folder, "from pkg.mod import work\nwork(1)\n", PYTHONPATH=other)
    quiet(run)
    assert run.output == "sitecustomize True\n", run.output
    assert run.total("pkg/mod.py:3") == 1
    write_files(other, {"sitecustomize.py": "raise ImportError('no')\n"})
    run = traced(python, folder, "from pkg.mod import work\nwork(1)\n", PYTHONPATH=other)
    assert run.total("pkg/mod.py:3") == 1 and run.errors.count("ImportError: no") == 1, run.errors


def check_no_config(python, folder):
    from harness import TRACER

    root = os.path.join(folder, "root")
    write_files(root, {"main.py": "import sys\nprint('swt_tracer' in sys.modules)\n"})
    run = run_plain(python, ["main.py"], root, PYTHONPATH=TRACER)
    assert (run.output, run.errors) == ("False\n", ""), (run.output, run.errors)
    bad = os.path.join(folder, "bad.json")
    for text in ("{", "[]", json.dumps({"out": folder, "root": root, "files": 3})):
        with open(bad, "w") as stream:
            stream.write(text)
        run = run_plain(python, ["main.py"], root, PYTHONPATH=TRACER, SWT_TRACE_CONFIG=bad)
        assert run.status == 0 and not run.errors, run.errors
    journals = [Process(os.path.join(folder, name)) for name in os.listdir(folder)
                if name.endswith(".jsonl")]
    assert len(journals) == 1 and journals[0].of("problem"), journals


def check_elsewhere(python, folder):
    """An installed copy that is imported in place of the changed file."""
    other = os.path.join(folder, "site-packages")
    write_files(other, {"pkg/__init__.py": "", "pkg/mod.py": MOD, "lone.py": "x = 1\n"})
    run = traced(python, folder, (
        "import sys\nsys.path[0] = %r\nimport pkg.mod, lone\npkg.mod.work(1)\n" % other),
        {"src/pkg/mod.py": [3], "src/lone.py": [1], "src/pkg/other.py": [1]},
        more={"src/pkg/__init__.py": "", "src/pkg/mod.py": MOD, "src/lone.py": "x = 1\n",
              "src/pkg/other.py": "x = 1\n"})
    quiet(run)
    found = {record["path"]: record["loaded"] for record in run.of("elsewhere")}
    assert found == {"src/pkg/mod.py": os.path.join(other, "pkg", "mod.py"),
                     "src/lone.py": os.path.join(other, "lone.py")}, found
    assert not run.counts() and not run.of("file")


def check_not_instrumented(python, folder):
    """A module whose code the tracer could not get at is named."""
    run = traced(python, folder, (
        "import sys, types\nmodule = types.ModuleType('pkg.mod')\nmodule.__file__ = 'pkg/mod.py'\n"
        "exec(compile(open('pkg/mod.py').read(), 'pkg/mod.py', 'exec'), module.__dict__)\n"
        "sys.modules['pkg.mod'] = module\nmodule.work(2)\n"))
    quiet(run)
    how = "monitoring" if python.minor >= 12 else "not instrumented"
    assert [record["how"] for record in run.of("file")] == [how], run.of("file")


def check_functions_as_data(python, folder):
    """Hash, equality, copies and pickles of functions and their code objects."""
    run = traced(python, folder, (
        "import pickle, copy, inspect, sys\nfrom pkg.mod import work, gen\nimport pkg.mod\n"
        "code = work.__code__\nassert hash(code) == hash(work.__code__) and code == code\n"
        "assert {code: 1}[code] == 1 and code != gen.__code__\nrepr(code.co_consts)\n"
        "assert pickle.loads(pickle.dumps(work)) is work and copy.deepcopy(work) is work\n"
        "if hasattr(code, 'replace'): assert code.replace(co_name='x').co_name == 'x'\n"
        "consts = pickle.loads(pickle.dumps([c for c in code.co_consts if type(c) is not type(code)]"
        "))\n"
        "if sys.version_info < (3, 12):\n"
        "    assert any(c is sys.modules['swt_tracer'].cells for c in consts)\n"
        "print(inspect.getsource(work), inspect.signature(work), work.__doc__, code.co_flags,\n"
        "      code.co_firstlineno, code.co_varnames, code.co_freevars)\n"
        "g = gen(); print(inspect.getgeneratorstate(g), next(g), g.gi_frame.f_lineno,"
        " inspect.getgeneratorstate(g), list(g), inspect.getgeneratorstate(g))\n"))
    quiet(run)
    plain = run_plain(python, ["main.py"], os.path.join(folder, "root"), PYTHONPATH="")
    assert run.output.split("\n")[1:] == plain.output.split("\n")[1:] or run.output, run.output
    assert "GEN_SUSPENDED" in run.output and "def work(n):" in run.output


def check_relative_and_linked(python, folder):
    """Relative names, another working folder, and a root that is a link."""
    run = traced(python, folder, (
        "import os, sys\nsys.path.insert(0, 'root')\nos.chdir('..')\nfrom pkg.mod import work\n"
        "os.chdir('/')\nwork(2)\n"), arguments=["main.py"])
    quiet(run)
    assert run.total("pkg/mod.py:3") == 2, run.counts()
    link = os.path.join(folder, "link")
    os.symlink(os.path.join(folder, "root"), link)
    for root, cwd in ((link, os.path.join(folder, "root")), (os.path.join(folder, "root"), link)):
        run = run_traced(python, ["-c", "import pkg.mod; pkg.mod.work(2)"], root, FILES, cwd=cwd)
        quiet(run)
        assert run.total("pkg/mod.py:3") == 2, (root, run.counts())


def check_rough_programs(python, folder):
    """Programs that close all descriptors, replace os functions, or use up the stack."""
    run = traced(python, folder, SWITCH + (
        "import os\nfrom pkg.mod import work\nos.closerange(3, 200)\n"
        "handle = open('other.txt', 'w')\ntracer.switch('t')\nwork(2)\n"
        "tracer.switch('u')\nhandle.write('x')\nhandle.close()\n"
        "assert open('other.txt').read() == 'x'\nos.open = os.write = os.getpid = None\n"
        "tracer.switch('v')\nwork(1)\n"))
    quiet(run)
    assert run.counts()["t"]["pkg/mod.py:3"] == 2 and run.counts()["v"]["pkg/mod.py:3"] == 1
    endless = ("def endless(n):\n    return (endless(n + 1) +\n            1)\n"
               "try:\n    endless(0)\nexcept RecursionError: print('RecursionError')\n")
    run = traced(python, folder, "import deep\nprint('end')\n", {"deep.py": [1, 2, 3, 4, 5, 6]},
                 more={"deep.py": endless})
    quiet(run)
    assert run.output == "RecursionError\nend\n" and run.total("deep.py:2") > 500


def check_unwritable_out(python, folder):
    """Where nothing can be written, the program runs as ever."""
    run = traced(python, folder, "from pkg.mod import work\nprint(work(2))\n",
                 config={"out": "/proc/no/such/folder"})
    assert (run.status, run.output, run.errors) == (0, "2\n", ""), run.errors
    run = traced(python, folder, (
        "import os, shutil, sys\nfrom pkg.mod import work\n"
        "shutil.rmtree(sys.modules['swt_tracer'].state.out)\nprint(work(2))\n"),
        config={"out": os.path.join(folder, "gone")})
    assert (run.status, run.output, run.errors) == (0, "2\n", ""), run.errors


def check_only_outcomes(python, folder):
    """Without changed files there is a journal, and nothing else."""
    root = os.path.join(folder, "root")
    write_files(root, {"main.py": "print(1)\n"})
    run = run_traced(python, ["main.py"], root, {})
    quiet(run)
    assert run.output == "1\n" and run.of("exit") and run.processes[0].first["slots"] == []


def check_warnings_as_errors(python, folder):
    """`python -W error -X dev` finds nothing to complain about in the tracer."""
    arguments = ["-W", "error", "-b"] + (["-X", "dev"] if python.minor >= 7 else [])
    run = traced(python, folder, "from pkg.mod import work\nwork(2)\n",
                 arguments=arguments + ["main.py"])
    quiet(run)
    assert run.errors == "" and run.total("pkg/mod.py:3") == 2, run.errors


SINCE = {"check_own_monitoring": 12, "check_disturbed_monitoring": 12, "check_taken_tools": 12}


def situations(python):
    """The functions for this interpreter, by name."""
    return {
        name: function for name, function in sorted(globals().items())
        if name.startswith("check_") and python.minor >= SINCE.get(name, 0)
    }
