import type { CandidateResult } from './candidateResult';

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
