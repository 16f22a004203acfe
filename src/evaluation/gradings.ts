import type { ChangeCoverage } from '../domain/changeCoverage';
import { findingSentences } from '../domain/finding';
import type { CandidateResult } from './candidateResult';

/** How the reference harness grades; `not available` where not all of its runs could be done. */
export type HarnessGrade = 'resolved' | 'not resolved' | 'not available';

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

/**
 * Whether a result may be called a reference reproduction: a success under strict grading, in a run of
 * all tests of the touched files.
 */
export function isReproduction({ strict, affected }: CandidateResult): boolean {
  return strict.success && affected === undefined;
}

/**
 * The notes of a result that may be shown. While the golden patch is hidden, notes that name a file
 * of it are left out.
 */
export function notesToShow(
  { notes, changeCoverage, goldenCoverage }: CandidateResult,
  revealed: boolean,
): readonly string[] {
  if (revealed) return notes;
  const lines = [...(changeCoverage?.lines ?? []), ...(goldenCoverage?.lines ?? [])];
  const paths = [...new Set(lines.map(({ path }) => path))];
  return notes.filter((note) => !paths.some((path) => note.includes(path)));
}

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

/** `71 % (12/17)`, or words where that number does not exist. */
export function coverageInWords(coverage: ChangeCoverage | undefined): string {
  if (coverage === undefined) return 'not known';
  if (coverage.delta === undefined) return 'undefined (no changed line is executable)';
  return `${Math.round(coverage.delta * 100)} % (${coverage.covered}/${coverage.executable})`;
}
