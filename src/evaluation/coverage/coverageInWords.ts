import type { ChangeCoverage } from '../../domain/changeCoverage';

/** `71 % (12/17)`, or words where that number does not exist. */
export function coverageInWords(coverage: ChangeCoverage | undefined): string {
  if (coverage === undefined) return 'not known';
  if (coverage.delta === undefined) return 'undefined (no changed line is executable)';
  return `${Math.round(coverage.delta * 100)} % (${coverage.covered}/${coverage.executable})`;
}
