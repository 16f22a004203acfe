"""Grades cases with SWE-bench's own code: JSON on stdin and stdout.

Each case has a log, the name of a log parser, the lists of tests and the type of evaluation. The
answer has the statuses in the log (null where it is not graded) and the report. A summary of a run
is made from reports where the input asks for one.

Only the modules that grade are loaded: the package itself imports clients of services.
"""
import importlib.util
import io
import json
import os
import sys
import tempfile
import types
from contextlib import redirect_stdout
from pathlib import Path
from unittest import mock

place = Path(importlib.util.find_spec("swebench").submodule_search_locations[0])
for name in ("harness", "image_builder"):
    package = types.ModuleType("swebench." + name)
    package.__path__ = [str(place / name)]
    sys.modules["swebench." + name] = package
for name in ("docker", "unidiff"):
    sys.modules[name] = mock.MagicMock()
sys.modules["swebench.image_builder.docker_utils"] = mock.MagicMock()

from swebench.harness.grading import get_eval_report, get_logs_eval, get_resolution_status
from swebench.harness.reporting import make_run_report
from swebench.types import TestSpec


def graded(case, path):
    Path(path).write_bytes(case["log"].encode())
    spec = TestSpec(
        instance_id="a",
        image="",
        eval_script_list=[],
        repo="",
        version="",
        FAIL_TO_PASS=case["FAIL_TO_PASS"],
        PASS_TO_PASS=case["PASS_TO_PASS"],
        log_parser=case["parser"],
        eval_type=case["eval_type"],
    )
    prediction = {"instance_id": "a", "model_patch": "x"}
    try:
        statuses, found = get_logs_eval(spec, path)
        report = get_eval_report(spec, prediction, path, True)["a"]
    except Exception as error:
        return {"error": type(error).__name__}
    answer = {"statuses": statuses if found else None, "report": report}
    if "tests_status" in report:
        answer["resolution"] = get_resolution_status(report["tests_status"])
    return answer


def main():
    asked = json.load(sys.stdin)
    with tempfile.TemporaryDirectory() as folder:
        answer = {"cases": [graded(case, os.path.join(folder, "log")) for case in asked["cases"]]}
    summary = asked.get("summary")
    if summary is not None:
        os.chdir(summary["folder"])
        with tempfile.TemporaryDirectory() as folder, redirect_stdout(io.StringIO()):
            written = make_run_report(
                {each["instance_id"]: each for each in summary["predictions"]},
                [{"instance_id": each} for each in summary["selected"]],
                summary["run"],
                None,
                folder,
            )
            answer["summary"] = json.loads(Path(written).read_text())
    json.dump(answer, sys.stdout)


main()
