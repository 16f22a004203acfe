"""Keeps an interpreter that was started ahead until its run arrives; CPython 3.8 and later.

Meanwhile it imports pytest, as `-m pytest` does first of all, from the installed packages alone. No
code of the tree has a part in that. `wait` returns in the process of the run, before anything is
recorded. Where the tree has a module that stands before one of those, it starts the run anew instead.
"""

import importlib
import os
import sys


def wait(end):
    """Waits for the run on the file descriptor `end`: a JSON object with `argv`, `env` and `cwd`.

    Ends the process if none comes.
    """
    usual = list(sys.path)
    own = os.path.dirname(os.path.abspath(__file__))
    of_tree = [path for path in os.environ.get("PYTHONPATH", "").split(os.pathsep) if path != own]
    sys.path[:] = [path for path in usual if path not in of_tree]
    known = set(sys.modules)
    try:
        importlib.import_module("pytest")
    except Exception:
        pass  # The run says why.
    sys.path[:] = usual
    with os.fdopen(end, "rb") as stream:
        text = stream.read()
    if not text:
        os._exit(0)
    try:
        _become(text, of_tree, set(sys.modules) - known)
    except Exception as error:
        # `site` would go on as if nothing were the matter.
        os.write(2, ("the run did not begin: %s\n" % error).encode("utf-8", "replace"))
        os._exit(127)


def _become(text, of_tree, modules):
    import json

    run = json.loads(text.decode("ascii"))
    for name, value in run["env"].items():
        if os.environ.get(name) != value:
            os.environ[name] = value
    os.chdir(run["cwd"])
    argv = run["argv"]
    if _stands_before([run["cwd"]] + of_tree, modules):
        os.execv(argv[0], argv)
    sys.argv[1:] = argv[3:]
    if hasattr(sys, "orig_argv"):
        sys.orig_argv[:] = argv
    importlib.invalidate_caches()


def _stands_before(folders, modules):
    """Whether a folder of the tree has, or is the place of, one of these modules."""
    for folder in folders:
        if not os.path.isdir(folder):
            continue
        names = set(name.partition(".")[0] for name in os.listdir(folder))
        inside = os.path.join(os.path.realpath(folder), "")
        for name in modules:
            if name.partition(".")[0] in names:
                return True
            file = getattr(sys.modules[name], "__file__", None)
            if file and os.path.realpath(file).startswith(inside):
                return True
    return False
