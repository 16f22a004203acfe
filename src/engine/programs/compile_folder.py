"""
Compiles a folder with `compile_sources`, whose text comes before. Leaves out what is compiled, as compileall does, which asks a process of its pool for each file.
https://docs.python.org/3/reference/import.html#cached-bytecode-invalidation
"""

import importlib.util, struct, sys
start = importlib.util.MAGIC_NUMBER + (b'' if sys.version_info < (3, 7) else bytes(4))

def is_compiled(source):
    try:
        seconds = int(os.stat(source).st_mtime) & 0xffffffff
        with open(importlib.util.cache_from_source(source), 'rb') as file:
            return file.read(len(start) + 4) == start + struct.pack('<L', seconds)
    except (OSError, UnicodeError):
        return False

sources = []
for place, folders, names in os.walk(sys.argv[1]):
    folders[:] = [name for name in folders if name != '__pycache__']
    paths = [os.path.join(place, name) for name in names if name.endswith('.py')]
    sources += [path for path in paths if os.path.isfile(path) and not is_compiled(path)]
compile_sources(sources)
