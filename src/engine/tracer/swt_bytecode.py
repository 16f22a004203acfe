"""Puts counters into the bytecode of CPython 3.6-3.11, where a changed line gives a line event.

A counter is `None in cells[slot]`, with the value dropped. `cells[slot]` is an iterator that counts
one execution each time it is asked for its next value (see swt_tracer.Cells). It needs no call, so
no other tracer or profiler sees it. It is one C function, so no thread can interrupt it.

Whether an instruction gives a line event depends on how control reaches it. The rules are those of
`maybe_call_line_trace` in CPython's Python/ceval.c:
- 3.6-3.9: at the first instruction of a range of the line table, and after any jump backwards;
- 3.9: also in an exception handler, unless the exception came from the first instruction of a range
  or from the code object's first range;
- 3.10: whenever the line is not that of the instruction executed before, and after any jump
  backwards;
- 3.11: the same, but not after a jump to SEND. Nothing before the first RESUME, and no RESUME,
  counts.

So this module checks every edge into an instruction, and leads only edges with an event through the
counter. An edge may depend on the instruction that an exception came from. 3.11 has a table that
distinguishes most of these edges. For the others, and before 3.11, the counter looks at the offset
or the traceback that the handler finds on the stack. The added instructions have the line of the
instruction they count. So they neither add nor remove line events for a tracer that the program
uses.
"""

import opcode
from types import CodeType

from swt_lines import (
    VERSION, Unsupported, read_handlers, read_linetable, read_lnotab, read_locations,
    write_handlers, write_linetable, write_lnotab, write_locations,
)

_OP = opcode.opmap
_NAME = opcode.opname
_RELATIVE = frozenset(opcode.hasjrel)
_JUMPS = frozenset(opcode.hasjrel) | frozenset(opcode.hasjabs)
_BACKWARD = frozenset(op for op in _JUMPS if "BACKWARD" in _NAME[op])
_SETUPS = frozenset(op for op in _JUMPS if _NAME[op].startswith("SETUP_"))
_CACHES = getattr(opcode, "_inline_cache_entries", None) or [0] * 256
_UNIT = 2 if VERSION >= (3, 10) else 1
_EXTENDED = _OP["EXTENDED_ARG"]
_NO_NEXT = frozenset(
    _OP[name]
    for name in (
        "RETURN_VALUE", "RAISE_VARARGS", "RERAISE", "JUMP_FORWARD", "JUMP_ABSOLUTE", "BREAK_LOOP",
        "CONTINUE_LOOP", "JUMP_BACKWARD", "JUMP_BACKWARD_NO_INTERRUPT",
    )
    if name in _OP
)
# Instructions that raise nothing, as far as the lines of an exception's origin matter.
_CALM = frozenset(
    op
    for op in range(256)
    if _NAME[op].startswith(("JUMP_", "POP_", "ROT_", "DUP_"))
    or _NAME[op] in (
        "NOP", "LOAD_CONST", "STORE_FAST", "STORE_NAME", "STORE_GLOBAL", "STORE_DEREF",
        "SETUP_FINALLY", "RETURN_VALUE", "PUSH_EXC_INFO", "PUSH_NULL", "COPY", "SWAP", "RESUME",
    )
)
# Entries that the counter needs on the stack.
_DEPTH = 3


class _Instruction(object):
    """One instruction, with its EXTENDED_ARG prefixes and caches."""

    __slots__ = (
        "op", "arg", "target", "offset", "position", "line", "begins", "place", "handler", "via",
        "via_handler", "size", "counts", "guard", "only", "among", "range",
    )

    def __init__(self, op, arg, offset=0, position=0):
        self.op = op
        self.arg = arg
        self.target = None  # the instruction that a jump leads to
        self.offset = offset  # offset of its first prefix
        self.position = position  # offset of the instruction itself
        self.line = None
        self.begins = False  # a range of the line table starts here
        self.range = 0  # the index of its range in the line table
        self.place = (None, None, None, None)
        self.handler = None  # 3.11: (instruction, depth, whether the offset is pushed)
        self.via = False  # the jump leads through the counter
        self.via_handler = False  # and so does the edge from here to the exception handler
        self.size = 1  # code units without caches
        self.counts = None  # the slot counted on entry
        self.guard = False  # control that falls into it must jump over the counter
        self.only = None  # of a handler: the instructions whose exceptions it counts, None for all
        self.among = None  # a placeholder for the constant with the offsets of these instructions


