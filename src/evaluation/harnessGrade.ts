import type { CandidateResult } from './candidateResult';

/** How the reference harness grades; `not available` where not all of its runs could be done. */
type HarnessGrade = 'resolved' | 'not resolved' | 'not available';

/**
 * The harness grade of a result. A run of only some tests has none, since the harness reads one log
 * of all tests.
 */
export function harnessGrade({ harness, affected }: CandidateResult): HarnessGrade {
  if (affected !== undefined) return 'not available';
  const applied = harness.patch_successfully_applied;
  if (applied && harness.tests_pred === undefined) return 'not available';
  return harness.resolved ? 'resolved' : 'not resolved';
}
