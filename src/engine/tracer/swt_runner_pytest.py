"""The pytest side of swt_outcomes: a plug-in for the outermost session, pytest 3.0 to 9.

With pytest-xdist, reports arrive at the controller, which records outcomes. The tests run in the
workers, which tell the tracer which test is running.
"""

import os
import sys
import traceback

import swt_outcomes as swt
from _pytest.config import hookimpl

# A random name, so that no option or file of the repository can block the plug-in.
_NAME = "swt_outcomes_%s" % "".join("%02x" % byte for byte in os.urandom(8))
_AROUND = ("setup", "teardown")
_PHASES = ("setup", "call", "teardown")
_patched = []


def attach(config, frame):
    """Registers the plug-in on a new `config` when its session may be the outermost one."""
    worker = _is_worker(frame)
    if worker:
        # A worker that a test's own xdist session started has a parent other than our process.
        if swt.state.session is not None or not swt.has_session(os.getppid()):
            return
    elif not swt.may_record() or swt.running() is not None:
        return
    if config.pluginmanager.getplugin(_NAME) is not None:
        return
    _patch_wide_scopes()
    config.pluginmanager.register(_Plugin(worker), _NAME)


def _is_worker(frame):
    """Whether pytest-xdist's remote module creates the session, in a process of its own."""
    while frame is not None:
        if frame.f_globals.get("__name__") == "__channelexec__":
            return True
        frame = frame.f_back
    return False


