import { changeCoverageOf, type ChangeCoverage } from '../../domain/changeCoverage';
import { reportFileSchema } from '../../results/reportSchema';

/**
 * The change coverage of an instance in a saved report. A report lacks the texts of the lines, which
 * the open documents show anyway.
 *
 * @param text of a `report.json`
 * @returns undefined when the report cannot be read or has no change coverage
 */
export function savedCoverage(text: string, instance: string): ChangeCoverage | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  const coverage = reportFileSchema.safeParse(value).data?.[instance]?.strict?.change_coverage;
  if (coverage === undefined || coverage === null) return undefined;
  return changeCoverageOf(
    coverage.lines.map((line) => ({
      path: line.path,
      line: line.line,
      change: line.change,
      state: line.state,
      counts: line.counts,
      coveredBy: line.covered_by,
      executions: {},
      text: '',
      ...(line.lost === true && { lost: true as const }),
    })),
  );
}
