"""
Asks an installed project what it requires with some extras. It uses a library that pip brings,
which reads the metadata of all build tools and evaluates markers for this interpreter.
https://packaging.python.org/en/latest/specifications/core-metadata/#requires-dist-multiple-use
"""

import json, sys, warnings
warnings.simplefilter('ignore')
from pip._vendor import pkg_resources
name, extras = sys.argv[1], sys.argv[2:]
project = pkg_resources.get_distribution(name)
found, seen = [], set()
def ask(extras):
    extras = [each for each in project.extras if each in extras and each not in seen]
    seen.update(extras)
    for each in project.requires(extras):
        # A project may name extras of its own as requirements of others.
        if each.key == project.key:
            ask(each.extras)
            continue
        # It holds for this interpreter and these extras.
        each.marker = None
        if str(each) not in found:
            found.append(str(each))
ask([pkg_resources.safe_extra(each) for each in extras])
print(json.dumps(sorted(found)))
