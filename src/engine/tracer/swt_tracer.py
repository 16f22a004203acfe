"""Counts the executions of a few given lines, by test, at almost no cost; CPython 3.6 to 3.14.

`start(config)` is called by sitecustomize with the configuration, a dict:

    {"format": 2, "root": "/abs/tree", "files": {"pkg/mod.py": [12, 13]},
     "out": "/abs/dir", "key": "/abs/file", "relay": false}

Each process writes `<pid>-<8 hex digits>.jsonl`, one record a line. If there are lines to count, it
also writes `<pid>-<8 hex digits>.counts`: one unsigned 64-bit little-endian total for each slot.
This is a mapped file in which every execution is counted at once, so that no kind of crash loses
any. A count is the number of line events that sys.settrace would give. swt_techniques has the three
ways of counting, and swt_audit records what else code of tests does.

With a `key` (see swt_seal), the process that takes it and its forks put a tab, the record's number
and a seal after each record. So no record can be added, changed, left out or moved unnoticed. Only
these processes record sessions and outcomes. Processes that they start by exec have no key. Those
write how and what they count, and the keyed processes record which ones they started. With `relay`,
the process that takes the key runs no code of the repository (tox). It writes a derived key to that
file for each program that it starts.

Limits, of which the tracer itself does not notice the first five:
- `python -I`, `-E` or `-S`, or an environment without PYTHONPATH: the process is not traced.
- A child made by fork() in C code counts into the file of its parent until it writes a record.
- Before 3.12, code of a changed file is not counted if the program compiles and executes it without
  the import system, runpy or pytest's rewriting.
- Before 3.12, a function with a changed line has constants and instructions of ours. So marshal
  refuses it, a just-in-time compiler of bytecode (numba) may too, and a tracer of opcodes sees
  them.
- A mapped file takes one file descriptor (none from 3.13 on).
- Before 3.12, a main script with changed lines is traced by sys.settrace: exact, but slow.
- Sub-interpreters write journals of their own, if they import `site`.
"""

import os
import sys
from _collections import deque
from _thread import RLock
from itertools import count

try:
    from _json import encode_basestring_ascii as _quote
except ImportError:
    from json import dumps as _quote

_ENV = "SWT_TRACE_TEST"
#: Why a run is not in the process that was prepared for it.
_WHY = "SWT_TRACE_WHY"
# The program may replace the functions of `os`.
_getpid = os.getpid
_putenv = os.putenv


class _State(object):
    """The state of this process; `None` or empty until `start`."""

    def __init__(self):
        self.root = self.out = self.stem = self.pid = None
        self.technique = None
        self.test = None
        self.open = False
        self.slots = []  # [path, line] by slot
        self.lines = {}  # {path: {line: slot}}
        self.targets = {}  # {real path: path}
        self.names = frozenset()  # base names of the targets
        self.known = {}  # {co_filename: {line: slot}, or None if not a target}
        self.paths = {}  # {co_filename of a target: path}
        self.how = {}  # {path: its `file` record}
        self.flushing = None  # the lock of `flush`
        self.is_flushing = False
        self.raised = set()  # slots whose count something else has raised
        self.altered = set()  # names of the recorder that the program has replaced
        self.keyed = None  # whether this process has the key of the run; None when there is none
        self.problems = set()
        self.checks = []  # functions that return the text of a problem, or None
        self.instrument = None
        self.starting = None  # wraps a function that starts programs, so that these are recorded
        self.watch_lines = lambda: None  # reports who reads lines that `linecache` has
        self.starts = None  # gets the arguments and folder of each, where no audit hook does
        self.start_folder = None
        self.waiting = None  # records from before the run, after `prepare`
        self.totals = {}  # counts from before the run, by slot
        self.take = None  # takes the key of that run


state = _State()


# --- the journal ---------------------------------------------------------------------------


def _encode(value):
    if isinstance(value, str):
        return _quote(value)
    if value is None or value is True or value is False:
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, int):
        return int.__repr__(value)
    if isinstance(value, float):
        return float.__repr__(value) if abs(value) < float("inf") else "null"
    if isinstance(value, dict):
        parts = ["%s:%s" % (_quote(str(key)), _encode(item)) for key, item in value.items()]
        return "{%s}" % ",".join(parts)
    return "[%s]" % ",".join([_encode(item) for item in value])