def _decode(code):
    raw = code.co_code
    found, offset, arg, start = [], 0, 0, 0
    while offset < len(raw):
        op = raw[offset]
        arg = (arg << 8) | raw[offset + 1]
        if op != _EXTENDED:
            found.append(_Instruction(op, arg, start, offset))
            start = offset + 2 + 2 * _CACHES[op]
            arg = 0
            offset = start
        else:
            offset += 2
    by_offset = {instruction.offset: instruction for instruction in found}
    for instruction in found:
        if instruction.op in _JUMPS:
            goal = instruction.arg * _UNIT
            if instruction.op in _RELATIVE:
                sign = -1 if instruction.op in _BACKWARD else 1
                goal = instruction.position + 2 + sign * goal
            if goal not in by_offset:
                raise Unsupported("a jump into an instruction")
            instruction.target = by_offset[goal]
    if VERSION >= (3, 11):
        _place_311(code, found, by_offset)
    else:
        ranges = read_linetable(code) if VERSION >= (3, 10) else read_lnotab(code)
        _place(found, by_offset, ranges)
    return found


def _place(found, by_offset, ranges):
    for start, line in ranges:
        if start in by_offset:
            by_offset[start].begins = True
        elif start < found[-1].position and VERSION < (3, 10):
            raise Unsupported("a line that starts inside an instruction")
    index = 0
    for instruction in found:
        while index + 1 < len(ranges) and ranges[index + 1][0] <= instruction.offset:
            index += 1
        instruction.line = ranges[index][1]
        instruction.range = index


def _place_311(code, found, by_offset):
    places = read_locations(code)
    for instruction in found:
        instruction.place = places[instruction.offset]
        instruction.line = instruction.place[0]
    for start, end, target, depth, pushed in read_handlers(code):
        handler = (by_offset[target], depth, pushed)
        for instruction in found:
            if start <= instruction.offset < end:
                instruction.handler = handler


def _falls(before, here, entry):
    """Whether control that comes from the instruction before gives a line event `here`."""
    if VERSION < (3, 10):
        # After CALL_FINALLY (3.8), control returns backwards from the end of the finally block.
        return here.begins or _NAME[before.op] == "CALL_FINALLY"
    return before is None or before is entry or before.line != here.line


def _jumps(source, here):
    """Whether the jump at `source` gives a line event `here`."""
    if VERSION < (3, 10):
        return here.begins or (source.op not in _SETUPS and here.offset < source.offset)
    if VERSION < (3, 11):
        return here.offset < source.offset or source.line != here.line
    if source.line != here.line:
        return True
    return here.offset < source.position and here.op != _OP["SEND"]


def _raises(source, here, fresh):
    """3.9, 3.10: whether an exception from `source` gives a line event in its handler `here`.

    `fresh` holds the ids of instructions where generator.throw() may raise.
    """
    if VERSION >= (3, 10):
        return source.line != here.line
    return here.begins or id(source) in fresh or not (source.begins or source.range == 0)


