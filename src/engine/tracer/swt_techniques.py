"""The three ways of counting lines: sys.monitoring, changed bytecode, sys.settrace.

They get the module swt_tracer as `tracer`. Of it they use `resolve` and `state.known` (the changed
lines by co_filename), `note` and `problem`. They also get `cells_of` of swt_counts, and `rewritten`:
with `cells = cells_of(1)`, a function that is called from the line counts one execution of it by
next(cells[slot]).
"""

import os
import sys


def choose():
    """Name of the technique for this interpreter."""
    if sys.implementation.name == "cpython":
        if hasattr(sys, "monitoring"):
            return "settrace" if _free_tool() is None else "monitoring"
        if sys.version_info >= (3, 6):
            return "bytecode"
    return "settrace"


def begin(tracer, cells_of, rewritten):
    """Starts counting in this process by the technique of `tracer.state`."""
    if tracer.state.technique == "monitoring":
        _begin_monitoring(tracer, cells_of)
    elif tracer.state.technique == "bytecode":
        _begin_bytecode(tracer, cells_of, rewritten)
    else:
        Fallback(tracer, cells_of, everything=True).begin()


def _free_tool():
    """A tool id of sys.monitoring that is free, or None; ids of known tools are tried last."""
    free = [tool for tool in (4, 3, 1, 2, 0, 5) if sys.monitoring.get_tool(tool) is None]
    return free[0] if free else None


def _holds(code, slots):
    """Whether some instruction of `code`, nested code objects left out, is on one of the lines."""
    if hasattr(code, "co_lines"):
        return any(line in slots for _, _, line in code.co_lines())
    return any(line in slots for _, line in _load("swt_lines").read_lnotab(code))


def _load(name):
    """Loads a module of this folder, whatever the program has done to `sys.path` since the start."""
    if name not in sys.modules:
        folder = os.path.dirname(os.path.abspath(__file__))
        sys.path.insert(0, folder)
        try:
            __import__(name)
        finally:
            sys.path.remove(folder)
    return sys.modules[name]


# --- CPython 3.12 and later ----------------------------------------------------------------


def _begin_monitoring(tracer, cells_of):
    """Counts LINE events, and jumps back to the same line, only for code objects with changed
    lines.

    One PY_START event for each code object finds these, however they came to be executed.
    """
    monitoring = sys.monitoring
    events = monitoring.events
    tool = _free_tool()
    # The callbacks use only local names, because they may run after the module was torn down.
    known, resolve, note = tracer.state.known, tracer.resolve, tracer.note
    is_locked = hasattr(sys, "_is_gil_enabled") and not sys._is_gil_enabled()
    cells = cells_of(2 if is_locked else 1)
    disable = monitoring.DISABLE
    set_local_events = monitoring.set_local_events
    local = events.LINE | events.JUMP
    # 3.13 gives no LINE event on the line of a specialised RESUME. Only a RESUME without events is
    # specialised.
    keep_resume = sys.version_info >= (3, 13)
    resume = events.PY_START | events.PY_RESUME
    settled = {}
    advance = next
    jumps = {}

    def on_start(code, offset):
        if id(code) in settled:
            return None
        try:
            filename = code.co_filename
            slots = known[filename] if filename in known else resolve(filename)
            if slots is not None:
                note(filename, "monitoring")
                if _holds(code, slots):
                    if keep_resume and not slots.keys().isdisjoint(_resume_lines(code)):
                        set_local_events(tool, code, local | resume)
                        # Keeping the code object ensures that its id is not reused.
                        settled[id(code)] = code
                        return None
                    set_local_events(tool, code, local)
        except Exception:
            pass
        return disable

    def on_resume(code, offset):
        return None

    def on_line(code, line):
        slot = known[code.co_filename].get(line)
        if slot is None:
            return disable
        advance(cells[slot])

    def on_jump(code, offset, target):
        # For a jump backwards within a line, sys.settrace gives a line event and sys.monitoring
        # none.
        if target > offset:
            return disable
        key = (id(code), offset)
        if key not in jumps:
            # Keeping the code object ensures that its id is not reused.
            jumps[key] = (_line_at(code, offset, target), code)
        slot = known[code.co_filename].get(jumps[key][0])
        if slot is None:
            return disable
        advance(cells[slot])

    if is_locked:
        from _thread import allocate_lock

        lock = allocate_lock()

        def advance(cell):
            with lock:
                next(cell)

    monitoring.use_tool_id(tool, "swt-bench")
    callbacks = (
        (events.PY_START, on_start), (events.PY_RESUME, on_resume),
        (events.LINE, on_line), (events.JUMP, on_jump),
    )
    for event, function in callbacks:
        monitoring.register_callback(tool, event, function)
    monitoring.set_events(tool, events.PY_START)

    def check():
        if monitoring.get_tool(tool) != "swt-bench":
            return "the program took the tool id of the tracer from it: counts are too low"
        if not monitoring.get_events(tool) & events.PY_START:
            return "the program changed the events of the tracer: counts are too low"
        for event, function in callbacks:
            if monitoring.register_callback(tool, event, function) is not function:
                return "the program replaced callbacks of the tracer: counts are too low"
        return None

    tracer.state.checks.append(check)


def _resume_lines(code):
    """The lines of RESUME instructions, which are at the start of a function or after a `yield`."""
    import opcode

    resume = opcode.opmap["RESUME"]
    raw = code.co_code
    return {
        line for start, end, line in code.co_lines()
        if resume in raw[start:end:2]
    }


