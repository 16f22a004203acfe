"""Records what code of tests does besides running the code under test; CPython 3.6 to 3.14.

An act is a record like

    {"kind": "act", "what": "open", "path": "pkg/mod.py", "at": [["tests/test_a.py", 7]], "test": ID}

`what` is open, list, look, link, compile, code or change (all with a `path` below the root of the
tree), git, proc, recorder, or run, trace, frames, objects, memory, hook (with the program or
function in `by`). `at` has the lines of the tree that led to it, the innermost first: of R's own code that one alone,
of tests also those outside it. It is empty in a thread and in a program that a test starts, where no
line of the tree leads to the act.

From CPython 3.8 on, an audit hook (PEP 578) sees the acts, and a wrapper of `os.stat`. Before, more
functions of `builtins`, `io` and `os` are wrapped, which see fewer. Whose act it is depends on the frames, from the innermost one
outwards. Modules of the interpreter, and code that has no file, act for their callers. What imports
modules, prints tracebacks, or lies in another package does not.

Limits: nothing sees attributes of modules and frames, `os.DirEntry` and the environment. Before 3.8,
nothing sees compiled code, `_io` and `posix`. Each act is recorded once for each of its places.
"""

import os
import sys
from _thread import get_ident

_HERE = os.path.dirname(os.path.abspath(__file__))
_LIBRARY = os.path.dirname(os.__file__)
_TESTS = frozenset(["test", "tests", "testing", "unittests", "unit_tests", "e2e"])
#: Endings of files that are code or may describe changes. Others are data.
_CODE = frozenset(
    "py pyi pyc pyo pxd pxi pyx so pyd c h cc cpp hpp f f90 rst md toml cfg ini".split())
_TELLS_CHANGES = ("version", "change", "news", "history", "release")
#: Functions of the import system that load modules.
_LOADING = frozenset(
    "_find_and_load _load_unlocked _load _exec exec_module load_module".split())
#: Modules that read sources to show or to run them.
_SHOWING = frozenset(
    "traceback warnings doctest pdb bdb pydoc cgitb runpy imp unittest.result unittest.loader "
    "unittest.main unittest.runner unittest.suite".split())
#: Other packages that read files for their callers.
_READING = frozenset("py dill git gitdb dulwich pygit2".split())
#: Acts that only these modules of the interpreter do for their callers. Others are done by any.
_BETWEEN = frozenset(
    "list:os list:glob list:pathlib list:pathlib._local list:pathlib._abc list:shutil "
    "look:genericpath look:pathlib look:pathlib._local look:pathlib._abc compile: change: "
    "objects: hook: code:dis trace:trace frames:inspect memory:ctypes".split())
_NARROW = frozenset(each.partition(":")[0] for each in _BETWEEN)
#: Programs that print files, or facts about them.
_READERS = frozenset(
    "cat head tail tac less more grep egrep fgrep rg ag sed awk cut sort diff cmp find ls stat wc nl "
    "od dd mv ln zip gzip base64 comm paste rev xxd hexdump strings md5sum sha1sum sha224sum "
    "sha256sum sha512sum cksum file tar cp rsync".split())
#: Modules that show sources when run with `-m`.
_SHOWN_BY = frozenset("inspect dis ast tokenize symtable pyclbr py_compile compileall".split())
_DEEPEST, _PLACES, _MOST, _MOST_AT_A_PLACE = 200, 6, 1000, 20


