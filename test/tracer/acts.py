"""What tests do besides running the code, and what honest tests do: which of it is recorded.

Each function `check_…` gets an interpreter and an empty folder, and raises AssertionError.
"""

import os

from harness import KEY, Seals, traced, write_files

# Tests by name: (first version of CPython, what is recorded for the code, the code).
_TRICKS = {
    "open": (6, "open pkg/m.py", "open('pkg/m.py').read()"),
    "io.open": (6, "open pkg/m.py", "import io\nio.open('./pkg/m.py').read()"),
    "os.open": (6, "open pkg/m.py", "import os\nos.close(os.open(b'pkg/m.py', 0))"),
    "FileIO": (8, "open pkg/m.py", "import _io\n_io.FileIO('pkg/m.py').read()"),
    "posix": (8, "open pkg/m.py", "import posix\nposix.close(posix.open('pkg/m.py', 0))"),
    "pathlib": (6, "open pkg/m.py", "import pathlib\npathlib.Path('pkg', 'm.py').read_text()"),
    "linecache": (6, "open pkg/m.py", "import linecache\nassert linecache.getline('pkg/m.py', 3)"),
    "linecache once more": (6, "open pkg/m.py", "import linecache\n"
                            "assert linecache.getline('pkg/m.py', 3)"),
    "tokenize": (6, "open pkg/m.py", "import tokenize\ntokenize.open('pkg/m.py').read()"),
    "fileinput": (6, "open pkg/m.py", "import fileinput\nlist(fileinput.input(files=['pkg/m.py']))"),
    "getsource": (6, "open pkg/m.py", "import inspect, pkg.m\ninspect.getsource(pkg.m.f)"),
    "get_source": (6, "open pkg/m.py", "import pkg.m\npkg.m.__loader__.get_source('pkg.m')"),
    "get_data": (6, "open pkg/m.py", "import pkgutil\npkgutil.get_data('pkg', 'm.py')"),
    "pyclbr": (6, "open pkg/m.py", "import pyclbr\npyclbr.readmodule_ex('pkg.m')"),
    "copy": (6, "open pkg/m.py", "import os, shutil\nshutil.copy('pkg/m.py', os.environ['HOME'])"),
    "walk": (6, "list pkg", "import os\nlist(os.walk(os.path.abspath('pkg')))"),
    "glob": (6, "list pkg", "import glob\nassert glob.glob('pkg/*.py')"),
    "listdir": (6, "list ", "import os\nos.listdir(os.getcwd())"),
    "stat": (6, "look pkg/m.py", "import os, pkg.m\nassert os.stat(pkg.m.__file__).st_size > 1"),
    "getsize": (6, "look pkg/m.py", "import os\nassert os.path.getsize('pkg/m.py') > 1"),
    "exists": (6, "look pkg/x.py", "import os\nos.path.exists('pkg/x.py')"),
    "Path.stat": (6, "look pkg/m.py", "import pathlib\npathlib.Path('pkg/m.py').stat()"),
    "symlink": (8, "link pkg/m.py", "import os\nos.symlink('pkg/m.py', os.environ['HOME'] + '/x')"),
    "compile": (8, "compile pkg/m.py", "exec(compile('\\n\\nx = 1', 'pkg/m.py', 'exec'))"),
    "exec": (6, "open pkg/m.py", "exec('open(\"pkg/m.py\").read()')"),
    "__code__": (8, "code pkg/m.py", "from pkg.m import f\ngetattr(getattr(f, '__co' + 'de__'), 'co_names')"),
    "dis": (8, "code pkg/m.py", "import dis\nfrom pkg.m import f\nlist(dis.get_instructions(f))"),
    "replace": (8, "change pkg/m.py", "import pkg.m\ndef g(): pass\n"
                "g.__code__ = g.__code__.replace(co_filename=pkg.m.__file__)"),
    "git": (6, "run git", "import subprocess\nsubprocess.call(['git', 'log'], stderr=-3)"),
    "git -C": (6, "run git", "import os, subprocess\nsubprocess.call("
               "['git', '-C', os.getcwd(), 'log'], cwd='/', stderr=-3)"),
    "git in a shell": (6, "run git", "import subprocess\nsubprocess.call('cd . && git diff 2> x', shell=True)"),
    "git by system": (6, "run git", "import os\nos.system('git status 2> x')"),
    ".git": (6, "git", "open('.git/HEAD').read()"),
    "grep": (6, "run pkg/m.py grep", "import subprocess\nsubprocess.call(['grep', '-q', 'x', 'pkg/m.py'])"),
    "a pattern": (6, "run pkg grep", "import subprocess\nsubprocess.call('grep -q x pkg/*.py', shell=True)"),
    "dd": (6, "run pkg/m.py dd", "import subprocess\nsubprocess.call(['dd', 'if=pkg/m.py'], stderr=-3)"),
    "-m": (6, "run pkg/m.py inspect", "import subprocess, sys\n"
           "subprocess.call([sys.executable, '-m', 'inspect', 'pkg.m'], stdout=-3)"),
    "-c": (6, "open pkg/m.py", "import subprocess, sys\n"
           "subprocess.call([sys.executable, '-c', 'open(\"pkg/m.py\").read()'])"),
    "thread": (6, "open pkg/m.py", "import threading\nthread = threading.Thread("
               "target=open, args=('pkg/m.py',))\nthread.start(); thread.join()"),
    "fork": (6, "open pkg/m.py", "import multiprocessing\nprocess = multiprocessing.get_context("
             "'fork').Process(target=open, args=('pkg/m.py',))\nprocess.start(); process.join()"),
    "spawn": (6, "open pkg/m.py", "import multiprocessing\nprocess = multiprocessing.get_context("
              "'spawn').Process(target=open, args=('pkg/m.py',))\nprocess.start(); process.join()"),
    "proc": (6, "proc", "open('/proc/self/environ').read()"),
    "recorder": (6, "recorder", "import json, os\njson.load(open(os.environ['SWT_TRACE_CONFIG']))"),
    "gc": (6, "objects gc.get_objects", "import gc\ngc.get_objects()"),
    "ctypes": (8, "memory ctypes.dlsym", "import ctypes\nctypes.pythonapi.Py_IncRef"),
    "callers": (8, "frames sys._getframe", "import sys\nsys._getframe(1)"),
    "settrace": (8, "trace sys.settrace", "import sys\nsys.settrace(None)"),
    "hook": (8, "hook sys.addaudithook", "import sys\nsys.addaudithook(lambda *args: None)"),
}
_HONEST = {
    "imports": "import importlib.util, pkg.other\nimportlib.reload(pkg.other)\n"
               "importlib.import_module('pkg.m')\nimportlib.util.find_spec('pkg.m')",
    "walks packages": "import pkgutil, pkg\nlist(pkgutil.walk_packages(pkg.__path__, 'pkg.'))",
    "prints a traceback": "import pkg.m, traceback\ntry: pkg.m.fail()\n"
                          "except KeyError: traceback.format_exc()",
    "warns": "import pkg.m\npkg.m.warn()",
    "reads data": "import os\nopen(os.path.join(os.path.dirname(__file__), 'data.py')).read()\n"
                  "open('pkg/units.json').read()\nos.listdir('tests')",
    "writes": "import os, tempfile\nwith tempfile.TemporaryDirectory() as folder:\n"
              "    path = os.path.join(folder, 'setup.py')\n    open(path, 'w').close()\n"
              "    os.rename(path, path + 'x')",
    "makes a repository": "import os, subprocess\nhome = os.environ['HOME']\n"
                          "subprocess.call(['git', 'init', '-q', '.'], cwd=home)\n"
                          "subprocess.call(['git', 'log'], cwd=home, stderr=-3)\n"
                          "subprocess.call(['git', '--version'], stdout=-3)",
    "looks at a signature": "import inspect\nfrom pkg.m import f\ninspect.signature(f)\n"
                            "inspect.getdoc(f)\ninspect.getmodule(f)\ninspect.currentframe()",
    "runs doctests": "import doctest, pkg.m\ndoctest.testmod(pkg.m)",
    "runs files": "import runpy, subprocess, sys\nrunpy.run_path('pkg/m.py')\n"
                  "for arguments in ['-m', 'pkg.m'], ['pkg/m.py'], ['-c', 'import pkg.m']:\n"
                  "    subprocess.check_call([sys.executable] + arguments)",
    "compiles": "import ast\nast.parse('x = 1', 'pkg/m.py')\ncompile('x', '<text>', 'exec')",
    "uses the interpreter": "import collections, copy, logging, os, pickle, sys\n"
                            "collections.namedtuple('A', 'b')\nlogging.getLogger().info('x')\n"
                            "dict(os.environ)\nos.environ.copy()\nsys._getframe()\n"
                            "pickle.dumps(open)\nassert pickle.loads(pickle.dumps(os.stat)) is os.stat\n"
                            "assert {os.stat, os.listdir} <= os.supports_fd or os.name == 'nt'\n"
                            "os.path.realpath('pkg/m.py')\nassert os.path.isdir('pkg')",
}
_TREE = {
    "pkg/m.py": (
        '"""Doc.\n\n>>> 1\n1\n"""\nimport os\n\n\ndef f(x):\n    return x + 1\n\n\ndef fail():\n'
        "    raise KeyError\n\n\ndef warn():\n    import warnings\n    warnings.warn('x')\n\n\n"
        "def version():\n    path = os.path.join(os.path.dirname(__file__), '__init__.py')\n"
        "    return open(path).read()\n"),
    "pkg/other.py": "", "pkg/units.json": "{}", "tests/__init__.py": "", "tests/data.py": "",
    ".git/HEAD": "x",
}


