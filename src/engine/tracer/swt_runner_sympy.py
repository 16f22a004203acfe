"""The SymPy side of swt_outcomes: the reporter of `bin/test`, SymPy 1.0 to now.

SymPy runs its tests itself and reports every step to a reporter, whose methods are wrapped here.
"""

import sys
import traceback

import swt_outcomes as swt

_hooked = set()


class _Running(object):
    test = None
    began = 0.0


def hook(module):
    """Wraps `PyTestReporter` of SymPy's `runtests`, under either of its two names."""
    reporter = getattr(module, "PyTestReporter", None)
    if reporter is None or reporter in _hooked:
        return
    _hooked.add(reporter)
    _wrap(reporter, "entering_test", after=_entering_test)
    _wrap(reporter, "test_pass", before=lambda self, *_: _finish("passed"))
    _wrap(reporter, "test_fail", before=lambda self, info, *_: _finish("failed", info))
    _wrap(reporter, "test_exception", before=_test_exception)
    _wrap(reporter, "test_skip", before=lambda self, why=None, *_: _finish("skipped", None, why))
    _wrap(reporter, "test_xfail", before=lambda self, *_: _finish("xfailed"))
    _wrap(reporter, "test_xpass", before=lambda self, why=None, *_: _finish("xpassed", None, why))
    _wrap(reporter, "import_error", before=_import_error)
    _wrap(reporter, "entering_filename", before=_entering_filename)
    _wrap(getattr(module, "SymPyTests", None), "test_file", before=_test_file, after=_tested_file)


def _wrap(owner, name, before=None, after=None):
    original = getattr(owner, "__dict__", {}).get(name)
    if original is None:
        return
    first = swt.quiet(before) if before else None
    then = swt.quiet(after) if after else None

    def method(self, *args, **kwargs):
        if first:
            first(self, *args, **kwargs)
        result = original(self, *args, **kwargs)
        if then:
            then(self, *args, **kwargs)
        return result

    method.__name__ = name
    method.__doc__ = original.__doc__
    setattr(owner, name, method)


def _ours():
    """Whether outcomes count now; the first call of a session begins it."""
    if not swt.owns("sympy"):
        if not swt.may_record() or swt.running() is not None:
            return False
        swt.begin_session("sympy", getattr(sys.modules.get("sympy"), "__version__", None))
    return True


def _path(reporter):
    root = getattr(reporter, "_root_dir", None) or ""
    name = (getattr(reporter, "_active_file", None) or "").lstrip("/\\")
    return swt.relative("%s/%s" % (root, name)) or name


def _test_file(tests, filename, *_, **__):
    if _ours():
        swt.collecting(swt.relative(filename))


def _tested_file(*_, **__):
    if swt.owns("sympy"):
        swt.collecting(None)


def _entering_filename(reporter, filename, *_):
    """The file has been executed, and its tests begin: only the caller knows them."""
    if not _ours():
        return
    swt.collecting(None)
    path = swt.relative(filename) or str(filename)
    found = _local("funcs") or ()
    swt.collected(["%s::%s" % (path, getattr(each, "__name__", "test")) for each in found])


def _local(name):
    """A variable of `test_file` of the runner, which is among the callers."""
    frame = sys._getframe()
    while frame is not None and frame.f_code.co_name != "test_file":
        frame = frame.f_back
    return None if frame is None else frame.f_locals.get(name)


def _entering_test(reporter, function, *_):
    if not _ours():
        return
    _Running.test = "%s::%s" % (_path(reporter), getattr(function, "__name__", "test"))
    _Running.began = swt.now()
    swt.switch(_Running.test)


def _finish(result, info=None, why=None):
    if _Running.test is None or not swt.owns("sympy"):
        return
    test, _Running.test = _Running.test, None
    seconds = swt.now() - _Running.began
    swt.switch(None)
    if info is None:
        swt.outcome(test, result, seconds, "call", None, None if why is None else str(why))
    else:
        _failed(test, result, seconds, "call", info)


def _test_exception(reporter, info, *_):
    if _Running.test is not None:
        _finish("error", info)
    elif _ours():
        # The file itself raised: the reporter does not know yet which file it is.
        path = _local("filename")
        _failed(swt.relative(path) or str(path), "error", 0.0, "collect", info)


def _import_error(reporter, path, info, *_):
    if _ours():
        _failed(swt.relative(path) or str(path), "error", 0.0, "collect", info)


def _failed(test, result, seconds, phase, info):
    name, message, frames = swt.error_of(info[1])
    # The frame of the runner itself gives no information.
    frames = [frame for frame in frames if not frame[0].endswith("/runtests.py")]
    try:
        details = "".join(traceback.format_exception(*info[:3]))
    except Exception:
        details = None
    swt.outcome(test, result, seconds, phase, name, message, details, frames)
