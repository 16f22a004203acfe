/**
 * A Python function that compiles sources, without an error for those that cannot be. For CPython
 * 3.6 and later, with the standard library only.
 */
export const compileSources = `
import compileall, functools, os
def compile_sources(sources):
    one = functools.partial(compileall.compile_file, quiet=2)
    count = min(os.cpu_count() or 1, 4)
    if len(sources) >= 16 and count > 1:
        try:
            from concurrent.futures import ProcessPoolExecutor
            with ProcessPoolExecutor(count) as pool:
                list(pool.map(one, sources, chunksize=8))
            return
        except Exception:
            # Where several processes are impossible, as without /dev/shm.
            pass
    for source in sources:
        try:
            one(source)
        except Exception:
            # Without its compiled file, a source is slower but otherwise the same.
            pass
`;

/**
 * Leaves out what is compiled, as compileall does, which asks a process of its pool for each file.
 * https://docs.python.org/3/reference/import.html#cached-bytecode-invalidation
 */
export const compileProgram = `
import importlib.util, struct, sys
${compileSources}
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
`;
