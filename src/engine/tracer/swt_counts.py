"""The counters of the changed lines, and the evidence that the lines themselves advanced them.

A counter is an iterator of C functions, so that no thread can interrupt it. When it is advanced for
the first time after a `take`, it also notes the code object and the place of the frame that
advanced it. `take` believes a count only if that frame was at the line, in code that the file at
the start of the process compiles to. Later advances cost no more than without this.

No module has a counter among its names: only functions and code objects refer to them. A program
that walks these can advance a counter, but not with the frame of another program. What remains: it
can enter its own evidence, once it has found where that is kept.
"""

import _warnings
import os
import sys
from _operator import attrgetter, length_hint
from itertools import chain, compress, count, repeat

_frame = sys._getframe
_threads = sys._current_frames
_CodeType = type(_frame().f_code)
_REWRITERS = ("source_to_code", "get_code", "exec_module")


class Cells(list):
    """cells[slot] is an iterator that counts one execution each time it is advanced.

    It is a list, so that a forked child can get other iterators. It is hashable, since code objects
    with constants must be. Libraries that send functions to other processes pickle it: these do
    not count there.
    """

    __slots__ = ()
    __hash__ = object.__hash__

    def __reduce_ex__(self, protocol):
        return _without_counters, (len(self),)

    def __repr__(self):
        return "swt_counts.Cells()"


def _without_counters(size):
    return Cells([()] * size)


def counters(slots, sources, root):
    """Returns (cells_of, open, take, rewritten), for the tree at `root`.

    `slots` has [path, line] for each counter, and `sources` the content of each path at the start,
    or is None where nothing is checked. `cells_of(depth)` gives the counters for the frame which is
    `depth` above the one that advances them. `open(memory, totals)` sets all to zero but those of
    `totals`, which have been taken, with a memoryview of 64-bit numbers that shows them. `take()` gives {slot: executions since the last time}, the slots
    that something else raised, and problems. `rewritten(new, old)` says that `new` counts for `old`.
    """
    by_depth = {}
    # {depth: [(what is left of its one look, {slot: (code, place) of the frame it saw}) by slot]}
    seen = {}
    proven = set()  # slots with evidence in some earlier `take`
    holders = []  # how many threads there were when the cells of a slot were last replaced
    numbers = []
    shown = []
    counted = []
    evidence = sources is not None and _Evidence(slots, sources, root)
    is_exact = getattr(sys, "_is_gil_enabled", lambda: True)()

    def arm(cells, slot, depth):
        indexes = repeat(slot)
        if evidence:
            site = attrgetter("f_code", "f_lineno" if depth else "f_lasti")
            # Each cell has its own, so that `take` cannot carry off what a thread notes by the next.
            looks, noted = seen[depth][slot] = repeat(depth, 1), {}
            sites = map(site, map(_frame, looks))
            noted = map(noted.setdefault, repeat(slot), sites)
            indexes = chain(compress(repeat(slot), noted), indexes)
        cells[slot] = map(shown[0].__setitem__, indexes, numbers[slot])

    def cells_of(depth):
        if depth in by_depth:
            return by_depth[depth]
        cells = by_depth[depth] = Cells([None] * len(slots))
        seen[depth] = [((), {})] * len(slots)
        for slot in range(len(numbers)):
            arm(cells, slot, depth)
        return cells

    def open(memory, totals):
        shown[:] = [memory]
        counted[:] = [totals.get(slot, 0) for slot in range(len(slots))]
        holders[:] = [1] * len(slots)
        numbers[:] = [count(total + 1) for total in counted]
        for slot, total in totals.items():
            memory[slot] = total
        for depth, cells in by_depth.items():
            for slot in range(len(slots)):
                arm(cells, slot, depth)

    def is_known(slot, sites, more):
        if sites and all([evidence.holds(slot, *site) for site in sites]):
            proven.add(slot)
            return True
        # Without evidence, other threads may have advanced a cell that was replaced meanwhile.
        return not evidence or not more or (
            not sites and (not is_exact or slot in proven and more < holders[slot]))

    def take():
        new, raised = {}, []
        for slot, total in enumerate(shown[0].tolist()):
            if total == counted[slot]:
                continue
            looked = [(depth, *cells[slot]) for depth, cells in seen.items()]
            # Hooks of the audit run while a thread looks for its frame, and other threads in between:
            # what these count can be believed once that thread has noted what it saw.
            if evidence and not any([noted for _, _, noted in looked]) and not all(
                    [length_hint(looks) for _, looks, _ in looked]):
                continue
            # From here on, another thread can advance at most the cell that it holds.
            for depth, cells in by_depth.items():
                arm(cells, slot, depth)
            sites = [(depth, *noted[slot]) for depth, _, noted in looked if slot in noted]
            # Reads the next number from `count(7)`. The memory does not suffice, since a program
            # can write to it too.
            true = int(repr(numbers[slot])[6:-1]) - 1
            more = true - counted[slot]
            counted[slot] = true
            is_real = total <= true
            if not is_known(slot, sites, more):
                is_real, more = False, 0
            holders[slot] = len(_threads())
            if not is_real:
                raised.append(slot)
            if more:
                new[slot] = more
        return new, raised, evidence.problems() if evidence else ()

    return cells_of, open, take, evidence.rewritten if evidence else lambda new, old: None