def _block_sources(found):
    """3.9, 3.10: which instructions raise into which handler, and which handlers pass exceptions
    on.

    Returns {id of a handler: [instructions that raise]}, and a list of (handler, next handler,
    instruction). The instruction passes the exception on: a RERAISE or a bare `raise`. It is None
    where CPython goes back to the instruction that raised. Found by following the block stack.
    """
    after = {id(here): found[index + 1] for index, here in enumerate(found[:-1])}
    sources, passed, seen = {}, [], set()
    todo = [(found[0], ())]
    while todo:
        here, stack = todo.pop()
        if id(here) in seen:
            continue
        seen.add(id(here))
        name = _NAME[here.op]
        outer = [handler for kind, handler in stack if kind == "try"]
        inner = [handler for kind, handler in stack if kind == "except"]
        if outer:
            if name == "RERAISE" or (name == "RAISE_VARARGS" and not here.arg):
                # With an argument (3.10), the frame goes back to the instruction that raised.
                back = name == "RERAISE" and here.arg
                if inner:
                    passed.append((inner[-1], outer[-1], None if back else here))
            elif here.op not in _CALM or _NAME[after[id(here)].op] == "YIELD_FROM":
                sources.setdefault(id(outer[-1]), []).append(here)
        follow = stack
        if here.op in _SETUPS:
            todo.append((here.target, stack + (("except", here.target),)))
            follow = stack + (("try", here.target),)
        elif here.target is not None:
            todo.append((here.target, stack))
        if name in ("POP_BLOCK", "POP_EXCEPT", "END_ASYNC_FOR"):
            follow = stack[:-1]
        if here.op not in _NO_NEXT and id(here) in after:
            todo.append((after[id(here)], follow))
    return sources, passed


def _slipped_into(found):
    """3.9: ids of instructions that only jumps from other ranges reach, without an event."""
    ranges = {}
    for here in found:
        if here.target is not None:
            ranges.setdefault(id(here.target), set()).add(here.range)
    return {
        id(here) for before, here in zip(found, found[1:])
        if before.op in _NO_NEXT and not here.begins
        and id(here) in ranges and here.range not in ranges[id(here)]
    }


def _handled(found):
    """3.9, 3.10: {id of a handler: {instruction: whether its exceptions count there}}.

    The instruction is the one that the traceback names. CPython decides by the last instruction
    that passed the exception on.
    """
    fresh = set()  # where generator.throw() may raise
    for before, here in zip([found[0]] + found, found):
        if _NAME[here.op] == "YIELD_VALUE":
            fresh.add(id(here))
        elif _NAME[here.op] == "YIELD_FROM":  # a frame waits at the instruction before
            fresh.add(id(before))
    slipped = _slipped_into(found)
    sources, passed = _block_sources(found)
    # (origin, last, stale): 3.9 may enter a range without an event. It then reports the previous
    # line as long as it stays in that range.
    ways = {key: [(one, one, False) for one in origins] for key, origins in sources.items()}
    grown = True
    while grown:
        grown = False
        for inner, outer, last in passed:
            for origin, former, stale in list(ways.get(id(inner), ())):
                if former.range != inner.range:
                    stale = not _raises(former, inner, fresh)
                way = (origin, former, False)
                if last is not None:
                    stale = stale and last.range == inner.range or id(last) in slipped
                    way = (origin, last, stale and VERSION < (3, 10))
                if way not in ways.setdefault(id(outer), []):
                    ways[id(outer)].append(way)
                    grown = True
    counts = {}
    for here in found:
        for origin, last, stale in ways.get(id(here), ()):
            event = _raises(last, here, fresh) and not (stale and last.range == here.range)
            known = counts.setdefault(id(here), {})
            known[origin] = known.get(origin, False) or event
    return counts


def _origins(found, guarded):
    """3.11: {id of a RERAISE that restores the frame's place: [instructions that may have raised]}.

    The place is that of the nearest handler before it that stores one.
    """
    nearest, result = (), {}
    for here in found:
        inside = [one for one in guarded.get(id(here), ()) if one.handler[2]]
        nearest = inside or nearest
        if _NAME[here.op] == "RERAISE" and here.arg and nearest:
            result[id(here)] = [
                origin
                for one in nearest if one.op not in _CALM
                for origin in result.get(id(one), (one,))
            ]
    return result


