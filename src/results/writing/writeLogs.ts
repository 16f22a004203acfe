import { join, posix } from 'node:path';
import type { Prediction } from '../../domain/instance';
import type { RunEntry } from '../../study/entry';
import { sides, type Side } from '../../domain/outcome';
import type { CandidateResult } from '../../evaluation/candidateResult';
import { modelFolder, reportsFolder, writeResult } from '../runFolder';

/** The harness's names of the sides, as parts of the folder names of its six runs. */
const suffix: Readonly<Record<Side, string>> = { base: 'pre', fixed: 'post' };

/**
 * The folders in which {@link writeLogs} may leave the logs of a candidate, below the results
 * folder, with slashes.
 */
export function logFolders(
  runId: string,
  { instance, model, sample }: Pick<RunEntry, 'instance' | 'model' | 'sample'>,
): string[] {
  const own = `__${modelFolder(model, sample)}`;
  return sides
    .flatMap((side) => [
      ...['pred', 'base'].map((of) => `${of}_${suffix[side]}${own}`),
      ...['gold', 'base'].map((of) => `${of}_${suffix[side]}`),
    ])
    .map((name) => posix.join(reportsFolder('', runId), name, instance));
}

/**
 * Writes the output of an evaluation's runs as `test_output.txt`, each in the folder of the
 * harness's layout below that of the run.
 * - Always: `pred_pre__<model>/<instance>` and `pred_post__<model>/<instance>`.
 * - Only where the run did not come to its end: `gold_pre` (T*), `base_pre` (the tests of R
 *   beside T*), `base_pre__<model>` (those beside the candidate), and the same with `post`. A last
 *   line then says why.
 * The logs of golden runs that the harness shares among its runs lie elsewhere, and are never
 * changed.
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
    // The run did not even start.
    else if (strict.reason === 'could not run')
      await write(name, `swt-bench: ${strict.explanation}\n`);
  }
  for (const { of, side, log } of broken) {
    const name = of === 'golden' ? 'gold' : 'base';
    await write(`${name}_${suffix[side]}${of === 'base' ? `__${own}` : ''}`, log);
  }
}
