"""What programs do to themselves: threads, child processes, deaths.

Each function `check_…` gets an interpreter and an empty folder, and raises AssertionError.
"""

import os

from harness import SWITCH, quiet, traced


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
        "code = 'import os, pkg.mod; pkg.mod.work(3); '\\\n"
        "    'assert not os.environ.get(\"SWT_TRACE_TEST\")'\n"
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