class _Plugin(object):
    def __init__(self, worker):
        self.worker = worker
        self.active = False
        self.prefix = ""
        self.up = ""
        self.began = None
        self.durations = {}
        self.ranks = {}
        self.attempts = {}  # how often a test was begun
        self.failures = {}
        self.collected = set()
        self.found = []  # ids of all items, before any hook or configuration takes some out

    def __repr__(self):
        return "<swt_outcomes>"

    # --- session ---------------------------------------------------------------------------

    @hookimpl(tryfirst=True)
    def pytest_configure(self, config):
        self.active = False
        try:
            rootdir = str(getattr(config, "rootpath", None) or config.rootdir)
            self._locate(rootdir)
            if self.worker:
                self.active = swt.state.session is None
                if self.active:
                    swt.begin_worker()
            elif swt.may_record():
                import pytest

                swt.begin_session("pytest", pytest.__version__)
                self.active = True
        except Exception as error:
            swt.problem("the pytest session was not recorded", error)

    @hookimpl(trylast=True)
    def pytest_unconfigure(self):
        if self.active:
            self.active = False
            swt.quiet(swt.end_session)()

    def _locate(self, rootdir):
        """Node ids are relative to pytest's root folder, and our ids to the root of the tree."""
        root = swt.state.root
        if os.path.realpath(rootdir) != swt.state.real_root:
            below = os.path.relpath(os.path.realpath(rootdir), swt.state.real_root)
            below = below.replace(os.sep, "/")
            if not below.startswith(".."):
                self.prefix = below + "/"
            else:
                above = os.path.relpath(root, rootdir).replace(os.sep, "/")
                self.up = "" if above.startswith("..") else above + "/"

    def _id(self, nodeid):
        if self.up and nodeid.startswith(self.up):
            return nodeid[len(self.up):]
        return self.prefix + nodeid

    def _records(self):
        return self.active and not self.worker and swt.owns("pytest")

    # --- which test runs -------------------------------------------------------------------

    @hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self, item):
        try:
            if self.active:
                self.began = swt.now()
                swt.switch(self._id(item.nodeid))
        except Exception as error:
            swt.problem("a test was not told to the tracer", error)
        made = yield
        try:
            if self.active:
                broken = made.excinfo is not None
                if broken and self.worker:
                    return  # the controller does not learn of it: the test stays unfinished
                swt.switch(None)
                if broken and self._records():
                    self._broke(item.nodeid, made.excinfo[1])
                self.began = None
        except Exception as error:
            swt.problem("a test was not told to the tracer", error)

    def _broke(self, nodeid, error):
        """An exception that escapes from a test is not its failure: it ends pytest (INTERNALERROR,
        pytest.exit)."""
        if swt.RANK["error"] <= self.ranks.get(nodeid, -1):
            return
        self.ranks[nodeid] = swt.RANK["error"]
        name, message, frames = swt.error_of(error)
        details = "".join(traceback.format_exception(type(error), error, error.__traceback__))
        seconds = swt.now() - self.began
        swt.outcome(
            self._id(nodeid), "error", seconds, "call", name, message, details, frames,
            attempt=self.attempts.get(nodeid, 0),
        )

    @hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_fixture_setup(self, fixturedef):
        scope = fixturedef.scope
        test = _leave(scope) if self.active and scope != "function" else None
        yield
        _return(test)

    # --- outcomes --------------------------------------------------------------------------

    @hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_runtest_makereport(self, item, call):
        made = yield
        try:
            if self.active and call.excinfo is not None and made.excinfo is None:
                report = made.get_result()
                if report.failed:
                    self._keep(report, call.excinfo.value)
        except Exception as error:
            swt.problem("a failure was not looked at", error)

    @hookimpl(tryfirst=True)
    def pytest_assertrepr_compare(self, op, left, right):
        """Only observes the comparison: returns nothing, so pytest's own explanation stays."""
        if self.active and op == "==":
            swt.keep_comparison(left, right, sys._getframe())

    @hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_make_collect_report(self, collector):
        records = self._records()
        if records:
            swt.quiet(self._collecting)(collector)
        made = yield
        try:
            if records and made.excinfo is None:
                swt.collecting(None)
            if self.active and made.excinfo is None:
                report = made.get_result()
                call = getattr(report, "call", None)
                if report.failed and call is not None and call.excinfo is not None:
                    error = call.excinfo.value
                    if type(error).__name__ in ("CollectError", "ConftestImportFailure"):
                        error = error.__cause__ or error.__context__ or error
                    self._keep(report, error)
        except Exception as error:
            swt.problem("a collection error was not looked at", error)

    def _collecting(self, collector):
        """A file that ends the process, or never ends, leaves no report."""
        if "Module" in [cls.__name__ for cls in type(collector).__mro__]:
            swt.collecting(self._id(collector.nodeid))

    def _keep(self, report, error):
        """Facts about the exception that a report lacks; in a worker they travel with the report."""
        frames = swt.frames_of(error.__traceback__)
        if isinstance(error, SyntaxError) and swt.relative(error.filename):
            frames.append([swt.relative(error.filename), error.lineno or 0, "<module>"])
        failure = {"exception": type(error).__name__, "frames": frames}
        comparison = swt.comparison_of(error, error.__traceback__)
        if comparison is not None:
            failure["comparison"] = comparison
        if self.worker:
            report.swt_failure = failure
        else:
            self.failures[(report.nodeid, getattr(report, "when", "collect"))] = failure

    def _failure(self, report):
        kept = self.failures.pop((report.nodeid, getattr(report, "when", "collect")), None)
        return kept or getattr(report, "swt_failure", None) or {}

    def pytest_runtest_logstart(self, nodeid):
        # Called again for each attempt of a plug-in that repeats failed tests.
        self.attempts[nodeid] = self.attempts.get(nodeid, 0) + 1
        self.ranks.pop(nodeid, None)
        self.durations.pop(nodeid, None)
        self.failures.clear()

    def pytest_runtest_logreport(self, report):
        try:
            if self._records():
                self._report(report)
        except Exception as error:
            swt.problem("an outcome was not recorded", error)

    def _report(self, report):
        seconds = self.durations.get(report.nodeid, 0.0) + (getattr(report, "duration", 0.0) or 0.0)
        self.durations[report.nodeid] = seconds
        result = _result(report)
        if result is None:
            return
        rank = swt.RANK[result]
        if rank <= self.ranks.get(report.nodeid, -1):
            return
        self.ranks[report.nodeid] = rank
        if self.began is not None:
            seconds = swt.now() - self.began
        failure = self._failure(report) if result in ("failed", "error") else {}
        try:
            message, details = _texts(report, result, failure.get("exception"))
        except Exception as error:
            # The outcome is valid without its text, which a plug-in or an odd exception may spoil.
            swt.problem("an outcome could not be described", error)
            message = details = None
        swt.outcome(
            self._id(report.nodeid),
            result,
            seconds,
            report.when if report.when in _PHASES else None,  # "???": an xdist worker died
            failure.get("exception"),
            message,
            details,
            failure.get("frames", ()),
            failure.get("comparison"),
            self.attempts.get(report.nodeid, 0),
            sum(len(text) for _, text in getattr(report, "sections", ())),
        )

    # --- collection ------------------------------------------------------------------------

    def pytest_collectreport(self, report):
        try:
            if not self._records() or report.passed or report.nodeid in self.collected:
                return
            if _is_of_worker(report):
                return
            self.collected.add(report.nodeid)  # every xdist worker collects everything
            result = "error" if report.failed else "skipped"
            failure = self._failure(report)
            message, details = _texts(report, result, failure.get("exception"))
            swt.outcome(
                self._id(report.nodeid),
                result,
                0.0,
                "collect",
                failure.get("exception"),
                message,
                details,
                failure.get("frames", ()),
            )
        except Exception as error:
            swt.problem("a collection error was not recorded", error)

    @hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_load_initial_conftests(self):
        """A conftest.py that cannot be imported ends pytest before there is a session."""
        made = yield
        try:
            error = made.excinfo[1] if made.excinfo else None
            if error is None or type(error).__name__ != "ConftestImportFailure":
                return
            cause = error.__cause__ or error.__context__
            if cause is None:
                cause = error.excinfo[1] if isinstance(error.excinfo, tuple) else error
            if type(cause).__name__ == "Exit":
                return  # pytest.exit: it asks for no tests to run
            path = swt.relative(str(getattr(error, "path", "")))
            if path and not self.worker and swt.may_record():
                import pytest

                swt.begin_session("pytest", pytest.__version__)
                name, message, frames = swt.error_of(cause)
                swt.outcome(path, "error", 0.0, "collect", name, message, str(error), frames)
                swt.end_session()
        except Exception as error:
            swt.problem("an error in a conftest.py was not recorded", error)

    def pytest_itemcollected(self, item):
        if self.active:
            self.found.append(item.nodeid)

    @hookimpl(trylast=True)
    def pytest_collection_finish(self, session):
        try:
            if self._records():
                kept = [item.nodeid for item in session.items]
                self._collected(list(dict.fromkeys(kept + self.found)))
        except Exception as error:
            swt.problem("the collected tests were not recorded", error)

    @hookimpl(optionalhook=True)
    def pytest_xdist_node_collection_finished(self, ids):
        try:
            if self._records() and "" not in self.collected:
                self.collected.add("")  # the workers have collected the same tests
                self._collected(ids)
        except Exception as error:
            swt.problem("the collected tests were not recorded", error)

    def _collected(self, nodeids):
        swt.collected([self._id(nodeid) for nodeid in nodeids])


