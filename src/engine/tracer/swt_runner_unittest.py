"""The unittest side of swt_outcomes, which Django's runner shares: `unittest.TestResult`.

The methods of every result class lead to those of `TestResult`, which are wrapped. The result
object that started the running test owns it until it stops it. Results that a test creates itself,
as the tests of test tools do, are ignored.
"""

import os
import re
import sys
import traceback

import swt_outcomes as swt

_HOLDER = re.compile(r"^(setUpClass|tearDownClass|setUpModule|tearDownModule) \(([^()]*)\)$")
_FRAME = re.compile(r'^ *File "([^"\n]+)", line (\d+)(?:, in (\S+))?', re.M)
_RUNNER = os.sep + "unittest" + os.sep
_hooked = []
__unittest = True  # keeps these frames out of the tracebacks that unittest prints


class _Running(object):
    """The running test; `result` is the object that started it."""

    result = None
    test = None
    phase_if_failed = None
    pid = None
    began = 0.0
    worst = None
    comparison = None  # comparison of the failure that is being added


def hook(module):
    """Wraps the methods of `unittest.result.TestResult`."""
    cls = module.TestResult
    if cls in _hooked:
        return
    _hooked.append(cls)
    _wrap(cls, "startTest", _start)
    _wrap(cls, "stopTest", _stop)
    _wrap(cls, "addSuccess", lambda result, test: _add(result, test, "passed"))
    _wrap(cls, "addError", lambda result, test, e: _add(result, test, "error", e, "errors"),
          lambda result, test, e: _compare(e))
    _wrap(cls, "addFailure", lambda result, test, e: _add(result, test, "failed", e, "failures"),
          lambda result, test, e: _compare(e))
    _wrap(cls, "addSkip", lambda result, test, why: _add(result, test, "skipped", why=why))
    _wrap(cls, "addExpectedFailure", lambda result, test, err: _add(result, test, "xfailed"))
    _wrap(cls, "addUnexpectedSuccess", _add_unexpected_success)
    _wrap(cls, "addSubTest", _add_subtest, lambda result, test, subtest, e: _compare(e))


def _wrap(cls, name, after, before=None):
    original = cls.__dict__.get(name)
    if original is None:
        return
    first = swt.quiet(before) if before else None
    then = swt.quiet(after)
    then_name = name

    def method(self, *args, **kwargs):
        if first:
            first(self, *args, **kwargs)
        value = original(self, *args, **kwargs)
        then(self, *args, **kwargs)
        return value

    method.__name__ = then_name
    method.__qualname__ = getattr(original, "__qualname__", name)
    method.__doc__ = original.__doc__
    setattr(cls, name, method)


def hook_loader(module):
    """Wraps `loadTestsFromName`, which lets every exception but an ImportError end the program.

    Without this, a syntax error in a file named on the command line would leave no outcome.
    """
    original = module.TestLoader.loadTestsFromName
    if original in _hooked:
        return
    record = swt.quiet(_not_loaded)
    collecting = swt.quiet(_collecting)

    def loadTestsFromName(self, name, module=None):
        is_ours = module is None and collecting(name)
        try:
            found = original(self, name, module)
        except Exception as error:
            if module is None:
                record(name, error)
            raise
        if is_ours:
            collecting(None)
        return found

    loadTestsFromName.__doc__ = original.__doc__
    _hooked.append(loadTestsFromName)
    module.TestLoader.loadTestsFromName = loadTestsFromName


def _collecting(name):
    """Records the file that a dotted name leads to; returns whether the session is ours."""
    if swt.state.session not in (None, "unittest") or swt.running() is not None or not _records():
        return False
    swt.collecting(None if name is None else _missing(name, ""))
    return True


