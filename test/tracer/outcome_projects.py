"""The projects that outcomes.py runs, as path to text, and the outcome of each of their tests."""

UNITTEST = {
    "pkg/__init__.py": "",
    "pkg/mod.py": """
        class Broken(Exception):
            pass

        def inner(value):
            raise Broken("no %s\\nand more" % value)

        def outer(value):
            inner(value)
    """,
    "tests/__init__.py": "",
    "tests/test_a.py": """
        import os, unittest
        from pkg.mod import outer

        class A(unittest.TestCase):
            def test_pass(self): pass
            def test_fail(self): self.assertEqual(1, 2, "one is not two")
            def test_error(self): outer("luck")
            def test_skip(self): self.skipTest("not today")
            @unittest.skip("never")
            def test_decorated(self): pass
            @unittest.expectedFailure
            def test_xfail(self): self.fail()
            @unittest.expectedFailure
            def test_xpass(self): pass
            def test_sub_pass(self):
                for i in range(3):
                    with self.subTest(i=i): pass
            def test_sub_fail(self):
                for i in range(3):
                    with self.subTest(i=i): self.assertNotEqual(i, 1)
            def test_sub_worst(self):
                with self.subTest("a"): self.fail("mild")
                with self.subTest("b"): raise KeyError("grave")
                with self.subTest("c"): self.fail("mild")
            def test_inner_run(self):
                class Inner(unittest.TestCase):
                    def test_x(self): self.fail()
                    def test_y(self): pass
                result = unittest.TestResult()
                unittest.defaultTestLoader.loadTestsFromTestCase(Inner).run(result)
                self.assertEqual(result.testsRun, 2)

        class SetUp(unittest.TestCase):
            def setUp(self): raise ValueError("cannot set up")
            def test_x(self): pass

        class TearDown(unittest.TestCase):
            def tearDown(self): raise ValueError("cannot tear down")
            def test_x(self): pass
            def test_both(self): self.fail("first")

        class SetUpClass(unittest.TestCase):
            @classmethod
            def setUpClass(cls): raise ValueError("no class")
            def test_x(self): pass

        class SkipClass(unittest.TestCase):
            @classmethod
            def setUpClass(cls): raise unittest.SkipTest("no such thing")
            def test_x(self): pass

        @unittest.skip("all of it")
        class Skipped(unittest.TestCase):
            def test_x(self): pass

        class Outer:
            class Nested(unittest.TestCase):
                def test_x(self): pass
        Nested = Outer.Nested
        Nested.__qualname__ = "Outer.Nested"

        class Base:
            def test_inherited(self): pass
        class Derived(Base, unittest.TestCase): pass
    """,
    "tests/test_missing.py": "import nothing_of_that_name\n",
    "tests/test_broken.py": "def f(:\n",
    "tests/test_skips.py": "import unittest\nraise unittest.SkipTest('not on this system')\n",
}

UNITTEST_RESULTS = {
    "tests/test_a.py::A::test_pass": "passed",
    "tests/test_a.py::A::test_fail": "failed",
    "tests/test_a.py::A::test_error": "error",
    "tests/test_a.py::A::test_skip": "skipped",
    "tests/test_a.py::A::test_decorated": "skipped",
    "tests/test_a.py::A::test_xfail": "xfailed",
    "tests/test_a.py::A::test_xpass": "failed",
    "tests/test_a.py::A::test_sub_pass": "passed",
    "tests/test_a.py::A::test_sub_fail": "failed",
    "tests/test_a.py::A::test_sub_worst": "error",
    "tests/test_a.py::A::test_inner_run": "passed",
    "tests/test_a.py::SetUp::test_x": "error",
    "tests/test_a.py::TearDown::test_x": "error",
    "tests/test_a.py::TearDown::test_both": "error",
    "tests/test_a.py::SetUpClass": "error",
    "tests/test_a.py::SkipClass": "skipped",
    "tests/test_a.py::Skipped::test_x": "skipped",
    "tests/test_a.py::Outer::Nested::test_x": "passed",
    "tests/test_a.py::Derived::test_inherited": "passed",
    "tests/test_missing.py": "error",
    "tests/test_broken.py": "error",
    "tests/test_skips.py": "skipped",
}