def _is_of_worker(report):
    """Whether pytest-xdist reports that its workers collect different tests, as if it were a file."""
    text = report.longrepr
    return isinstance(text, str) and text.startswith("Different tests were collected between ")


def _result(report):
    """The outcome that a report adds to its test, or None."""
    xfail = hasattr(report, "wasxfail")
    subtest = type(report).__name__.lower() == "subtestreport"
    if report.outcome == "passed":
        if report.when != "call" or subtest:
            return None
        return "xpassed" if xfail else "passed"
    if report.outcome == "skipped":
        if subtest:
            return None
        return "xfailed" if xfail else "skipped"
    if report.outcome == "failed":
        return "error" if report.when in _AROUND else "failed"
    return None  # "rerun" of pytest-rerunfailures: another attempt follows


def _texts(report, result, exception):
    """(message, details) from the text that pytest has already made of an exception."""
    longrepr = report.longrepr
    if result in ("xfailed", "xpassed"):
        return _cut(getattr(report, "wasxfail", ""), "reason: "), None
    if isinstance(longrepr, tuple):  # of a skip: path, line, reason
        return _cut(str(longrepr[-1]), "Skipped: "), None
    if longrepr is None:
        return None, None
    details = getattr(report, "longreprtext", None) or str(longrepr)
    crash = getattr(longrepr, "reprcrash", None)
    message = getattr(crash, "message", None)
    if message is None:
        lines = [line for line in details.splitlines() if line.startswith("E   ")]
        message = "\n".join(line[4:] for line in lines).strip() or details
    name, colon, rest = message.partition(":")
    if colon and exception and name.rpartition(".")[2] == exception:
        message = rest.strip()
    elif message == exception:
        message = ""
    return message, details