def hook_suite(module):
    """Wraps the set-up and tear-down of a class or module, which a suite runs between tests."""
    cls = module.TestSuite
    if cls in _hooked:
        return
    _hooked.append(cls)
    # unittest calls them for every test, mostly without anything to do.
    _wrap_wide(cls, "_handleClassSetUp", _entered_class)
    _wrap_wide(cls, "_tearDownPreviousClass",
               lambda test, before: before if _entered_class(test, before) else None)
    _wrap_wide(cls, "_handleModuleFixture", _entered_module)
    _wrap_wide(cls, "_handleModuleTearDown", lambda test, before: _module_of(before))
    _wrap(module.BaseTestSuite, "__call__", lambda *_: None, _begin_suite)


def _begin_suite(suite, result, *_, **__):
    """Records the tests of the outermost suite."""
    if getattr(result, "_testRunEntered", False) or _is_inner(result) or not _records():
        return
    found = []
    left = [suite]
    while left:
        for each in left.pop():
            if hasattr(each, "__iter__"):
                left.append(each)
            elif each is not None:
                name, phase = _identify(each)
                if phase is None:
                    found.append(name)
    swt.collected(found)


def _entered_class(test, before):
    return type(test) if type(test) is not before else None


def _entered_module(test, before):
    module = type(test).__module__
    return module if before is None or module != before.__module__ else None


def _module_of(cls):
    return None if cls is None else cls.__module__


def _wrap_wide(cls, name, wide):
    """Counts the method for a class or the name of a module, which `wide` gives."""
    original = cls.__dict__.get(name)
    if original is None:
        return
    enter = swt.quiet(_enter)

    leave = swt.quiet(swt.switch)

    def method(self, *args, **kwargs):
        # The arguments are a test and a result, or only the result.
        before = getattr(args[-1], "_previousTestClass", None) if args else None
        found = wide(args[0], before) if args else None
        former = enter(found) if found is not None else None
        try:
            return original(self, *args, **kwargs)
        finally:
            if former is not None:
                leave(former[0])

    method.__name__ = name
    method.__doc__ = original.__doc__
    setattr(cls, name, method)


def _enter(wide):
    """Begins the set-up or tear-down of a class or module; returns a tuple with what ran before, or
    None."""
    if swt.state.session not in (None, "unittest") or swt.running() is not None:
        return None
    if not (swt.owns("unittest") or swt.may_record() or _is_worker()):
        return None
    if isinstance(wide, str):
        path, names = _file_of(wide), []
    else:
        path, names = _file_of(wide.__module__), wide.__qualname__.split(".")
    if path is None:
        return None
    scope = "::".join([path] + names).replace("<locals>.", "") + "::"
    return (swt.switch(scope),)


def _not_loaded(name, error):
    if swt.state.session not in (None, "unittest") or swt.running() is not None or not _records():
        return
    exception, message, frames = swt.error_of(error)
    details = "".join(traceback.format_exception(type(error), error, error.__traceback__))
    path = _missing(name, details)
    swt.outcome(path, "error", 0.0, "collect", exception, message, details, frames)


# --- whose result it is --------------------------------------------------------------------


def _is_inner(result):
    """Whether `result` belongs to a test run inside the running test, or to another session."""
    if swt.state.session not in (None, "unittest"):
        return True
    if _Running.result is not None and _Running.pid == swt.own_pid():
        return result is not _Running.result
    return swt.running() is not None


def _records():
    """Whether outcomes count in this process; the first call of a session begins it."""
    if not swt.owns("unittest"):
        if not swt.may_record():
            return False
        swt.begin_session("unittest", "%d.%d.%d" % sys.version_info[:3])
    return True


def _is_worker():
    """Whether a session of a parent process runs its tests here, as Django does in parallel."""
    if swt.state.session is not None:
        return swt.state.session_pid != swt.own_pid()
    process = sys.modules.get("multiprocessing.process")
    return process is not None and process.current_process().name != "MainProcess"


# --- tests ---------------------------------------------------------------------------------


def _start(result, test):
    if _is_inner(result):
        return
    if not _records() and not _is_worker():
        return
    _Running.result = result
    _Running.pid = swt.own_pid()
    _Running.test, _Running.phase_if_failed = _identify(test)
    _Running.worst = None
    _Running.began = swt.now()
    if _Running.phase_if_failed is None:
        swt.switch(_Running.test)


