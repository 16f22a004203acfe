"""Shows the tracer the modules that pytest rewrites, because pytest executes their code itself.

Before CPython 3.12 the tracer changes the code of a module where it is loaded, which pytest's
assertion rewriting bypasses. This is separate from swt_runner_pytest, since `_pytest.config`
imports the rewriter half-way through its own import.
"""

import sys

import swt_outcomes as swt


def hook(module, instrument):
    """Passes the code of rewritten modules through `instrument` before it is executed."""

    def execute(code, *args):
        __tracebackhide__ = True  # noqa: F841 (pytest looks for it)
        try:
            code = instrument(code) or code
        except Exception as error:
            swt.problem("a rewritten module was not instrumented", error)
        exec(code, *args)

    module.exec = execute
    # pytest 3.1 to 4.0 on CPython 3 use six.exec_; earlier versions use py.builtin.exec_.
    if "six" in vars(module):
        module.six = _Over(module.six, exec_=execute)
    elif sys.version_info < (3, 10) and "py" in vars(module):
        module.py = _Over(module.py, builtin=_Over(module.py.builtin, exec_=execute))


class _Over(object):
    """A module with some of its names replaced."""

    def __init__(self, module, **names):
        self.__dict__.update(names)
        self.__dict__["swt_module"] = module

    def __getattr__(self, name):
        return getattr(self.swt_module, name)