def write(record):
    """Appends `record`, a dict of JSON values, to the journal of this process, in one write.

    Does nothing before `start`, which replaces this function, as does each fork.
    """


_mute = write


def _writer(name, seal, guard, _open=os.open, _write=os.write, _close=os.close):
    """`write` for the journal `name`; `seal` is a function of swt_seal, or None.

    The file is opened anew each time, since programs close all descriptors, or replace `os.open`. A
    record that cannot be written, as on a full disk, waits for the next one. So does one that an
    exception from a signal handler interrupts; it may then be there twice.
    """
    path = os.path.join(state.out, name + ".jsonl")
    flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | getattr(os, "O_CLOEXEC", 0)
    lock = RLock()
    numbers = count()
    waiting = deque()

    def put(text, number):
        line = (text if seal is None else seal(text, number)) + b"\n"
        file = _open(path, flags, 0o644)
        try:
            size = _write(file, line)
            if size != len(line):
                os.ftruncate(file, os.fstat(file).st_size - size)
                raise OSError("the disk is full")
        finally:
            _close(file)

    def append(record):
        if guard is not None:
            record = guard(record, sys._getframe(1))
        if _getpid() != state.pid:
            _after_fork()
            write(record)
            return
        try:
            text = _encode(record).encode("ascii")
        except (UnicodeError, KeyError, TypeError):
            return
        # For the interpreter this is one step, so that each number has its record.
        waiting.extend(zip((text,), numbers))
        # Ensures that one thread's record is in the file before another thread writes the last one.
        # The wait is limited: at the very end, a thread that has the lock no longer runs.
        locked = lock.acquire(True, 1)
        try:
            while waiting:
                first = waiting[0]
                put(*first)
                # A signal handler that ran in between may have written it as well.
                if waiting and waiting[0] is first:
                    waiting.popleft()
        except (OSError, IndexError):
            pass
        finally:
            if locked:
                lock.release()

    return append


# --- who may write -------------------------------------------------------------------------

#: Records that a verdict depends on.
_GUARDED = frozenset(
    [
        "session", "collecting", "collected", "outcome", "counts", "started", "exit", "process",
        "act",
    ]
)
#: Code objects by their ids, since hashing a code object takes long. They are those of this module,
#: of swt_outcomes, and of the modules for runners.
_own, _recorders, _runners = {}, {}, {}


def _codes(space):
    """The code objects of the functions and classes in the dict of a module or class, by id."""
    found = {}
    for value in list(space.values()):
        if isinstance(value, type):
            found.update(_codes(vars(value)))
        left = [value.__code__] if isinstance(value, type(_codes)) else []
        while left:
            code = left.pop()
            found[id(code)] = code
            left += [each for each in code.co_consts if type(each) is type(code)]
    return found


#: Of these modules: (names, name, value, code of a function), as they were when they were loaded.
_intact = []
#: What `start` and forks replace.
_VARIABLE = frozenset(["write", "_after_fork", "_open_counts", "_take"])
_FIXED = (type(_codes), type, str, int, frozenset)


def trust(module, is_runner):
    """Allows a module of the recorder to write: swt_outcomes, or one for a runner that calls it.

    The first to call it is swt_outcomes, before code of the repository runs. Later on, nobody else
    can.
    """
    frame = sys._getframe(1)
    if _recorders and not (id(frame.f_code) in _recorders and id(frame.f_back.f_code) in _recorders):
        write({"kind": "foreign", "what": "code", "where": "swt_tracer.trust"})
        return
    (_runners if is_runner else _recorders).update(_codes(vars(module)))
    _remember(vars(module))


def _remember(space):
    for name, value in list(space.items()):
        if name not in _VARIABLE and isinstance(value, _FIXED):
            # From 3.8 on, the audit hook sees who changes it.
            code = None if hasattr(sys, "addaudithook") else getattr(value, "__code__", None)
            _intact.append((space, name, value, code))
            if isinstance(value, type) and value.__module__ == space.get("__name__"):
                _remember(vars(value))