PYTEST = {
    "conftest.py": "pytest_plugins = 'pytester'\n",
    "pkg.py": UNITTEST["pkg/mod.py"],
    "tests/test_p.py": """
        import pytest, unittest
        from pkg import outer

        def test_pass(): pass
        def test_fail(): assert [1] == [2], "differ"
        def test_error(): outer("luck")
        def test_skip(): pytest.skip("not today")
        @pytest.mark.skipif(True, reason="never")
        def test_decorated(): pass
        @pytest.mark.xfail(reason="known")
        def test_xfail(): assert False
        @pytest.mark.xfail(run=False)
        def test_xfail_not_run(): assert False
        @pytest.mark.xfail
        def test_xpass(): pass
        @pytest.mark.xfail(strict=True)
        def test_strict(): pass
        @pytest.mark.parametrize("v", ["a b", "c/d"])
        def test_param(v): assert v != "c/d"
        @pytest.fixture
        def broken(): raise ValueError("cannot set up")
        def test_setup(broken): pass
        @pytest.fixture
        def late():
            yield
            raise ValueError("cannot tear down")
        def test_teardown(late): pass
        def test_both(late): assert False
        def test_no_fixture(nowhere): pass
        class Test:
            def test_method(self): pass
        class U(unittest.TestCase):
            def test_u(self): self.assertTrue(False)
            def test_v(self): pass
        def test_pytester(testdir):
            testdir.makepyfile("def test_x(): assert 0\\ndef test_y(): pass")
            testdir.inline_run()
            result = testdir.runpytest_subprocess()
            assert result.ret == 1
            names = testdir.inline_runsource("def test_z(pytestconfig):\\n"
                "    names = [name for name, _ in pytestconfig.pluginmanager.list_name_plugin()]\\n"
                "    assert not [name for name in names if name.startswith('swt_outcomes')]")
            names.assertoutcome(passed=1)
    """,
    "tests/test_missing.py": "import nothing_of_that_name\n",
    "tests/test_broken.py": "def f(:\n",
    "tests/test_skips.py": "import pytest\npytest.importorskip('nothing_of_that_name')\n",
}

PYTEST_RESULTS = {
    "tests/test_p.py::test_pass": "passed",
    "tests/test_p.py::test_fail": "failed",
    "tests/test_p.py::test_error": "failed",
    "tests/test_p.py::test_skip": "skipped",
    "tests/test_p.py::test_decorated": "skipped",
    "tests/test_p.py::test_xfail": "xfailed",
    "tests/test_p.py::test_xfail_not_run": "xfailed",
    "tests/test_p.py::test_xpass": "xpassed",
    "tests/test_p.py::test_strict": "failed",
    "tests/test_p.py::test_param[a b]": "passed",
    "tests/test_p.py::test_param[c/d]": "failed",
    "tests/test_p.py::test_setup": "error",
    "tests/test_p.py::test_teardown": "error",
    "tests/test_p.py::test_both": "error",
    "tests/test_p.py::test_no_fixture": "error",
    "tests/test_p.py::Test::test_method": "passed",
    "tests/test_p.py::U::test_u": "failed",
    "tests/test_p.py::U::test_v": "passed",
    "tests/test_p.py::test_pytester": "passed",
    "tests/test_missing.py": "error",
    "tests/test_broken.py": "error",
    "tests/test_skips.py": "skipped",
}

SYMPY = {
    "sympy/__init__.py": "__version__ = '1.99'\n",
    "sympy/testing/__init__.py": "",
    "sympy/testing/runtests.py": """
        import os, sys
        class PyTestReporter(object):
            def __init__(self, root): self._root_dir = root
            def entering_filename(self, filename, n):
                self._active_file = filename[len(self._root_dir) + 1:]
            def entering_test(self, f): self._active_f = f
            def test_pass(self, char="."): pass
            def test_fail(self, exc_info): pass
            def test_exception(self, exc_info): pass
            def test_skip(self, v=None): pass
            def test_xfail(self): pass
            def test_xpass(self, v): pass
            def import_error(self, filename, exc_info): pass

        def test_file(reporter, filename):
            gl = {"__file__": filename}
            try:
                with open(filename) as stream:
                    exec(compile(stream.read(), filename, "exec"), gl)
            except ImportError:
                reporter.import_error(filename, sys.exc_info())
                return
            except Exception:
                reporter.test_exception(sys.exc_info())
            funcs = [gl[name] for name in gl if name.startswith("test_")]
            reporter.entering_filename(filename, len(funcs))
            for f in funcs:
                reporter.entering_test(f)
                try:
                    f()
                except Exception:
                    t, v, tr = sys.exc_info()
                    if t is AssertionError: reporter.test_fail((t, v, tr))
                    elif t.__name__ == "Skipped": reporter.test_skip(v)
                    elif t.__name__ == "XFail": reporter.test_xfail()
                    elif t.__name__ == "XPass": reporter.test_xpass(v)
                    else: reporter.test_exception((t, v, tr))
                else:
                    reporter.test_pass()

        def run(paths):
            root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
            reporter = PyTestReporter(root)
            for path in paths:
                test_file(reporter, os.path.join(root, path))
    """,
    "sympy/core/tests/test_x.py": """
        class Skipped(Exception): pass
        class XFail(Exception): pass
        class XPass(Exception): pass
        def helper(): raise ValueError("wrong")
        def test_pass(): pass
        def test_fail(): assert 1 == 2, "differ"
        def test_error(): helper()
        def test_skip(): raise Skipped("slow")
        def test_xfail(): raise XFail()
        def test_xpass(): raise XPass("test_xpass")
    """,
    "sympy/core/tests/test_y.py": "import nothing_of_that_name\n",
    "sympy/core/tests/test_z.py": "1 / 0\n",
    "bin/test": """
        import os, sys
        sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
        from sympy.testing.runtests import run
        run(sys.argv[1:])
    """,
}