def begin(tracer, config_path):
    """Begins to record acts in this process, with `write` and `state` of the module swt_tracer."""
    state = tracer.state
    roots = [os.path.join(root, "") for root in {state.root, os.path.realpath(state.root)}]
    ours = (os.path.join(os.path.abspath(state.out), ""), config_path or "\0")
    # The program may replace these.
    getcwd, fsdecode, frame_at, join = os.getcwd, os.fsdecode, sys._getframe, os.path.join
    normal, exists, is_absolute = os.path.normpath, os.path.exists, os.path.isabs
    main_thread = get_ident()
    kinds, seen, often, busy = {}, set(), {}, set()

    def below_root(path):
        """`path` below the root with `/`, or None when it is elsewhere."""
        for root in roots:
            if path.startswith(root):
                return path[len(root):].replace(os.sep, "/")
        return "" if path + os.sep in roots else None

    def absolute(path):
        if not isinstance(path, str):
            path = fsdecode(path)
        if not is_absolute(path):
            path = join(getcwd(), path)
        return normal(path) if "/." in path or "//" in path else path

    # --- whose act it is -------------------------------------------------------------------

    def kind_of(filename):
        if filename not in kinds:
            kinds[filename] = _kind(filename)
        return kinds[filename]

    def _kind(filename):
        """(kind, name) of the file that code says it is of: "ours", "library" or "package" with the
        name of the module, "tree" or "tests" with the path, or None."""
        if filename.startswith("<frozen "):
            return "library", filename[8:-1]
        if filename.startswith("<"):
            return None, ""
        path = normal(join(state.start_folder or "/", filename))
        if path.startswith(_HERE + os.sep):
            return "ours", ""
        for packages in ("site-packages", "dist-packages"):
            _, found, rest = path.rpartition(os.sep + packages + os.sep)
            if found:
                return "package", rest.split(os.sep)[0].partition(".")[0]
        if path.startswith(_LIBRARY + os.sep):
            name = path[len(_LIBRARY) + 1:].rpartition(".")[0].replace(os.sep, ".")
            return "library", name[:-9] if name.endswith(".__init__") else name
        path = below_root(path)
        if path is None:
            return None, ""
        return "tests" if is_of_tests(path) else "tree", path

    def acts_for_caller(what, kind, name, function):
        """Whether what a function of a library or package does is the act of its caller."""
        if what == "run":
            return True
        if kind == "ours":
            return False
        if kind == "package":
            return what in ("open", "git", "link") and name in _READING
        if what in _NARROW:
            return what + ":" + name in _BETWEEN and (name != "inspect" or function == "stack")
        if name in _SHOWING or name.startswith(("distutils", "_pyrepl")):
            return False
        return not (name.startswith("importlib") and function in _LOADING)

    def places_of(what, frame):
        """`at` of an act, or None where it is none of the tree."""
        places, kind, name, last = [], None, "", frame
        for _ in range(_DEEPEST):
            code = frame.f_code
            kind, name = kind_of(code.co_filename)
            if kind == "tests" or frame.f_globals.get("__name__") == "__main__" and kind == "tree":
                places.append([name, frame.f_lineno])
            elif places:
                pass
            elif kind == "tree":
                return [[name, frame.f_lineno]]
            elif kind is not None and not acts_for_caller(what, kind, name, code.co_name):
                return None
            last, frame = frame, frame.f_back
            if frame is None or len(places) == _PLACES:
                break
        if places:
            return places
        if kind is None and not state.keyed and last.f_globals.get("__name__") == "__main__":
            return places  # a program that a test gave the interpreter
        is_thread = name == "threading" and get_ident() != main_thread
        return places if is_thread and state.test is not None else None

    def act(what, frame, path=None, by=None):
        at = places_of(what, frame)
        if at is None:
            return
        place = (what, tuple(map(tuple, at)))
        key = place + (path, by)
        if key in seen or len(seen) >= _MOST:
            return
        seen.add(key)
        often[place] = often.get(place, 0) + 1
        if often[place] > _MOST_AT_A_PLACE:
            if often[place] > _MOST_AT_A_PLACE + 1:
                return
            path = by = None
        record = {"kind": "act", "what": what, "at": at, "test": state.test}
        if path is not None:
            record["path"] = path
        if by is not None:
            record["by"] = by
        tracer.write(record)

    # --- acts on files ---------------------------------------------------------------------

    def on_file(what, path, frame):
        if type(path) is int:
            return
        path = getcwd() if path is None else absolute(path)
        found = below_root(path)
        if found is None:
            if path.startswith("/proc/"):
                act("proc", frame)
            elif (path + os.sep).startswith(ours) or what == "open" and path.startswith(_HERE):
                act("recorder", frame)
        elif ".git" in found.split("/"):
            act("git", frame)
        elif is_source(found, what):
            act(what, frame, found)

    def on_compile(args, frame):
        filename = args[1]
        if filename is not None and not (type(filename) is str and filename.startswith("<")):
            found = below_root(absolute(filename))
            if found and found.endswith(".py") and is_source(found):
                act("compile", frame, found)

    def on_attribute(args, frame):
        on_code("code", getattr(args[0], args[1]), frame)

    def on_code(what, code, frame):
        kind, path = kind_of(code.co_filename)
        if kind == "tree":
            act(what, frame, path)

    def on_code_set(args, frame):
        changed = args[0]
        if kind_of(changed.__code__.co_filename)[0] == "ours":
            name = "%s.%s" % (changed.__module__, changed.__name__)
            tracer.write({"kind": "foreign", "what": "code", "where": name})
        on_code("change", args[2], frame)

    def on_frame(args, frame):
        # The argument is the frame that is asked for. Before 3.11 it is always that of the caller,
        # and only a call without an argument is one for the caller's own frame.
        code = frame.f_code
        if sys.version_info < (3, 11) and code.co_code[frame.f_lasti + 1] or args[0] is not frame:
            act("frames", frame, by="sys._getframe")

    # --- acts of other programs ------------------------------------------------------------

    def on_run(words, folder, frame):
        if isinstance(words, (str, bytes)):
            words = [words]
        text = " ".join(word if isinstance(word, str) else fsdecode(word) for word in words)
        folder = absolute(folder) if folder else getcwd()
        if below_root(folder) is None and not any(root[:-1] in text for root in roots):
            return
        for mark in ";&|()`\n":
            text = text.replace(mark, " ; ")
        for quote in "'\"":
            text = text.replace(quote, " ")
        for command in text.split(" ; "):
            on_command(command.split(), folder, frame)

    def on_command(words, folder, frame):
        while len(words) > 1 and (words[0].rpartition("/")[2] in ("sh", "bash", "env") or
                                  words[0] == "-c" or "=" in words[0]):
            del words[0]
        if not words:
            return
        program, rest = words[0].rpartition("/")[2], words[1:]
        if program in ("git", "hg"):
            plain = [word for word in rest if not word.startswith("-")]
            if plain and not {"init", "config", "clone"}.intersection(plain):
                act("run", frame, by=program)
        elif program in _READERS:
            on_words(program, rest, folder, frame)
        elif program.startswith(("python", "pypy")) and rest[:1] == ["-m"] and rest[1:] and (
                rest[1] in _SHOWN_BY):
            shown = [word.replace(".", "/") for word in rest[2:]]
            modules = [word + ending for word in shown for ending in (".py", "/__init__.py")]
            on_words(rest[1], rest[2:] + modules, folder, frame)

    def on_words(program, words, folder, frame):
        for word in words:
            path = join(folder, word.replace("if=", "").partition("*")[0])
            found = below_root(normal(path))
            if found and not word.startswith("-") and exists(path) and (
                    is_source(found) or ".git" in found.split("/")):
                act("run", frame, found, program)

    # --- what is watched -------------------------------------------------------------------

    def on_import(args, frame):
        if args[0].startswith("swt_"):
            act("recorder", frame)

    def simple(what, by):
        return lambda args, frame: act(what, frame, by=by)

    def of_first(what):
        return lambda args, frame: on_file(what, args[0] if args else None, frame)

    handlers = {
        "open": of_first("open"), "os.listdir": of_first("list"), "os.scandir": of_first("list"),
        "os.rename": of_first("link"), "os.link": of_first("link"), "os.symlink": of_first("link"),
        "os.stat": of_first("look"),
        "compile": on_compile, "object.__getattr__": on_attribute,
        "object.__setattr__": on_code_set, "sys._getframe": on_frame, "import": on_import,
        "subprocess.Popen": lambda args, frame: on_run(args[1], args[2], frame),
        "os.system": lambda args, frame: on_run(args[0], None, frame),
        "os.exec": lambda args, frame: on_run(args[1], None, frame),
        "os.posix_spawn": lambda args, frame: on_run(args[1], None, frame),
        "sys.addaudithook": simple("hook", "sys.addaudithook"),
        "sys._current_frames": simple("frames", "sys._current_frames"),
    }
    for what, names in (
            ("trace", "sys.settrace sys.setprofile sys.monitoring.register_callback"),
            ("objects", "gc.get_objects gc.get_referrers gc.get_referents"),
            ("memory", "ctypes.dlopen ctypes.dlsym ctypes.string_at ctypes.wstring_at "
                       "ctypes.addressof ctypes.cdata ctypes.PyObj_FromPtr")):
        for name in names.split():
            handlers[name] = simple(what, name)
    find = handlers.get
    on_names = {on_attribute: ("__code__", "gi_code", "cr_code"), on_code_set: ("__code__",)}
    names_of = on_names.get

    def hook(event, args, depth=1):
        handler = find(event)
        if handler is None:
            return
        names = names_of(handler)
        if names is not None and args[1] not in names:
            return
        thread = get_ident()
        if thread in busy:
            return
        try:
            busy.add(thread)
            handler(args, frame_at(depth))
        except Exception:
            pass
        finally:
            busy.discard(thread)

    class Lines(dict):
        """The cache of `linecache`, which reports the files that it has read before."""

        def __getitem__(self, path):
            hook("open", (path,), 2)
            return dict.__getitem__(self, path)

    def watch_lines():
        module = sys.modules.get("linecache")
        if type(getattr(module, "cache", None)) is dict:
            module.cache = Lines(module.cache)

    state.watch_lines = watch_lines
    if hasattr(sys, "addaudithook"):
        sys.addaudithook(hook)
        _watch(os, "stat", "os.stat", hook)
        # Before 3.11, pathlib keeps the function. It may have been imported ahead.
        accessor = getattr(sys.modules.get("pathlib"), "_NormalAccessor", None)
        if accessor is not None:
            accessor.stat = os.stat
    else:
        _watch_all(hook)
        state.starts = lambda words, folder: hook("subprocess.Popen", (None, words, folder), 3)


