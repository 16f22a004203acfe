"""
Decides which files stay that an image has in its tree and R does not. `git clean` is no help: it
keeps ignored files, such as caches and logs of later states. With ignored files included, it
removes what was built in place, and nothing runs without that. So the lists follow what a build
needs:

- Files from running, testing and editing are listed by name and removed, since no build reads
  them. These include compiled files, which are made again from R, but not those of an image that was
  pushed: they were made from R already.
- Files that building leaves beside the sources are listed by name and stay: extension modules,
  metadata of the installed project, its generated version.
- All other files that R does not ignore are removed, because a person or a script put them
  there.
- All other files that R ignores stay. A project ignores what its build generates, such as
  sources made from templates. It also ignores what its tools leave, which the first list covers.

Copies of the sources below `build/lib*` and `dist/` are removed: nothing imports them, and a
build makes them anew.
"""

import importlib.util, json, os, re, shutil, stat, struct, subprocess, sys
folder, listed = sys.argv[1:]
with open(listed) as file:
    keep = set(path.encode('utf-8', 'surrogateescape') for path in json.load(file))
folders_of_r = set()
for path in keep:
    place = os.path.dirname(path)
    while place and place not in folders_of_r:
        folders_of_r.add(place)
        place = os.path.dirname(place)
root = os.fsencode(folder)
# `os.path.relpath` would take longer than all else.
prefix = len(os.path.join(root, b''))
TRACES = re.compile(br'''(?x)
    (^|/)(__pycache__|\.pytest_cache|\.cache|\.mypy_cache|\.ruff_cache|\.hypothesis|\.tox|\.nox|\.testmondata
        |htmlcov|\.coverage(\..*)?|\.git|\.svn|\.hg|\.idea|\.vscode|\.vs|\.ipynb_checkpoints|\.DS_Store)(/|$)
    | ^build/(lib|bdist)[^/]*(/|$) | ^dist/
    | \.(py[co]|orig|rej|patch|diff|bak|log|prof|lprof|sw[a-p]|tmp)$ | \$py\.class$ | ~$ | (^|/)(\.\#[^/]*|\#[^/]*\#)$
    | (^|/)(coverage\.xml|coverage\.json|nosetests\.xml|junit[^/]*\.xml|pip-log\.txt|pip-delete-this-directory\.txt)$
''')
BUILT = re.compile(br'''(?x)
    \.(so(\.[0-9]+)*|pyd|dylib|egg-link)$ | (^|/)[^/]*\.(egg-info|dist-info)(/|$) | ^\.eggs/ | (^|/)_version\.py$
''')

START = importlib.util.MAGIC_NUMBER + (b'' if sys.version_info < (3, 7) else bytes(4))

def is_of_r(path):
    """
    Whether a file is what a source of R compiles to. The times of sources are derived from their contents
    (`contentTime`), so only what was compiled from the same contents, by us, has them.
    """
    name = os.fsdecode(path)
    try:
        source = importlib.util.source_from_cache(name)
        info = os.stat(source)
        if not stat.S_ISREG(os.lstat(name).st_mode):
            return False
        with open(name, 'rb') as file:
            start = file.read(len(START) + 8)
    except (OSError, ValueError):
        return False
    return (
        start == START + struct.pack('<LL', int(info.st_mtime) & 0xffffffff, info.st_size & 0xffffffff)
        and importlib.util.cache_from_source(source) == name
        and os.fsencode(source)[prefix:] in keep
    )

rest, gone = [], []
for place, folders, names in os.walk(root):
    links = [name for name in folders if os.path.islink(os.path.join(place, name))]
    for name in list(folders):
        path = os.path.join(place, name)[prefix:]
        if path == b'.git' or name in links:
            folders.remove(name)
        elif TRACES.search(path) and path not in folders_of_r:
            folders.remove(name)
            below = os.listdir(os.path.join(place, name)) if name == b'__pycache__' else []
            stays = [each for each in below if is_of_r(os.path.join(place, name, each))]
            gone += [os.path.join(path, each) for each in below if each not in stays] if stays else [path]
    for name in names + links:
        path = os.path.join(place, name)[prefix:]
        if path in keep:
            continue
        if TRACES.search(path):
            gone.append(path)
        elif not BUILT.search(path):
            rest.append(path)
try:
    asked = subprocess.Popen(
        ['git', 'check-ignore', '-z', '--stdin'], cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
    )
    answer = asked.communicate(b''.join(path + b'\0' for path in rest))[0]
    if asked.returncode not in (0, 1):
        raise OSError('git failed')
    ignored = set(answer.split(b'\0'))
except OSError:
    # Without git, only remove what could be run by mistake.
    ignored = set(path for path in rest if not path.endswith(b'.py'))
gone += [path for path in rest if path not in ignored]
for path in gone:
    path = os.path.join(root, path)
    if os.path.isdir(path) and not os.path.islink(path):
        shutil.rmtree(path)
    else:
        os.remove(path)
for place, folders, names in os.walk(root, topdown=False):
    if place != root and not place.startswith(os.path.join(root, b'.git')) and not os.listdir(place):
        relative = os.path.relpath(place, root)
        if any(path.startswith(relative + b'/') for path in gone):
            os.rmdir(place)
for path in sorted(gone)[:200]:
    print('removed ' + os.fsdecode(path).encode('ascii', 'backslashreplace').decode('ascii'))
print('removed %d in all' % len(gone))