def _altered():
    """The name of a function, class or constant of the recorder that was replaced, or None."""
    for space, name, value, code in _intact:
        if space.get(name) is not value or code and code is not value.__code__:
            return "%s.%s" % (space.get("__name__") or space.get("__module__"), name)
    return None


def _guard(record, frame):
    """Returns `record`, or one that names the caller if that is not the recorder.

    This catches tests that call the functions of the recorder, or replace them.
    """
    if record["kind"] not in _GUARDED:
        return record
    altered = _altered()
    if altered is not None and altered not in state.altered:
        state.altered.add(altered)
        write({"kind": "foreign", "what": "code", "where": altered})
    if id(frame.f_code) in _own:
        return record
    while frame is not None and id(frame.f_code) in _recorders:
        frame = frame.f_back
    if frame is not None and id(frame.f_code) in _runners:
        return record
    where = "%s:%d" % (frame.f_code.co_filename, frame.f_lineno) if frame is not None else None
    return {"kind": "foreign", "what": record["kind"], "where": where}


def problem(text):
    """Records, only once, something that may make counts wrong."""
    if text not in state.problems:
        state.problems.add(text)
        write({"kind": "problem", "text": text})


def current_journal():
    """The path of the journal of this process, or None."""
    return state.stem and state.stem + ".jsonl"


def _begin_journal(seals, relayed=None):
    """Begins the journal of this process, with `seals` of swt_seal or None."""
    global write, _after_fork
    write = _mute
    forked = state.stem and os.path.basename(state.stem)
    state.pid = _getpid()
    name = "%d-%s" % (state.pid, "".join("%02x" % byte for byte in os.urandom(4)))
    state.stem = os.path.join(state.out, name)
    state.problems = set()
    state.open = True
    write = _writer(name, seals and seals(name), seals and _guard)
    _after_fork = _forked(seals, relayed)
    record = {
        "kind": "process",
        "format": 2,
        "pid": state.pid,
        "ppid": os.getppid() if hasattr(os, "getppid") else 0,
        "argv": command_line(),
        "python": "%d.%d.%d" % sys.version_info[:3],
        "implementation": sys.implementation.name,
        "technique": state.technique,
        "slots": state.slots,
    }
    if relayed is not None:
        record["relay"] = relayed
    if forked is not None:
        record["forked"] = forked
    elif state.keyed is not None:
        record["above"] = list(parents())
    write(record)
    _open_counts()
    _begin(state.test)


def parents():
    """Process ids of the ancestors, the parent first, as far as the system reports them; at most
    64."""
    pid = os.getppid() if hasattr(os, "getppid") else 0
    for _ in range(64):
        if pid <= 1:
            return
        yield pid
        try:
            with open("/proc/%d/stat" % pid, "rb") as stream:
                # The name in parentheses may contain anything, parentheses and spaces included.
                pid = int(stream.read().rpartition(b")")[2].split()[1])
        except (OSError, ValueError, IndexError):
            return


def command_line():
    """The arguments of this process, the interpreter and its options included."""
    found = getattr(sys, "orig_argv", None)
    if not found:
        try:
            with open("/proc/self/cmdline", "rb") as stream:
                found = [os.fsdecode(part) for part in stream.read().split(b"\0")[:-1]]
        except OSError:
            found = [sys.executable] + getattr(sys, "argv", [])
    return list(found)


# --- counts --------------------------------------------------------------------------------


def _open_counts():
    """Sets the counters to zero, in a new file; `_count` replaces it."""


def _count():
    """Replaces the functions of this section that refer to the counters; returns two more.

    These are `cells_of` and `rewritten` of swt_counts, for the techniques. In a process without the
    key of a run, nothing is checked, as nobody can vouch for what it counts.
    """
    global _open_counts, _take
    import swt_counts

    sources = {path: _source_of(path) for path in state.lines} if state.keyed else None
    cells_of, begin, _take, rewritten = swt_counts.counters(state.slots, sources, state.root)
    maps = []  # all are kept: freeing one closes a descriptor that the program may be using

    def open_counts():
        # After a fork, another thread may have held the previous lock.
        state.flushing = RLock()
        state.is_flushing = False
        size = 8 * len(state.slots)
        view = memoryview(bytearray(size))
        try:
            if size and state.stem and sys.byteorder == "little":
                maps.append(_map(state.stem + ".counts", size))
                view = memoryview(maps[-1])
        except (ImportError, OSError, ValueError) as error:
            problem("counts are lost if this process is killed: %s" % error)
        begin(view.cast("Q"), state.totals)

    _open_counts = open_counts
    return cells_of, rewritten


