"""Records the outcome of every test and tells the tracer which test is running.

This needs nothing from the repository or the test command. `install` puts a finder on
`sys.meta_path` that watches for the few modules of test runners (`_pytest.config`,
`unittest.result`, SymPy's `runtests`). When one of them is imported, the finder loads the matching
`swt_runner_*.py` beside this file. A program that runs no tests pays for one dictionary look-up per
import.

Only the outermost session is recorded. A session that a test starts, in its own process or in a
child, must not be taken for ours: see `may_record`.

Everything here runs inside somebody else's program, so every entry point swallows its own
exceptions and nothing is printed. Standard library only, CPython 3.6 to 3.14.
"""

import os
import sys
import time

import swt_tracer as tracer

_MESSAGE = 2000
_DETAILS = 20000
_FRAMES = 50
_MUCH = 1 << 20
_HERE = os.path.dirname(os.path.abspath(__file__))
_MODULES = frozenset(
    [
        "swt_comparison", "swt_rewrite", "swt_runner_pytest", "swt_runner_sympy",
        "swt_runner_unittest",
    ]
)
#: The program may replace the functions of `os`, and a failing test must still be reported then.
own_pid = os.getpid

#: From best to worst: a later phase of a test replaces its outcome only by a worse one.
RANK = {"passed": 0, "xfailed": 1, "skipped": 2, "xpassed": 3, "failed": 4, "error": 5}


class _State(object):
    """The state of this process. A forked child inherits it; `session_pid` shows whose session it
    is."""

    def __init__(self):
        self.root = None
        self.real_root = None
        self.out = None
        self.session = None  # the runner whose outcomes are recorded
        self.session_pid = None
        self.current = None  # the running test
        self.current_pid = None
        self.collecting = None  # the file that the runner imports
        self.outer = None  # (pid, answer) of the search for a session in a parent process
        self.problems = 0
        self.may_record = True  # False where the key of the run is in another process


state = _State()


def install(config):
    """Hooks the test runners, now if they are loaded, else when they are imported.

    `config`: the parsed configuration, of which `root`, `out` and `outcomes` are read.
    """
    try:
        if not config.get("outcomes", True) or state.root is not None:
            return
        state.root = os.path.abspath(config["root"])
        state.real_root = os.path.realpath(state.root)
        state.out = config["out"]
        if _trust(sys.modules[__name__], False) is False:
            state.may_record = False
        for name, hook in _HOOKS.items():
            module = sys.modules.get(name)
            if module is not None:
                hook(module)
        sys.meta_path.insert(0, _Finder())
    except Exception as error:
        problem("outcomes are not recorded", error)


def _hook_starts(module):
    """Records the programs that the process with the key of the run starts: see swt_tracer."""
    starting = tracer.state.starting
    if starting is None:
        return
    original = module.fork_exec
    module.fork_exec = starting(original)
    # It has a reference to the function already if it was imported before us.
    user = sys.modules.get("subprocess")
    if getattr(user, "_fork_exec", None) is original:
        user._fork_exec = module.fork_exec


def _hook_pytest(module):
    """Every session of pytest 3 to 9 begins through this one function, `get_config`."""
    original = module.get_config
    if getattr(original, "swt_original", None) is not None:
        return

    def get_config(*args, **kwargs):
        config = original(*args, **kwargs)
        try:
            load("swt_runner_pytest").attach(config, sys._getframe(1))
        except Exception as error:
            problem("the pytest plug-in was not registered", error)
        return config

    get_config.swt_original = original
    get_config.__doc__ = original.__doc__
    module.get_config = get_config


def _hook_rewrite(module):
    """pytest itself executes the modules it rewrites, so the tracer's import hook does not see
    them."""
    if sys.version_info < (3, 12):
        load("swt_rewrite").hook(module, tracer.instrument)


def _hook_unittest(module):
    load("swt_runner_unittest").hook(module)


def _hook_loader(module):
    load("swt_runner_unittest").hook_loader(module)


def _hook_suite(module):
    load("swt_runner_unittest").hook_suite(module)


def _hook_sympy(module):
    load("swt_runner_sympy").hook(module)


_HOOKS = {
    "_pytest.config": _hook_pytest,
    "_pytest.assertion.rewrite": _hook_rewrite,
    "unittest.result": _hook_unittest,
    "unittest.loader": _hook_loader,
    "unittest.suite": _hook_suite,
    "sympy.testing.runtests": _hook_sympy,
    "sympy.utilities.runtests": _hook_sympy,
    "_posixsubprocess": _hook_starts,
}