class _Evidence(object):
    """Whether the frames that advanced counters are those of the changed files."""

    __slots__ = ("slots", "sources", "compiled", "origins", "judged", "found", "root")

    def __init__(self, slots, sources, root):
        self.root = os.path.join(os.path.realpath(root), "")
        self.slots = slots
        self.sources = sources
        self.compiled = {}  # {path: the forms of the code that its source compiles to}
        self.origins = {}  # {id of rewritten code: (it, the code that it was made of)}
        self.judged = {}  # {(id of code, path): (it, whether it is of the path)}
        self.found = []

    def problems(self):
        found, self.found = self.found, []
        return found

    def rewritten(self, new, old):
        if new is old:
            return
        self.origins[id(new)] = (new, old)
        for inner, former in zip(new.co_consts, old.co_consts):
            if isinstance(former, _CodeType):
                self.rewritten(inner, former)

    def holds(self, slot, depth, code, place):
        path, line = self.slots[slot]
        if (place if depth else _line(code, place)) != line:
            return False
        key = (id(code), path)
        if key not in self.judged:
            self.judged[key] = (code, self._is_of(code if depth else self._origin(code), path))
        return self.judged[key][1]

    def _origin(self, code):
        """The code that `code`, or what it was copied from, was made of; or `code` itself."""
        if id(code) in self.origins:
            return self.origins[id(code)][1]
        form = None
        for new, old in list(self.origins.values()):
            if new.co_name == code.co_name and new.co_firstlineno == code.co_firstlineno:
                form = form or _form(code)
                if _form(new) == form:
                    return old
        return code

    def _is_of(self, code, path):
        if path not in self.compiled:
            self.compiled[path] = _forms(self.sources.get(path), path)
        if _form(code) in self.compiled[path]:
            return True
        name = _rewriter(code.co_filename, self.root)
        if name is not None:
            self.found.append("%s changed the code of %s when it loaded it" % (name, path))
        return name is not None


def _forms(source, path):
    """The forms of all code objects that a source compiles to; none when it does not compile."""
    # Inserting a filter, unlike catch_warnings, does not show earlier warnings again.
    filters = getattr(sys.modules.get("warnings"), "filters", _warnings.filters)
    silent = ("ignore", None, Warning, None, 0)
    filters.insert(0, silent)
    try:
        left = [compile(source, path, "exec", dont_inherit=True)]
    except Exception:
        return frozenset()
    finally:
        filters.remove(silent)
    found = set()
    while left:
        code = left.pop()
        found.add(_form(code))
        left += [const for const in code.co_consts if isinstance(const, _CodeType)]
    return found


def _form(code):
    """What a code object does and where, without its file name, flags and nested code."""
    return (
        code.co_name, code.co_firstlineno, code.co_code, code.co_names, code.co_varnames,
        getattr(code, "co_linetable", None) or code.co_lnotab, _constant(code.co_consts),
    )


def _constant(value):
    if isinstance(value, _CodeType):
        return value.co_name
    if isinstance(value, (tuple, frozenset)) and not isinstance(value, list):
        return type(value)(_constant(each) for each in value)
    return (type(value), repr(value) if isinstance(value, (float, complex)) else value)


def _line(code, offset):
    """The line of the instruction at an offset of rewritten code."""
    import swt_lines

    return swt_lines.line_at(code, offset)


def _rewriter(filename, root):
    """The loader from outside the tree that loaded the file and may change its code, or None."""
    for module in list(sys.modules.values()):
        try:
            space = object.__getattribute__(module, "__dict__")
            if space.get("__file__") != filename:
                continue
            cls = type(space["__spec__"].loader)
            file = os.path.realpath(sys.modules[cls.__module__].__file__)
        except (AttributeError, KeyError, TypeError):
            continue
        is_ours = cls.__module__.startswith(("_frozen_importlib", "importlib")) or file.startswith(root)
        if not is_ours and any(name in vars(cls) for name in _REWRITERS):
            return cls.__name__
    return None