def _source_of(path):
    try:
        with open(os.path.join(state.root, *path.split("/")), "rb") as stream:
            return stream.read()
    except OSError:
        return None


def _map(path, size):
    import mmap

    file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o644)
    try:
        # Write zeros rather than only set the size. On a full disk this fails here; a hole in the
        # file would kill the process later.
        os.write(file, bytes(size))
        more = {"trackfd": False} if sys.version_info >= (3, 13) and os.name != "nt" else {}
        return mmap.mmap(file, size, **more)
    finally:
        os.close(file)


def _take():
    """See swt_counts; `_count` replaces it."""
    return {}, (), ()


def flush():
    """Writes the counts since the last record, for the current test."""
    if state.stem is None:
        return
    if _getpid() != state.pid:
        _after_fork()
    # Without the lock, counts seen by two threads, or by a signal handler in between, would be
    # written twice.
    with state.flushing:
        if state.is_flushing:
            return
        try:
            state.is_flushing = True
            # It remembers first, so that an exception in between cannot make counts be written
            # twice.
            counts, raised, problems = _take()
            if counts:
                counts = {str(slot): count for slot, count in counts.items()}
                write({"kind": "counts", "test": state.test, "counts": counts})
            for slot in raised:
                _raised(slot)
            for text in problems:
                problem(text)
        finally:
            state.is_flushing = False


def _raised(slot):
    if state.keyed and slot not in state.raised:
        state.raised.add(slot)
        write({"kind": "foreign", "what": "total", "where": "%s:%d" % tuple(state.slots[slot])})


# --- tests ---------------------------------------------------------------------------------


def switch(test):
    """Makes `test` the current one: its id, or None for import, collection and all other shared
    code.

    Code that a class or file of tests shares has the id of that followed by `::`.
    """
    if test == state.test:
        return
    flush()
    state.watch_lines()
    _begin(test)
    for check in state.checks:
        text = check()
        if text:
            problem(text)


def current():
    """The id of the current test, or None."""
    return state.test


def _begin(test):
    state.test = test
    write({"kind": "begin", "test": test})
    try:
        # os.environ is bypassed, so that the program's view of it stays the same.
        _putenv(_ENV, test or "")
    except (ValueError, OSError, UnicodeError):
        pass


def _inherited_test():
    """The test that the parent process was running, from the environment or from its journal."""
    test = os.environ.pop(_ENV, None)
    if test is not None:
        return test or None
    try:
        names = os.listdir(state.out)
        for pid in parents():
            start = "%d-" % pid
            paths = [os.path.join(state.out, name) for name in names
                     if name.startswith(start) and name.endswith(".jsonl")]
            if paths:
                return _last_test(max(paths, key=os.path.getmtime))
    except (OSError, ValueError, IndexError):
        pass
    return None


def _last_test(path):
    with open(path, "rb") as stream:
        data = stream.read()
    at = data.rfind(b'{"kind":"begin",')
    end = data.find(b"\n", at)
    if at < 0 or end < 0:
        return None
    import json

    return json.loads(data[at:end].partition(b"\t")[0].decode("ascii"))["test"]


# --- the changed files ---------------------------------------------------------------------


def resolve(filename):
    """{line: slot} for code of this co_filename, None if it is of no changed file; the answer is
    kept."""
    found = None
    if filename.replace("\\", "/").rpartition("/")[2] in state.names:
        for folder in (state.start_folder, None):
            path = os.path.join(folder, filename) if folder else filename
            path = state.targets.get(_real(path))
            if path is not None:
                state.paths[filename] = path
                found = state.lines[path]
                break
    state.known[filename] = found
    return found


def _real(path):
    try:
        return os.path.normcase(os.path.realpath(path))
    except (OSError, ValueError):
        return path


