"""
Imports the packages of R, and looks for what its tests import. Its last line says what is missing. A test
may need a further package for itself, so a module counts only where a conftest.py or half of the test
files import it. For CPython 3.6 and later.
"""

import ast, importlib, importlib.util, json, os, sys
names = set(json.loads(sys.argv[1]))
places = [each for each in ("src", ".", "lib") if os.path.isdir(each)]
apart = {"test", "tests", "testing", "doc", "docs", "example", "examples", "benchmark", "benchmarks",
         "asv_bench", "script", "scripts", "tool", "tools", "build", "dist", "bin", "release"}
own, packages, named = set(), [], []
for place in places:
    for entry in sorted(os.listdir(place)):
        name, ending = os.path.splitext(entry)
        is_package = ending == "" and os.path.isfile(os.path.join(place, entry, "__init__.py"))
        if not is_package and ending != ".py" and not os.path.isdir(os.path.join(place, entry)):
            continue
        own.add(name)
        if name.lower().replace("_", "-") in names and (is_package or ending == ".py"):
            named.append(name)
        elif is_package and name not in apart:
            packages.append(name)

def failure(module):
    try:
        importlib.import_module(module)
    except BaseException as error:
        return "%s: %s" % (type(error).__name__, error)

failures = [failure(each) for each in named or packages]
failed = [each for each in failures if each]
unfit = failed[0] if failed and (named or len(failed) == len(failures)) else None

def top(node):
    if isinstance(node, ast.Import):
        return [each.name.split(".")[0] for each in node.names]
    if isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
        return [node.module.split(".")[0]]
    return []

found = {}
def is_missing(name, folder):
    if name in own or os.path.exists(os.path.join(folder, name)) or os.path.exists(os.path.join(folder, name + ".py")):
        return False
    if name not in found:
        try:
            found[name] = name in sys.modules or importlib.util.find_spec(name) is not None
        except Exception:
            found[name] = True
    return not found[name]

def missing_of(path):
    try:
        with open(path, "rb") as file:
            body = ast.parse(file.read()).body
    except Exception:
        return set()
    folder = os.path.dirname(path)
    return {name for node in body for name in top(node) if is_missing(name, folder)}

tests, shared = [], set()
for folder, inner, files in os.walk("."):
    inner[:] = sorted(each for each in inner if not each.startswith("."))
    for each in sorted(files):
        if each == "conftest.py" and folder in (".", "./test", "./tests", "./testing"):
            shared |= missing_of(os.path.join(folder, each))
        elif each.endswith(".py") and (each.startswith("test") or each.endswith("_test.py")):
            tests.append(os.path.join(folder, each))
if unfit is None:
    tests = tests[:: len(tests) // 100 + 1]
    count = {}
    for each in tests:
        for name in missing_of(each):
            count[name] = count.get(name, 0) + 1
    shared |= {name for name in count if 2 * count[name] >= len(tests)}
    if shared:
        unfit = "its tests import %s, which is not installed" % ", ".join(sorted(shared))
sys.stdout.write("\n" + json.dumps({"unfit": unfit}) + "\n")
sys.stdout.flush()
os._exit(0)
