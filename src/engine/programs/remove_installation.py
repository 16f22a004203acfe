"""
For CPython 3.6 and later, with the standard library only.
"""

import json, os, re, stat, sys
root, folder, listed = os.path.realpath(sys.argv[1]), os.fsencode(sys.argv[2]), sys.argv[3]
with open(listed) as file:
    plan = json.load(file)
os.unlink(listed)

def remove(path):
    try:
        if not stat.S_ISDIR(os.lstat(path).st_mode):
            os.unlink(path)
    except FileNotFoundError:
        pass

def remove_empty(place, end):
    while place != end and place.startswith(end + (b'/' if isinstance(end, bytes) else '/')):
        try:
            os.rmdir(place)
        except OSError:
            return
        place = os.path.dirname(place)

standing = set(['bin', 'lib', 'site-packages', '__pycache__'])
for path in plan['added']:
    place = os.path.realpath(os.path.dirname(path))
    if not place.startswith(root + '/'):
        sys.exit('a file outside of the environment: %s' % path)
    remove(os.path.join(place, os.path.basename(path)))
    if os.path.basename(place) not in standing:
        remove_empty(place, root)

known = set(path.encode('utf-8', 'surrogateescape') for path in plan['files'])
compiled = re.compile(br'^(.*/)?__pycache__/([^/]+?)[.][A-Za-z0-9_-]+[.]pyc$')
for place, folders, names in os.walk(folder, topdown=False):
    for name in names + [each for each in folders if os.path.islink(os.path.join(place, each))]:
        path = os.path.relpath(os.path.join(place, name), folder)
        found = compiled.match(path)
        source = (found.group(1) or b'') + found.group(2) + b'.py' if found else path
        if path not in known and source not in known:
            remove(os.path.join(folder, path))
    remove_empty(place, folder)