def note(filename, how, why=None):
    """Records how the changed file of this co_filename is counted; a fallback replaces another way."""
    path = state.paths[filename]
    if path in state.how and (state.how[path]["how"] == how or why is None):
        return
    record = {"kind": "file", "path": path, "how": how}
    if why:
        record["why"] = why
    state.how[path] = record
    write(record)


def instrument(code):
    """Returns the module's code `code`, with counters if it is of a changed file; never raises.

    For code that runs a module without the import system. Only needed before CPython 3.12: later
    versions count without it, and return `code` itself.
    """
    if state.instrument is None:
        return code
    try:
        return state.instrument(code)
    except Exception as error:
        problem("code was not instrumented: %s: %s" % (type(error).__name__, error))
        return code


def _report_unseen():
    """Records changed files that were loaded uncounted, or that other files were loaded for."""
    missing = [path for path in state.lines if path not in state.how]
    if not missing:
        return
    names = {}
    for path in missing:
        for name in _module_names(path):
            names.setdefault(name, path)
    root = _real(state.root) + os.sep
    for name, module in list(sys.modules.items()):
        try:
            # Bypasses the module's own __getattribute__, since a lazy module would load now.
            file = object.__getattribute__(module, "__dict__").get("__file__")
        except (AttributeError, TypeError):
            continue
        if not isinstance(file, str):
            continue
        if resolve(file) is not None:
            if state.paths[file] in missing:
                note(file, "not instrumented", "loaded as %s in a way not seen" % name)
        elif name in names and names[name] not in state.how:
            if not _real(file).startswith(root):
                write({"kind": "elsewhere", "path": names[name], "loaded": file})


def _module_names(path):
    """Dotted names under which the changed file may be imported from another place."""
    parts = (path[:-3] if path.endswith(".py") else path).split("/")
    if parts[-1] == "__init__" and len(parts) > 1:
        parts.pop()
    top = len(parts) - 1
    while top and os.path.exists(os.path.join(state.root, *(parts[:top] + ["__init__.py"]))):
        top -= 1
    return [".".join(parts[index:]) for index in range(top + 1)]


# --- the life of a process -----------------------------------------------------------------


def start(config):
    """Begins to count in this process; see the module's documentation for `config`."""
    _know(config)
    state.test = _inherited_test()
    seals, relay, relayed = _take_key(config)
    counting = _count()
    _begin_journal(seals, relayed)
    why = os.environ.pop(_WHY, None)
    if why is not None:
        write({"kind": "warm", "why": why})
    _follow(counting, relay)


def prepare(config):
    """As `start`, in a process that imports modules of the repository before its run has a key.

    No code of a candidate may run before `resume`, which begins the run.
    """
    global write
    import swt_seal

    state.take = swt_seal.take
    _know(config)
    state.waiting = []
    write = state.waiting.append
    state.keyed = bool(config.get("key"))
    _own.update(_codes(globals()))
    _remember(globals())
    counting = _count()
    _open_counts()
    _follow(counting, None)


def resume(config, seconds):
    """Begins the run for which this process was prepared in so many `seconds`.

    The executions so far are those of imports.
    """
    seals, _, relayed = state.take(config["key"])
    counts, raised, problems = _take()
    waiting, state.waiting = state.waiting, None
    state.totals = counts
    _begin_journal(seals, relayed)
    state.totals = {}
    write({"kind": "warm", "seconds": seconds})
    for record in waiting:
        write(record)
    if counts:
        write({"kind": "counts", "test": None, "counts": {str(slot): n for slot, n in counts.items()}})
    for slot in raised:
        _raised(slot)
    for text in problems:
        problem(text)


def _know(config):
    """Takes over what `config` says of the tree."""
    state.root = os.path.abspath(config["root"])
    state.out = os.path.abspath(config["out"])
    try:
        state.start_folder = os.getcwd()
    except OSError:  # the folder was removed
        state.start_folder = None
    os.makedirs(state.out, exist_ok=True)
    for path in sorted(config.get("files") or {}):
        for line in sorted(set(config["files"][path])):
            state.lines.setdefault(path, {})[line] = len(state.slots)
            state.slots.append([path, line])
        state.targets[_real(os.path.join(state.root, *path.split("/")))] = path
    state.names = frozenset(path.rpartition("/")[2] for path in state.lines)
    state.names |= frozenset(os.path.basename(path) for path in state.targets)

    import swt_techniques

    state.technique = config.get("technique") or swt_techniques.choose()


