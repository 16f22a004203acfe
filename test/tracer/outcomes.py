"""Tests of the outcome recorder: small projects, run for real, and what was recorded of them.

    python3 test/tracer/outcomes.py [--python PATH] [NAME...]

`--python` is the interpreter to run the projects with (this one when absent); pytest and
pytest-xdist are used when it has them. The last line is
`N passed, N failed, N skipped`.
"""

import argparse
import itertools
import json
import os
import shutil
import subprocess
import sys
import tempfile
import textwrap

import harness
from outcome_projects import PYTEST, PYTEST_RESULTS, SYMPY, UNITTEST, UNITTEST_RESULTS

HERE = os.path.dirname(os.path.abspath(__file__))
TRACER = os.path.join(os.path.dirname(os.path.dirname(HERE)), "src", "engine", "tracer")


class Skip(Exception):
    """Says why a check cannot be made here."""


class Run(object):
    """What one command recorded: outcomes by test (the last of each), and every record."""

    def __init__(self, project, code, output):
        self.code = code
        self.output = output
        self.journals = {}
        for name in sorted(os.listdir(project.out)):
            if name.endswith(".jsonl"):
                with open(os.path.join(project.out, name)) as stream:
                    self.journals[name] = [json.loads(line.partition("\t")[0]) for line in stream]
        self.records = [record for journal in self.journals.values() for record in journal]
        self.all = self.of("outcome")
        self.outcomes = {record["test"]: record for record in self.all}

    def of(self, kind):
        return [record for record in self.records if record["kind"] == kind]

    def results(self):
        return {test: record["outcome"] for test, record in self.outcomes.items()}

    def collected(self):
        return [test for record in self.of("collected") for test in record["tests"]]

    def collecting(self):
        """The file that was being imported at the end."""
        return ([None] + [record["path"] for record in self.of("collecting")])[-1]

    def begun(self):
        """Where the tests ran, in order; shared work in between as None.

        Without the set-up of classes and files, which not every version of a runner tells.
        """
        tests = []
        for journal in self.journals.values():
            begun = [record["test"] for record in journal if record["kind"] == "begin"]
            begun = [test for test in begun if not (test or "").endswith("::")]
            begun = [test for test, _ in itertools.groupby(begun)]
            tests += begun[1:] if begun[:1] == [None] else begun
        return tests


