"""Starts the tracer in every Python process that has this folder on PYTHONPATH.

`site` imports this module at start-up. The environment variable SWT_TRACE_CONFIG contains the path
of the configuration (see swt_tracer); without it nothing happens. A sitecustomize module that this
one hides is executed afterwards, as if this one were not there. Nothing here prints or raises:
failures are written to the journal as a `problem` record.
"""

import os
import sys

_HERE = os.path.dirname(os.path.abspath(__file__))


def _read_config(path):
    """The configuration as a dict. Where possible, `json` is avoided: it imports `re`, which takes
    as long as the rest of the interpreter's start."""
    with open(path, "rb") as stream:
        text = stream.read().decode("utf-8")
    try:
        from _json import make_scanner

        class Context(object):
            strict = True
            object_hook = object_pairs_hook = array_hook = None
            parse_float = float
            parse_int = int
            parse_constant = float
            memo = {}

        return make_scanner(Context)(text, len(text) - len(text.lstrip()))[0]
    except Exception:
        import json

        return json.loads(text)


def _complain(config, text):
    """Writes a journal of one `problem` record, for when the tracer itself cannot."""
    out = (config or {}).get("out")
    if not out:
        return
    name = "%d-%s.jsonl" % (os.getpid(), "".join("%02x" % byte for byte in os.urandom(4)))
    text = "".join(char if " " <= char <= "~" and char not in '"\\' else "?" for char in text)
    flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND
    file = os.open(os.path.join(out, name), flags, 0o644)
    try:
        os.write(file, ('{"kind":"problem","text":"%s"}\n' % text[:2000]).encode("ascii"))
    finally:
        os.close(file)


def _own_path():
    """A path with the modules of ours and of the interpreter only: the repository may use some of
    their names.

    Code of the repository takes no part in what happens before the key of the run is taken.
    """
    library = os.path.dirname(os.__file__)
    return [_HERE] + [
        path for path in sys.path
        if path == library or os.path.basename(path) in ("lib-dynload", "DLLs")
        or path.endswith(".zip")
    ]


def _boot():
    path = os.environ.get("SWT_TRACE_CONFIG")
    if not path:
        return
    config = tracer = None
    usual = list(sys.path)
    try:
        sys.path[:] = _own_path()
        config = _read_config(path)
        import swt_tracer as tracer

        tracer.start(config)
        if config.get("outcomes"):
            import swt_outcomes

            swt_outcomes.install(config)
    except Exception as error:
        text = "the tracer did not start: %s: %s" % (type(error).__name__, error)
        try:
            if tracer is not None and tracer.current_journal():
                tracer.problem(text)
            else:
                _complain(config, text)
        except Exception:
            pass
    finally:
        sys.path[:] = usual


def _prepared():
    """Starts the tracer before the run has a key. Returns its configuration and itself."""
    usual = list(sys.path)
    try:
        sys.path[:] = _own_path()
        config = _read_config(os.environ["SWT_TRACE_CONFIG"])
        import swt_outcomes
        import swt_tracer

        swt_tracer.prepare(config)
        swt_outcomes.install(config)
        return config, swt_tracer
    finally:
        sys.path[:] = usual


def _chain():
    """Executes the sitecustomize that comes later on sys.path, if there is one."""
    paths = [
        path for path in sys.path if os.path.realpath(path or ".") != os.path.realpath(_HERE)
    ]
    external = sys.modules.get("_frozen_importlib_external")
    spec = external.PathFinder.find_spec("sitecustomize", paths) if external else None
    if spec is None or spec.loader is None:
        return
    module = type(sys)("sitecustomize")
    module.__spec__ = spec
    module.__file__ = spec.origin
    module.__cached__ = spec.cached
    module.__loader__ = spec.loader
    module.__package__ = ""
    sys.modules["sitecustomize"] = module
    spec.loader.exec_module(module)


_is_begun = False
if "SWT_TRACE_AHEAD" in os.environ:
    import swt_ahead

    _is_begun = swt_ahead.wait(os.environ.pop("SWT_TRACE_AHEAD"), _prepared)
    del sys.modules["swt_ahead"]
if not _is_begun:
    _boot()
# `site` handles its errors, as it would without us.
_chain()