def _line_at(code, offset, target):
    """The line of both offsets, or None if they differ."""
    lines = set()
    for start, end, line in code.co_lines():
        if start <= offset < end or start <= target < end:
            lines.add(line)
    return lines.pop() if len(lines) == 1 else None


# --- CPython 3.6 to 3.11 -------------------------------------------------------------------

# Executed under the name of the import system's file, so that it is cut from tracebacks as well.
_GET_CODE = """
def get_code(self, fullname):
    return instrument(original(self, fullname))
"""


def _begin_bytecode(tracer, cells_of, rewritten):
    """Instruments modules when they are loaded, after .pyc files were read or written."""
    cells = cells_of(0)
    fallback = Fallback(tracer, cells_of)
    known, modules = tracer.state.known, sys.modules
    runpy_hooked = []

    def instrument(code):
        filename = getattr(code, "co_filename", None)
        if filename is None:
            return code
        if not runpy_hooked:
            if filename.endswith("spawn.py"):
                import runpy  # noqa: F401  multiprocessing.spawn will use it
            # Only once the module has been imported completely.
            if hasattr(modules.get("runpy"), "_get_code_from_file"):
                runpy_hooked.append(True)
                _hook_runpy(modules["runpy"], tracer.instrument)
        slots = known[filename] if filename in known else tracer.resolve(filename)
        if slots is None:
            return code
        try:
            if cells not in _constants(code):
                former = code
                code = _load("swt_bytecode").rewrite(former, slots, cells)
                rewritten(code, former)
            tracer.note(filename, "bytecode")
        except Exception as error:
            fallback.add(filename, "%s: %s" % (type(error).__name__, error))
        return code

    tracer.state.instrument = instrument
    external = modules["_frozen_importlib_external"]
    loader = external.SourceFileLoader
    names = {"instrument": tracer.instrument, "original": loader.get_code}
    exec(compile(_GET_CODE, loader.get_code.__code__.co_filename, "exec"), names)
    loader.get_code = names["get_code"]

    script = _main_script(tracer.command_line())
    if script and tracer.resolve(script) is not None:
        fallback.add(script, "it is the main script, which the interpreter compiles by itself")


def _constants(code):
    """The constants of `code` and of the code objects in it."""
    found = list(code.co_consts)
    for const in found:
        if isinstance(const, type(code)):
            found.extend(const.co_consts)
    return [const for const in found if isinstance(const, list)]


def _hook_runpy(runpy, instrument):
    """Hooks runpy, because runpy.run_path compiles files itself; multiprocessing loads the main
    script with it."""
    original = runpy._get_code_from_file

    def _get_code_from_file(*args):
        found = original(*args)
        return (instrument(found[0]),) + found[1:] if isinstance(found, tuple) else found

    runpy._get_code_from_file = _get_code_from_file


def _main_script(arguments):
    """The script among the arguments of the interpreter, or None."""
    rest = iter(arguments[1:])
    for argument in rest:
        if argument == "-" or argument == "-c" or argument == "-m":
            return None
        if not argument.startswith("-"):
            return argument
        if argument == "--check-hash-based-pycs":
            next(rest, None)
        if argument.startswith("--"):
            continue
        for index, letter in enumerate(argument[1:], 2):
            if letter in "cm":
                return None
            if letter in "WXQ":
                if index == len(argument):
                    next(rest, None)
                break
    return None


# --- any Python ----------------------------------------------------------------------------


class Fallback(object):
    """Counts by sys.settrace in the added files, or in all; slow, but always exact."""

    def __init__(self, tracer, cells_of, everything=False):
        self.tracer = tracer
        self.cells_of = cells_of
        self.everything = everything
        self.paths = set()
        self.function = None

    def add(self, filename, why):
        """Counts the file with this co_filename from now on; records `why` it is not done by
        bytecode."""
        self.paths.add(self.tracer.state.paths[filename])
        if self.function is None and not self.begin():
            self.tracer.note(filename, "not instrumented", why)
        else:
            self.tracer.note(filename, "settrace", why)

    def begin(self):
        """Sets the trace function; False if the program has one already."""
        if sys.gettrace() is not None:
            self.tracer.problem("sys.settrace is needed, and the program uses it")
            return False
        import threading

        self.function = self._trace_function()
        threading.settrace(self.function)
        sys.settrace(self.function)
        original = sys.settrace

        def settrace(function):
            if function is not self.function:
                self.tracer.problem("the program called sys.settrace, which counts depended on")
            original(function)

        settrace.__doc__ = original.__doc__
        sys.settrace = settrace
        return True

    def _trace_function(self):
        known, resolve, note = self.tracer.state.known, self.tracer.resolve, self.tracer.note
        cells, bytecode_cells = self.cells_of(1), self.cells_of(0)
        everything, paths = self.everything, self.paths
        path_of = self.tracer.state.paths
        held = {}

        def in_code(frame, event, arg):
            if event == "line":
                slot = known[frame.f_code.co_filename].get(frame.f_lineno)
                if slot is not None:
                    next(cells[slot])
            return in_code

        def trace(frame, event, arg):
            code = frame.f_code
            filename = code.co_filename
            slots = known[filename] if filename in known else resolve(filename)
            if slots is None or not (everything or path_of[filename] in paths):
                return None
            if id(code) not in held:
                if everything:
                    note(filename, "settrace")
                # Keeping the code object ensures that its id is not reused.
                counts = bytecode_cells not in _constants(code) and _holds(code, slots)
                held[id(code)] = (counts, code)
            return in_code if held[id(code)][0] else None

        return trace