def _follow(counting, relay):
    """Begins to watch what this process executes and does."""
    import swt_audit
    import swt_techniques

    if state.slots:
        swt_techniques.begin(sys.modules[__name__], *counting)
    _follow_process(bool(state.keyed), relay)
    _own.update(_codes(vars(swt_audit)))
    _remember(vars(swt_audit))
    swt_audit.begin(sys.modules[__name__], os.environ.get("SWT_TRACE_CONFIG"))
    # Nobody finds it there to replace a part of it.
    del sys.modules["swt_audit"]


def _take_key(config):
    """The result of swt_seal.take, or three times None."""
    path = config.get("key")
    if not path:
        return None, None, None
    state.keyed = False
    # A cheap check for the many processes that come after the key was taken.
    if not os.path.exists(path):
        return None, None, None
    import swt_seal

    seals, relay, relayed = swt_seal.take(path) or (None, None, None)
    state.keyed = seals is not None
    _own.update(_codes(globals()))
    if state.keyed:
        _remember(globals())
    return seals, relay if config.get("relay") and relayed is None else None, relayed


def _follow_process(is_keyed, relay):
    import atexit

    atexit.register(finish)
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=lambda: _after_fork())
    else:
        for name in ("fork", "forkpty"):
            if hasattr(os, name):
                setattr(os, name, _forking(getattr(os, name)))
    for name in ("_exit", "execv", "execve"):
        if hasattr(os, name):
            setattr(os, name, _ending(getattr(os, name), name != "_exit"))
    if is_keyed:
        for name in ("posix_spawn", "posix_spawnp", "system"):
            if hasattr(os, name):
                setattr(os, name, _starting(getattr(os, name), "os", relay, name != "system"))
        # swt_outcomes uses this when the module is imported.
        state.starting = lambda original: _starting(original, "_posixsubprocess", relay, True)


def _starting(original, module, relay, tells):
    """Wraps a function that starts a program, to record which; `tells` if it returns the process
    id."""

    def start(*args, **kwargs):
        if relay is not None:
            relay()
        if not tells:
            write({"kind": "started", "pid": None})
        if state.starts is not None:
            state.starts(args[0], args[4] if module == "_posixsubprocess" else None)
        result = original(*args, **kwargs)
        if tells:
            write({"kind": "started", "pid": result})
        return result

    return _dress(start, original, module)


def _forking(original):
    def fork():
        result = original()
        if (result[0] if isinstance(result, tuple) else result) == 0:
            _after_fork()
        return result

    return _dress(fork, original)


def _ending(original, replaces):
    def end(*args, **kwargs):
        if replaces and state.keyed:
            # The program that replaces this one has no key.
            write({"kind": "started", "pid": _getpid()})
        finish(abrupt=not replaces)
        try:
            return original(*args, **kwargs)
        finally:
            state.open = True  # exec failed

    return _dress(end, original)


def _dress(function, original, module="os"):
    function.__name__ = function.__qualname__ = original.__name__
    function.__doc__ = original.__doc__
    function.__module__ = module
    return function


def _after_fork():
    """Gives a forked child files of its own, counters at zero, and the test of its parent."""


def _forked(seals, relayed):
    """`_after_fork` for a process with these `seals`. Only functions refer to them."""

    def after_fork():
        try:
            if state.stem is not None:
                state.pid = _getpid()
                _begin_journal(seals, relayed)
                for record in list(state.how.values()):
                    write(record)
        except Exception as error:
            problem("a forked child is not counted: %s: %s" % (type(error).__name__, error))

    return after_fork


def finish(abrupt=False):
    """Writes all that is left at the end of a process; does so again only after a failed exec.

    `abrupt`: code of the program ends the process at once, so that a runner cannot end its session.
    """
    if not state.open:
        return
    try:
        flush()
        for check in state.checks:
            text = check()
            if text:
                problem(text)
        _report_unseen()
    except Exception as error:
        problem("the end was not recorded: %s: %s" % (type(error).__name__, error))
    state.open = False
    write({"kind": "exit", "abrupt": True} if abrupt else {"kind": "exit"})
