import { copyFile } from 'node:fs/promises';
import { join } from 'node:path';
import { jsonText } from '../../domain/text';
import { wordForShell } from '../../engine/programs';
import {
  instructionOf,
  writeEnvironment,
  writeGrading,
  writeText,
  type ExportedTask,
  type ExportFormat,
  type ExportWork,
} from './exportedTask';

const taskFile = 'swt_bench.py';

/**
 * A task file of inspect_ai with a folder for each sample: https://inspect.aisi.org.uk/tasks.html
 *
 * A sample has two containers of one image (https://inspect.aisi.org.uk/sandboxing.html): `default`
 * for the agent, and `grader`, which alone gets X* and T*.
 */
export const inspect: ExportFormat = {
  name: 'inspect',
  description: 'a task file of inspect_ai',
  // It takes no absolute path.
  next: (out) => `cd ${wordForShell(out)} && inspect eval ${taskFile} --model PROVIDER/NAME`,
  async write(folder, tasks, work) {
    for (const task of tasks) await writeSample(join(folder, task.instance.id), task, work);
    await copyFile(join(work.assets, 'exported', taskFile), join(folder, taskFile));
  },
};

async function writeSample(folder: string, task: ExportedTask, work: ExportWork): Promise<void> {
  const { id, repo, baseCommit } = task.instance;
  const fields = { instance_id: id, repo, base_commit: baseCommit };
  await writeText(join(folder, 'sample.json'), jsonText(fields));
  await writeText(join(folder, 'instruction.md'), instructionOf(task.instance));
  await writeText(join(folder, 'compose.yaml'), compose);
  await writeEnvironment(join(folder, 'environment'), task, work);
  await writeGrading(join(folder, 'tests'), task, work);
}

/** Neither container has a network: the environment of the tests is in the image. */
const compose = `services:
${['default', 'grader']
  .map(
    (name) => `  ${name}:
    build: environment
    init: true
    command: tail -f /dev/null
    network_mode: none
`,
  )
  .join('')}`;
