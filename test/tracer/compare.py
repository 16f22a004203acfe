"""Compares the tracer with Python's own `trace` module: hand-written and random programs.

Whether a line counts must be equal on every line, both ways, and so must the counts, but for what
DIFFERENCES names; and nothing the programs print may change.
"""

import json
import os
import random

import constructs
import generate
from harness import WORKER, run_plain, run_traced, write_files

# {(program, first and last minor version): {line: why the count is another}}. Covered or not is
# equal there, too.
DIFFERENCES = {
    ("generators", 9, 9): {32: "`raise` on a line of its own, into `finally`"},
    # In exception handlers, 3.9 reports the line that raised once more: see swt_bytecode.
    ("random", 9, 9): "a few counts",
}


def all_lines(source):
    return list(range(1, source.count("\n") + 2))


def compare(python, folder, sources, subsets=()):
    """Runs `sources` ({name: text}) plain, under `trace` and under the tracer.

    Returns [(name, what differs)]; `subsets` are random.Random objects, each for one more run with
    a random part of the lines.
    """
    root = os.path.join(folder, "root")
    paths = {name: name + ".py" for name in sources}
    write_files(root, {paths[name]: text for name, text in sources.items()})
    names = list(sources)
    expected_path = os.path.join(folder, "expected.json")
    plain = run_plain(python, [WORKER, "plain", root, "-"] + names, root)
    under_trace = run_plain(python, [WORKER, "trace", root, expected_path] + names, root)
    failures = []
    if under_trace.status or plain.output != under_trace.output:
        return [("trace", "the programs themselves differ from run to run\n" + under_trace.errors)]
    with open(expected_path) as stream:
        expected = {
            name: {int(line): count for line, count in lines.items()}
            for name, lines in json.load(stream).items()
        }
    everything = {name: all_lines(text) for name, text in sources.items()}
    chosen = [everything]
    for generator in subsets:
        chosen.append({
            name: generator.sample(lines, max(1, len(lines) // generator.choice((2, 4, 10))))
            for name, lines in everything.items()
        })
    for lines in chosen:
        files = {paths[name]: sorted(lines[name]) for name in names}
        ours = run_traced(python, [WORKER, "plain", root, "-"] + names, root, files)
        if (ours.status, ours.output, ours.errors) != (plain.status, plain.output, plain.errors):
            failures.append(("output", _first_difference(plain, ours)))
        failures += [("problem", record["text"]) for record in ours.of("problem")]
        ways = {record["path"]: record for record in ours.of("file")}
        counts = {}
        for name, count in ours.counts().get(None, {}).items():
            path, _, line = name.rpartition(":")
            counts.setdefault(path, {})[int(line)] = count
        for name in names:
            if ways.get(paths[name], {}).get("how") != python.technique:
                failures.append((name, "counted by %r" % ways.get(paths[name])))
            want = expected.get(name, {})
            want = {line: want[line] for line in lines[name] if line in want}
            got = counts.get(paths[name], {})
            text = _difference(python, name, want, got)
            if text:
                failures.append((name, text))
    return failures


def _difference(python, name, want, got):
    known, few = {}, False
    for (program, first, last), lines in DIFFERENCES.items():
        if first <= python.minor <= last:
            if program == name:
                known.update(lines)
            few = few or program == "random" and name.startswith("random_")
    other = [line for line in set(want) | set(got) if want.get(line, 0) != got.get(line, 0)]
    counts_only = [line for line in other if want.get(line) and got.get(line)]
    if few and len(counts_only) <= 3:
        known.update(dict.fromkeys(counts_only))
    return "; ".join([
        "line %d: %d by trace, %d by us" % (line, want.get(line, 0), got.get(line, 0))
        for line in sorted(other)
        if line not in known or line not in counts_only
    ][:8])


def _first_difference(plain, ours):
    pairs = zip((plain.output + plain.errors).split("\n"), (ours.output + ours.errors).split("\n"))
    for number, (one, other) in enumerate(pairs, 1):
        if one != other:
            return "line %d of the output: %r became %r" % (number, one, other)
    return "status %r became %r, or the output has another length: %s" % (
        plain.status, ours.status, ours.errors[-500:])


def check_constructs(python, folder, seed):
    """Every construct that this version has."""
    sources = {name: text for name, since, text in constructs.PROGRAMS if python.minor >= since}
    subsets = [random.Random("%s %d" % (seed, index)) for index in range(2)]
    _assert_equal(compare(python, folder, sources, subsets))


def check_random(python, folder, seed, number):
    """`number` random programs."""
    sources = {
        "random_%d" % index: generate.generate("%s %d" % (seed, index)) for index in range(number)
    }
    _assert_equal(compare(python, folder, sources, [random.Random(seed)]))


def _assert_equal(failures):
    assert not failures, "\n".join("%s: %s" % failure for failure in failures[:20])