def _stop(result, test):
    if _Running.result is not result or _Running.pid != swt.own_pid():
        return
    worst, _Running.worst = _Running.worst, None
    seconds = swt.now() - _Running.began
    name, _Running.test = _Running.test, None
    _Running.result = _Running.phase_if_failed = None
    swt.switch(None)
    if worst is not None and swt.owns("unittest"):
        _write(name, seconds, worst)


def _add(result, test, kind, error=None, stored=None, why=None):
    if _Running.result is result and _Running.pid == swt.own_pid():
        _worsen(_describe(result, kind, error, stored, why))
        return
    if _is_inner(result) or not _records():
        return
    if type(test).__name__ != "_ErrorHolder":
        # Python 3.12.1 does not start a test that a decorator skips.
        if kind == "skipped":
            name, phase = _identify(test)
            _write(name, 0.0, {"outcome": kind, "phase": phase or "call", "message": str(why)})
        return
    # setUpClass or setUpModule failed: no test was started, and none of its tests will be.
    match = _HOLDER.match(getattr(test, "description", "") or "")
    if match:
        found = _describe(result, kind, error, stored, why)
        found["phase"] = "setup" if match.group(1).startswith("setUp") else "teardown"
        _write(_dotted(match.group(2)), 0.0, found)


def _add_subtest(result, test, subtest, error):
    if error is None or _Running.result is not result or _Running.pid != swt.own_pid():
        return
    failed = issubclass(error[0], getattr(test, "failureException", AssertionError))
    found = _describe(result, "failed" if failed else "error", error,
                      "failures" if failed else "errors", None)
    describe = getattr(subtest, "_subDescription", None)
    if describe is not None:
        found["message"] = ("%s %s" % (describe(), found["message"] or "")).strip()
    _worsen(found)


def _add_unexpected_success(result, test):
    # Like pytest's strict xfail, it makes the whole run fail.
    if _Running.result is result and _Running.pid == swt.own_pid():
        _worsen({"outcome": "failed", "phase": "call", "message": "Unexpected success"})


def _worsen(found):
    worst = _Running.worst
    if worst is None or swt.RANK[found["outcome"]] > swt.RANK[worst["outcome"]]:
        _Running.worst = found


def _write(test, seconds, found):
    swt.outcome(
        test,
        found["outcome"],
        seconds,
        found.get("phase"),
        found.get("exception"),
        found.get("message"),
        found.get("details"),
        found.get("frames", ()),
        found.get("comparison"),
    )


def _compare(error):
    """Reads a traceback while it still has the frames of unittest, which unittest removes from 3.11
    on."""
    _Running.comparison = None if error is None else swt.comparison_of(error[1], error[2])


def _describe(result, kind, error, stored, why):
    """The facts to record about one call; an outcome is valid even without them.

    Functions that the program replaced, and odd exceptions, may prevent the description.
    """
    try:
        return _described(result, kind, error, stored, why)
    except Exception as problem:
        swt.problem("an outcome could not be described", problem)
        return {"outcome": kind, "phase": _Running.phase_if_failed or "call"}


def _described(result, kind, error, stored, why):
    """Does the work of `_describe`, with the text that unittest has already made."""
    phase = _Running.phase_if_failed or "call"
    if error is None:
        return {"outcome": kind, "phase": phase, "message": None if why is None else str(why)}
    exception = error[0].__name__
    texts = getattr(result, stored, None)
    details = texts[-1][1] if texts else None
    details = details if isinstance(details, str) else None
    frames = swt.frames_of(error[2])
    comparison, _Running.comparison = _Running.comparison, None
    if _Running.phase_if_failed is None:
        phase = _phase(error[2])
    elif exception in ("ImportError", "ModuleNotFoundError") and details:
        # For an import failure, unittest raises an ImportError whose message has the real
        # traceback.
        exception, frames = _import_failure(details, exception)
    return {
        "outcome": kind,
        "phase": phase,
        "exception": exception,
        "message": _message(details, exception),
        "details": details,
        "frames": frames,
        "comparison": comparison,
    }


