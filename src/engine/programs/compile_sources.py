"""
A Python function that compiles sources, without an error for those that cannot be. For CPython
3.6 and later, with the standard library only.
"""

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
