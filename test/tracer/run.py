"""Tests the tracer on every CPython from 3.6 to 3.14 that is at hand.

    python3 run.py [--only 3.9] [--few] [--seed TEXT] [--random N] [--match TEXT]

Needs Python 3.8 to run itself. Looks for python3.6 to python3.14 and python3 on PATH, and below
$PYENV_ROOT or ~/.pyenv. Prints a line for each version and each failure, and at the end one line
`N passed, N failed, N skipped` with the versions; the exit status is 1 if anything failed.
"""

import argparse
import concurrent.futures
import os
import shutil
import sys
import tempfile
import time
import traceback

import acts
import compare
import harness
import processes
import seals
import situations


def _checks(python, options):
    """[(name, function of a folder that raises AssertionError)] for this interpreter."""
    found = []
    for module in (acts, processes, seals, situations):
        since = getattr(module, "SINCE", {})
        for name, function in sorted(vars(module).items()):
            if name.startswith("check_") and python.minor >= since.get(name, 0):
                found.append((name[6:], lambda folder, do=function: do(python, folder)))
    found.append(("constructs", lambda folder: compare.check_constructs(
        python, folder, options.seed)))
    found.append(("random", lambda folder: compare.check_random(
        python, folder, options.seed, options.random)))
    return [(name, check) for name, check in found if options.match in name]


def _run(name, check):
    """None, or what failed."""
    # Not a link, so that the names programs see of themselves are those they were given.
    folder = os.path.realpath(tempfile.mkdtemp(prefix="swt-tracer-"))
    try:
        check(folder)
    except Exception:
        return "%s\n%s" % (name, traceback.format_exc())
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--only", help="one version, as 3.9 or 3.9.18")
    parser.add_argument("--few", action="store_true", help=(
        "the oldest, the newest, and the newest without monitoring: one of each technique at its ends"))
    parser.add_argument("--seed", default="1", help="of the random programs")
    parser.add_argument("--random", type=int, default=30, help="how many random programs")
    parser.add_argument("--match", default="", help="only checks with this in their name")
    options = parser.parse_args()
    pythons = harness.find_pythons(options.only)
    if options.few:
        older = [python for python in pythons if python.technique != pythons[-1].technique]
        pythons = [python for python in pythons if python in (pythons[0], pythons[-1], *older[-1:])]
    passed = failed = 0
    print("seed %s" % options.seed)
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        for python in pythons:
            began = time.time()
            failures = [
                failure for failure in pool.map(lambda pair: _run(*pair), _checks(python, options))
                if failure
            ]
            count = len(_checks(python, options))
            passed += count - len(failures)
            failed += len(failures)
            print("CPython %s (%s): %d passed, %d failed, %.0f s" % (
                python.version, python.technique, count - len(failures), len(failures),
                time.time() - began))
            for failure in failures:
                print("  FAILED on CPython %s: %s" % (python.version, failure))
            sys.stdout.flush()
    have = {python.minor for python in pythons}
    wanted = range(harness.FIRST, harness.LAST + 1)
    missing = [] if options.only or options.few else ["3.%d" % minor for minor in wanted if minor not in have]
    if missing:
        print("not found: CPython %s" % ", ".join(missing))
    print("%d passed, %d failed, %d skipped (tracer on CPython %s%s)" % (
        passed, failed, len(missing), ", ".join(python.version for python in pythons) or "none",
        "; skipped: CPython %s" % ", ".join(missing) if missing else ""))
    return 1 if failed or not pythons else 0


if __name__ == "__main__":
    sys.dont_write_bytecode = True
    sys.exit(main())
