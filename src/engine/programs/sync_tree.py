"""
Moves the staged files to their places, compiles, and packs what it compiled. Prints the number
of the packed files. For CPython 3.6 and later, with the standard library only. The text of `compile_sources` comes before.
"""

import glob, importlib.util, json, os, shutil, stat, sys, tarfile
staging, folder, packed, time = sys.argv[1:]
root, time = os.fsencode(folder), int(time)
os.umask(0o022)
with open(os.path.join(staging, 'plan.json')) as file:
    plan = json.load(file)

def in_bytes(path):
    return path.encode('utf-8', 'surrogateescape')

def at(path):
    return os.path.join(root, in_bytes(path))

def remove(path):
    try:
        info = os.lstat(path)
    except OSError:
        return
    if stat.S_ISDIR(info.st_mode):
        shutil.rmtree(path)
    else:
        os.unlink(path)

def compiled(path):
    return os.fsencode(importlib.util.cache_from_source(os.fsdecode(path)))

def remove_folder(path):
    try:
        os.rmdir(path)
        return True
    except OSError:
        return False

own = set(at(path) for path in plan['own'])
for path in map(at, plan['remove'] + plan['stale']):
    if path.endswith(b'.py') and compiled(path) not in own:
        remove(compiled(path))
        remove_folder(os.path.dirname(compiled(path)))
for path in map(at, plan['remove']):
    remove(path)
    place = os.path.dirname(path)
    while place != root and remove_folder(place):
        place = os.path.dirname(place)
for number, (path, mode, seconds, target) in enumerate(plan['places']):
    path = at(path)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    remove(path)
    if target is not None:
        os.symlink(target.encode('latin-1'), path)
        os.utime(path, (seconds, seconds), follow_symlinks=False)
        continue
    waiting = os.path.join(staging, str(number))
    try:
        os.rename(os.fsencode(waiting), path)
    except OSError:
        # The image has another file system in one of the two places.
        shutil.copy2(os.fsencode(waiting), path)
shutil.rmtree(staging)

# An installation has listed the sources of its tree. Of these, later files may be the answer.
tracked = set(at(path) for path in plan['lists'])
for above in (b'', b'*'):
    for path in glob.glob(os.path.join(glob.escape(root), above, b'*.egg-info', b'SOURCES.txt')):
        if path in tracked or os.path.islink(path) or os.path.islink(os.path.dirname(path)):
            continue
        with open(path, 'rb') as file:
            lines = file.read().splitlines()
        with open(path, 'wb') as file:
            file.write(b''.join(line + b'\n' for line in lines if os.path.lexists(os.path.join(root, line))))

sources = [os.fsdecode(at(path)) for path in plan['compile']]
compile_sources(sources)
made = [path for path in (compiled(os.fsencode(source)) for source in sources) if os.path.isfile(path) and path not in own]
if made:
    with tarfile.open(packed, 'w') as archive:
        for path in made:
            archive.add(os.fsdecode(path), os.fsdecode(os.path.relpath(path, root)))
for place, _, _ in os.walk(root):
    # To set a time, even the same one, makes a second copy of a folder of a lower layer.
    if os.lstat(place).st_mtime_ns != time * 10**9:
        os.utime(place, (time, time))
print(len(made))
