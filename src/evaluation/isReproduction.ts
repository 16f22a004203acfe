import type { CandidateResult } from './candidateResult';

/**
 * Whether a result may be called a reference reproduction: a success under strict grading, in a run of
 * all tests of the touched files.
 */
export function isReproduction({ strict, affected }: CandidateResult): boolean {
  return strict.success && affected === undefined;
}