def _phase(trace):
    """Gives "setup" or "teardown" if unittest called such a method, else "call"."""
    while trace is not None:
        code = trace.tb_frame.f_code
        if _RUNNER not in code.co_filename:
            name = code.co_name
            return {"setUp": "setup", "asyncSetUp": "setup", "tearDown": "teardown",
                    "asyncTearDown": "teardown"}.get(name, "call")
        trace = trace.tb_next
    return "call"


def _message(details, exception):
    """The message of the last exception in a traceback's text."""
    if not details:
        return None
    details = re.split(r"\n\n(?:Stdout|Stderr):\n", details)[0]  # output that -b appends
    start = r"^(?:[\w.<>]+\.)?%s(?::[ \n]?|$)" % re.escape(exception)
    found = list(re.finditer(start, details, re.M))
    return details[found[-1].end():].strip() if found else None


def _import_failure(details, exception):
    frames = []
    for path, line, function in _FRAME.findall(details):
        path = swt.relative(path)
        if path is not None:
            frames.append([path, int(line), function or "<module>"])
    names = re.findall(r"^([A-Za-z_][\w.]*)(?::.*)?$", details, re.M)
    return (names[-1].rpartition(".")[2] if names else exception), frames


# --- names ---------------------------------------------------------------------------------


def _identify(test):
    """(id, phase of a failure or None) of a test: `path of its file::Class::method`."""
    # By its class, since a test may have a method called test_case.
    while type(test).__name__ == "_SubTest":
        test = test.test_case
    cls = type(test)
    method = getattr(test, "_testMethodName", None)
    if cls.__module__ == "unittest.loader":  # a file that could not be imported, or skipped itself
        return _missing(method or test.id(), str(getattr(test, "_exception", ""))), "collect"
    if hasattr(test, "_dt_test"):  # a doctest
        path = swt.relative(test._dt_test.filename)
        return "%s::%s" % (path or test._dt_test.filename, test._dt_test.name), None
    parts = cls.__qualname__.split(".")
    module = cls.__module__
    if cls.__module__ == "unittest.case" and hasattr(test, "_testFunc"):
        module = test._testFunc.__module__
        parts, method = [], test._testFunc.__qualname__
    path = _file_of(module)
    if path is None or method is None:
        return test.id(), None
    return "::".join([path] + parts + [method]).replace("<locals>.", ""), None


def _file_of(module):
    return swt.relative(getattr(sys.modules.get(module), "__file__", None))


def _dotted(name):
    """Converts `tests.test_a.Class` to `tests/test_a.py::Class`, by the longest module in it."""
    parts = name.split(".")
    for count in range(len(parts), 0, -1):
        path = _file_of(".".join(parts[:count]))
        if path is not None:
            return "::".join([path] + parts[count:])
    return name


def _missing(name, text):
    """The file of a module that could not be imported, by its dotted name and unittest's words.

    `python -m unittest tests.test_a` names only the last part, and the traceback names the file.
    """
    parts = name.split(".")
    for folder in [os.getcwd()] + sys.path:
        base = os.path.join(folder, *parts)
        for path in (base + ".py", os.path.join(base, "__init__.py")):
            if swt.relative(path) and os.path.isfile(path):
                return swt.relative(path)
    for path, _, _ in _FRAME.findall(text):
        stem = swt.relative(path) or ""
        stem = stem[:-12] if stem.endswith("/__init__.py") else stem[:-3]
        if stem.rpartition("/")[2] == parts[-1]:
            return swt.relative(path)
    match = re.search(r"module '([\w.]+)' has no attribute", text)
    path = _file_of(match.group(1)) if match else None
    return "%s::%s" % (path, name) if path else name
