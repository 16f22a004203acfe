import { findingSentences } from '../../domain/finding';
import type { CandidateResult } from '../candidateResult';

/**
 * The findings of a result for a person: the meaning of each kind, and its evidence. They name no
 * file that the golden patch changes unless the candidate's own code does, so they may be shown
 * while that patch is hidden.
 */
export function findingsToShow({ findings }: Pick<CandidateResult, 'findings'>): readonly {
  readonly says: string;
  readonly evidence: readonly string[];
}[] {
  return findings.map(({ kind, evidence }) => ({ says: findingSentences[kind], evidence }));
}
