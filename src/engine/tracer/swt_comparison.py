"""The two values of a failed assertion, as text: the expected and the actual one.

unittest has them in the frame of its method, and pytest passes them to a hook. SymPy's runner knows
only the line of a failed `assert`. Loaded only when an assertion fails.
"""

import ast
import linecache
import os
import pprint
import reprlib

_LIMIT = 2000
_LINES = 40  # lines of one statement
_UNITTEST = os.sep + "unittest" + os.sep
_METHODS = frozenset(
    "assert%s" % name
    for name in ("Equal ListEqual TupleEqual SequenceEqual SetEqual DictEqual MultiLineEqual "
                 "CountEqual AlmostEqual Is").split()
)
_PLAIN = (str, bytes, int, float, complex, bool, type(None))
_kept = []


def keep(left, right, frame, around):
    """Remembers what pytest reports of `left == right`, since the next failure may be of that.

    `frame` is one that pytest calls from the assertion; `around` calls a function without counting
    it for the test.
    """
    del _kept[:]
    while frame is not None and frame.f_code.co_name != "_call_reprcompare":
        frame = frame.f_back
    frame = frame.f_back if frame is not None else None
    if frame is not None:
        texts = _texts(left, right, around)
        _kept.append((frame.f_code, frame.f_lineno, texts))


def of(traceback, around):
    """[expected, actual] of an AssertionError with this traceback, or None."""
    entries = []
    while traceback is not None:
        entries.append((traceback.tb_frame, traceback.tb_lineno))
        traceback = traceback.tb_next
    if not entries:
        return None
    frame, line = entries[-1]
    if _UNITTEST in frame.f_code.co_filename:
        return _of_unittest(entries, around)
    kept = _kept.pop() if _kept else None
    if kept is None or kept[0] is not frame.f_code or kept[1] != line:
        return None
    compared = _compared(frame.f_code.co_filename, line)
    # For `a == b and c`, pytest calls the hook whichever of the two is false.
    return compared and _ordered(kept[2], compared)


def _of_unittest(entries, around):
    caller = None
    for frame, line in entries:
        code = frame.f_code
        if _UNITTEST in code.co_filename and code.co_name in _METHODS and code.co_argcount > 2:
            first, second = (frame.f_locals[name] for name in code.co_varnames[1:3])
            arguments = caller and _arguments(caller[0].f_code.co_filename, caller[1], code.co_name)
            return _ordered(_texts(first, second, around), arguments)
        caller = (frame, line)
    return None


def _ordered(texts, operands):
    """[expected, actual] of two texts, given the expressions behind them or None.

    No rule says which side is expected, but most people write it last. A literal, or a name that
    says so, marks the expected value.
    """
    if texts is None or texts[0] == texts[1]:
        return None
    if operands and _is_expected(operands[0]) and not _is_expected(operands[1]):
        return [texts[0], texts[1]]
    return [texts[1], texts[0]]


def _is_expected(expression):
    name = getattr(expression, "id", None) or getattr(expression, "attr", None)
    if name is not None:
        return name.lower().startswith(("expect", "want"))
    try:
        ast.literal_eval(expression)
        return True
    except ValueError:
        return False


# --- source ----------------------------------------------------------------------------------


def _compared(path, line):
    """Both sides of the only `==` in the assert statement that begins at a line, or None."""
    for node in _nodes(path, line):
        if isinstance(node, ast.Assert):
            test = node.test
            if isinstance(test, ast.Compare) and [type(op) for op in test.ops] == [ast.Eq]:
                return test.left, test.comparators[0]
            return None
    return None


def _arguments(path, line, method):
    """The first two arguments of a call of `self.method` in the statement at a line, or None."""
    for node in _nodes(path, line):
        if isinstance(node, ast.Call) and getattr(node.func, "attr", None) == method:
            return node.args[:2] if len(node.args) > 1 else None
    return None


def _nodes(path, line):
    """The nodes of the first statement that begins at a line; none when there is no such statement."""
    text = ""
    for number in range(line, line + _LINES):
        part = linecache.getline(path, number)
        if not part:
            return []
        text += part
        if not text.strip():
            return []
        try:
            # Indented lines are the body of another statement.
            tree = ast.parse("if 1:\n" + text if text[0] in " \t" else text)
        except (SyntaxError, ValueError):
            continue
        return list(ast.walk(tree))
    return []


# --- texts -----------------------------------------------------------------------------------


class _Repr(reprlib.Repr):
    def __init__(self):
        reprlib.Repr.__init__(self)
        self.maxlevel = 6
        self.maxdict = self.maxlist = self.maxtuple = self.maxset = self.maxfrozenset = 100
        self.maxdeque = self.maxarray = 100
        self.maxstring = self.maxother = self.maxlong = _LIMIT


def _texts(left, right, around):
    """(left, right) as text, or None."""
    if type(left) is str and type(right) is str:
        return _cut(left), _cut(right)
    if type(left) in _PLAIN and type(right) in _PLAIN:
        return _text(left), _text(right)
    # This runs the program's own `__repr__`.
    return around(lambda: (_text(left), _text(right)))


def _text(value):
    text = _Repr().repr(value)
    if len(text) > 72 and "..." not in text:
        try:
            text = pprint.pformat(ast.literal_eval(text), width=80)
        except (ValueError, SyntaxError, MemoryError, RecursionError):
            pass
    return _cut(text)


def _cut(text):
    return text if len(text) <= _LIMIT else text[:_LIMIT] + " ..."