class _Finder(object):
    """Finds the modules of `_HOOKS` through the other finders, with a loader that notifies us."""

    def find_spec(self, name, path=None, target=None):
        if name not in _HOOKS:
            return None
        for finder in list(sys.meta_path):
            find = getattr(finder, "find_spec", None)
            spec = find(name, path, target) if find and finder is not self else None
            if spec is None:
                continue
            if hasattr(spec.loader, "exec_module"):
                spec.loader = _Loader(spec.loader, _HOOKS[name])
            return spec
        return None


class _Loader(object):
    """A loader that runs a hook after the module, and then restores the real loader."""

    def __init__(self, loader, hook):
        self.swt_loader = loader
        self.swt_hook = hook

    def __getattr__(self, name):
        return getattr(self.swt_loader, name)

    def create_module(self, spec):
        create = getattr(self.swt_loader, "create_module", None)
        return create(spec) if create else None

    def exec_module(self, module):
        if getattr(module, "__spec__", None) is not None:
            module.__spec__.loader = self.swt_loader
        module.__loader__ = self.swt_loader
        self.swt_loader.exec_module(module)
        try:
            self.swt_hook(module)
        except Exception as error:
            problem("%s was not hooked" % module.__name__, error)


def load(name):
    """Loads a module of this folder, whatever the program has done to `sys.path` since the start."""
    module = sys.modules.get(name)
    if module is None:
        if name not in _MODULES:
            raise ImportError(name)
        import importlib.util

        path = os.path.join(_HERE, name + ".py")
        spec = importlib.util.spec_from_file_location(name, path)
        module = importlib.util.module_from_spec(spec)
        sys.modules[name] = module
        try:
            spec.loader.exec_module(module)
        except BaseException:
            del sys.modules[name]
            raise
        _trust(module, True)
    return module


def _trust(module, is_runner):
    """Lets a module of ours write guarded records; returns whether this process has the key of the
    run.

    None when there is no key.
    """
    if tracer.state.keyed:
        tracer.trust(module, is_runner)
    return tracer.state.keyed


# --- which session is ours -----------------------------------------------------------------


def may_record():
    """Whether a session that begins now in this process is the outermost one.

    It is not when this process has a session already, was forked from one that has, or has a parent
    process with one. Tests start runners of their own in each of these ways. Where runs have keys,
    only the process with the key and its forks record.
    """
    return state.may_record and state.session is None and not outer_session()


def outer_session():
    """Whether some parent process has a session, by its mark in the output folder.

    Parents are found by process id. An environment variable does not reach a child whose
    environment the program builds itself, as pytest's own tests do.
    """
    pid = own_pid()
    if state.outer is None or state.outer[0] != pid:
        state.outer = (pid, any(has_session(parent) for parent in tracer.parents()))
    return state.outer[1]


def has_session(pid):
    """Whether the process `pid` has a session now."""
    return os.path.exists(os.path.join(state.out, "%d.session" % pid))


def begin_session(runner, version):
    """Makes this process record for `runner`; the caller has asked `may_record`."""
    _begin(runner)
    tracer.write({"kind": "session", "runner": runner, "version": version})


def begin_worker():
    """Makes this process a worker: another process records the outcomes of what it runs."""
    _begin("worker")


def _begin(runner):
    state.session = runner
    state.session_pid = own_pid()
    try:
        os.close(os.open(_mark(), os.O_WRONLY | os.O_CREAT, 0o644))
    except OSError as error:
        problem("sessions started by tests cannot be told from this one", error)
    import atexit

    atexit.register(end_session)


def end_session():
    """Allows a later session of this process to be recorded."""
    if state.session is None or state.session_pid != own_pid():
        return
    state.session = None
    try:
        os.unlink(_mark())
    except OSError:
        pass


def _mark():
    return os.path.join(state.out, "%d.session" % own_pid())


def owns(runner):
    """Whether this very process, rather than a fork of it, records the outcomes of `runner`."""
    return state.session == runner and state.session_pid == own_pid()


# --- records -------------------------------------------------------------------------------


def scope_of(test, wide):
    """The id under which the set-up that `test` shares with others counts, or None.

    `wide` is "class" or "module". The id is that of the class or file followed by `::`, so that it
    differs from every test id.
    """
    path, colons, names = test.partition("::")
    if not colons:
        return None
    if wide == "module":
        return path + "::"
    names = names.partition("[")[0].replace("::()", "")  # which pytest used before 4.0
    return "%s::%s" % (path, names.rpartition("::")[0] + "::") if "::" in names else None


def is_scope(test):
    """Whether an id is one of `scope_of`."""
    return test is not None and test.endswith("::")


def switch(test):
    """Makes `test` the running one; returns the former.

    `test` is an id, one of `scope_of`, or None for code that all tests share.
    """
    former = state.current
    state.current = test
    state.current_pid = own_pid()
    tracer.switch(test)
    return former


