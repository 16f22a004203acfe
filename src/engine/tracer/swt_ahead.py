"""Keeps an interpreter that was started ahead until its run arrives; CPython 3.8 and later.

Meanwhile it imports the runner, as `-m pytest` does first of all, from the installed packages alone.
No code of the tree has a part in that. `wait` returns in the process of the run, before anything is
recorded. Where the tree has a module that stands before one of those, it starts the run anew instead.

It may also be a warm start: see swt_warm. Code of R then runs before the run has a key, but none of a
candidate: the tree is that of R, or of R with X*, until the run is known.
"""

import importlib
import os
import sys

_execv = os.execv

#: Endings of files that can be imported. `pytest.ini` is not the module `pytest`.
_MODULES = (".py", ".pyw", ".pyc", ".pyd", ".so")


def wait(told, prepare):
    """Waits for the run: a JSON object with `argv`, `env`, `cwd` and, for a warm start, `tests`.

    `told` has the file descriptor that it comes from, the module to import, if any, and for a warm
    start a descriptor on which to say when everything is loaded. `prepare` starts the tracer for
    that. Ends the process if no run comes. Returns whether the tracer has begun the run.
    """
    end, module, tell = (told.split(" ") + ["", ""])[:3]
    own = os.path.dirname(os.path.abspath(__file__))
    of_tree = [path for path in os.environ.get("PYTHONPATH", "").split(os.pathsep) if path != own]
    known = set(sys.modules)
    if module:
        _import_installed(module, of_tree + [os.getcwd()])
    warm = None
    if tell:
        import swt_warm

        del sys.modules["swt_warm"]
        warm = swt_warm.load(prepare, module, int(tell))
    with os.fdopen(int(end), "rb") as stream:
        text = stream.read()
    if not text:
        os._exit(0)
    try:
        _become(text, of_tree, set(sys.modules) - known, warm)
        if warm is not None:
            warm.begin()
        return warm is not None
    except Exception as error:
        # `site` would continue as if nothing were the matter.
        os.write(2, ("the run did not begin: %s\n" % error).encode("utf-8", "replace"))
        os._exit(127)


def _import_installed(module, folders):
    """Imports a module and what it needs, with nothing of these folders."""
    usual, finders = list(sys.path), list(sys.meta_path)
    inside = tuple(os.path.join(os.path.realpath(folder), "") for folder in folders)
    sys.path[:] = [
        path for path in usual if not os.path.join(os.path.realpath(path), "").startswith(inside)
    ]
    # An editable installation may find the tree in a way of its own.
    sys.meta_path[:] = [
        each for each in finders if getattr(each, "__module__", "").startswith("_frozen_importlib")
    ]
    try:
        importlib.import_module(module)
    except Exception:
        pass  # The run says why.
    sys.path[:] = usual
    sys.meta_path[:] = finders + [each for each in sys.meta_path if each not in finders]


def _become(text, of_tree, modules, warm):
    import json

    run = json.loads(text.decode("ascii"))
    for name, value in run["env"].items():
        if os.environ.get(name) != value:
            os.environ[name] = value
    os.chdir(run["cwd"])
    argv = run["argv"]
    why = None if warm is None else warm.why_not(run["tests"])
    if why is None and _stands_before([run["cwd"]] + of_tree, modules, warm is not None):
        why = "a module of the tree stands before one that is installed"
    if why is not None:
        if warm is not None:
            os.environ["SWT_TRACE_WHY"] = why
        _execv(argv[0], argv)
    sys.argv[1:] = argv[3:] if argv[1] in ("-m", "-c") else argv[2:]
    if hasattr(sys, "orig_argv"):
        sys.orig_argv[:] = argv
    importlib.invalidate_caches()
    site = sys.modules.get("site")
    if getattr(site, "USER_SITE", None) is not None:
        # As they follow from the home of the run.
        site.USER_BASE = site.USER_SITE = None
        site.getusersitepackages()


def _stands_before(folders, modules, may_be_of_tree):
    """Whether a folder of the tree has, or is the place of, one of these modules."""
    for folder in folders:
        if not os.path.isdir(folder):
            continue
        names = set(
            name.partition(".")[0]
            for name in os.listdir(folder)
            if "." not in name or name.endswith(_MODULES)
        )
        inside = os.path.join(os.path.realpath(folder), "")
        for name in modules:
            file = getattr(sys.modules[name], "__file__", None)
            is_inside = file and os.path.realpath(file).startswith(inside)
            if is_inside and may_be_of_tree:
                continue
            if is_inside or name.partition(".")[0] in names:
                return True
    return False
