"""Executes programs in the interpreter under test; must run on CPython 3.6.

    worker.py plain|trace FOLDER OUTPUT NAME...

imports FOLDER/NAME.py for each name and prints the traceback if it raises. With `trace`, that is
done under Python's own `trace` module, and OUTPUT gets {name: {line: count}} as JSON.
"""

import os
import sys
import traceback


def execute(name):
    print("---", name)
    try:
        __import__(name)
    except BaseException:
        kind, error, trace = sys.exc_info()
        # Without the frames of this file and of the import system.
        lines = traceback.format_exception(kind, error, trace.tb_next)
        print("".join(lines).replace(os.getcwd(), ""))
    # A generator that is left over ends now, and not when the interpreter gets to it.
    import gc

    gc.collect()


def main(mode, folder, output, names):
    sys.path.insert(0, folder)
    sys.dont_write_bytecode = True
    if mode != "trace":
        for name in names:
            execute(name)
        return
    import json
    import trace

    tracer = trace.Trace(count=1, trace=0)
    tracer.runfunc(lambda: [execute(name) for name in names])
    counts = {}
    for (path, line), count in tracer.results().counts.items():
        if os.path.dirname(path) == folder:
            name = os.path.basename(path)[:-3]
            counts.setdefault(name, {})[line] = count
    with open(output, "w") as stream:
        json.dump(counts, stream)


main(sys.argv[1], sys.argv[2], sys.argv[3], sys.argv[4:])
