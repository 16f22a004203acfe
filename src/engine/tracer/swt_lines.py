"""Reads and writes the tables that tie bytecode to lines, in the three formats of CPython 3.6-3.11.

The formats are those of CPython's Objects/lnotab_notes.txt (3.6-3.9 and 3.10, two formats), and
Objects/locations.md and Objects/exception_handling_notes.txt (3.11).
Offsets are in bytes throughout. A line is None where the bytecode has none.
"""

import sys

VERSION = sys.version_info[:2]


class Unsupported(Exception):
    """The code object cannot be instrumented; the text says why."""


def read_lnotab(code):
    """3.6-3.9: [(start offset, line)] of the ranges in which CPython looks for line events.

    A range starts where the table changes the line, even if the changes at one offset add up to 0.
    """
    table = code.co_lnotab
    ranges = []
    address, line = 0, code.co_firstlineno
    for index in range(0, len(table), 2):
        address += table[index]
        delta = table[index + 1]
        if delta:
            line += delta - 256 if delta >= 128 else delta
            if ranges and ranges[-1][0] == address:
                ranges.pop()
            ranges.append((address, line))
    if not ranges or ranges[0][0] != 0:
        ranges.insert(0, (0, code.co_firstlineno))
    return ranges


def write_lnotab(ranges, firstline):
    """The inverse of `read_lnotab`."""
    table = bytearray()
    address, line = 0, firstline
    for start, new_line in ranges:
        skip, delta = start - address, new_line - line
        if not start and not delta:
            continue
        address, line = start, new_line
        while skip > 255:
            table += b"\xff\x00"
            skip -= 255
        if not delta:
            # Only a change of the line starts a range, so this goes one up, then one down.
            table += bytes((skip, 1))
            skip, delta = 0, -1
        while delta > 127:
            table += bytes((skip, 127))
            skip, delta = 0, delta - 127
        while delta < -128:
            table += bytes((skip, 128))
            skip, delta = 0, delta + 128
        table += bytes((skip, delta & 255))
    return bytes(table)


def read_linetable(code):
    """3.10: [(start offset, line or None)] of the ranges."""
    table = code.co_linetable
    ranges = []
    address, line = 0, code.co_firstlineno
    for index in range(0, len(table), 2):
        skip, delta = table[index], table[index + 1]
        if delta != 128:
            line += delta - 256 if delta > 128 else delta
        if skip:
            ranges.append((address, None if delta == 128 else line))
        address += skip
    return ranges


def write_linetable(ranges, firstline, length):
    """The inverse of `read_linetable`; `length` is the length of the bytecode in bytes."""
    table = bytearray()
    line = firstline
    for index, (start, new_line) in enumerate(ranges):
        end = ranges[index + 1][0] if index + 1 < len(ranges) else length
        skip = end - start
        delta = 0
        if new_line is not None:
            delta, line = new_line - line, new_line
            while delta > 127:
                table += b"\x00\x7f"
                delta -= 127
            while delta < -127:
                table += b"\x00\x81"
                delta += 127
        more = 128 if new_line is None else 0
        delta = 128 if new_line is None else delta & 255
        while skip > 254:
            table += bytes((254, delta))
            skip, delta = skip - 254, more
        table += bytes((skip, delta))
    return bytes(table)


def _varint(table, index):
    value, shift = 0, 0
    while True:
        byte = table[index]
        index += 1
        value |= (byte & 63) << shift
        shift += 6
        if not byte & 64:
            return value, index


def _signed(table, index):
    value, index = _varint(table, index)
    return (-(value >> 1) if value & 1 else value >> 1), index


def read_locations(code):
    """3.11: {offset of a code unit: (line, end line, column, end column)}, each may be None."""
    table = code.co_linetable
    found = {}
    offset, line, index = 0, code.co_firstlineno, 0
    while index < len(table):
        head = table[index]
        index += 1
        kind, units = (head >> 3) & 15, (head & 7) + 1
        if kind == 15:
            place = (None, None, None, None)
        elif kind == 14:
            delta, index = _signed(table, index)
            line += delta
            end, index = _varint(table, index)
            column, index = _varint(table, index)
            end_column, index = _varint(table, index)
            place = (line, line + end, column - 1, end_column - 1)
            place = tuple(None if value == -1 else value for value in place)
        elif kind == 13:
            delta, index = _signed(table, index)
            line += delta
            place = (line, line, None, None)
        elif kind >= 10:
            line += kind - 10
            place = (line, line, table[index], table[index + 1])
            index += 2
        else:
            column = (kind << 3) | (table[index] >> 4)
            place = (line, line, column, column + (table[index] & 15))
            index += 1
        for unit in range(units):
            found[offset + 2 * unit] = place
        offset += 2 * units
    return found


def line_at(code, offset):
    """The line of the instruction at an offset, or None."""
    if VERSION >= (3, 11):
        return read_locations(code).get(offset, (None,))[0]
    line = None
    for start, begun in read_linetable(code) if VERSION >= (3, 10) else read_lnotab(code):
        if start > offset:
            break
        line = begun
    return line


def _put_varint(table, value):
    while value >= 64:
        table.append(64 | (value & 63))
        value >>= 6
    table.append(value)


def write_locations(places, firstline):
    """3.11: the table for `places`, a list of (place, number of code units) in code order."""
    table = bytearray()
    line = firstline
    for place, units in places:
        while units:
            part = min(units, 8)
            units -= part
            start, end, column, end_column = place
            if start is None:
                table.append(0x80 | (15 << 3) | (part - 1))
                continue
            delta, line = start - line, start
            full = end is not None and column is not None and end_column is not None
            table.append(0x80 | ((14 if full else 13) << 3) | (part - 1))
            _put_varint(table, (-delta << 1) | 1 if delta < 0 else delta << 1)
            if full:
                _put_varint(table, end - start)
                _put_varint(table, column + 1)
                _put_varint(table, end_column + 1)
    return bytes(table)


def read_handlers(code):
    """3.11: [(start, end, handler, stack depth, whether the offset is pushed)] in bytes."""
    table = code.co_exceptiontable
    entries, index = [], 0
    while index < len(table):
        values = []
        for _ in range(4):
            value = table[index] & 63
            while table[index] & 64:
                index += 1
                value = (value << 6) | (table[index] & 63)
            index += 1
            values.append(value)
        start, length, target, depth = values
        entries.append((2 * start, 2 * (start + length), 2 * target, depth >> 1, depth & 1))
    return entries


def write_handlers(entries):
    """The inverse of `read_handlers`."""
    table = bytearray()
    for start, end, target, depth, pushed in entries:
        values = (start // 2, (end - start) // 2, target // 2, (depth << 1) | pushed)
        for index, value in enumerate(values):
            groups = [value & 63]
            while value >= 64:
                value >>= 6
                groups.append(value & 63)
            groups.reverse()
            part = bytearray(group | 64 for group in groups[:-1])
            part.append(groups[-1])
            if not index:
                part[0] |= 128
            table += part
    return bytes(table)