def _cut(text, start):
    return text[len(start):] if text.startswith(start) else text


# --- fixtures wider than a test ----------------------------------------------------------------


def _leave(scope):
    """Suspends the running test until `_return`. None when no test is running.

    Code that runs meanwhile counts for its class or file, or for no test in a wider `scope`.
    """
    try:
        test = swt.state.current
        if test is None:
            return None
        if scope not in ("class", "module"):
            return swt.switch(None)
        # For pytest, a function outside any class is a class of its own.
        return swt.switch(swt.scope_of(test, scope) or test)
    except Exception as error:
        swt.problem("shared work was counted for a test", error)
        return None


def _return(test):
    try:
        if test is not None:
            swt.switch(test)
    except Exception as error:
        swt.problem("a test was not told to the tracer", error)


def _patch_wide_scopes():
    """Makes set-up and tear-down for several tests count for their class or file, and for no test.

    Otherwise they would count for the first and the last test of a file, which change with every
    added test. `pytest_fixture_setup` covers the set-up of fixtures. No hook covers their end, nor
    the `setup` of collectors. Before pytest 4.2, setup_module and setUpClass ran there instead of
    in fixtures.
    """
    if _patched:
        return
    _patched.append(True)
    import _pytest.fixtures
    import _pytest.python
    import _pytest.runner
    import _pytest.unittest

    # pytest calls this once for each test that used the fixture, but only one call does something.
    def ends(fixture, args):
        scope = fixture.scope
        return scope if scope != "function" and getattr(fixture, "_finalizers", True) else None

    _wrap(_pytest.fixtures.FixtureDef, "finish", ends)
    for module in (_pytest.python, _pytest.unittest):
        for name in ("Package", "Module", "Class", "Instance", "UnitTestCase"):
            _wrap(getattr(module, name, None), "setup", lambda self, args: _scope_of(self))
    _wrap(
        getattr(_pytest.runner, "SetupState", None),
        "_callfinalizers",
        lambda self, args: None if hasattr(args[0], "runtest") else _scope_of(args[0]),
    )


def _scope_of(collector):
    """The fixture scope that is as wide as this collector."""
    names = [cls.__name__ for cls in type(collector).__mro__]
    if "Package" in names:  # Package was once a subclass of Module
        return "package"
    if "Module" in names:
        return "module"
    return "class" if "Class" in names or "Instance" in names else "session"


def _wrap(owner, name, wide):
    original = getattr(owner, "__dict__", {}).get(name)
    if original is None:
        return

    def method(self, *args, **kwargs):
        __tracebackhide__ = True  # noqa: F841 (pytest looks for it)
        scope = wide(self, args) if swt.state.current is not None else None
        test = _leave(scope) if scope else None
        try:
            return original(self, *args, **kwargs)
        finally:
            _return(test)

    method.__name__ = name
    method.__doc__ = original.__doc__
    setattr(owner, name, method)
