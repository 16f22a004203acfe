"""Loads what tests import of R, with its counters, before the run that needs it is known.

The process then becomes that run. It gives a first verdict alone: a grade comes from a process that
has loaded nothing before. So it takes no part where the two could differ and nobody would notice:
`load` or `why_not` say why, and a fresh process runs instead.

The modules are those that stand at the top of the test files, in their order, up to the first that is
missing: the rest is imported as in any other run. Test files, `conftest.py`, and modules that pytest
rewrites are never loaded ahead.
"""

import ast
import fnmatch
import importlib
import json
import os
import sys
import time

#: Files in which a repository can turn warnings of its imports into errors.
_CONFIGURATION = ("pytest.ini", "pyproject.toml", "tox.ini", "setup.cfg")
#: Bytes that a process may take while it waits.
_MEMORY = 1 << 30


class _Declined(Exception):
    """A fresh process has to run, for a reason in words."""


def load(prepare, runner, tell):
    """Loads everything, and says on the file descriptor `tell` how long it took, or why not.

    `prepare` starts the tracer and returns (its configuration, it). Ends the process where it
    cannot be the run.
    """
    began = time.monotonic()
    why = warm = None
    try:
        config, tracer = prepare()
        warm = _Warm(config, tracer, runner)
        warm.load()
    except _Declined as error:
        why = str(error)
    except BaseException as error:
        why = "importing R ends with %s: %s" % (type(error).__name__, error)
    seconds = time.monotonic() - began
    os.write(tell, json.dumps({"why": why, "seconds": seconds}).encode("ascii") + b"\n")
    os.close(tell)
    if why is not None:
        os._exit(0)
    warm.seconds = seconds
    return warm


