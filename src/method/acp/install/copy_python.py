"""Copies the interpreter that runs it, with the standard library, to a folder from which it runs
anywhere. Libraries of this machine that it loads come along, except those of the C library.

Usage: copy_python.py DESTINATION [PATCHELF]

PATCHELF names the program that lets copied files find each other; it is needed where libraries come
along. Writes the path of the copied interpreter, relative to the destination. It needs Linux and
CPython 3.8 or later.
"""

import importlib
import os
import pkgutil
import re
import shutil
import subprocess
import sys
import sysconfig

# Parts of the C library must fit the kernel's loader and each other; those of the image are used.
OF_SYSTEM = re.compile(r"^(ld-|ld\d|lib(c|m|dl|rt|pthread|resolv|util|nsl|crypt|anl|nss_\w+)(-[\d.]+)?\.so)")
# What no agent needs: Tk, tests, and packages of the copied interpreter.
LEFT_OUT = shutil.ignore_patterns(
    "site-packages", "dist-packages", "test", "tests", "idlelib", "turtledemo", "tkinter", "lib2to3",
    "ensurepip", "config-*", "__pycache__", "_tkinter*.so", "_test*.so", "_ctypes_test*.so", "*.a")


def loaded_libraries():
    """Paths of the shared libraries that this process has loaded."""
    with open("/proc/self/maps") as file:
        paths = {line.split(None, 5)[5].strip() for line in file if len(line.split(None, 5)) == 6}
    return {path for path in paths if re.search(r"\.so(\.|$)", os.path.basename(path))}


def import_extensions(folder):
    """Loads each extension module, so that the libraries that it needs are loaded too."""
    for module in pkgutil.iter_modules([folder]):
        if module.name != "_tkinter":
            try:
                importlib.import_module(module.name)
            except Exception:
                # Some refuse to be imported alone, or lack a library here as well.
                pass


def main():
    destination = sys.argv[1]
    patchelf = sys.argv[2] if len(sys.argv) > 2 else None
    version = "python%d.%d" % sys.version_info[:2]
    standard = sysconfig.get_path("stdlib")
    extensions = os.path.join(standard, "lib-dynload")
    import_extensions(extensions)
    libraries = {
        path for path in loaded_libraries()
        if not OF_SYSTEM.match(os.path.basename(path)) and not path.startswith(standard + os.sep)
    }
    if libraries and patchelf is None:
        sys.exit("%s needs patchelf: it uses %s" % (sys.executable, ", ".join(sorted(libraries))))
    shutil.copytree(standard, os.path.join(destination, "lib", version), ignore=LEFT_OUT)
    program = os.path.join(destination, "bin", version)
    os.makedirs(os.path.dirname(program))
    shutil.copy(os.path.realpath(sys.executable), program)
    for path in libraries:
        name = os.path.basename(path)
        shutil.copy(path, os.path.join(destination, "lib", name))
        # A program asks for a library by a shorter name, such as libbz2.so.1.0 of libbz2.so.1.0.4.
        for dot in re.finditer(r"\.", name[name.index(".so") + 3:]):
            short = os.path.join(destination, "lib", name[:name.index(".so") + 3 + dot.start()])
            if not os.path.lexists(short):
                os.symlink(name, short)
    if libraries:
        let_find(patchelf, destination, version)
    print(os.path.relpath(program, destination))


def let_find(patchelf, destination, version):
    """Makes the copied files look for libraries beside themselves."""
    copied = os.path.join(destination, "lib")
    folders = {
        os.path.join(destination, "bin"): "$ORIGIN/../lib",
        copied: "$ORIGIN",
        os.path.join(copied, version, "lib-dynload"): "$ORIGIN/../..",
    }
    for folder, path in folders.items():
        for name in os.listdir(folder):
            file = os.path.join(folder, name)
            if os.path.isfile(file) and not os.path.islink(file):
                subprocess.run([patchelf, "--force-rpath", "--set-rpath", path, file], check=True)


main()