def _mark(found, slots):
    """Sets `counts`, `guard` and `via` from the edges that give line events on the lines in
    `slots`."""
    entry = None
    if VERSION >= (3, 11):
        entry = next(here for here in found if _NAME[here.op] == "RESUME")
    jumps, guarded = {}, {}
    for here in found:
        if here.target is not None:
            jumps.setdefault(id(here.target), []).append(here)
        if here.handler is not None:
            guarded.setdefault(id(here.handler[0]), []).append(here)
    handled = _handled(found) if VERSION in ((3, 9), (3, 10)) else {}
    origins = _origins(found, guarded)
    marked = False
    for before, here in zip([None] + found, found):
        if here.line not in slots or here.line is None:
            continue
        if VERSION >= (3, 11) and (here.offset <= entry.offset or _NAME[here.op] == "RESUME"):
            continue
        reached = before is None or before.op not in _NO_NEXT
        event = reached and _falls(before, here, entry)
        some = event
        for source in jumps.get(id(here), ()):
            if source.op in _SETUPS and VERSION in ((3, 9), (3, 10)):
                origin = handled.get(id(here), {})
                source.via = any(origin.values())
                if source.via and not all(origin.values()):
                    here.only = [one for one, event in origin.items() if event]
            else:
                source.via = _jumps(source, here)
            some = some or source.via
        for source in guarded.get(id(here), ()):
            events = [one.line != here.line for one in origins.get(id(source), (source,))]
            source.via_handler = any(events)
            some = some or source.via_handler
            if source.via_handler and not all(events) and source.handler[2]:
                here.only = [one for one in found if one.line != here.line]
        if some:
            if before is not None and _NAME[before.op] == "SEND":
                raise Unsupported("a line that starts inside `yield from`")
            here.counts = slots[here.line]
            here.guard = reached and not event
            marked = True
    return marked


def _counter(here, none, cells, slot, name):
    """The instructions of the counter of `here`, and its start.

    The numbers are the indexes of its constants, and of the name "tb_lasti".
    """
    block = []

    def add(op, arg=0):
        block.append(_Instruction(_OP[op], arg))
        return block[-1]

    if here.only is not None:
        if VERSION >= (3, 11):
            # The top of the stack is the offset of the instruction, then the exception.
            add("COPY", 2)
        else:
            # The top of the stack is traceback, exception, class.
            for op in ("ROT_THREE", "ROT_THREE", "DUP_TOP", "ROT_FOUR"):
                add(op)
            add("LOAD_ATTR", name)
        add("LOAD_CONST").among = here.only
        add("CONTAINS_OP")
        jump = "POP_JUMP_IF_FALSE" if VERSION < (3, 11) else "POP_JUMP_FORWARD_IF_FALSE"
        add(jump).target = here
    add("LOAD_CONST", none)
    add("LOAD_CONST", cells)
    add("LOAD_CONST", slot)
    add("BINARY_SUBSCR")
    if "CONTAINS_OP" in _OP:
        add("CONTAINS_OP")
    else:
        add("COMPARE_OP", opcode.cmp_op.index("in"))
    add("POP_TOP")
    start = block[0]
    if here.guard:
        block.insert(0, _Instruction(_OP["JUMP_FORWARD"], 0))
        block[0].target = here
    for added in block:
        added.line = here.line
        added.place = (here.line, here.line, None, None)
        added.handler = here.handler
        added.via_handler = here.via_handler
    start.begins, here.begins = here.begins, False
    return block, start


def _assemble(code, found, starts):
    """Assembles `found` into bytecode; returns the attributes of the new code object."""
    for here in found:
        if here.target is not None and here.via:
            here.target = starts.get(id(here.target), here.target)
    grown = True
    while grown:
        grown, offset = False, 0
        for here in found:
            here.offset = offset
            offset += 2 * (here.size + _CACHES[here.op])
        for here in found:
            if here.target is not None:
                goal = here.target.offset
                if here.op in _RELATIVE:
                    goal = abs(goal - (here.offset + 2 * here.size))
                here.arg = goal // _UNIT
            need = 1 if here.arg < 256 else (here.arg.bit_length() + 7) // 8
            if need > here.size:
                here.size, grown = need, True
    raw = bytearray()
    for here in found:
        for prefix in range(here.size - 1, 0, -1):
            raw += bytes((_EXTENDED, (here.arg >> (8 * prefix)) & 255))
        raw += bytes((here.op, here.arg & 255)) + bytes(2 * _CACHES[here.op])
    new = {"co_code": bytes(raw)}
    if VERSION >= (3, 11):
        places = [(here.place, here.size + _CACHES[here.op]) for here in found]
        new["co_linetable"] = write_locations(places, code.co_firstlineno)
        new["co_exceptiontable"] = write_handlers(_handlers(found, starts))
    else:
        if VERSION >= (3, 10):
            lines = zip([None] + found, found)
            ranges = [
                (here.offset, here.line) for before, here in lines
                if before is None or before.line != here.line
            ]
            new["co_linetable"] = write_linetable(ranges, code.co_firstlineno, len(raw))
        else:
            ranges = [(here.offset, here.line) for here in found if here.begins]
            new["co_lnotab"] = write_lnotab(ranges, code.co_firstlineno)
    return new


