"""
Says which interpreter runs this: its version, the packages of test runners that it can import, and
the folders that it imports from. These are the folders of installed packages, of the standard
library, and those that paths in them lead to (`.pth`, editable installs).

Arguments: the name of the file that an environment made for an instance has, and names of packages.
Written for CPython 3.6 and later.
"""

import sys

del sys.path[0]  # the folder of this file
import importlib.util
import json
import os
import site
import sysconfig


def version_of(name):
    """The version that the metadata of a package states; None where there is none."""
    try:
        from importlib import metadata

        return metadata.version(name)
    except Exception:
        return None


def find_version(name, is_made):
    """
    The version of a package that can be imported, None for any other. In an environment that is made
    for an instance, R itself is only metadata: the tree under test has the code.
    """
    module = name.replace("-", "_")
    try:
        is_there = importlib.util.find_spec(module) is not None
    except Exception:
        is_there = False
    if not is_there:
        return version_of(name) if is_made else None
    version = version_of(name)
    if version is not None:
        return version
    try:
        return getattr(__import__(module), "__version__", "unknown")
    except Exception:
        return None


def folders_of(paths, user):
    """Folders of installed packages, and all others that modules are imported from."""
    standard = [paths[key] for key in ("stdlib", "platstdlib")]
    inside = {os.path.realpath(path) for path in standard}
    inside |= {os.path.join(path, "lib-dynload") for path in inside}
    sites = {paths[key] for key in ("purelib", "platlib")}
    if user:
        sites.add(user)  # also where there is none: a test could make one
    others = set()
    for path in sys.path:
        if os.path.basename(path) in ("site-packages", "dist-packages"):
            sites.add(path)
        elif os.path.exists(path) and os.path.realpath(path) not in inside:
            others.add(path)
    for place in sorted(sites):
        others.update(editable_in(place))
    return standard, sites, others


def editable_in(place):
    """Folders of projects that are installed in editable mode, by a folder of packages."""
    for name in sorted(os.listdir(place)) if os.path.isdir(place) else ():
        link = os.path.join(place, name, "direct_url.json")
        if not name.endswith(".dist-info") or not os.path.isfile(link):
            continue
        try:
            with open(link, "rb") as file:
                known = json.loads(file.read(1 << 20).decode())
            if known.get("dir_info", {}).get("editable") and known["url"].startswith("file://"):
                from urllib.request import url2pathname

                yield url2pathname(known["url"][len("file://"):])
        except Exception:
            pass


def real(folders):
    return sorted({os.path.realpath(path) for path in folders})


def main(tree_link, *names):
    is_made = any(
        os.path.isfile(os.path.join(place, tree_link)) for place in site.getsitepackages()
    )
    versions = {name: find_version(name, is_made) for name in names}
    user = site.getusersitepackages() if site.ENABLE_USER_SITE else None
    standard, sites, others = folders_of(sysconfig.get_paths(), user)
    is_cpython = sys.implementation.name == "cpython"
    print(json.dumps({
        "executable": sys.executable,
        "version": list(sys.version_info[:3]),
        "implementation": sys.implementation.name,
        "packages": {name: version for name, version in versions.items() if version is not None},
        "build": sys.version,
        "cacheTag": sys.implementation.cache_tag if is_cpython else None,
        "sites": real(sites),
        "standard": real(standard),
        "others": real(others),
        "userBase": site.getuserbase() if user and os.path.isdir(user) else None,
    }))


main(*sys.argv[1:])