def _run(python, folder, tests):
    """The acts of tests by name: a list of texts, and whether each is said of a line of the test."""
    more = dict(_TREE)
    script = ["import sys", "if __name__ == '__main__':", "    tracer = sys.modules['swt_tracer']"]
    for index, (name, code) in enumerate(sorted(tests.items())):
        more["tests/test_%d.py" % index] = "def test():\n%s\n" % "\n".join(
            "    " + line for line in code.split("\n"))
        script += ["    import tests.test_%d" % index, "    tracer.switch(%r)" % name,
                   "    tests.test_%d.test()" % index, "    tracer.switch(None)"]
    path = os.path.join(folder, "key")
    home = os.path.join(folder, "home")
    write_files(home, {"empty": ""})
    with open(path, "wb") as stream:
        stream.write(KEY)
    run = traced(python, folder, "\n".join(script) + "\n", more=more, HOME=home,
                 config={"key": path, "outcomes": True})
    assert run.status == 0, run.errors
    sealed = Seals(run.out)
    sealed.check_whole()
    assert not sealed.of("foreign") and not sealed.of("problem"), sealed.records
    return run.of("act")


def _in_words(act):
    return " ".join(act[key] for key in ("what", "path", "by") if act.get(key) is not None)


def check_tricks(python, folder):
    """Each is recorded, with the test and, where one led to it, the line of the test."""
    tests = {name: code for name, (since, _, code) in _TRICKS.items() if python.minor >= since}
    acts = _run(python, folder, tests)
    order = sorted(tests)
    for name in tests:
        found = [act for act in acts if act["test"] == name]
        assert _TRICKS[name][1] in map(_in_words, found), (name, found)
        path = "tests/test_%d.py" % order.index(name)
        for act in found:
            is_elsewhere = name in ("-c", "thread", "spawn")
            assert act["at"] == [] if is_elsewhere else act["at"][0][0] == path, (name, act)
            lines = len(tests[name].split("\n")) + 1
            assert is_elsewhere or 2 <= act["at"][0][1] <= lines, (name, act)


def check_honest_acts(python, folder):
    """Of honest tests nothing is recorded, and of R's own code only the line of R."""
    tests = dict(_HONEST, version="import pkg.m\npkg.m.version()")
    acts = _run(python, folder, tests)
    assert [(_in_words(act), act["at"]) for act in acts] == [
        ("open pkg/__init__.py", [["pkg/m.py", 24]])], acts


def check_each_act_once(python, folder):
    """A place that opens many files stands for all of them, and callers are named."""
    acts = _run(python, folder, {"many": (
        "def read(path):\n    try: open(path)\n    except OSError: pass\n"
        "for turn in range(3): read('pkg/m.py')\n"
        "for turn in range(100): read('pkg/%d.py' % turn)")})
    assert [act.get("path") for act in acts[:2]] == ["pkg/m.py", "pkg/0.py"], acts
    assert acts[0]["at"] == [["tests/test_0.py", 3], ["tests/test_0.py", 5], ["main.py", 6]], acts
    assert acts[1]["at"] == [["tests/test_0.py", 3], ["tests/test_0.py", 6], ["main.py", 6]], acts
    assert len(acts) == 22 and "path" not in acts[-1], acts