def _handlers(found, starts):
    entries = []
    for here in found:
        if here.handler is None:
            continue
        goal = here.handler[0]
        if here.via_handler:
            goal = starts.get(id(goal), goal)
        end = here.offset + 2 * (here.size + _CACHES[here.op])
        entry = (here.offset, end, goal.offset) + here.handler[1:]
        if entries and entries[-1][1] == entry[0] and entries[-1][2:] == entry[2:]:
            entry = (entries.pop()[0],) + entry[1:]
        entries.append(entry)
    return entries


def _replace(code, changes):
    if hasattr(code, "replace"):
        return code.replace(**changes)
    names = (
        "co_argcount", "co_kwonlyargcount", "co_nlocals", "co_stacksize", "co_flags", "co_code",
        "co_consts", "co_names", "co_varnames", "co_filename", "co_name", "co_firstlineno",
        "co_lnotab", "co_freevars", "co_cellvars",
    )
    return CodeType(*[changes.get(name, getattr(code, name)) for name in names])


def _lines(code):
    if VERSION >= (3, 11):
        return {place[0] for place in read_locations(code).values()}
    ranges = read_linetable(code) if VERSION >= (3, 10) else read_lnotab(code)
    return {line for _, line in ranges}


def rewrite(code, slots, cells, always=False):
    """`code` with its nested code objects, counting the lines in `slots` ({line: slot}).

    `cells` becomes a constant of every code object that counts; `cells[slot]` must be an iterator
    that yields None. Code objects without such lines stay the same objects, unless `always` is set:
    then all are disassembled and reassembled, for tests. Raises Unsupported.
    """
    consts = tuple(
        rewrite(const, slots, cells, always) if isinstance(const, CodeType) else const
        for const in code.co_consts
    )
    changes = {}
    if any(new is not old for new, old in zip(consts, code.co_consts)):
        changes["co_consts"] = consts
    if always or not slots.keys().isdisjoint(_lines(code)):
        found = _decode(code)
        if _mark(found, slots):
            changes.update(_insert(code, consts, found, cells))
        elif always:
            changes.update(_assemble(code, found, {}))
    return _replace(code, changes) if changes else code


def _offsets(instructions):
    """Values in the traceback (before 3.11) or on the stack when one of these instructions raised."""
    for here in instructions:
        if VERSION < (3, 11):
            yield here.offset
        else:  # in code units; a call waits at its last cache
            first = here.offset // 2
            yield from range(first, first + here.size + _CACHES[here.op])


def _insert(code, consts, found, cells):
    """Inserts the counters that were marked in `found`; returns the changed attributes."""
    used = sorted({here.counts for here in found if here.counts is not None})
    first = len(consts)
    added = [None, cells] + used
    instructions, starts, selections = [], {}, []
    for here in found:
        if here.counts is not None:
            slot = first + added.index(here.counts, 2)
            block, start = _counter(here, first, first + 1, slot, len(code.co_names))
            for one in block:
                if one.among is not None:
                    one.arg = first + len(added) + len(selections)
                    selections.append(one.among)
            starts[id(here)] = start
            instructions.extend(block)
        instructions.append(here)
    changes = _assemble(code, instructions, starts)
    offsets = [frozenset(_offsets(among)) for among in selections]
    changes["co_consts"] = consts + tuple(added + offsets)
    changes["co_stacksize"] = code.co_stacksize + _DEPTH
    if offsets and VERSION < (3, 11):
        changes["co_names"] = code.co_names + ("tb_lasti",)
    return changes
