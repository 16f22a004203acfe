"""What programs do to themselves: tracers of their own, odd ways of loading and of ending.

Each function `check_…` gets an interpreter and an empty folder, and raises AssertionError.
"""

import json
import os

from harness import (
    FILES, MOD, SWITCH, TRACER, quiet, read_processes, run_plain, run_traced, traced, write_files,
)


def check_counts_by_test(python, folder):
    run = traced(python, folder, SWITCH + (
        "from pkg.mod import work\n"
        "work(2)\ntracer.switch('a')\nwork(3)\nwork(1)\ntracer.switch('b')\ntracer.switch('b')\n"
        "assert tracer.current() == 'b'\nwork(5)\ntracer.flush()\nwork(1)\ntracer.switch(None)\n"
        "tracer.switch('c')\n"
        "tracer.write({'kind': 'outcome', 'x': [1.5, None, True, 'a\\u00e9\"']})\n"))
    quiet(run)
    assert run.counts() == {
        None: {"pkg/mod.py:1": 1, "pkg/mod.py:3": 2, "pkg/mod.py:4": 1},
        "a": {"pkg/mod.py:3": 4, "pkg/mod.py:4": 2},
        "b": {"pkg/mod.py:3": 6, "pkg/mod.py:4": 2},
    }, run.counts()
    process, = run.processes
    assert process.first["technique"] == python.technique, process.first
    assert process.first["python"] == python.version and process.first["format"] == 2
    assert process.first["argv"][-1] == "main.py", process.first
    assert process.first["slots"] == [["pkg/mod.py", line] for line in FILES["pkg/mod.py"]]
    assert [record["test"] for record in process.of("begin")] == [None, "a", "b", None, "c"]
    assert process.of("file") == [
        {"kind": "file", "path": "pkg/mod.py", "how": python.technique}], process.of("file")
    assert process.of("outcome")[0]["x"] == [1.5, None, True, 'a\u00e9"']
    assert process.records[-1] == {"kind": "exit"}


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
    # Before 3.8, `open` is wrapped.
    of_open = '["main", "c_call", "open"], ["main", "c_return", "open"], '
    expected = plain.output.replace(of_open, "") if python.minor < 8 else plain.output
    assert run.output == expected, (run.output, plain.output)
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
        "pkg.mod.work(1)\nmon.set_events(1, 0)\nmon.free_tool_id(1)\nprint(seen)\n"
        "pkg.mod.work(1)\n")
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
    """Some tool ids in use: another one; all of them: sys.settrace."""
    root = os.path.join(folder, "root")
    for ids, technique in (("(3, 4)", "monitoring"), ("range(6)", "settrace")):
        write_files(root, {"pkg/__init__.py": "", "pkg/mod.py": MOD, "main.py": (
            "import sys, os, json\nfor tool in %s: sys.monitoring.use_tool_id(tool, 'x')\n"
            "import swt_tracer\nswt_tracer.start(json.load(open(os.environ['CONFIG'])))\n"
            "from pkg.mod import work\nwork(2)\n" % ids)})
        out = os.path.join(folder, technique)
        config = os.path.join(folder, "config.json")
        with open(config, "w") as stream:
            json.dump({"format": 1, "root": root, "files": FILES, "out": out}, stream)
        run = run_plain(python, ["main.py"], root, CONFIG=config, PYTHONPATH=TRACER)
        assert run.status == 0, run.errors
        process, = read_processes(out)
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
    assert run.counts()[None] == {
        "pkg/mod.py:1": 2, "pkg/mod.py:3": 3, "pkg/mod.py:4": 2}, run.counts()


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
            assert b"swt_tracer" not in stream.read()
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
    journals = read_processes(folder)
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
        "consts = [c for c in code.co_consts if type(c) is not type(code)]\n"
        "copied = pickle.loads(pickle.dumps(consts))\n"
        "assert [type(c) for c in copied] == [type(c) for c in consts]\n"
        "print(inspect.getsource(work), inspect.signature(work), work.__doc__, code.co_flags,\n"
        "      code.co_firstlineno, code.co_varnames, code.co_freevars)\n"
        "g = gen(); print(inspect.getgeneratorstate(g), next(g), g.gi_frame.f_lineno,"
        " inspect.getgeneratorstate(g), list(g), inspect.getgeneratorstate(g))\n"))
    quiet(run)
    plain = run_plain(python, ["main.py"], os.path.join(folder, "root"), PYTHONPATH="")
    assert run.output == plain.output and "GEN_SUSPENDED" in run.output, run.output


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