def is_of_tests(path):
    """Whether a file of the tree belongs to tests, by its name or one of its folders."""
    folders = path.split("/")
    name = folders.pop()
    if name == "conftest.py" or not _TESTS.isdisjoint(folders):
        return True
    stem, _, ending = name.rpartition(".")
    return ending == "py" and (
        stem in ("test", "tests", "testing") or stem.startswith(("test_", "unittest_"))
        or stem.endswith(("_test", "_tests")))


def is_source(path, what="open"):
    """Whether a path of the tree is one of R's sources or tells its changes, and no data of
    tests."""
    is_folder = what == "list"
    if is_of_tests(path + "/x" if is_folder else path):
        return False
    name = path.rpartition("/")[2].lower()
    stem, dot, ending = name.rpartition(".")
    return (is_folder or ending in _CODE and bool(dot) or what != "look" and not stem
            or any(word in name for word in _TELLS_CHANGES))


class _Watched(object):
    """A built-in function that reports its calls. As an attribute of a class it is no method, as
    built-in functions are none."""

    def __init__(self, original, module, event, hook):
        self.__wrapped__ = original
        self.__name__ = self.__qualname__ = original.__name__
        self.__doc__ = original.__doc__
        self.__module__ = module.__name__
        self.swt_report = lambda args: hook(event, args, 3)

    def __call__(self, *args, **kwargs):
        self.swt_report(args or tuple(kwargs.values()))
        return self.__wrapped__(*args, **kwargs)

    def __getattr__(self, name):
        return getattr(self.__dict__["__wrapped__"], name)

    def __repr__(self):
        return repr(self.__wrapped__)

    def __reduce__(self):
        return self.__name__


def _watch(module, name, event, hook):
    original = getattr(module, name, None)
    if original is None:
        return
    watched = _Watched(original, module, event, hook)
    setattr(module, name, watched)
    for supported in vars(os).values():
        if isinstance(supported, set) and original in supported:
            supported.add(watched)


def _watch_all(hook):
    """Before CPython 3.8: reports calls as the audit events that later versions raise."""
    import builtins
    import gc
    import io

    for name in "stat listdir scandir rename link symlink".split():
        _watch(os, name, "os." + name, hook)
    _watch(os, "replace", "os.rename", hook)
    _watch(os, "open", "open", hook)
    for name in "get_objects get_referrers get_referents".split():
        _watch(gc, name, "gc." + name, hook)
    _watch(io, "open", "open", hook)
    builtins.open = io.open
    loader = sys.modules["_frozen_importlib_external"].FileLoader
    original_data = loader.get_data

    def get_data(self, path):
        hook("open", (path,), 2)
        return original_data(self, path)

    loader.get_data = get_data
