import { join } from 'node:path';
import type { Prediction } from '../domain/instance';
import { sides, type Side } from '../domain/outcome';
import type { CandidateResult } from '../evaluation/candidateResult';
import { modelFolder, reportsFolder } from './runFolder';
import { writeResult } from './writeResult';

/** What the harness calls the sides, in the names of the folders of its six runs. */
const suffix: Readonly<Record<Side, string>> = { base: 'pre', fixed: 'post' };

/**
 * Writes the output of an evaluation's runs as `test_output.txt`, each in the folder that the harness has
 * for it, below that of the run: `pred_pre__<model>/<instance>` and `pred_post__<model>/<instance>`
 * always; `gold_pre` (T*), `base_pre` (the tests of R beside T*) and `base_pre__<model>` (those beside
 * the candidate), and the same with `post`, only where the run did not come to its end. A last line
 * then says why. What the harness keeps of golden runs for all runs is elsewhere, and never touched.
 */
export async function writeLogs(
  out: string,
  runId: string,
  { instanceId, model, sample = 1 }: Prediction,
  { runs, broken = [], strict }: CandidateResult,
): Promise<void> {
  const write = (name: string, log: string): Promise<void> =>
    writeResult(join(reportsFolder(out, runId), name, instanceId, 'test_output.txt'), log);
  const own = modelFolder(model, sample);
  for (const side of sides) {
    const name = `pred_${suffix[side]}__${own}`;
    const log = runs[side]?.log;
    if (log !== undefined) await write(name, log);
    // Nothing was even started.
    else if (strict.reason === 'could not run')
      await write(name, `swt-bench: ${strict.explanation}\n`);
  }
  for (const { of, side, log } of broken) {
    const name = of === 'golden' ? 'gold' : 'base';
    await write(`${name}_${suffix[side]}${of === 'base' ? `__${own}` : ''}`, log);
  }
}
