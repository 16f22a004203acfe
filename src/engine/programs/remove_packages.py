"""
Removes packages by the lists of their files, and lends the folders that others are installed in
to the user of foreign code. The lists come from the packages, so nothing outside of the
environment is removed. For CPython 3.6 and later, with the standard library only.

https://packaging.python.org/en/latest/specifications/recording-installed-packages/#the-record-file
"""

import csv, glob, json, os, re, stat, sys
root, user, names = os.path.realpath(sys.argv[1]), int(sys.argv[2]), set(json.loads(sys.argv[3]))
places = [each for each in glob.glob(os.path.join(root, 'lib', 'python*', 'site-packages')) if not os.path.islink(os.path.dirname(each)) and not os.path.islink(each)]

def is_inside(path):
    return os.path.realpath(os.path.dirname(path)).startswith(root + os.sep) or os.path.realpath(os.path.dirname(path)) == root

def files_of(info, place):
    with open(os.path.join(info, 'RECORD'), newline='', encoding='utf-8', errors='surrogateescape') as file:
        return set(os.path.normpath(os.path.join(place, row[0])) for row in csv.reader(file) if row)

going, staying, found = set(), set(), set()
for place in places:
    for info in glob.glob(os.path.join(glob.escape(place), '*.dist-info')):
        name = re.sub(r'[-_.]+', '-', os.path.basename(info).split('-')[0]).lower()
        files = files_of(info, place)
        if name in names:
            found.add(name)
            going |= files
        else:
            staying |= files
if found != names:
    sys.exit('without a list of files: %s' % ', '.join(sorted(names - found)))
if going & staying:
    sys.exit('files of several packages: %s' % sorted(going & staying)[0])
folders = set()
for path in going:
    if not is_inside(path):
        sys.exit('a file outside of the environment: %s' % path)
    stem, ending = os.path.splitext(os.path.basename(path))
    folder = os.path.dirname(path)
    compiled = glob.glob(os.path.join(glob.escape(folder), '__pycache__', glob.escape(stem) + '.*.pyc')) if ending == '.py' else []
    for each in [path] + compiled:
        try:
            if not stat.S_ISDIR(os.lstat(each).st_mode):
                os.unlink(each)
        except FileNotFoundError:
            pass
        folders.add(os.path.dirname(each))
standing = set([root, os.path.join(root, 'bin'), os.path.join(root, 'lib')] + places + [os.path.dirname(each) for each in places])
for folder in sorted(folders, key=len, reverse=True):
    while folder not in standing and folder.startswith(root + os.sep):
        try:
            os.rmdir(folder)
        except OSError:
            break
        folder = os.path.dirname(folder)
for folder in standing | folders | set(os.path.join(each, '__pycache__') for each in places):
    if os.path.isdir(folder) and not os.path.islink(folder) and (folder == root or folder.startswith(root + os.sep)):
        os.chown(folder, user, user)
