import { join } from 'node:path';
import { wordForShell } from '../../engine/programs';
import {
  folderOfR,
  instructionOf,
  takePatch,
  writeEnvironment,
  writeGrading,
  writeText,
  type ExportedTask,
  type ExportFormat,
  type ExportWork,
} from './exportedTask';

/** Where Harbor collects what an agent leaves; a container that grades gets it at the same place. */
const patchPath = '/logs/artifacts/model.patch';

/**
 * Task folders of Harbor: https://harborframework.com/docs (harbor/models/task, schema 1.4).
 *
 * The candidate is graded in a fresh container of the same image (`environment_mode = "separate"`),
 * not in that of the agent: an agent that is root could change Python, git or R there. Only the
 * patch travels, which a hook takes when the agent has ended. Harbor lays `tests/` into the fresh
 * container alone, so that no agent ever shares a disk with X*.
 */
export const harbor: ExportFormat = {
  name: 'harbor',
  description: 'task folders of Harbor',
  next: (out) => `harbor run -p ${wordForShell(out)} -a NAME`,
  async write(folder, tasks, work) {
    for (const task of tasks) await writeTask(join(folder, task.instance.id), task, work);
  },
};

async function writeTask(folder: string, task: ExportedTask, work: ExportWork): Promise<void> {
  const { instance } = task;
  await writeText(join(folder, 'task.toml'), settings(task, work));
  await writeText(join(folder, 'instruction.md'), instructionOf(instance));
  await writeEnvironment(join(folder, 'environment'), task, work);
  const tests = join(folder, 'tests');
  await writeText(join(tests, 'test.sh'), testScript);
  await writeGrading(tests, task, work);
  const solution = join(folder, 'solution');
  await writeText(join(solution, 'solve.sh'), solveScript);
  await writeText(join(solution, 'golden_tests.patch'), instance.goldenTests);
}

/** Seconds that building the image may take: packages may have to be compiled. */
const buildSeconds = 3600;
/** Seconds that grading may take: both sides of the golden, the base and the candidate's tests. */
const gradeSeconds = 7200;
const agentSeconds = 3600;

/** A text in double quotes means the same in TOML as in JSON. */
const settings = ({ instance, trees }: ExportedTask, { version }: ExportWork): string => `\
schema_version = "1.4"

[task]
name = ${JSON.stringify(`swt-bench/${instance.id}`)}
description = "Write tests that fail because of an issue, and pass once it is fixed."
keywords = ["swt-bench", "tests"]

[metadata]
instance_id = ${JSON.stringify(instance.id)}
repo = ${JSON.stringify(instance.repo)}
base_commit = ${JSON.stringify(instance.baseCommit)}
source = ${JSON.stringify(trees.source.kind)}
exported_by = ${JSON.stringify(`swt-bench ${version}`)}

[agent]
timeout_sec = ${agentSeconds}

[environment]
build_timeout_sec = ${buildSeconds}
workdir = "${folderOfR}"

[verifier]
timeout_sec = ${gradeSeconds}
environment_mode = "separate"

[[verifier.collect]]
command = "mkdir -p /logs/artifacts && ${takePatch} > ${patchPath}"
timeout_sec = 600
`;

const testScript = `#!/bin/sh
# Grades the candidate with the engine of swt-bench. Without a verdict there is no reward.
cd ${folderOfR} && exec python3 -I /tests/grade.py /tests ${patchPath} /logs/verifier
`;

/** As rows are applied elsewhere: as it is, then without regard to white space, then to context. */
const solveScript = `#!/bin/sh
# Applies the golden tests.
cd ${folderOfR} || exit 1
for option in '' --ignore-whitespace -C1; do
  git apply $option /solution/golden_tests.patch && exit 0
done
exit 1
`;
