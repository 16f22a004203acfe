import { z } from 'zod';
import { parseUnified } from '../../patch/parseUnified';
import type { MethodCandidate } from '../method';
import { readCode } from '../steps/readPatch';
import { isGiven, stage } from '../steps/stages';
import { combinedFiles } from './localisation/combinedFiles';
import { stagesVersion, type StageWork } from './stageWork';

/** Code patches in any format that applies to R, as a trace has those of its samples. */
const givenRepairsSchema = z.array(
  z.object({
    patch: z.string(),
    /** Number of the sample, from 1; its place in the list where it is absent. */
    sample: z.int().min(1).optional(),
  }),
);

/** Code patches, and the files whose tests they have to pass. */
export interface UnrankedRepairs {
  readonly patches: readonly MethodCandidate[];
  /** Those of the stage `combined`, if it is given too, else those that the patches change. */
  readonly files: readonly string[];
}

/**
 * The patches that are given to the run in place of samples. The stages before them do not run.
 *
 * @param onCandidate called with each patch
 */
export async function givenRepairs(
  work: StageWork,
  onCandidate: ((candidate: MethodCandidate) => void) | undefined,
): Promise<UnrankedRepairs> {
  const { steps } = work;
  const asked = { stage: 'repair', of: [stagesVersion], schema: givenRepairsSchema };
  const given = await stage(steps, asked, async () => []);
  const patches: MethodCandidate[] = [];
  for (const [at, { patch: text, sample = at + 1 }] of given.entries()) {
    const patch = await readCode(steps, text, undefined);
    if (!patch.applies && text.trim() !== '') {
      steps.tell(`given patch ${sample} is ignored: ${patch.problem ?? ''}`);
    }
    const candidate = { sample, patch };
    onCandidate?.(candidate);
    patches.push(candidate);
  }
  const changed = patches.flatMap(({ patch }) =>
    parseUnified(patch.patch).files.flatMap(({ newPath, oldPath }) => newPath ?? oldPath ?? []),
  );
  const files = isGiven(steps, 'combined')
    ? await combinedFiles(work, [], [])
    : [...new Set(changed)];
  return { patches, files };
}