class _Warm(object):
    def __init__(self, config, tracer, runner):
        self.config = config
        self.tracer = tracer
        self.runner = runner
        self.root = os.path.join(os.path.realpath(config["root"]), "")
        self.names = []
        self.files = {}
        self.seconds = 0.0

    def load(self):
        known = set(sys.modules)
        usual, sys.dont_write_bytecode = sys.dont_write_bytecode, True
        # What the runner itself sets before it imports R.
        os.environ.update(self.config.get("environment") or {})
        raises = self.runner == "pytest" and self._may_raise_warnings()
        warnings = sys.modules.get("warnings") or importlib.import_module("warnings")
        filters, shown = list(warnings.filters), []
        if raises:
            warnings.filters.insert(0, ("always", None, Warning, None, 0))
            warnings._showwarnmsg_impl, show = shown.append, warnings._showwarnmsg_impl
        for name, parts in self._wanted(self.config["tests"]):
            if not _import(name, parts):
                break
            self.names.append(name)
        if raises:
            warnings._showwarnmsg_impl = show
        if self.runner == "pytest":
            # pytest undoes what modules do to these while it imports tests.
            warnings.filters[:] = filters
            getattr(warnings, "_filters_mutated", lambda: None)()
        sys.dont_write_bytecode = usual
        if shown:
            raise _Declined("importing R warns, and its configuration makes errors of warnings")
        self._check(set(sys.modules) - known)

    def why_not(self, tests):
        """Why the run of the test files at these paths cannot be in this process; None if it can."""
        sources = {}
        for path in tests:
            try:
                with open(os.path.join(self.root, *path.split("/")), "rb") as stream:
                    sources[path] = stream.read()
            except OSError:
                pass
        wanted = [name for name, _ in self._wanted(sources)]
        if any(name not in wanted for name in self.names):
            return "the tests no longer import %s" % next(n for n in self.names if n not in wanted)
        for path, stamp in self.files.items():
            if _stamp(path) != stamp:
                return "%s was edited" % path[len(self.root):]
        return None

    def begin(self):
        """Begins the run, whose key is there."""
        usual = list(sys.path)
        try:
            self.tracer.resume(self.config, round(self.seconds, 3))
        finally:
            sys.path[:] = usual

    def _may_raise_warnings(self):
        for name in _CONFIGURATION:
            try:
                with open(os.path.join(self.root, name), "rb") as stream:
                    text = stream.read()
            except OSError:
                continue
            if b"filterwarnings" in text and b"error" in text:
                return True
        return False

    def _wanted(self, sources):
        """(name, names below it) of each module that test files import at their top, in order.

        `sources` has their content by path. A file that cannot be parsed imports nothing.
        """
        found = []
        for path in sorted(sources):
            package = self._package_of(path)
            # pytest puts this folder before all others.
            folder = path.split("/")[:-1][:-len(package) or None]
            outer = []
            for part in package:
                if _is_tests(part):
                    break
                outer.append(part)
                found.append((".".join(outer), ()))
            try:
                body = ast.parse(sources[path]).body
            except (SyntaxError, ValueError):
                continue
            for node in body:
                if self._is_beside(node, folder):
                    break
                if isinstance(node, ast.Import):
                    found += [(each.name, ()) for each in node.names]
                elif isinstance(node, ast.ImportFrom):
                    name = node.module or ""
                    if node.level:
                        above = package[:len(package) - node.level + 1]
                        name = ".".join(above + ([name] if name else []))
                    if name and name != "__future__":
                        found.append((name, tuple(each.name for each in node.names)))
        return [(name, parts) for name, parts in found if not _is_skipped(name)]

    def _is_beside(self, node, folder):
        """Whether a statement imports a module from the folder of the tests."""
        names = []
        if isinstance(node, ast.Import):
            names = [each.name for each in node.names]
        elif isinstance(node, ast.ImportFrom) and not node.level and node.module:
            names = [node.module]
        places = [os.path.join(self.root, *(folder + [name.partition(".")[0]])) for name in names]
        return bool(folder) and any(
            os.path.isdir(place) or os.path.exists(place + ".py") for place in places)

    def _package_of(self, path):
        """The names of the packages that a test file is in."""
        folders = path.split("/")[:-1]
        names = []
        while folders and os.path.exists(os.path.join(self.root, *(folders + ["__init__.py"]))):
            names.insert(0, folders.pop())
        return names

    def _check(self, loaded):
        """@raise _Declined where a fresh process would have come to something else"""
        tests = set(self.config["tests"])
        tops = set(name.partition(".")[0] for name in loaded)
        for name in loaded:
            file = getattr(sys.modules.get(name), "__file__", None)
            if not isinstance(file, str) or not os.path.realpath(file).startswith(self.root):
                continue
            file = os.path.realpath(file)
            path = file[len(self.root):].replace(os.sep, "/")
            base = path.rpartition("/")[2]
            if path in tests or base == "conftest.py" or (
                    self.runner == "pytest" and fnmatch.fnmatch(base, "test_*.py")):
                raise _Declined("importing R loads %s, which is for tests alone" % path)
            self.files[file] = _stamp(file)
        if not self.files:
            raise _Declined("the tests import nothing of R")
        if self.runner == "pytest":
            plugin = _plugin_among(tops)
            if plugin is not None:
                raise _Declined("%s is a plug-in of pytest, which loads it in its own way" % plugin)
        import resource

        taken = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        taken *= 1 if sys.platform == "darwin" else 1024
        if taken > _MEMORY:
            raise _Declined("R takes %d MiB of memory once it is loaded" % (taken >> 20))


def _is_tests(name):
    return name in ("test", "tests", "testing") or name.startswith("test_")


def _is_skipped(name):
    """Whether only the run itself imports a module: a runner, and what belongs to tests."""
    parts = name.split(".")
    return parts[0] in ("pytest", "_pytest", "unittest") or parts[-1] == "conftest" or any(
        part in ("test", "tests") or part.startswith("test_") for part in parts)


def _import(name, parts):
    """Imports a module and what is asked of it; returns whether the test file would get that far."""
    try:
        module = importlib.import_module(name)
        for part in parts:
            if part == "*" or hasattr(module, part):
                continue
            if not hasattr(module, "__path__"):
                return False
            importlib.import_module("%s.%s" % (name, part))
        return True
    except ModuleNotFoundError as error:
        missing = error.name or ""
        if name == missing or name.startswith(missing + ".") or missing in [
                "%s.%s" % (name, part) for part in parts]:
            return False
        raise


def _stamp(path):
    try:
        info = os.stat(path)
    except OSError:
        return None
    return info.st_mtime_ns, info.st_size, info.st_ino


def _plugin_among(tops):
    """A package among these that pytest loads as a plug-in, or None."""
    from importlib import metadata

    for each in metadata.distributions():
        for entry in each.entry_points:
            if entry.group == "pytest11" and entry.value.partition(":")[0].partition(".")[0] in tops:
                return entry.value.partition(":")[0].partition(".")[0]
    return None
