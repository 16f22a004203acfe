"""SWT-Bench for inspect_ai: write tests that fail because of an issue, and pass once it is fixed.

    inspect eval swt_bench.py --model PROVIDER/NAME

Each folder beside this file is a sample. An agent works in one container, and a second one of the same
image grades its patch, so that nothing an agent changes there can change its score. Only the second one
ever gets the fix and its tests. A sample whose grading has no verdict ends with an error, not with 0.
"""

import json
from pathlib import Path
from typing import Any

from inspect_ai import Task, task
from inspect_ai.agent import react
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.scorer import Score, Scorer, Target, mean, scorer, stderr
from inspect_ai.solver import TaskState
from inspect_ai.tool import bash
from inspect_ai.util import sandbox

here = Path(__file__).resolve().parent
tree = "/testbed"
take_patch = ["sh", "/opt/swt-bench/take_patch.sh", tree]
# Seconds.
command_limit = 300
grading_limit = 7200


def samples() -> list[Sample]:
    found = []
    for path in sorted(here.glob("*/sample.json")):
        fields: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        folder = path.parent
        found.append(
            Sample(
                id=fields["instance_id"],
                input=(folder / "instruction.md").read_text(encoding="utf-8"),
                metadata={name: fields[name] for name in ("instance_id", "repo", "base_commit")},
                sandbox=("docker", str(folder / "compose.yaml")),
            )
        )
    return found


@task
def swt_bench() -> Task:
    return Task(
        dataset=MemoryDataset(samples(), name="swt-bench"),
        solver=react(tools=[bash(timeout=command_limit)]),
        scorer=reproduces(),
    )


@scorer(metrics=[mean(), stderr()])
def reproduces() -> Scorer:
    """Grades by the engine of swt-bench: 1 if the tests reproduce the issue, else 0."""

    async def score(state: TaskState, target: Target) -> Score:
        del target
        taken = await sandbox().exec(take_patch, timeout=command_limit)
        # An agent can break its container. That is no reason to give it no score.
        patch = taken.stdout if taken.success else ""
        grader = sandbox("grader")
        for path in (here / str(state.sample_id) / "tests").iterdir():
            await grader.write_file("/tests/" + path.name, path.read_bytes())
        await grader.write_file("/tests/model.patch", patch.encode("utf-8", "surrogateescape"))
        ended = await grader.exec(
            ["python3", "-I", "/tests/grade.py", "/tests", "/tests/model.patch", "/tests/results"],
            cwd=tree,
            timeout=grading_limit,
        )
        if not ended.success:
            raise RuntimeError(ended.stderr[-2000:])
        report = json.loads(await grader.read_file("/tests/results/report.json"))
        return Score(
            value=int(report["success"]),
            answer=patch,
            explanation=report["explanation"],
            metadata={
                "model_patch": patch,
                "fail_to_pass": report["fail_to_pass"],
                "change_coverage": report["change_coverage"],
                "report": report["result"],
            },
        )

    return score