class Project(object):
    """A folder with files, in which commands run with the recorder in place."""

    def __init__(self, python, files, counted=None):
        self.python = python
        self.top = tempfile.mkdtemp(prefix="outcomes-")
        self.root = os.path.join(self.top, "tree")
        self.out = os.path.join(self.top, "out")
        for path, text in files.items():
            self.write(os.path.join(self.root, path), text)
        config = {"format": 1, "root": self.root, "files": counted or {}, "out": self.out,
                  "outcomes": True}
        # As engines have it: what the first process and its forks write carries a key.
        self.key = config["key"] = os.path.join(self.top, "key")
        self.write(os.path.join(self.top, "config.json"), json.dumps(config))
        self.env = dict(os.environ)
        for name in ("PYTEST_PLUGINS", "PYTEST_ADDOPTS", "PYTHONWARNINGS"):
            self.env.pop(name, None)
        self.env.update(
            PYTHONPATH=TRACER,
            PYTHONHASHSEED="0",
            PYTHONDONTWRITEBYTECODE="1",
            SWT_TRACE_CONFIG=os.path.join(self.top, "config.json"),
        )

    @staticmethod
    def write(path, text):
        if not os.path.isdir(os.path.dirname(path)):
            os.makedirs(os.path.dirname(path))
        with open(path, "w") as stream:
            stream.write(textwrap.dedent(text))

    def run(self, *command, **options):
        shutil.rmtree(self.out, ignore_errors=True)
        os.makedirs(self.out)
        folder = os.path.join(self.root, options.get("folder", ""))
        with open(self.key, "wb") as stream:
            stream.write(harness.KEY)
        process = subprocess.Popen(
            [self.python] + list(command),
            cwd=folder,
            env=self.env,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
        output = process.communicate()[0].decode("utf-8", "replace")
        run = Run(self, process.returncode, output)
        problems = [record["text"] for record in run.of("problem")]
        same({"problems": problems}, {"problems": []}, run)
        seals = harness.Seals(self.out)
        seals.check_whole()
        for kind in ("session", "outcome", "collected"):
            same((kind, seals.of(kind, sealed=False)), (kind, []), run)
        same(seals.of("foreign"), [], run)
        left = [name for name in os.listdir(self.out) if name.endswith(".session")]
        if "killed" not in options:
            same(left, [], run)
        return run


def same(found, wanted, run=None):
    """Fails with what differs, and with the output of the run."""
    if found == wanted:
        return
    lines = []
    if isinstance(found, dict) and isinstance(wanted, dict):
        for key in sorted(set(found) | set(wanted)):
            if found.get(key) != wanted.get(key):
                lines.append("%s: %r, not %r" % (key, found.get(key), wanted.get(key)))
    else:
        lines.append("%r\n  is not\n  %r" % (found, wanted))
    if run is not None:
        lines.append("--- output\n" + run.output[-3000:])
    raise AssertionError("\n".join(lines))


# --- unittest ------------------------------------------------------------------------------


def check_unittest(make):
    run = make(UNITTEST).run("-m", "unittest", "discover", "-t", ".", "-s", "tests")
    same(run.results(), UNITTEST_RESULTS, run)
    same([record["runner"] for record in run.of("session")], ["unittest"])
    same(len(run.all), len(run.outcomes), run)


def check_unittest_failures(make):
    run = make(UNITTEST).run("-m", "unittest", "tests.test_a")
    error = run.outcomes["tests/test_a.py::A::test_error"]
    same(error["exception"], "Broken")
    same(error["message"], "no luck\nand more")
    same([frame[0] + ":" + frame[2] for frame in error["frames"]],
         ["tests/test_a.py:test_error", "pkg/mod.py:outer", "pkg/mod.py:inner"])
    same(error["frames"][-1][1], 6)
    assert "Traceback" in error["details"], error
    same(error["phase"], "call")
    same(run.outcomes["tests/test_a.py::A::test_fail"]["message"], "1 != 2 : one is not two")
    same(run.outcomes["tests/test_a.py::A::test_skip"]["message"], "not today")
    same(run.outcomes["tests/test_a.py::SetUp::test_x"]["phase"], "setup")
    same(run.outcomes["tests/test_a.py::TearDown::test_x"]["phase"], "teardown")
    same(run.outcomes["tests/test_a.py::SetUpClass"]["phase"], "setup")
    same(run.outcomes["tests/test_a.py::SetUpClass"]["message"], "no class")
    assert "KeyError" == run.outcomes["tests/test_a.py::A::test_sub_worst"]["exception"]


def check_unittest_import_errors(make):
    run = make(UNITTEST).run("-m", "unittest", "tests.test_missing")
    missing = run.outcomes["tests/test_missing.py"]
    same((missing["exception"], missing["phase"]), ("ModuleNotFoundError", "collect"), run)
    assert "nothing_of_that_name" in missing["message"], missing
    same(missing["frames"][-1][:2], ["tests/test_missing.py", 1])
    for module in ("tests.test_broken", "tests/test_broken.py"):
        run = make(UNITTEST).run("-m", "unittest", module)
        same(run.results(), {"tests/test_broken.py": "error"}, run)
        broken = run.outcomes["tests/test_broken.py"]
        same((broken["exception"], broken["phase"]), ("SyntaxError", "collect"), run)
        same(broken["frames"][-1][:2], ["tests/test_broken.py", 1], run)
    run = make(UNITTEST).run("-m", "unittest", "tests.test_a.NoSuch")
    same(run.results(), {"tests/test_a.py::NoSuch": "error"}, run)


def check_unittest_begins(make):
    files = {
        "test_b.py": """
            import unittest
            class B(unittest.TestCase):
                def test_1(self): pass
                def test_2(self): self.fail()
            if __name__ == "__main__":
                unittest.main()
        """
    }
    wanted = ["test_b.py::B::test_1", None, "test_b.py::B::test_2", None]
    run = make(files).run("test_b.py")
    same(run.begun(), wanted, run)
    same(run.results(), {"test_b.py::B::test_1": "passed", "test_b.py::B::test_2": "failed"}, run)


def check_unittest_warnings_are_errors(make):
    files = {
        "test_w.py": """
            import unittest
            class W(unittest.TestCase):
                def test_1(self): pass
                def test_2(self): open("x", "w").close()
        """
    }
    strict = ["-W", "error", "-bb", "-X", "dev", "-X", "warn_default_encoding"]
    # The option without which an open of ours would not be noticed came with 3.10.
    run = make(files).run(*strict + ["-m", "unittest", "test_w"])
    same(run.results()["test_w.py::W::test_1"], "passed", run)
    same(len(run.results()), 2, run)


def check_unittest_dies(make):
    files = {
        "test_d.py": """
            import os, unittest
            class D(unittest.TestCase):
                def test_1(self): pass
                def test_2(self): os._exit(7)
                def test_3(self): pass
        """
    }
    run = make(files).run("-m", "unittest", "test_d", killed=True)
    same(run.code, 7)
    same(run.results(), {"test_d.py::D::test_1": "passed"}, run)
    same(run.begun()[-1], "test_d.py::D::test_2", run)
    same(sorted(run.collected()), ["test_d.py::D::test_%d" % n for n in (1, 2, 3)], run)
    same(run.of("exit"), [{"kind": "exit", "abrupt": True}], run)


def check_unittest_import_ends(make):
    """The file whose import ends the process is known, and so it is with pytest."""
    run = make({"test_e.py": "import os\nos._exit(3)\n"}).run("-m", "unittest", "test_e", killed=True)
    same((run.code, run.collecting()), (3, "test_e.py"), run)


def check_unittest_test_case(make):
    """A method of this name is no sub-test, which has an attribute of this name."""
    files = {
        "test_c.py": """
            import unittest
            class C(unittest.TestCase):
                def test_case(self):
                    with self.subTest(i=1): self.fail()
                def test_other(self): pass
        """
    }
    run = make(files).run("-m", "unittest", "test_c")
    wanted = {"test_c.py::C::test_case": "failed", "test_c.py::C::test_other": "passed"}
    same(run.results(), wanted, run)
    same(sorted(run.collected()), sorted(wanted), run)


def check_pytest_import_ends(make):
    need(make, "pytest")
    files = {"test_e.py": "import os\nos._exit(3)\n", "test_d.py": "def test_d(): pass\n"}
    run = make(files).run("-m", "pytest", "test_d.py", "test_e.py", killed=True)
    same((run.code, run.collecting()), (3, "test_e.py"), run)


def check_pytest_thinned(make):
    """Tests that a hook or a test takes out are collected all the same."""
    need(make, "pytest")
    files = {
        "conftest.py": """
            def pytest_collection_modifyitems(items):
                items[:] = [item for item in items if item.name != "test_3"]
        """,
        "test_t.py": """
            def test_1(request): del request.session.items[1:]
            def test_2(): pass
            def test_3(): pass
        """,
    }
    run = make(files).run("-m", "pytest", "test_t.py")
    same(run.results(), {"test_t.py::test_1": "passed"}, run)
    same(sorted(run.collected()), ["test_t.py::test_%d" % n for n in (1, 2, 3)], run)


def check_unittest_children(make):
    """Runners that a test starts as processes of their own, with our environment and without."""
    files = {
        "test_c.py": """
            import os, subprocess, sys, unittest
            class C(unittest.TestCase):
                def test_child(self):
                    code = subprocess.call([sys.executable, "-m", "unittest", "-q", "inner"])
                    self.assertEqual(code, 1)
                def test_own_environment(self):
                    env = {k: v for k, v in os.environ.items() if k != "SWT_TRACE_TEST"}
                    subprocess.call([sys.executable, "-m", "unittest", "-q", "inner"], env=env)
                def test_fork(self):
                    if not hasattr(os, "fork"): return
                    pid = os.fork()
                    if pid == 0:
                        unittest.main("inner", argv=["x"], exit=False)
                        os._exit(0)
                    os.waitpid(pid, 0)
        """,
        "inner.py": """
            import unittest
            class I(unittest.TestCase):
                def test_x(self): self.fail()
        """,
    }
    run = make(files).run("-m", "unittest", "test_c")
    same(run.results(), {
        "test_c.py::C::test_child": "passed",
        "test_c.py::C::test_own_environment": "passed",
        "test_c.py::C::test_fork": "passed",
    }, run)
    same([test for test in run.begun() if test and "inner" in test], [], run)


def check_unittest_hostile_exception(make):
    """An exception whose text cannot be had, and one that is asked for its text only by us."""
    files = {
        "test_h.py": """
            import unittest
            class Mute(Exception):
                def __str__(self): raise RuntimeError("no text")
            class H(unittest.TestCase):
                def test_mute(self): raise Mute()
                def test_deep(self):
                    def f(): f()
                    f()
                def test_surrogate(self): self.fail("\\udc80 " + "x" * 30000)
                def test_prints(self):
                    print("AssertionError: not this")
                    self.fail("but this")
        """
    }
    run = make(files).run("-m", "unittest", "-b", "test_h")
    same(run.outcomes["test_h.py::H::test_prints"]["message"], "but this")
    same(set(run.results().values()), {"error", "failed"}, run)
    assert len(run.outcomes["test_h.py::H::test_deep"]["frames"]) <= 50
    assert len(run.outcomes["test_h.py::H::test_surrogate"]["message"]) <= 2000
    assert len(run.outcomes["test_h.py::H::test_surrogate"]["details"]) <= 20000


def check_unittest_replaced(make):
    """What a test replaces, or takes away, is so still when its failure is recorded."""
    files = {
        "test_r.py": """
            import os, tempfile, unittest
            from unittest import mock
            class Number(unittest.TestCase):
                def setUp(self):
                    patch = mock.patch("os.getpid", return_value=7)
                    patch.start()
                    self.addCleanup(patch.stop)
                def test_fails(self): self.fail()
                def test_passes(self): pass
            class Folder(unittest.TestCase):
                def setUp(self):
                    self.addCleanup(os.chdir, os.getcwd())
                    os.chdir(tempfile.mkdtemp())
                    os.rmdir(os.getcwd())
                def test_fails(self): exec("raise ValueError")
        """
    }
    run = make(files).run("-m", "unittest", "test_r")
    same(run.results(), {
        "test_r.py::Number::test_fails": "failed",
        "test_r.py::Number::test_passes": "passed",
        "test_r.py::Folder::test_fails": "error",
    }, run)


# --- pytest --------------------------------------------------------------------------------


def version_of(python, module):
    code = "import %s; print(getattr(%s, '__version__', '?'))" % (module, module)
    process = subprocess.Popen([python, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    output = process.communicate()[0].decode().strip()
    return output if process.returncode == 0 else None


def need(make, module):
    version = version_of(make.python, module)
    if version is None:
        raise Skip("%s has no %s" % (make.python, module))
    return version


def check_pytest(make):
    version = need(make, "pytest")
    run = make(PYTEST).run("-m", "pytest", "--continue-on-collection-errors")
    wanted = pytest_results(version)
    same(run.results(), wanted, run)
    same([(s["runner"], s["version"]) for s in run.of("session")], [("pytest", version)], run)
    tests = [test for record in run.of("collected") for test in record["tests"]]
    same(sorted(tests), sorted(t for t in wanted if "::" in t), run)
    begun = [test for test in run.begun() if test is not None]
    same(sorted(set(begun)), sorted(tests), run)
    same(len(run.all), len(PYTEST_RESULTS) + 2, run)  # two got worse in their teardown
    assert "swt_" not in run.output, run.output


def check_pytest_replaced(make):
    """`monkeypatch` takes its changes back after the failure was recorded."""
    need(make, "pytest")
    files = {
        "test_r.py": """
            import os
            def test_fails(monkeypatch):
                monkeypatch.setattr(os, "getpid", lambda: 7)
                assert False
            def test_folder(monkeypatch, tmp_path):
                monkeypatch.chdir(tmp_path)
                os.rmdir(str(tmp_path))
                exec("raise ValueError")
            def test_passes(monkeypatch):
                monkeypatch.setattr(os, "getpid", lambda: 7)
        """
    }
    run = make(files).run("-m", "pytest", "test_r.py")
    same(run.results(), {
        "test_r.py::test_fails": "failed",
        "test_r.py::test_folder": "failed",
        "test_r.py::test_passes": "passed",
    }, run)


def pytest_results(version):
    """As each version of pytest has it: before 4.0 an instance is a node of its own."""
    if version.split(".")[0] != "3":
        return PYTEST_RESULTS
    return {test.replace("::Test::", "::Test::()::"): result
            for test, result in PYTEST_RESULTS.items()}


def check_pytest_failures(make):
    need(make, "pytest")
    for more in ([], ["--tb=no"], ["--tb=native"], ["--tb=line", "-p", "no:cacheprovider"]):
        run = make(PYTEST).run("-m", "pytest", "tests/test_p.py", *more)
        error = run.outcomes["tests/test_p.py::test_error"]
        same(error["exception"], "Broken", run)
        if "--tb=native" not in more:
            same(error["message"], "no luck\nand more", run)
        same([frame[0] + ":" + frame[2] for frame in error["frames"]],
             ["tests/test_p.py:test_error", "pkg.py:outer", "pkg.py:inner"], run)
        same(error["phase"], "call")
        assert "no luck" in error["details"], error
        same(run.outcomes["tests/test_p.py::test_setup"]["phase"], "setup")
        same(run.outcomes["tests/test_p.py::test_teardown"]["phase"], "teardown")
        same(run.outcomes["tests/test_p.py::test_skip"]["message"], "not today")
        same(run.outcomes["tests/test_p.py::test_xfail"]["message"], "known")
        fixture = run.outcomes["tests/test_p.py::test_no_fixture"]
        assert "fixture 'nowhere' not found" in fixture["message"], fixture
        fail = run.outcomes["tests/test_p.py::test_fail"]
        same(fail["exception"], "AssertionError")
        assert "differ" in fail["message"], fail


def check_pytest_collection_errors(make):
    need(make, "pytest")
    run = make(PYTEST).run("-m", "pytest", "tests/test_missing.py", "tests/test_broken.py")
    missing = run.outcomes["tests/test_missing.py"]
    same((missing["exception"], missing["phase"]), ("ModuleNotFoundError", "collect"), run)
    assert "nothing_of_that_name" in missing["message"], missing
    same(missing["frames"][-1][:2], ["tests/test_missing.py", 1], run)
    broken = run.outcomes["tests/test_broken.py"]
    same((broken["exception"], broken["frames"][-1][0]), ("SyntaxError", "tests/test_broken.py"))


def check_pytest_conftest_error(make):
    need(make, "pytest")
    files = {"tests/conftest.py": "import nothing_of_that_name\n",
             "tests/test_x.py": "def test_x(): pass\n"}
    run = make(files).run("-m", "pytest", "tests/test_x.py")
    same(run.results(), {"tests/conftest.py": "error"}, run)
    same(run.outcomes["tests/conftest.py"]["exception"], "ModuleNotFoundError", run)


def check_pytest_shared_fixtures(make):
    """Work for several tests is their class's or file's, at its start and at its end."""
    need(make, "pytest")
    files = {
        "where.py": """
            import sys
            LOG = []
            def where(name):
                LOG.append((name, sys.modules["swt_outcomes"].state.current))
        """,
        "test_w.py": """
            import pytest, unittest
            from where import LOG, where
            @pytest.fixture(scope="session")
            def session():
                where("session up"); yield; where("session down")
            @pytest.fixture(scope="module")
            def module(session):
                where("module up"); yield; where("module down")
            @pytest.fixture(scope="class")
            def of_class(module):
                where("class up"); yield; where("class down")
            @pytest.fixture
            def function(module):
                where("function up"); yield; where("function down")
            def setup_module(): where("setup_module")
            def teardown_module(): where("teardown_module")
            def test_1(function): where("test_1")
            def test_2(function): where("test_2")
            class U(unittest.TestCase):
                @classmethod
                def setUpClass(cls): where("setUpClass")
                @classmethod
                def tearDownClass(cls): where("tearDownClass")
                def test_3(self): where("test_3")
            class TestC(object):
                @pytest.mark.parametrize("x", ["a::b"])
                def test_4(self, of_class, x): where("test_4")
                def test_5(self, of_class): pass
            def test_6(of_class): pass
        """,
        "conftest.py": """
            from where import LOG
            def pytest_unconfigure():
                with open("log", "w") as stream:
                    stream.write("\\n".join("%s: %s" % pair for pair in LOG))
        """,
    }
    project = make(files)
    run = project.run("-m", "pytest", "test_w.py")
    with open(os.path.join(project.root, "log")) as stream:
        found = sorted(stream.read().replace("::()", "").split("\n"))
    one, two, three = "test_w.py::test_1", "test_w.py::test_2", "test_w.py::U::test_3"
    same(found, sorted([
        "session up: None", "session down: None",
        "module up: test_w.py::", "module down: test_w.py::",
        "setup_module: test_w.py::", "teardown_module: test_w.py::",
        "setUpClass: test_w.py::U::", "tearDownClass: test_w.py::U::",
        "class up: test_w.py::TestC::", "class down: test_w.py::TestC::",
        "test_4: test_w.py::TestC::test_4[a::b]",
        # Outside any class, a fixture of a class is one of the function.
        "class up: test_w.py::test_6", "class down: test_w.py::test_6",
        "function up: " + one, "test_1: " + one, "function down: " + one,
        "function up: " + two, "test_2: " + two, "function down: " + two,
        "test_3: " + three,
    ]), run)


def check_unittest_shared_fixtures(make):
    """setUpClass and setUpModule are their class's and file's, also when a test runs tests."""
    files = {
        "test_w.py": """
            import sys, unittest
            def where(name):
                with open("log", "a") as stream:
                    stream.write("%s: %s\\n" % (name, sys.modules["swt_outcomes"].state.current))
            def setUpModule(): where("module up")
            def tearDownModule(): where("module down")
            class A(unittest.TestCase):
                @classmethod
                def setUpClass(cls): where("A up")
                @classmethod
                def tearDownClass(cls): where("A down")
                def test_1(self): where("test_1")
                def test_2(self):
                    class Inner(unittest.TestCase):
                        @classmethod
                        def setUpClass(cls): where("inner up")
                        def test_inner(self): pass
                    tests = unittest.defaultTestLoader.loadTestsFromTestCase(Inner)
                    unittest.TestSuite([tests]).run(unittest.TestResult())
            class B(unittest.TestCase):
                @classmethod
                def setUpClass(cls):
                    where("B up")
                    raise ValueError("no B")
                def test_3(self): pass
        """,
        "test_x.py": """
            import unittest
            from test_w import where
            class C(unittest.TestCase):
                @classmethod
                def setUpClass(cls): where("C up")
                def test_4(self): where("test_4")
        """,
    }
    project = make(files)
    run = project.run("-m", "unittest", "test_w", "test_x")
    with open(os.path.join(project.root, "log")) as stream:
        found = stream.read().split()
    same(" ".join(found), " ".join([
        "module up: test_w.py::", "A up: test_w.py::A::", "test_1: test_w.py::A::test_1",
        "module up: test_w.py::A::test_2", "inner up: test_w.py::A::test_2",
        "module down: test_w.py::A::test_2", "A down: test_w.py::A::", "B up: test_w.py::B::",
        "module down: test_w.py::", "C up: test_x.py::C::", "test_4: test_x.py::C::test_4",
    ]), run)
    same(run.results(), {"test_w.py::A::test_1": "passed", "test_w.py::A::test_2": "passed",
                         "test_w.py::B": "error", "test_x.py::C::test_4": "passed"}, run)


def check_pytest_dies(make):
    need(make, "pytest")
    files = {
        "test_d.py": """
            import os, sys, pytest
            def test_1(): pass
            def test_fork():
                if not hasattr(os, "fork"): return
                pid = os.fork()
                if pid == 0:
                    sys.exit(0)  # goes on as a second pytest
                os.waitpid(pid, 0)
            def test_2(): pass
            def test_3(): os._exit(7)
            def test_4(): pass
        """
    }
    run = make(files).run("-m", "pytest", "-p", "no:faulthandler", "test_d.py", killed=True)
    same(run.code, 7, run)
    same(run.results(), {"test_d.py::" + name: "passed" for name in
                         ("test_1", "test_fork", "test_2")}, run)
    same(len(run.all), 3, run)


def check_pytest_internal_error(make):
    """pytest ends inside a test, which is an error: nothing else says what became of it."""
    need(make, "pytest")
    files = {
        "conftest.py": """
            import pytest
            @pytest.hookimpl(tryfirst=True)
            def pytest_runtest_makereport(item, call):
                if call.when == getattr(item.module, "BREAKS", {}).get(item.name):
                    raise RuntimeError("no report")
        """,
        "test_i.py": """
            BREAKS = {"test_2": "call"}
            def test_1(): pass
            def test_2(): assert 0
            def test_3(): pass
        """,
        "test_e.py": """
            import pytest
            def test_1(): pytest.exit("enough")
            def test_2(): pass
        """,
        "test_t.py": """
            BREAKS = {"test_1": "teardown"}
            def test_1(): pass
        """,
    }
    run = make(files).run("-m", "pytest", "test_i.py")
    same(run.code, 3, run)
    same(run.results(), {"test_i.py::test_1": "passed", "test_i.py::test_2": "error"}, run)
    broken = run.outcomes["test_i.py::test_2"]
    same((broken["exception"], broken["message"]), ("RuntimeError", "no report"), run)
    same(broken["frames"][-1][0], "conftest.py", run)
    same(run.begun()[-1], None, run)
    run = make(files).run("-m", "pytest", "test_e.py")
    same(run.results(), {"test_e.py::test_1": "error"}, run)
    same(run.outcomes["test_e.py::test_1"]["exception"], "Exit", run)
    run = make(files).run("-m", "pytest", "test_t.py")
    same(run.code, 3, run)
    same(run.results(), {"test_t.py::test_1": "error"}, run)


def check_pytest_rewritten(make):
    """Lines of a module that pytest rewrites and executes itself are counted as well."""
    need(make, "pytest")
    files = {"test_r.py": "def f(n):\n    return n\n\ndef test_f():\n    assert f(1) and f(2)\n"}
    run = make(files, {"test_r.py": [2]}).run("-m", "pytest", "test_r.py")
    same([(r["test"], r["counts"]) for r in run.of("counts")],
         [("test_r.py::test_f", {"0": 2})], run)


def check_pytest_root(make):
    """pytest's root folder below the tree: ids are still those of the tree."""
    need(make, "pytest")
    files = {
        "sub/setup.cfg": "[tool:pytest]\n",
        "sub/tests/test_x.py": "def test_x(): pass\n",
        "sub/tests/test_y.py": "import nothing_of_that_name\n",
    }
    run = make(files).run("-m", "pytest", "--continue-on-collection-errors", folder="sub")
    same(run.results(), {"sub/tests/test_x.py::test_x": "passed", "sub/tests/test_y.py": "error"},
         run)
    same(run.of("collected")[0]["tests"], ["sub/tests/test_x.py::test_x"], run)


def check_pytest_xdist(make):
    version = need(make, "pytest")
    need(make, "xdist")
    run = make(PYTEST).run("-m", "pytest", "-n2", "--continue-on-collection-errors")
    wanted = pytest_results(version)
    same(run.results(), wanted, run)
    same(len(run.of("session")), 1, run)
    tests = [test for record in run.of("collected") for test in record["tests"]]
    same(sorted(tests), sorted(t for t in wanted if "::" in t), run)
    error = run.outcomes["tests/test_p.py::test_error"]
    same(error["exception"], "Broken", run)
    same([frame[2] for frame in error["frames"]], ["test_error", "outer", "inner"], run)
    same(run.outcomes["tests/test_missing.py"]["exception"], "ModuleNotFoundError", run)
    same(sorted(set(run.begun()) - {None}), sorted(tests), run)


def check_pytest_twice(make):
    """Sessions one after the other are both the outermost; one inside a unittest test is not."""
    need(make, "pytest")
    files = {
        "test_1.py": "def test_1(): pass\n",
        "test_2.py": "def test_2(): assert 0\n",
        "both.py": "import pytest\npytest.main(['test_1.py'])\npytest.main(['test_2.py'])\n",
        "test_u.py": """
            import pytest, unittest
            class U(unittest.TestCase):
                def test_u(self): pytest.main(["test_2.py"])
        """,
    }
    project = make(files)
    run = project.run("both.py")
    same(run.results(), {"test_1.py::test_1": "passed", "test_2.py::test_2": "failed"}, run)
    run = project.run("-m", "unittest", "test_u")
    same(run.results(), {"test_u.py::U::test_u": "passed"}, run)


# --- SymPy ---------------------------------------------------------------------------------


def check_sympy(make):
    folder = "sympy/core/tests/"
    run = make(SYMPY).run("bin/test", *[folder + "test_%s.py" % name for name in "xyz"])
    test = folder + "test_x.py::test_"
    same(run.results(), {
        test + "pass": "passed", test + "fail": "failed", test + "error": "error",
        test + "skip": "skipped", test + "xfail": "xfailed", test + "xpass": "xpassed",
        folder + "test_y.py": "error", folder + "test_z.py": "error",
    }, run)
    error = run.outcomes[test + "error"]
    same((error["exception"], error["message"]), ("ValueError", "wrong"), run)
    same([frame[2] for frame in error["frames"]], ["test_error", "helper"], run)
    assert "ValueError: wrong" in error["details"], error
    same(run.outcomes[folder + "test_z.py"]["phase"], "collect", run)
    same([(s["runner"], s["version"]) for s in run.of("session")], [("sympy", "1.99")], run)
    same(run.outcomes[test + "skip"]["message"], "slow", run)
    same(set(run.collected()), set(name for name in run.results() if "::" in name), run)
    same(run.collecting(), None, run)


# --- in general ----------------------------------------------------------------------------


def check_other_programs(make):
    """A program that runs no tests imports nothing of the runners and records no outcome."""
    files = {"x.py": "import sys\nprint(sorted(m for m in sys.modules if 'runner' in m))\n"}
    run = make(files).run("x.py")
    same((run.output.strip(), run.all), ("[]", []), run)


def check_output(make):
    """What a runner prints is the same with and without us."""
    project = make({
        "test_o.py": """
            import unittest
            class O(unittest.TestCase):
                def test_1(self): pass
                def test_2(self): self.fail("x")
        """
    })
    plain = dict(project.env)
    ours = project.run("-m", "unittest", "-v", "test_o").output
    project.env = {k: v for k, v in plain.items() if not k.startswith(("PYTHONPATH", "SWT_"))}
    without = project.run("-m", "unittest", "-v", "test_o").output
    cut = lambda text: "\n".join(line for line in text.split("\n") if not line.startswith("Ran "))
    same([line for line in cut(ours).split("\n") if "swt_" not in line
          and line.strip() not in ("value = original(self, *args, **kwargs)",)],
         cut(without).split("\n"))


# --- comparisons ---------------------------------------------------------------------------


UNITTEST_COMPARISONS = """
    import unittest
    from where import LOG, Thing

    class C(unittest.TestCase):
        def test_equal(self): self.assertEqual(sum([1, 1]), 3)
        def test_literal_first(self): self.assertEqual({"a": 1}, dict(a=2))
        def test_named(self):
            expected, found = [1, 2], [1]
            self.assertListEqual(expected, found)
        def test_texts(self): self.assertEqual("a\\nb".upper(), "a\\nb")
        def test_over_lines(self):
            self.assertEqual(
                [1, 2],
                list("ab"),
                "with a message",
            )
        def test_own_method(self): self.assertSame(1 + 1, 3)
        def assertSame(self, one, other): self.assertEqual(one, other)
        def test_objects(self): self.assertEqual(Thing("a"), Thing("b"))
        def test_looks_alike(self): self.assertEqual(Thing("a"), Thing("a"))
        def test_no_repr(self): self.assertEqual(Thing(None), Thing("b"))
        def test_long(self): self.assertEqual("x" * 5000, "y")
        def test_wide(self): self.assertEqual(list(range(50)), [])
        def test_true(self): self.assertTrue(1 == 2)
        def test_in_equals(self): self.assertEqual(Thing(AssertionError("odd")), 1)
        def test_error(self): raise ValueError(self.assertEqual)
        def test_caught(self):
            try:
                self.assertEqual(1, 2)
            except AssertionError:
                pass
            self.fail("later")
"""

WHERE = """
    import sys
    LOG = []
    class Thing(object):
        def __init__(self, name): self.name = name
        def __eq__(self, other):
            if isinstance(self.name, AssertionError): raise self.name
            return False
        def __repr__(self):
            frame = sys._getframe()
            while frame is not None:
                if frame.f_code.co_name == "_texts" or "swt_comparison" in frame.f_code.co_filename:
                    LOG.append(sys.modules["swt_outcomes"].state.current)
                    break
                frame = frame.f_back
            if self.name is None: raise ValueError("no name")
            return "Thing(%s)" % self.name
"""

COMPARED = {
    "test_equal": ["3", "2"],
    "test_literal_first": ["{'a': 1}", "{'a': 2}"],
    "test_named": ["[1, 2]", "[1]"],
    "test_texts": ["a\nb", "A\nB"],
    "test_own_method": ["3", "2"],
    "test_objects": ["Thing(b)", "Thing(a)"],
}


def check_comparisons_unittest(make):
    files = {"test_c.py": UNITTEST_COMPARISONS, "where.py": WHERE}
    runs = [make(files).run("-m", "unittest", "test_c")]
    if version_of(make.python, "pytest"):
        runs.append(make(files).run("-m", "pytest", "test_c.py"))
    for run in runs:
        found = {test.rpartition("::")[2]: record.get("comparison")
                 for test, record in run.outcomes.items()}
        for test, wanted in COMPARED.items():
            same((test, found.pop(test)), (test, wanted), run)
        # Before 3.8 a call over several lines has the line of its last argument.
        same(found.pop("test_over_lines") in (["[1, 2]", "['a', 'b']"], ["['a', 'b']", "[1, 2]"]),
             True, run)
        no_repr = found.pop("test_no_repr")
        assert no_repr[0] == "Thing(b)" and no_repr[1].startswith("<Thing instance"), no_repr
        expected, actual = found.pop("test_long")
        same((expected, len(actual), actual[-5:]), ("y", 2004, "x ..."), run)
        expected, actual = found.pop("test_wide")
        same((expected, actual.split("\n")[:2]), ("[]", ["[0,", " 1,"]), run)
        same(found, {test: None for test in
                     ("test_looks_alike", "test_true", "test_in_equals", "test_error",
                      "test_caught")}, run)


def check_comparisons_pytest(make):
    need(make, "pytest")
    files = {
        "test_c.py": """
            import pytest
            from where import LOG, Thing

            def test_equal(): assert sum([1, 1]) == 3
            def test_literal_first(): assert {"a": 1} == dict(a=2)
            def test_named():
                expected, found = [1, 2], [1]
                assert expected == found, "with a message"
            def test_texts(): assert "a\\nb".upper() == "a\\nb"
            def test_objects(): assert Thing("a") == Thing("b")
            def test_over_lines():
                assert (
                    sum([1, 1])
                    == 3
                )
            def test_in_a_helper(): same(1 + 1, 3)
            def same(one, other): assert one == other
            def test_if():
                if LOG is not None: assert 1 + 1 == 3
            def test_and(): assert 1 == 1 and not LOG == LOG
            def test_not(): assert not 1 == 1.0
            def test_less(): assert 2 < 1
            def test_plain(): assert False
            def test_caught():
                try:
                    assert 1 == 2
                except AssertionError:
                    pass
                assert False
            def test_raises():
                with pytest.raises(AssertionError):
                    assert 1 == 2
                raise ValueError("later")
            def test_passes():
                with pytest.raises(AssertionError):
                    assert 1 == 2
        """,
        "where.py": WHERE,
        "test_z.py": "from where import LOG\ndef test_z():\n    assert set(LOG) == {'?'}\n",
    }
    run = make(files).run("-m", "pytest", "test_c.py", "test_z.py")
    found = {test.rpartition("::")[2]: record.get("comparison")
             for test, record in run.outcomes.items()}
    # The program's own code ran for no test.
    same(found.pop("test_z"), ["{'?'}", "{None}"], run)
    wanted = dict(COMPARED, test_over_lines=["3", "2"], test_in_a_helper=["3", "2"],
                  test_if=["3", "2"])
    del wanted["test_own_method"]
    for test, record in run.outcomes.items():
        wanted.setdefault(test.rpartition("::")[2], None)
    del wanted["test_z"]
    same(found, wanted, run)
    rewritten = make(files).run("-m", "pytest", "--assert=plain", "test_c.py::test_equal")
    same(rewritten.outcomes["test_c.py::test_equal"].get("comparison"), None, rewritten)


def check_comparisons_xdist(make):
    need(make, "pytest")
    need(make, "xdist")
    files = {"test_c.py": "def test_c(): assert 1 + 1 == 3\n"}
    run = make(files).run("-m", "pytest", "-n", "2", "test_c.py")
    same(run.outcomes["test_c.py::test_c"].get("comparison"), ["3", "2"], run)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    checks = [(name[6:], check) for name, check in sorted(globals().items())
              if name.startswith("check_")]
    counts = {"passed": 0, "failed": 0, "skipped": 0}
    made = []

    def make(files, counted=None):
        made.append(Project(options.python, files, counted))
        return made[-1]

    make.python = options.python
    code = "import platform as p; print(p.python_implementation(), p.python_version())"
    print(subprocess.check_output([options.python, "-c", code]).decode().strip()
          + ", pytest %s" % version_of(options.python, "pytest"))
    for name, check in checks:
        if options.names and name not in options.names:
            continue
        try:
            check(make)
            counts["passed"] += 1
            print("passed  " + name)
        except Skip as why:
            counts["skipped"] += 1
            print("skipped %s: %s" % (name, why))
        except Exception as error:
            counts["failed"] += 1
            print("failed  %s: %s: %s" % (name, type(error).__name__, error))
        for project in made:
            shutil.rmtree(project.top, ignore_errors=True)
        del made[:]
    print("%(passed)d passed, %(failed)d failed, %(skipped)d skipped" % counts)
    return 1 if counts["failed"] else 0


if __name__ == "__main__":
    sys.exit(main())
