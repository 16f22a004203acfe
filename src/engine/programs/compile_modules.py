"""
Compiles modules as the import system would, without running them. Each line of the input has a source,
the path for its compiled file, and the time to write into it, null for that of the source. A module that
cannot be compiled, or whose compilation warns, gets an empty file. A test sees such a warning only where
the module is compiled, so that must happen in each run or in none. Format of a compiled file: importlib's
`_code_to_timestamp_pyc`. For CPython 3.6 and later.
"""

import importlib.util, json, marshal, os, struct, sys, warnings
head = importlib.util.MAGIC_NUMBER + (bytes(4) if sys.version_info >= (3, 7) else b"")
for line in sys.stdin:
    source, target, time = json.loads(line)
    data = b""
    try:
        with open(source, "rb") as file:
            text = file.read()
            if time is None:
                time = int(os.fstat(file.fileno()).st_mtime)
        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always")
            code = compile(text, source, "exec", dont_inherit=True, optimize=0)
        if not seen:
            data = head + struct.pack("<II", time & 0xFFFFFFFF, len(text) & 0xFFFFFFFF) + marshal.dumps(code)
    except Exception:
        pass
    try:
        beside = "%s.%d" % (target, os.getpid())
        with open(beside, "wb") as file:
            file.write(data)
        os.replace(beside, target)
    except OSError:
        pass