def running():
    """The running test: the latest argument of `switch`, here or in a parent process."""
    found = state.current
    if found is None and state.current_pid != own_pid():
        found = tracer.current()
    return None if is_scope(found) else found


def collecting(path):
    """Records which file the runner imports from now on, or None when it has ended with it."""
    if state.collecting != path:
        state.collecting = path
        tracer.write({"kind": "collecting", "path": path})


def collected(tests):
    """Records tests that the runner is about to run."""
    for start in range(0, len(tests), 500):
        tracer.write({"kind": "collected", "tests": tests[start:start + 500]})


def outcome(test, result, seconds, phase, exception=None, message=None, details=None, frames=(),
            comparison=None, attempt=None, printed=0):
    """Writes one outcome at once, so that a process that dies right after it loses nothing.

    `result` is a key of RANK, and `seconds` a duration. `frames` is a list of [path below root,
    line, function] with the innermost last. `comparison` comes from `comparison_of`. `attempt` is
    how often the runner has begun the test, if it reports that. `printed` is the length of what the
    runner captured of its output, which may end the run when the runner prints it.
    """
    record = {
        "kind": "outcome",
        "test": test,
        "outcome": result,
        "seconds": round(max(seconds, 0.0), 6),
        "phase": phase,
        "exception": exception,
        "message": clip(message, _MESSAGE),
        "details": clip(details, _DETAILS),
        "frames": list(frames),
    }
    if comparison is not None:
        record["comparison"] = list(comparison)
    if attempt is not None:
        record["attempt"] = attempt
    if printed >= _MUCH:
        record["printed"] = printed
    tracer.write(record)


def clip(text, limit):
    """`text` in at most `limit` characters; a long one keeps its start and, mostly, its end."""
    if text is None or len(text) <= limit:
        return text
    head = limit // 4
    return text[:head] + "\n...\n" + text[len(text) - (limit - head - 5):]


def problem(text, error=None):
    """Records a failure of ours, but only the first few, since it may happen in every test."""
    state.problems += 1
    if state.problems > 20:
        return
    try:
        if error is not None:
            text = "%s: %s: %s" % (text, type(error).__name__, error)
        tracer.write({"kind": "problem", "text": clip(text, _MESSAGE)})
    except Exception:
        pass


def quiet(function):
    """`function` with its exceptions turned into problem records."""

    def call(*args, **kwargs):
        try:
            return function(*args, **kwargs)
        except Exception as error:
            problem("%s failed" % function.__name__, error)
            return None

    return call


now = time.perf_counter


# --- where things are ----------------------------------------------------------------------


def relative(path):
    """`path` below the root with `/`, or None when it is elsewhere."""
    if not path:
        return None
    try:
        path = os.path.abspath(path)
    except OSError:  # `<string>` below a working directory that was removed
        return None
    if path.endswith(".pyc"):
        path = path[:-1]
    for root in (state.root, state.real_root):
        if path.startswith(root + os.sep):
            return path[len(root) + 1:].replace(os.sep, "/")
    return None


def frames_of(traceback):
    """The frames of a traceback that are below the root, innermost last."""
    found = []
    while traceback is not None:
        code = traceback.tb_frame.f_code
        path = relative(code.co_filename)
        if path is not None and "/site-packages/" not in "/" + path:
            found.append([path, traceback.tb_lineno, code.co_name])
        traceback = traceback.tb_next
    # For endless recursion: where it was entered and where it stopped.
    return found if len(found) <= _FRAMES else found[: _FRAMES // 2] + found[-_FRAMES // 2:]


def error_of(error):
    """(exception name, message, frames) of an exception that nothing has formatted yet.

    Formatting runs the program's own `__str__`, which must not count for any test.
    """
    return uncounted(lambda: _error_of(error))


def _error_of(error):
    try:
        message = str(error)
    except Exception:
        message = ""
    frames = frames_of(error.__traceback__)
    if isinstance(error, SyntaxError) and relative(error.filename):
        frames.append([relative(error.filename), error.lineno or 0, "<module>"])
    return type(error).__name__, message, frames


def comparison_of(error, traceback):
    """[expected, actual] of a failed assertion that compares two values, as texts, or None.

    An outcome is complete without them, so a test that mocks functions needed here is not reported
    as a problem.
    """
    try:
        if isinstance(error, AssertionError):
            return load("swt_comparison").of(traceback, uncounted)
    except Exception:
        pass
    return None


def keep_comparison(left, right, frame):
    """Remembers the values of an assertion for `comparison_of`; `frame` is below the assertion."""
    try:
        load("swt_comparison").keep(left, right, frame, uncounted)
    except Exception:
        pass


def uncounted(function):
    """Returns what `function` returns; the program's code that it runs counts for no test."""
    test = switch(None) if state.current is not None else None
    try:
        return function()
    finally:
        if test is not None:
            switch(test)
